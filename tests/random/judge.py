#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Traces generated programs (make.py) in all ways, and looks whether they notice.

    judge.py --cprof=CPROF [--seeds=FROM..TO] [--modes=run,attach] [--how="gcc -O0"] [--seconds=N]

A seed says which program it is, which compiler makes it of which language, and what is
traced in which way. "run": from the beginning to the end; its output is that of the
program alone, what is called is the same by detours as by breakpoints (trees_judge.py),
and as often as the program itself has counted, where the compiler leaves all calls in.
"attach": to a program that goes on, round after round, with limits, timers, threads,
commands of ctl, and SIGKILL of cprof now and then; it says in the end whether it was as
it should be, and its code is that of its file. What is wrong is told with its seed:
--seeds=N..N does it again. --seconds ends it after that program; --keep leaves the
programs where they are.
"""
import argparse
import json
import mmap
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../cli")]
import make  # noqa: E402
import trees_judge  # noqa: E402

# Functions side by side, with and without room between them.
HOWS = [
    "gcc -O0", "gcc -O0 -fcf-protection=none", "gcc -O1 -fno-align-functions", "gcc -O1 -fno-omit-frame-pointer",
    "gcc -O2", "gcc -O2 -fno-align-functions -fcf-protection=full", "gcc -O3 -fno-align-functions", "gcc -Os",
    "gcc -Os -no-pie -fno-pie", "gcc -O2 -fno-align-functions -fno-jump-tables -fstack-protector-strong",
    "gcc -O2 -static -fno-align-functions", "gcc -Os -fno-optimize-sibling-calls",
    "clang -O0", "clang -O1", "clang -Oz", "clang -Os -no-pie -fno-pie", "clang -O2 -falign-functions=1", "clang -O3",
]
LIMIT = 90  # seconds, after which what hangs is given up


class Fault(Exception):
    pass


def cprof(*words, check=True):
    done = subprocess.run([args.cprof, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=LIMIT, check=False)
    if check and done.returncode:
        raise Fault(f"cprof {' '.join(words)[:300]}: status {done.returncode}: {done.stderr.decode()[-300:]}")
    return done


def until(true, what):
    ends = time.monotonic() + LIMIT
    while not true():
        if time.monotonic() > ends:
            raise Fault(f"never: {what}")
        time.sleep(0.001)


def build(seed, how, *options):
    """Of a program's source; its path."""
    words = how.split()
    language = "c++" if random.Random(f"language {seed}").random() < 0.25 else "c"
    if language == "c++":
        words[0] = {"gcc": "g++", "clang": "clang++"}[words[0]]
    path = f"{place}/p{seed}" + "".join(options)
    with open(f"{place}/p{seed}.{language}", "w", encoding="ascii") as f:
        f.write(make.source(seed, language))
    subprocess.run([*words, *options, "-x", language, "-g", "-w", "-Wno-psabi", "-fwrapv", "-pthread",
                    "-o", path, f.name], check=True)
    return path


def said_by(words):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT, check=False)
    return done.returncode, done.stdout.decode()


def some_functions(rnd):
    """A SPEC: all, some, or some in a row."""
    likely, first = rnd.choice([0.2, 0.5, 0.9]), rnd.randrange(make.COUNT)
    some = [f"f{i}" for i in range(make.COUNT) if rnd.random() < likely] or ["f1"]
    row = [f"f{i}" for i in range(first, min(first + 3, make.COUNT))]
    return rnd.choice(["program", ",".join(some), ",".join(some), ",".join(row)])


# Run


def counts_of(data):
    calls = json.loads(cprof("report", "--calls", "--json", data).stdout)["calls"]["functions"]
    found = {}
    for row in calls:
        found[row["function"]] = found.get(row["function"], 0) + row["calls"]
    return found


def trees_of(data):
    with open(f"{data}.json", "wb") as f:
        f.write(cprof("replay", "--json", data).stdout)
    return trees_judge.threads(f.name)


def under(program, native, *options):
    """Its recording, if the program has said what it says alone."""
    data = f"{place}/run.data"
    words = [args.cprof, "run", "-q", "-o", data, *options, "--", program]
    said = said_by(words)
    if said != native:
        raise Fault(f"run {' '.join(options)[:400]}: {said} and not {native}")
    return data


