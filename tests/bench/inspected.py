"""What it costs to look into a running program."""
import os
import statistics
import subprocess
import tempfile
import time

from harness import CPROF, NULL, must, need, running, spread

COPIES = 150 # of 2 MB of debug information each; strings of all are one
HOLDS = "tests/cli/inspect_boxes.cpp"


def large(directory):
    """A program with more than 100 MB of debug information: one file, over and over again."""
    one = os.path.join(directory, "one.o")
    done = subprocess.run([need("g++"), "-g", "-std=c++20", "-c", "-o", one, HOLDS], check=False)
    must(done.returncode, "g++")
    names = subprocess.run([need("nm"), "-g", "--defined-only", one], capture_output=True, text=True, check=True).stdout
    local = [f"--localize-symbol={line.split()[2]}" for line in names.splitlines() if line.split()[1] in "BD"]
    copies = [os.path.join(directory, f"{n}.o") for n in range(COPIES)]
    for n, copy in enumerate(copies):
        subprocess.run([need("objcopy"), f"--redefine-sym=main=main_{n}", *local, one, copy], check=True)
    path = os.path.join(directory, "large")
    must(subprocess.run(["g++", "-o", path, one, *copies], check=False).returncode, "g++")
    return path


def cost(command):
    """Elapsed and CPU milliseconds, and MB."""
    start = time.monotonic()
    process = subprocess.Popen(command, stdin=NULL, stdout=NULL, stderr=NULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    must(process.returncode, command[0])
    return (time.monotonic() - start) * 1e3, (used.ru_utime + used.ru_stime) * 1e3, used.ru_maxrss / 1024


def inspected(table, quick):
    """the first value of a program with 120 MB of debug information, beside gdb; ten watched values"""
    with tempfile.TemporaryDirectory() as directory, running([large(directory)], "ready") as process:
        pid = str(process.pid)
        gdb = [need("gdb"), "-q", "-nx", "-batch", "-iex", "set debuginfod enabled off", "-p", pid, "-ex"]
        ways = {"cprof inspect PID by_name": [CPROF, "inspect", pid, "by_name"],
                "cprof inspect PID counter": [CPROF, "inspect", pid, "counter"],
                "gdb -p PID -ex 'print counter'": [*gdb, "print counter"]}
        table.section("the first value of a program with 120 MB of debug information")
        for name, command in ways.items():
            costs = [cost(command) for _ in range(1 if quick else 5)]
            took = [elapsed for elapsed, _, _ in costs]
            cpu, size = (statistics.median(c[n] for c in costs) for n in (1, 2))
            table.row(name, f"{statistics.median(took):.0f} ms", f"{cpu:.0f} ms of CPU, {size:.0f} MB",
                      spread(took, lambda v: f"{v:.0f} ms"))
        table.section("ten expressions, ten times a second")
        seconds = 5 if quick else 20
        watch = subprocess.Popen([CPROF, "inspect", "--watch=100ms", pid, "counter", "numbers", "by_name", "short_text",
                                  "view", "done", 'by_name["two"]', "*unique", "bits", "path"],
                                 stdin=NULL, stdout=subprocess.PIPE, stderr=NULL, text=True)
        for _ in range(10):
            watch.stdout.readline() # debug information was read by then
        ticks, rate = [], os.sysconf("SC_CLK_TCK")
        for wait in (seconds, 0):
            with open(f"/proc/{watch.pid}/stat", encoding="ascii") as stat:
                ticks.append(sum(int(field) for field in stat.read().rsplit(")", 1)[1].split()[11:13]))
            time.sleep(wait)
        watch.terminate()
        watch.wait()
        table.row("cprof inspect --watch=100ms", f"{(ticks[1] - ticks[0]) / rate / seconds * 100:.2f} %", "of a CPU")
