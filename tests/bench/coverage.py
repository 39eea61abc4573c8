"""What coverage costs: placing a hundred thousand breakpoints, a program that
runs through few of them, one that works for seconds; beside gcov's build."""
import functools
import json
import os
import statistics
import subprocess
import tempfile
import time

from harness import LeftOut, NULL, must, need, program, ratio_rows, spread

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


def source():
    text = "#include <stdio.h>\n#include <stdlib.h>\n__attribute__((noinline)) static long f(long a) { return a + 1; }\n"
    text += "".join(FUNCTION % {"n": n} for n in range(FUNCTIONS))
    text += "static long (*const all[])(long, long) = {" + ", ".join(f"f{n}" for n in range(FUNCTIONS)) + "};\n"
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
def build(directory, *options):
    path = os.path.join(directory, "many" + "".join(options).replace("-", "_"))
    if not os.path.exists(directory + "/many.c"):
        with open(directory + "/many.c", "w", encoding="utf-8") as out:
            out.write(source())
    done = subprocess.run([need("gcc"), "-O0", "-g", *options, "-o", path, "many.c"], cwd=directory, check=False)
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
        table.section("coverage: it works for seconds in a quarter of its functions")
        work = ["20" if quick else "4000", "1000"]
        ways = {"native": lambda: seconds([plain, *work]), "cprof": lambda: covered([plain, *work], says)}
        if gcov:
            ways["gcov's build"] = lambda: seconds([gcov, *work], cwd=directory)
        ratio_rows(table, rounds, ways, "native")
        table.row("stops", f"{says[-1]['hits']}")