def run_seed(seed, how):
    rnd = random.Random(f"run {seed}")
    program = build(seed, how)
    native = said_by([program])
    if native[0]:
        raise Fault(f"alone: {native}")
    everything = ["--max-rate=0", "-t", "/^[a-z][0-9]+$/"]
    data = under(program, native, "--on-full=wait", *everything)
    counts, trees = counts_of(data), trees_of(data)
    trees_by_traps = trees_of(under(program, native, "--traps", *everything))
    if trees_judge.compare(trees_by_traps, trees) is None:
        raise Fault("other calls than with --traps")
    if how.startswith("gcc") and (" -O0" in how or "sibling" in how):
        lines = said_by([build(seed, "gcc -O0", "-DCOUNTED")])[1].split("\n")[1:]
        for name, count in (line.split() for line in lines if line):
            if int(count) and counts.get(name, 0) != int(count):
                raise Fault(f"{name}: {counts.get(name, 0)} calls and not {count}")
    under(program, native, "-a", "-r", "--depth=1", "--max-rate=0", "-t", "program")
    under(program, native, "-t", some_functions(rnd), *rnd.choice(WAYS))
    return 4


# Attach

WAYS = [["--max-rate=0"], ["--max-rate=10"], ["--max-rate=100"], ["--max-rate=1000"], ["--max-rate=20000"],
        ["--summary", "--max-rate=0"], ["-a", "-r"], ["-a", "-r", "--depth=1", "--max-rate=0"], ["--stack"], ["--traps"]]


class Running:
    """A program that goes on until it is told to end."""

    def __init__(self, program, rnd):
        self.threads = rnd.choice([1, 1, 2, 3])
        us, leaps = rnd.choice([0, 0, 500, 2000]), rnd.choice([0, 1])
        with open(f"{place}/counts", "w+b") as f:
            f.truncate(4096)
            self.map = mmap.mmap(f.fileno(), 4096)
        self.words = [program, f.name, str(self.threads), str(us), str(leaps)]
        self.process = subprocess.Popen(self.words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT)
        self.pid = self.process.pid
        self.goes_on()

    def rounds(self):
        return [int.from_bytes(self.map[8 * i:8 * i + 8], "little") for i in range(self.threads)]

    def ended(self):
        return self.process.poll() is not None

    def goes_on(self, rounds=1):
        """Each thread, or the program has ended, which finish() tells."""
        before = self.rounds()
        until(lambda: self.ended() or all(b >= a + rounds for a, b in zip(before, self.rounds())),
              f"a thread of {' '.join(self.words)} stands still: {before} and {self.rounds()}")

    def alive(self, what):
        if self.ended():
            raise Fault(f"{what}: {self.process.returncode}, {self.process.stdout.read().decode()!r}")

    def finish(self):
        self.process.terminate()
        try:
            out = self.process.communicate(timeout=LIMIT)[0].decode().strip()
        except subprocess.TimeoutExpired:
            raise Fault("does not end") from None
        if out != "fine" or self.process.returncode:
            raise Fault(f"said {out!r}, status {self.process.returncode}")

    def kill(self):
        if not self.ended():
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.map.close()


