"""What coverage costs: placing a hundred thousand breakpoints, a program that
runs through few of them, one that works for seconds; beside gcov's build."""
import functools
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from harness import (CPROF, LeftOut, NULL, measured, must, need, program, ratio_rows, recording, report,
                     spread)

FUNCTIONS = 4000
# Per function: eighteen blocks and a few jumps that blocks do not tell of.
FUNCTION = """static long f%(n)d(long a, long b)
{
	long sum = %(n)d;
	for (long i = 0; i < a; i++) {
		if (i & 1 && b > i)
			sum += i * b;
		else if (i > 5 || sum & 4)
			sum ^= i;
		if (b)
			sum++;
		switch (i & 3) {
		case 0: sum += 3; break;
		case 1: sum -= 2; break;
		case 2: if (sum < 0) sum = -sum; break;
		default: sum *= 5;
		}
	}
	if (sum == 42 || b == -1)
		return f(a);
	return sum;
}
"""


def source(functions):
    text = "#include <stdio.h>\n#include <stdlib.h>\n__attribute__((noinline)) static long f(long a) { return a + 1; }\n"
    text += "".join(FUNCTION % {"n": n} for n in range(functions))
    text += "static long (*const all[])(long, long) = {" + ", ".join(f"f{n}" for n in range(functions)) + "};\n"
    text += """int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 0, used = argc > 2 ? atol(argv[2]) : 4000, sum = 0;
	for (long r = 0; r < rounds; r++)
		for (long n = 0; n < used; n++)
			sum += all[n](20, r);
	printf("%ld\\n", sum);
	return 0;
}
"""
    return text


@functools.lru_cache(maxsize=None)
def build(directory, *options, functions=FUNCTIONS):
    name = f"many{functions}" if functions != FUNCTIONS else "many"
    path = os.path.join(directory, name + "".join(options).replace("-", "_"))
    if not os.path.exists(f"{directory}/{name}.c"):
        with open(f"{directory}/{name}.c", "w", encoding="utf-8") as out:
            out.write(source(functions))
    done = subprocess.run([need("gcc"), "-O0", "-g", *options, "-o", path, f"{name}.c"], cwd=directory, check=False)
    must(done.returncode, "gcc")
    return path


def seconds(command, **kwargs):
    start = time.monotonic()
    done = subprocess.run(command, stdin=NULL, stdout=NULL, check=False, **kwargs)
    took = time.monotonic() - start
    must(done.returncode, command[0])
    return took


def covered(command, says):
    done = subprocess.run([program("cover"), *command], stdin=NULL, capture_output=True, text=True, check=False)
    must(done.returncode, "bench-cover")
    said = json.loads(done.stdout.splitlines()[-1])
    says.append(said)
    return said["run"] + said["told"]


def coverage(table, quick):
    """what coverage costs, beside gcov"""
    rounds = 1 if quick else 7
    with tempfile.TemporaryDirectory() as directory:
        plain = build(directory)
        try:
            gcov = build(directory, "--coverage")
        except LeftOut:
            gcov = None
        table.section("coverage: a program of a hundred thousand blocks and branches")
        says = []
        native = [seconds([plain]) for _ in range(rounds)]
        took = [covered([plain], says) for _ in range(rounds)]
        table.row("sites", f"{says[0]['sites']}")
        table.row("  placing them", f"{statistics.median(s['placing'] for s in says) * 1e3:.1f} ms", "",
                  spread([s["placing"] for s in says], lambda v: f"{v * 1e3:.1f} ms"))
        table.row("it does nothing: native", f"{statistics.median(native) * 1e3:.1f} ms", "",
                  spread(native, lambda v: f"{v * 1e3:.1f} ms"))
        table.row("  covered, lines read", f"{statistics.median(took) * 1e3:.0f} ms", "",
                  spread(took, lambda v: f"{v * 1e3:.0f} ms"))
        covered_work(table, rounds, plain, gcov, "it works for milliseconds in a quarter of its functions", "20")
        if not quick:
            covered_work(table, rounds, plain, gcov, "it works for seconds there", "4000")
    test_program(table, rounds)
    exact_counts(table, rounds)


def build_both(table, directory):
    """A program of 600 functions, and gcov's build of it; None: left out."""
    plain = build(directory, functions=600)
    try:
        return plain, build(directory, "--coverage", functions=600)
    except LeftOut as why:
        table.left_out("gcov's build", str(why))
        return plain, None


