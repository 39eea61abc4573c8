"""What all benchmarks share: programs, rounds, medians with spread, a table."""
import contextlib
import json
import os
import pathlib
import platform
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / "build"
CPROF = str(BUILD / "cprof")
NULL = subprocess.DEVNULL


class LeftOut(Exception):
    """This measurement can't be made here; the text says why."""


def program(name):
    """A program of tests/bench."""
    return str(BUILD / "tests/bench" / f"bench-{name}")


def need(name):
    """The path of an installed program, or LeftOut."""
    path = shutil.which(name)
    if not path:
        raise LeftOut(f"{name} is not installed")
    return path


class Table:
    """Rows are printed as they come: a run takes minutes."""

    def __init__(self):
        print(f"{'what':<54} {'value':>12}  {'against':<34} spread")

    def section(self, title):
        print(f"\n== {title}")

    def row(self, what, value, against="", spread=""):
        print(f"{what:<54} {value:>12}  {against:<34} {spread}".rstrip(), flush=True)

    def left_out(self, what, why):
        print(f"{what:<54} {'left out':>12}  {why}", flush=True)


def spread(values, form):
    """The lowest and highest of a few rounds."""
    return f"{form(min(values))} to {form(max(values))} of {len(values)}" if len(values) > 1 else ""


def measured(rounds, ways):
    """Runs each way once a round, in turn; `ways` maps a name to a function that
    answers a figure. Answers the figures of each, and of those that can't be had
    why."""
    figures, out = {name: [] for name in ways}, {}
    for _ in range(rounds):
        for name, measure in ways.items():
            if name in out:
                continue
            try:
                figures[name].append(measure())
            except (LeftOut, subprocess.TimeoutExpired) as why:
                out[name] = str(why)
    return figures, out


def ratio_rows(table, rounds, ways, base):
    """Prints of each way (measured()) the median of the ratio to `base` within
    the same round, so that the machine's moods cancel out."""
    figures, out = measured(rounds, ways)
    for name, values in figures.items():
        if name in out:
            table.left_out(name, out[name])
        elif name == base:
            table.row(name, f"{statistics.median(values):.3g} s", "", spread(values, lambda v: f"{v:.3g} s"))
        else:
            ratios = [v / b for v, b in zip(values, figures[base])]
            table.row(name, f"{(statistics.median(ratios) - 1) * 100:+.1f} %", f"time of '{base}'",
                      spread(ratios, lambda v: f"{(v - 1) * 100:+.1f} %"))
    return figures


@contextlib.contextmanager
def running(command, ready=None, **kwargs):
    """A program that runs in the background; waits for the line `ready`."""
    kwargs.setdefault("stdout", subprocess.PIPE if ready else NULL)
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=NULL, text=True, **kwargs)
    try:
        if ready and process.stdout.readline().strip() != ready:
            raise LeftOut(f"{command[0]} did not start")
        yield process
    finally:
        process.kill()
        process.communicate()


def cpu_of(command, **kwargs):
    """Runs a command; answers its exit status, its own CPU seconds (children it
    waited for included), and the elapsed seconds."""
    start = time.monotonic()
    process = subprocess.Popen(command, stdin=NULL, stdout=NULL, stderr=NULL, **kwargs)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, used.ru_utime + used.ru_stime, time.monotonic() - start


def cpu_so_far(pid):
    """CPU seconds of a process and its children so far."""
    total = 0
    with contextlib.suppress(OSError):
        for tid in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{tid}/children", encoding="ascii") as children:
                total += sum(cpu_so_far(int(child)) for child in children.read().split())
            with open(f"/proc/{pid}/task/{tid}/schedstat", encoding="ascii") as stat:
                total += int(stat.read().split()[0]) / 1e9
    return total


def must(status, what):
    if status:
        raise LeftOut(f"{what} ended with {status}")


def report(recording):
    """What `cprof report --json` says of a recording."""
    out = subprocess.run([CPROF, "report", "--json", recording], capture_output=True, text=True)
    must(out.returncode, "cprof report --json")
    return json.loads(out.stdout)


@contextlib.contextmanager
def recording():
    with tempfile.TemporaryDirectory(prefix="cprof-bench-") as where:
        yield os.path.join(where, "bench.data")


def attach(pid, data, *options):
    """The command that profiles a running process."""
    return [CPROF, "attach", "-q", "-o", data, *options, str(pid)]


def stop(process, with_signal=signal.SIGINT):
    process.send_signal(with_signal)
    process.wait()


def machine():
    model = platform.processor()
    with contextlib.suppress(OSError, StopIteration):
        with open("/proc/cpuinfo", encoding="utf-8") as info:
            model = next(line.split(":")[1].strip() for line in info if line.startswith("model name"))
    load = os.getloadavg()[0]
    version = subprocess.run([CPROF, "--version"], capture_output=True, text=True, check=False).stdout.strip()
    return (f"{version}; {model}, {len(os.sched_getaffinity(0))} CPUs, Linux {platform.release()}, "
            f"load {load:.1f}, {time.strftime('%Y-%m-%d %H:%M')}")


def allow_many_files():
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def note(text):
    print(text, file=sys.stderr, flush=True)
