"""What sampling costs the program, beside the same work with nothing at all,
with perf, and with gdb."""
import os
import statistics
import subprocess
import threading
import time

from harness import (CPROF, LeftOut, NULL, attach, cpu_of, must, need, program, ratio_rows,
                     recording, report, running)


def spin(prefix, threads, rounds, env=None):
    """Seconds that the work took by the program's own word."""
    out = subprocess.run([*prefix, program("spin"), str(threads), str(rounds)], stdin=NULL,
                         capture_output=True, text=True, env=env, check=False)
    must(out.returncode, prefix[0] if prefix else "spin")
    return int(out.stdout.split()[0]) / 1e9


def rounds_for(seconds, threads):
    """As many rounds of work as take about that long here and now."""
    cpus = min(threads, len(os.sched_getaffinity(0)))
    return max(1, int(seconds * cpus / threads / spin([], 1, 20000) * 20000))


def with_cprof(hz, threads, rounds, capture):
    with recording() as data:
        return spin([CPROF, "run", "-q", f"--capture={capture}", "-s", str(hz), "-o", data, "--"], threads, rounds)


def with_perf(hz, threads, rounds):
    with recording() as data:
        return spin([need("perf"), "record", "-q", "--call-graph", "dwarf", "-F", str(hz), "-o", data,
                     "--"], threads, rounds)


def with_gdb(threads, rounds, backtraces):
    """gdb attaches again and again while the work goes on."""
    gdb = need("gdb")
    process = subprocess.Popen([program("spin"), str(threads), str(rounds)], stdout=subprocess.PIPE,
                               text=True)

    def look():
        while process.poll() is None:
            start = time.monotonic()
            done = subprocess.run([gdb, "-nx", "-batch", "-p", str(process.pid), "-ex", "thread apply all bt"],
                                  stdin=NULL, stdout=NULL, stderr=NULL, check=False)
            if not done.returncode and process.poll() is None:
                backtraces.append(time.monotonic() - start)

    looker = threading.Thread(target=look)
    looker.start()
    text, _ = process.communicate()
    looker.join()
    return int(text.split()[0]) / 1e9


def overhead(table, quick):
    """time of fixed work at 99 and 999 Hz: cprof, perf, gdb"""
    for threads in (1, 8):
        table.section(f"overhead, {threads} busy thread{'s' * (threads > 1)}, 40 frames deep")
        rounds = rounds_for(1 if quick else 3, threads)
        backtraces = []
        ways = {"unprofiled": lambda: spin([], threads, rounds)}
        for hz in (99, 999):
            for capture in ("ptrace", "perf"):
                ways[f"cprof run -s {hz} --capture={capture}"] = (
                    lambda hz=hz, capture=capture: with_cprof(hz, threads, rounds, capture))
            ways[f"perf record --call-graph dwarf -F {hz}"] = lambda hz=hz: with_perf(hz, threads, rounds)
        ways["gdb -batch -ex 'thread apply all bt', repeated"] = lambda: with_gdb(threads, rounds, backtraces)
        figures = ratio_rows(table, 1 if quick else 7, ways, "unprofiled")
        if backtraces:
            gdb_seconds = sum(figures["gdb -batch -ex 'thread apply all bt', repeated"])
            table.row("  of it: backtraces a second", f"{len(backtraces) / gdb_seconds:.1f}",
                      f"{statistics.median(backtraces) * 1e3:.0f} ms each")


def gaps_of(prefix, seconds):
    out = subprocess.run([*prefix, program("gaps"), str(seconds)], stdin=NULL, capture_output=True,
                         text=True, check=False)
    must(out.returncode, prefix[0] if prefix else "gaps")
    return sorted(int(line) for line in out.stdout.split())


def quantile(values, share):
    return values[min(len(values) - 1, int(len(values) * share))] if values else 0