def exact_counts(table, rounds):
    """How often each block was executed: by detours, and by a breakpoint each."""
    table.section("coverage: exact counts of short work in a sixth of a program of 600 functions")
    with tempfile.TemporaryDirectory() as directory, recording() as data:
        work, stops = ["20", "100"], {}
        plain, gcov = build_both(table, directory)
        ways = {"native": lambda: seconds([plain, *work])}
        for name, options in (("cover --count", []), ("cover --count --traps", ["--traps"])):
            ways[name] = functools.partial(counted, name, stops, data, [*options, "--", plain, *work])
        if gcov:
            ways["gcov's build"] = lambda: seconds([gcov, *work], cwd=directory)
        milliseconds(table, *measured(rounds, ways), stops)


def counted(name, stops, data, command):
    took = seconds([CPROF, "cover", "--count", "-q", "-o", data, *command], stderr=NULL)
    stops[name] = report(data)["overhead"]["stops"]
    return took


def milliseconds(table, figures, out, stops=None):
    for name, values in figures.items():
        if name in out:
            table.left_out(name, out[name])
            continue
        against = f"{stops[name]} stops" if stops and name in stops else ""
        table.row(name, f"{statistics.median(values) * 1e3:.0f} ms", against,
                  spread(values, lambda v: f"{v * 1e3:.0f} ms"))


def test_program(table, rounds):
    """As unit tests are: tens of milliseconds, in half of a program of 600 functions."""
    table.section("coverage: a test program, from its start to the end of cprof cover")
    with tempfile.TemporaryDirectory() as directory, recording() as data:
        work = ["1800", "300"]
        plain, gcov = build_both(table, directory)
        ways = {"native": lambda: seconds([plain, *work])}
        for branches in ("budget", "none"):
            ways[f"cover --branches={branches}"] = functools.partial(
                seconds, [CPROF, "cover", "-q", f"--branches={branches}", "-o", data, "--", plain, *work], stderr=NULL)
        if gcov:
            ways["gcov's build"] = lambda: seconds([gcov, *work], cwd=directory)
        milliseconds(table, *measured(rounds, ways))


def covered_work(table, rounds, plain, gcov, what, times):
    table.section(f"coverage: {what}")
    work, says, directory = [times, "1000"], [], os.path.dirname(plain)
    ways = {"native": lambda: seconds([plain, *work]), "cprof": lambda: covered([plain, *work], says)}
    if gcov:
        ways["gcov's build"] = lambda: seconds([gcov, *work], cwd=directory)
    ratio_rows(table, rounds, ways, "native")
    table.row("stops", f"{says[-1]['hits']}")


def starts(table, quick):
    """starts with and without what earlier runs worked out of the same files"""
    rounds = 1 if quick else 7
    with tempfile.TemporaryDirectory() as directory, recording() as data:
        many, places = build(directory), {"first": directory + "/first", "later": directory + "/later"}
        for name, command, target in (("cover", ["cover"], [many]), ("run -t f7", ["run", "-t", "f7"], [many]),
                                      ("run -t sqlite3_open", ["run", "-t", "sqlite3_open"], ["sqlite3", "-version"]),
                                      ("run -t Py_BytesMain", ["run", "-t", "Py_BytesMain"], [sys.executable, "-V"])):
            table.section(f"starts: {name} -- {os.path.basename(' '.join(target))}")
            try:
                target = [need(target[0]), *target[1:]]
                rows(table, rounds, {way: started(data, places[way], way, command, target) for way in places})
            except LeftOut as why:
                table.left_out(name, str(why))


def started(data, place, way, command, target):
    """Answers a function: milliseconds of a start, and of the controller's CPU."""
    def once():
        if way == "first":
            shutil.rmtree(place, ignore_errors=True)
        elif not os.path.exists(place):
            seconds([CPROF, *command, "-q", "-o", data, "--", *target], stderr=NULL, env=at(place))
        took = seconds([CPROF, *command, "-q", "-o", data, "--", *target], stderr=NULL, env=at(place))
        return took * 1e3, report(data)["overhead"]["controller_cpu_ns"] / 1e6
    return once


def at(place):
    return {**os.environ, "XDG_CACHE_HOME": place}


def rows(table, rounds, ways):
    figures, out = measured(rounds, ways)
    for name, values in figures.items():
        if name in out:
            table.left_out(name, out[name])
            continue
        for what, number in ((name, 0), ("  CPU of the controller", 1)):
            chosen = [v[number] for v in values]
            table.row(what, f"{statistics.median(chosen):.1f} ms", "", spread(chosen, lambda v: f"{v:.1f} ms"))
