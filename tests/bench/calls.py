"""What tracing a call costs: entry and return with one argument and the result,
beside the least that ptrace can do, and beside other tracers."""
import os
import re
import signal
import statistics
import subprocess
import tempfile
import time

from harness import (BUILD, CPROF, LeftOut, NULL, measured, must, need, note, program, recording, report,
                     running, spread)

TRACED = ["-t", "callee", "-a", "-r", "--traps", "--max-rate=0"]


def sites(path, name):
    """File offsets of a function's entry and of its one `ret`."""
    listing = subprocess.run(["objdump", "-d", f"--disassemble={name}", path], capture_output=True, text=True,
                             check=True).stdout
    code = re.findall(r"^\s*([0-9a-f]+):\s.*?\t(\S+)[^\t]*$", listing, re.M)
    returns = [int(at, 16) for at, what in code if what.startswith("ret")]
    if not code or len(returns) != 1:
        raise LeftOut(f"{name} of {path} is not as expected")
    return hex(int(code[0][0], 16)), hex(returns[0])


def microseconds(command, **kwargs):
    """What the program says that a call took."""
    out = subprocess.run(command, stdin=NULL, capture_output=True, text=True, check=False, timeout=300, **kwargs)
    must(out.returncode, command[0])
    lines = [line for line in out.stdout.splitlines() if re.fullmatch(r"[0-9.]+ -?\d+", line)]
    if not lines:
        raise LeftOut(f"{command[0]}: the program did not run")
    return float(lines[-1].split()[0]) / 1e3


def callee(threads, calls, kind="callee"):
    return [program(kind), str(threads), str(calls)]


def bare(calls, *pin):
    return microseconds([program("bare"), *pin, *sites(program("callee"), "callee"), *callee(1, calls)])


def traced(threads, calls, counts, *prefix):
    with recording() as data:
        took = microseconds([CPROF, "run", "-q", "-o", data, *TRACED, "--", *prefix, *callee(threads, calls)])
        said = report(data)
        counts.append(os.path.getsize(data) / (2 * calls * threads))
        function = next(f for f in said["calls"]["functions"] if f["function"].startswith("callee"))
        if function["calls"] != calls * threads:
            raise LeftOut(f"{function['calls']} calls were recorded of {calls * threads}")
    return took


def told(ns, calls):
    """Of calls of a known length: what the program's clock and what cprof says, in nanoseconds."""
    with recording() as data:
        took = microseconds([CPROF, "run", "-q", "-o", data, "-t", "lasts", "--max-rate=0", "--", program("callee"),
                             "--lasts", str(ns), str(calls)]) * 1e3
        function = next(f for f in report(data)["calls"]["functions"] if f["function"] == "lasts")
        return took, function["median_ns"]


def with_ltrace(calls):
    with tempfile.NamedTemporaryFile() as out:
        took = microseconds([need("ltrace"), "-x", "callee", "-L", "-o", out.name, *callee(1, calls)])
        with open(out.name, encoding="utf-8", errors="replace") as said:
            if sum("callee" in line for line in said) < calls:
                raise LeftOut("ltrace did not see the calls")
    return took


def with_gdb(calls):
    script = ["set pagination off", "set confirm off", "set breakpoint pending on", "break *callee", "commands",
              "silent", "info args", "continue", "end", "starti"]
    entry, ret = sites(program("callee"), "callee")
    script += [f"break *((char *)callee + {int(ret, 16) - int(entry, 16)})", "commands", "silent", "print $rax",
               "continue", "end", "continue"]
    command = [need("gdb"), "-nx", "-batch"]
    for line in script:
        command += ["-ex", line]
    with tempfile.NamedTemporaryFile("w", suffix=".gdb") as file:
        file.write("\n".join(script) + "\n")
        file.flush()
        return microseconds([command[0], "-nx", "-batch", "-x", file.name, "--args", *callee(1, calls)])