def children_of(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
            return [int(word) for word in f.read().split()]
    except OSError:
        return []


def traced(pid):
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/status", encoding="utf-8", errors="replace") as f:
                if "\nTracerPid:\t0\n" not in f.read():
                    return True
    except OSError:
        pass
    return False


def text_is_back(running):
    said = said_by([sys.executable, os.path.join(HERE, "../cli/text_of"), str(running.pid)])
    if said[0] and not running.ended():
        raise Fault(f"code was left: {said[1]}")


def background(words):
    return subprocess.Popen([args.cprof, *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL)


def killed(running, rnd, words):
    """SIGKILL after some rounds of the program, of one of cprof's processes or of all."""
    session = background(words + ["-d", "2s", str(running.pid)])
    before, rounds = sum(running.rounds()), rnd.choice([1, 3, 10, 50])
    if rnd.random() < 0.7:
        until(lambda: traced(running.pid) or session.poll() is not None or running.ended(), "traced")
    until(lambda: sum(running.rounds()) >= before + rounds or session.poll() is not None or running.ended(),
          f"{rounds} rounds while it is traced")
    children = children_of(session.pid)
    for pid in rnd.choice([[session.pid], children, [session.pid, *children], [*children, session.pid]]) or [session.pid]:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    session.wait(LIMIT)
    until(lambda: running.ended() or not traced(running.pid), "left alone after SIGKILL")


def steered(running, rnd, words):
    """ctl says other functions while it runs; what is refused is no matter."""
    session = background(words + ["-d", "60s", str(running.pid)])
    try:
        until(lambda: session.poll() is not None or running.ended()
              or not cprof("ctl", str(running.pid), "status", check=False).returncode, "a session that is steered")
        for _ in range(rnd.randint(2, 6)):
            what = rnd.choice(["trace", "trace", "untrace", "untrace", "pause", "resume"])
            cprof("ctl", str(running.pid), what, *([some_functions(rnd)] if "trace" in what else []), check=False)
        cprof("ctl", str(running.pid), "stop", check=False)
        if session.wait(LIMIT) and not running.ended():
            raise Fault(f"status {session.returncode}")
    finally:
        if session.poll() is None:
            session.terminate()
            session.wait(LIMIT)


def attach_round(running, rnd):
    words = ["attach", "-q", "-o", f"{place}/attach.data", "-t", some_functions(rnd), *rnd.choice(WAYS)]
    kind = rnd.choice(["attach", "attach", "attach", "steered", "killed"])
    what = f"{kind}: {' '.join(words[4:])}; {' '.join(running.words[2:])}"
    try:
        if kind == "attach":
            cprof(*words, "-d", rnd.choice(["5ms", "50ms", "150ms"]), str(running.pid), check=not running.ended())
        else:
            {"steered": steered, "killed": killed}[kind](running, rnd, words)
        running.goes_on()
        running.alive("dead")
        if kind != "killed":
            text_is_back(running)
    except (Fault, subprocess.TimeoutExpired) as fault:
        state = "" if not running.ended() else f" (the program is dead: {running.process.returncode})"
        raise Fault(f"{what}: {fault}{state}") from None


def attach_seed(seed, how):
    rnd = random.Random(f"attach {seed}")
    running = Running(build(seed, how), rnd)
    try:
        for _ in range(args.rounds):
            attach_round(running, rnd)
        # What one that was killed may have left.
        cprof("attach", "-q", "-o", f"{place}/attach.data", "-s", "99", "-d", "5ms", str(running.pid))
        running.goes_on()
        text_is_back(running)
        running.finish()
    finally:
        running.kill()
    return args.rounds


def how_of(seed):
    how = args.how or random.Random(f"how {seed}").choice(HOWS)
    return how if shutil.which(how.split()[0]) else "gcc -O2"


def main():
    first, last = (int(word) for word in args.seeds.split(".."))
    ends = time.monotonic() + args.seconds if args.seconds else None
    programs, tried, faults = 0, 0, 0
    for seed in range(first, last + 1):
        for mode in args.modes.split(","):
            if ends and time.monotonic() > ends:
                break
            how = how_of(seed)
            programs += 1
            try:
                tried += {"run": run_seed, "attach": attach_seed}[mode](seed, how)
            except (Fault, subprocess.TimeoutExpired) as fault:
                faults += 1
                print(f"seed {seed}, {mode}, {how}: {fault}", flush=True)
        if not args.keep:
            for name in os.listdir(place):
                if name.startswith("p"):
                    os.unlink(f"{place}/{name}")
    print(f"{programs} programs, {tried} times traced, {faults} faults")
    return faults != 0


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cprof", required=True)
    parser.add_argument("--seeds", default="1..10")
    parser.add_argument("--modes", default="run,attach")
    parser.add_argument("--how", default="")
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--keep", default="")
    return parser.parse_args()


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(3))
    args = arguments()
    with tempfile.TemporaryDirectory(prefix="random.") as place:
        if args.keep:
            place = args.keep
        os.mkdir(f"{place}/runtime", 0o700)
        os.environ |= {"XDG_RUNTIME_DIR": f"{place}/runtime", "XDG_CACHE_HOME": f"{place}/cache"}
        sys.exit(main())