def pause(table, quick):
    """the pause of a thread per sample, as the program sees it"""
    table.section("pause of a busy thread, 1 kHz, as the program's own clock sees it")
    seconds, rounds = 2, 1 if quick else 5
    alone, profiled, held = [], [], []
    for _ in range(rounds):
        alone += gaps_of([], seconds)
        with recording() as data:
            profiled += gaps_of([CPROF, "run", "-q", "-s", "1000", "-o", data, "--"], seconds)
            held.append(report(data)["overhead"])
    for name, gaps in (("unprofiled: gaps of 2 us and more", alone), ("under cprof run -s 1000", profiled)):
        table.row(name, f"{len(gaps) / rounds / seconds:.0f} a s", f"median {quantile(sorted(gaps), .5) / 1e3:.1f} us",
                  f"p99 {quantile(sorted(gaps), .99) / 1e3:.1f} us")
    # What the profiler added: as many of the longest gaps as there were stops.
    stops = int(statistics.median(h["stops"] for h in held)) * rounds
    longest = sorted(profiled)[-stops:]
    table.row("the longest of them, one for each stop", f"{quantile(longest, .5) / 1e3:.1f} us", "median",
              f"p99 {quantile(longest, .99) / 1e3:.1f} us")
    table.row("held by the tracer (its own word)",
              f"{statistics.median(h['hold_median_ns'] for h in held) / 1e3:.1f} us", "median",
              f"p99 {statistics.median(h['hold_p99_ns'] for h in held) / 1e3:.1f} us")


def sampled(threads, capture, seconds):
    """CPU seconds of cprof, and samples, of an attach for so long; None: not permitted."""
    with recording() as data, running([program("spin"), str(threads), "1000000000"]) as busy:
        status, cpu, _ = cpu_of(attach(busy.pid, data, "-s", "1000", f"--capture={capture}", "-d", f"{seconds}s"))
        if status and capture == "perf":
            return None
        must(status, "cprof attach")
        return cpu, report(data)["samples"]["total"]


def cost_of_samples(table, quick):
    """CPU that cprof itself uses for a sample, by the kernel's account"""
    table.section("CPU time of cprof itself a sample (tracer and controller), 40 frames; what attaching costs apart")
    short, long = (1, 3) if quick else (1, 6)
    for threads, capture in ((1, "ptrace"), (1, "perf"), (8, "ptrace"), (8, "perf")):
        per_sample, once = [], []
        for _ in range(1 if quick else 5):
            few, many = sampled(threads, capture, short), sampled(threads, capture, long)
            if not few or not many:
                table.left_out("--capture=perf", "not permitted")
                break
            if many[1] <= few[1]:
                raise LeftOut("no samples")
            per_sample.append((many[0] - few[0]) / (many[1] - few[1]))
            once.append(few[0] - per_sample[-1] * few[1])
        if not per_sample:
            continue
        table.row(f"{threads} busy thread{'s' * (threads > 1)}, 1 kHz, --capture={capture}",
                  f"{statistics.median(per_sample) * 1e6:.0f} us", f"once: {statistics.median(once) * 1e3:.0f} ms",
                  f"{min(per_sample) * 1e6:.0f} to {max(per_sample) * 1e6:.0f} us of {len(per_sample)}")


def weights(table, quick):
    """the weights of the samples against the CPU time of the program"""
    table.section("samples' weights against the program's own CPU clock, 1 kHz")
    for threads in (1, 8):
        errors = []
        rounds = rounds_for(1 if quick else 3, threads)
        for _ in range(1 if quick else 5):
            with recording() as data:
                out = subprocess.run([CPROF, "run", "-q", "-s", "1000", "-o", data, "--", program("spin"),
                                      str(threads), str(rounds)], stdin=NULL, capture_output=True, text=True,
                                     check=False)
                must(out.returncode, "cprof run")
                used = int(out.stdout.split()[1])
                errors.append((report(data)["samples"]["total_ns"] / used - 1) * 100)
        worst = max(errors, key=abs)
        table.row(f"{threads} busy thread{'s' * (threads > 1)}", f"{statistics.median(errors):+.2f} %",
                  "CLOCK_PROCESS_CPUTIME_ID of it", f"worst {worst:+.2f} % of {len(errors)}")


def walk(table, quick):
    """walking a copied stack of 42 frames, by each unwinder"""
    table.section("walking a copied stack of 42 frames (tests/bench/bench_unwind.c)")
    figures = {}
    for _ in range(1 if quick else 5):
        out = subprocess.run([program("unwind")], stdin=NULL, capture_output=True, text=True, check=False)
        must(out.returncode, "bench-unwind")
        for line in out.stdout.splitlines():
            name, rest = line[:36].strip(), line[36:].split()
            figures.setdefault(name, []).append(float(rest[0]))
    own = figures.get("own, warm", [0])
    for name, values in figures.items():
        ratios = [v / o for v, o in zip(values, own) if o]
        against = "" if name == "own, warm" or not ratios else f"{statistics.median(ratios):.1f} times 'own, warm'"
        table.row(name, f"{statistics.median(values) / 1e3:.2f} us", against,
                  f"{min(values) / 1e3:.2f} to {max(values) / 1e3:.2f} us of {len(values)}")
