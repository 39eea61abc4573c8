"""Programs that nobody here wrote: redis under load, and one with more than
100 MB of debug information."""
import contextlib
import os
import pty
import socket
import statistics
import subprocess
import tempfile
import threading
import time

from harness import (BUILD, CPROF, LeftOut, NULL, attach, cpu_of, cpu_so_far, measured, must, need, note, recording, report,
                     running, spread, stop)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def await_server(port):
    for _ in range(500):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.01)
    raise LeftOut("redis-server did not answer")


def requests_a_second(benchmark, port, count):
    """Of GET and SET together: requests done in the time that both took."""
    out = subprocess.run([benchmark, "-h", "127.0.0.1", "-p", str(port), "-q", "--csv", "-t", "set,get", "-n",
                          str(count), "-c", "50"], stdin=NULL, capture_output=True, text=True, check=False,
                         timeout=120)
    rates = [float(line.split('","')[1].strip('"')) for line in out.stdout.splitlines()
             if line.startswith(('"SET', '"GET'))]
    if out.returncode or len(rates) != 2:
        raise LeftOut("redis-benchmark did not finish")
    return 2 / sum(1 / rate for rate in rates)


def redis(table, quick):
    """requests a second of redis before, during and after an attach"""
    server, benchmark = need("redis-server"), need("redis-benchmark")
    port, count = free_port(), 10000 if quick else 60000
    table.section("redis-server under redis-benchmark (50 clients, GET and SET, loopback)")
    with tempfile.TemporaryDirectory() as where, recording() as data, \
            running([server, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", where]) as redis_server:
        await_server(port)
        requests_a_second(benchmark, port, count)
        before, during, after = [], {99: [], 999: []}, []
        for _ in range(1 if quick else 5):
            before.append(requests_a_second(benchmark, port, count))
            for hz, rates in during.items():
                profiler = subprocess.Popen(attach(redis_server.pid, data, "-s", str(hz)), stdin=NULL, stderr=NULL)
                try:
                    rates.append(requests_a_second(benchmark, port, count))
                    if profiler.poll() is not None:
                        raise LeftOut(f"cprof attach ended with {profiler.returncode}")
                finally:
                    stop(profiler)
                must(profiler.returncode, "cprof attach")
            after.append(requests_a_second(benchmark, port, count))
        base = statistics.median(before)
        table.row("before", f"{base:.0f} /s", "", f"{min(before):.0f} to {max(before):.0f}")
        rows = [(f"during cprof attach -s {hz}", rates) for hz, rates in during.items()] + [("after", after)]
        for name, rates in rows:
            ratios = [rate / b for rate, b in zip(rates, before)]
            table.row(name, f"{statistics.median(rates):.0f} /s",
                      f"{(statistics.median(ratios) - 1) * 100:+.1f} % against before",
                      f"{(min(ratios) - 1) * 100:+.1f} % to {(max(ratios) - 1) * 100:+.1f} %")


def cpu_while(command, seconds, on_terminal=False):
    """CPU, as a share of one, that a profiler takes in its steady state."""
    terminal, own = pty.openpty() if on_terminal else (None, None)
    output = own if on_terminal else NULL
    profiler = subprocess.Popen(command, stdin=output, stdout=output, stderr=output,
                                env={**os.environ, "TERM": "xterm", "LINES": "50", "COLUMNS": "150"})
    if on_terminal:
        threading.Thread(target=swallow, args=[terminal], daemon=True).start()
    try:
        time.sleep(3)  # names are read at first
        before, start = cpu_so_far(profiler.pid), time.monotonic()
        time.sleep(seconds)
        if profiler.poll() is not None:
            raise LeftOut(f"{command[1]} ended with {profiler.returncode}")
        return (cpu_so_far(profiler.pid) - before) / (time.monotonic() - start)
    finally:
        stop(profiler)


def swallow(terminal):
    with contextlib.suppress(OSError):
        while os.read(terminal, 65536):
            pass


def top(table, quick):
    """CPU of cprof top on a busy redis, beside that of sampling alone"""
    server, benchmark = need("redis-server"), need("redis-benchmark")
    port, seconds = free_port(), 3 if quick else 10
    table.section("cprof top on redis-server under redis-benchmark (share of one CPU, beside attach's)")
    with tempfile.TemporaryDirectory() as where, recording() as data, \
            running([server, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", where]) as redis_server:
        await_server(port)
        with running([benchmark, "-h", "127.0.0.1", "-p", str(port), "-q", "-t", "set,get", "-l", "-c", "50"]):
            for hz in (99, 499):
                watch = [CPROF, "top", "-q", "-s", str(hz), str(redis_server.pid)]
                figures, out = measured(1 if quick else 3, {
                    "attach": lambda: cpu_while(attach(redis_server.pid, data, "-s", str(hz)), seconds),
                    "top, lines": lambda: cpu_while(watch, seconds),
                    "top, a screen of 150 x 50": lambda: cpu_while(watch, seconds, on_terminal=True)})
                for name, why in out.items():
                    table.left_out(f"{name}, {hz} Hz", why)
                base = figures["attach"]
                for name, values in figures.items():
                    if values and base:
                        table.row(f"{name}, {hz} Hz", f"{statistics.median(values) * 100:.2f} %",
                                  "" if name == "attach" else
                                  f"{(statistics.median(values) - statistics.median(base)) * 100:+.2f} % of a CPU beside attach",
                                  spread(values, lambda v: f"{v * 100:.2f} %"))


LARGE_UNITS, LARGE_TYPES = 34, 9000


def write_unit(path):
    with open(path, "w", encoding="utf-8") as unit:
        for i in range(LARGE_TYPES):
            fields = "".join(f"long field_{k}_of_{i}; " for k in range(24))
            unit.write(f"struct kind_{i} {{ int first_{i}; struct kind_{i} *next_{i}; {fields}}};\n")
        for i in range(400):
            unit.write(f"__attribute__((noinline)) int f_{i}(struct kind_{i} *a, int b) "
                       f"{{ int c = b * {i + 3}; return a ? a->first_{i} + c : c; }}\n")


def large_program():
    """Builds, once, a program with more than 100 MB of debug information: one
    unit, compiled once, many times over under other names."""
    where = BUILD / "bench-large"
    target = where / "large"
    if target.exists():
        return str(target)
    note("building a program with more than 100 MB of debug information, once ...")
    where.mkdir(exist_ok=True)
    write_unit(where / "unit.c")
    compiler = ["gcc", "-g", "-O1", "-fno-eliminate-unused-debug-types"]
    subprocess.run([*compiler, "-c", "unit.c", "-o", "unit.o"], check=True, cwd=where)
    objects = [f"unit{number}.o" for number in range(LARGE_UNITS)]
    for number, name in enumerate(objects):
        subprocess.run(["objcopy", f"--prefix-symbols=u{number}_", "unit.o", name], check=True, cwd=where)
    (where / "main.c").write_text("int u7_f_77(void *, int);\n"
                                  "static volatile int sink;\n"
                                  "int main(void) { for (int i = 0;; i++) sink = u7_f_77(0, i); }\n")
    subprocess.run([*compiler, "main.c", *objects, "-o", "large"], check=True, cwd=where)
    for name in ["unit.o", "unit.c", *objects]:
        os.unlink(where / name)
    return str(target)


def debug_megabytes(path):
    out = subprocess.run(["readelf", "-SW", path], capture_output=True, text=True, check=True).stdout
    sizes = [line.split("]")[1].split() for line in out.splitlines() if ".debug_" in line]
    return sum(int(fields[4], 16) for fields in sizes) / 1e6


def first_sample(table, quick):
    """the first stack of a program with more than 100 MB of debug information"""
    target = large_program()
    table.section(f"first stack of a program with {debug_megabytes(target):.0f} MB of debug information")
    with running([target]) as large:
        pid = str(large.pid)
        for name, command in (("cprof stack", [CPROF, "stack", pid]),
                              ("gdb -batch -ex bt", ["gdb", "-nx", "-batch", "-p", pid, "-ex", "bt"])):
            try:
                need(command[0])
                took = []
                for _ in range(1 if quick else 5):
                    status, _, elapsed = cpu_of(command)
                    must(status, name)
                    took.append(elapsed)
                table.row(name, f"{statistics.median(took) * 1e3:.0f} ms", "", f"{min(took) * 1e3:.0f} to {max(took) * 1e3:.0f} ms")
            except LeftOut as why:
                table.left_out(name, str(why))


def recording_size(table, quick):
    """bytes of a recording for each sample"""
    table.section("size of a recording: the bundled example, 999 Hz")
    with recording() as data:
        status, _, _ = cpu_of([CPROF, "run", "-q", "-s", "999", "-o", data, "--",
                               str(BUILD / "scripts/example/workshop"), "2" if quick else "16"])
        must(status, "cprof run")
        size, samples = os.path.getsize(data), report(data)["samples"]["total"]
        if not samples:
            raise LeftOut("no samples")
        table.row("bytes a sample, names and lines included", f"{size / samples:.1f}", f"{samples} samples",
                  f"{size} bytes")
