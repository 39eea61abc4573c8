"""What many short processes cost under coverage and while calls are traced."""
import os
import statistics
import subprocess
import tempfile
import time

import coverage
from harness import CPROF, NULL, LeftOut, measured, must, need, recording, report, spread

PROCESSES = 100
FUNCTIONS = 300
LOOP = f'i=0; while [ $i -lt {PROCESSES} ]; do "$@" $((i % 7)) || exit; i=$((i + 1)); done'


def source():
    """Of coverage's functions a few; a process calls those that its argument says."""
    text = "#include <stdlib.h>\n__attribute__((noinline)) static long f(long a) { return a + 1; }\n"
    text += "".join(coverage.FUNCTION % {"n": n} for n in range(FUNCTIONS))
    text += "static long (*const all[])(long, long) = {" + ", ".join(f"f{n}" for n in range(FUNCTIONS)) + "};\n"
    return text + """int main(int argc, char **argv)
{
	long which = argc > 1 ? atol(argv[1]) : 0, sum = 0;
	for (long n = which; n < %d; n += 11)
		sum += all[n](which + 2, n);
	return sum == 42;
}
""" % FUNCTIONS


def build(directory, *options):
    path = os.path.join(directory, "short" + "".join(options).replace("-", "_"))
    if not os.path.exists(directory + "/short.c"): # else it would be newer than what was built
        with open(directory + "/short.c", "w", encoding="utf-8") as out:
            out.write(source())
    done = subprocess.run([need("gcc"), "-O0", "-g", *options, "-o", path, "short.c"], cwd=directory, check=False)
    must(done.returncode, "gcc")
    return path


def each(before, program, cwd=None):
    """Milliseconds a process, of PROCESSES that a shell starts one after the other."""
    start = time.monotonic()
    done = subprocess.run([*before, "sh", "-c", LOOP, "sh", *program], stdin=NULL, stdout=NULL, stderr=NULL,
                          cwd=cwd, check=False)
    took = time.monotonic() - start
    must(done.returncode, program[0])
    return took * 1e3 / PROCESSES


def rows(table, rounds, ways, costs):
    figures, out = measured(rounds, ways)
    for name, values in figures.items():
        if name in out:
            table.left_out(name, out[name])
        else:
            table.row(name, f"{statistics.median(values):.2f} ms", "a process", spread(values, lambda v: f"{v:.2f} ms"))
    if costs:
        table.row("  CPU of cprof", f"{statistics.median(costs):.2f} ms", "a process", spread(costs, lambda v: f"{v:.2f} ms"))


def ours(data, costs, command, program):
    def run():
        took = each([CPROF, *command, "-q", "-o", data], program)
        cost = report(data)["overhead"]
        costs.append((cost["tracer_cpu_ns"] + cost["controller_cpu_ns"]) / 1e6 / PROCESSES)
        return took
    return run


def short(table, quick):
    """a hundred short processes: coverage beside gcov, calls beside strace"""
    rounds = 1 if quick else 7
    with tempfile.TemporaryDirectory() as directory, recording() as data:
        plain, covered, traced = build(directory), [], []
        try:
            gcov = build(directory, "--coverage")
        except LeftOut:
            gcov = None
        table.section(f"{PROCESSES} processes that use parts of a program of {FUNCTIONS} functions")
        ways = {"native": lambda: each([], [plain]), "cover": ours(data, covered, ["cover"], [plain])}
        if gcov:
            ways["gcov's build"] = lambda: each([], [gcov], directory)
        rows(table, rounds, ways, covered)
        table.section(f"{PROCESSES} times lua5.4 -e x=1, calls of luaL_*")
        lua = [need("lua5.4"), "-e", "x=1"]
        rows(table, rounds,
             {"native": lambda: each([], [*lua, "-"]), "run -t 'luaL_*'": ours(data, traced, ["run", "-t", "luaL_*"], [*lua, "-"]),
              "strace -f": lambda: each([need("strace"), "-f", "-o", "/dev/null"], [*lua, "-"])}, traced)