def with_uftrace(calls):
    with tempfile.TemporaryDirectory() as where:
        return microseconds([need("uftrace"), "record", "-d", where + "/data", "-A", "callee@arg1", "-R", "callee@retval",
                             *callee(1, calls, "callee-pg")])


def with_bpftrace(calls):
    probes = (f'uprobe:{program("callee")}:callee {{ @[arg0 & 1] = count(); }} '
              f'uretprobe:{program("callee")}:callee {{ @r[retval & 1] = count(); }}')
    tracer = subprocess.Popen([need("bpftrace"), "-e", probes], stdin=NULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
    try:
        line = tracer.stdout.readline()
        if "Attaching" not in line:
            raise LeftOut("bpftrace: " + line.strip()[:60])
        time.sleep(1)
        return microseconds(callee(1, calls))
    finally:
        tracer.send_signal(signal.SIGINT)
        tracer.communicate(timeout=30)


def row(table, name, values, base, against):
    ratios = [v / b for v, b in zip(values, base)]
    table.row(name, f"{statistics.median(values):.2f} us", f"{statistics.median(ratios):.2f} x {against}",
              spread(values, lambda v: f"{v:.2f}"))


def calls(table, quick):
    """entry and return of a function, with its argument and result, beside others"""
    table.section("a call: entry and return, one argument and the result recorded")
    count, rounds, sizes = (20000, 1, []) if quick else (100000, 7, [])
    ways = {
        "bare ptrace loop, both on one CPU, nothing recorded": lambda: bare(count, "--pin"),
        "bare ptrace loop, unpinned": lambda: bare(count),
        "cprof run -t callee -a -r --traps": lambda: traced(1, count, sizes),
        "the same, the program on one CPU (taskset)": lambda: traced(1, count, sizes, "taskset", "-c", "1"),
        "the same, 8 threads (of the machine's time)": lambda: traced(8, count // 8, sizes),
        "ltrace -x callee": lambda: with_ltrace(count // 10),
        "gdb, two breakpoints with commands": lambda: with_gdb(count // 100),
        "uftrace (recompiled with -pg)": lambda: with_uftrace(count * 5),
        "bpftrace uprobe and uretprobe, counted": lambda: with_bpftrace(count),
        "untraced": lambda: microseconds(callee(1, count * 100)),
    }
    figures, out = measured(rounds, ways)
    base = figures[next(iter(ways))]
    for name, values in figures.items():
        if name in out:
            table.left_out(name, out[name])
        else:
            row(table, name, values, base, "the bare loop")
    if sizes:
        table.row("bytes an event in the recording, values included", f"{statistics.median(sizes):.1f}")


def lengths(table, quick):
    """what is told of calls of a known length, with the cost of tracing taken away"""
    table.section("the median net time of a call, beside the program's own clock")
    for ns in (0, 10000, 100000):
        pairs = [told(ns, 2000) for _ in range(1 if quick else 5)]
        table.row(f"a loop of {ns / 1e3:.0f} us", f"{statistics.median(t for _, t in pairs) / 1e3:.2f} us",
                  f"program: {statistics.median(p for p, _ in pairs) / 1e3:.2f} us",
                  spread([t for _, t in pairs], lambda v: f"{v / 1e3:.2f}"))


def many_functions(count, name, rest, storage="", options=()):
    """Builds, once, a program with that many functions, and with what `rest` says of them."""
    where = BUILD / "bench-functions"
    target = where / f"{name}-{count}"
    if target.exists():
        return str(target)
    note(f"building a program with {count} functions, once ...")
    where.mkdir(exist_ok=True)
    with open(where / "unit.c", "w", encoding="utf-8") as unit:
        for i in range(count):
            unit.write(f"__attribute__((noinline)) {storage} int function_{i}(int a, int b) "
                       f"{{ return a > {i % 7} ? a * b + {i} : b - a; }}\n")
        unit.write(rest)
    subprocess.run(["gcc", "-O1", *options, "unit.c", "-o", str(target)], check=True, cwd=where)
    return str(target)


IDLE = """
#include <stdio.h>
#include <unistd.h>
int main(void) { volatile int n = 1; puts("ready"); fflush(stdout); for (;;) { n = function_1(n, 2); usleep(1000); } }
"""


def arming(table, quick):
    """the time to attach to, arm and leave a program with thousands of functions"""
    table.section("cprof attach -t program -d 1ms: everything armed, and out again")
    for count in (2000, 20000):
        target = many_functions(count, "functions", IDLE, options=["-g"])
        took, plain = [], []
        for _ in range(1 if quick else 5):
            with running([target], ready="ready") as busy, recording() as data:
                for options, times in ((["-t", "program"], took), (["-s", "1"], plain)):
                    start = time.monotonic()
                    done = subprocess.run([CPROF, "attach", "-q", "-o", data, "-d", "1ms", *options, str(busy.pid)],
                                          stdin=NULL, stdout=NULL, stderr=NULL, check=False)
                    times.append(time.monotonic() - start)
                    must(done.returncode, "cprof attach")
        ratios = [t / p for t, p in zip(took, plain)]
        table.row(f"{count} functions", f"{statistics.median(took) * 1e3:.0f} ms",
                  f"{statistics.median(ratios):.1f} x attach -s 1", spread(took, lambda v: f"{v * 1e3:.0f} ms"))


STANDS = r"""
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
static long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}
/* ns that the thread has waited for a CPU so far */
static long waited(int schedstat)
{
	char text[64] = "";
	long ran, wait = 0;
	return pread(schedstat, text, sizeof(text) - 1, 0) > 0 && sscanf(text, "%ld %ld", &ran, &wait) == 2 ? wait : 0;
}
int main(int argc, char **argv)
{
	int schedstat = open("/proc/thread-self/schedstat", O_RDONLY);
	long last = now(), before = waited(schedstat), sum = 0;
	puts("ready"); fflush(stdout);
	for (int i = 0; argc > 1; i = (i + 1) % COUNT) {
		long t = now(), wait = waited(schedstat);
		sum += all[i](i, argc);
		if (t - last - (wait - before) > 100000) {
			printf("%ld %ld\n", t, t - last - (wait - before));
			fflush(stdout);
			t = now();
			wait = waited(schedstat);
		}
		last = t;
		before = wait;
	}
	return sum == 42;
}
"""


def standing_program(count):
    """Builds, once, a program with that many functions that says when it stood, and for how long."""
    names = ", ".join(f"function_{i}" for i in range(count))
    return many_functions(count, "stands", f"#define COUNT {count}\n"
                          f"static int (*volatile all[])(int, int) = {{ {names} }};\n{STANDS}", "static")


def stands(table, quick):
    """how long a program stands while sites are placed and taken out, by its own clock"""
    count = 5000
    table.section(f"cprof attach -d 1 -t program: {2 * count} sites")
    target, placed, out = standing_program(count), [], []
    for _ in range(1 if quick else 7):
        with tempfile.TemporaryFile("w+") as said, recording() as data:
            busy = subprocess.Popen([target, "on"], stdin=NULL, stdout=said)
            try:
                time.sleep(0.2)
                done = subprocess.run([CPROF, "attach", "-q", "-o", data, "-d", "1", "-t", "program", str(busy.pid)],
                                      stdin=NULL, stdout=NULL, stderr=NULL, check=False)
                middle = time.monotonic_ns() - 500_000_000
            finally:
                busy.kill()
                busy.wait()
            must(done.returncode, "cprof attach")
            said.seek(0)
            gaps = [tuple(map(int, line.split())) for line in said if line[0].isdigit()]
        placed.append(max([gap for at, gap in gaps if at < middle], default=0))
        out.append(max([gap for at, gap in gaps if at >= middle], default=0))
    for name, values in (("placed", placed), ("taken out", out)):
        table.row(name, f"{statistics.median(values) / 1e6:.1f} ms at most", "",
                  spread(values, lambda v: f"{v / 1e6:.1f} ms"))
