#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""scripts/judge-stack: see there.

The process is stopped by a signal meanwhile, so both see the same. Of each
value all that both sides have is compared. What one side has and the other has
not is counted, too: gdb's knowing more is a gap of ours.
"""
import argparse
import collections
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

from compare import Comparison

Comparison.moves = False

HERE = os.path.dirname(os.path.abspath(__file__))
CPROF = os.environ.get("CPROF", os.path.join(HERE, "../../build/cprof"))


def stop(pid):
    """Until every thread is."""
    os.kill(pid, signal.SIGSTOP)
    while True:
        states = []
        for tid in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{tid}/stat", encoding="utf-8") as file:
                states.append(file.read().rsplit(")", 1)[1].split()[0])
        if all(state in "TtZX" for state in states):
            return
        time.sleep(0.001)


def ours(pid):
    out = subprocess.run([CPROF, "stack", "--json", "--args", "--locals", "--stop", str(pid)],
                         stdout=subprocess.PIPE, check=True).stdout
    return {(t["tid"], n): f for t in json.loads(out)["threads"] for n, f in enumerate(t["frames"])}


def gdbs(pid):
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "said")
        log = subprocess.run(["gdb", "-q", "-nx", "-batch", "-iex", "set debuginfod enabled off",
                              "-p", str(pid), "-x", os.path.join(HERE, "stack_gdb.py")],
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False,
                             stderr=subprocess.STDOUT, env={**os.environ, "JUDGE": path})
        if not os.path.exists(path):
            sys.exit("gdb said nothing:\n" + log.stdout.decode(errors="replace"))
        with open(path, encoding="utf-8") as file:
            return [json.loads(line) for line in file]


def known(value):
    """Something was said of it; of a structure of any of its members."""
    if isinstance(value, dict) and "members" in value:
        return any(known(v) for v in value["members"].values())
    return value is not None


def compare(mine, said, counts):
    """Yields (what, text) for each variable that is not the same."""
    named = collections.Counter((v["name"], v["kind"]) for v in said["variables"])
    lists = {"arg": mine.get("args") or [], "local": mine.get("locals") or []}
    for theirs in said["variables"]:
        key = theirs["name"], theirs["kind"]
        matching = [v for v in lists[key[1]] if v["name"] == key[0]]
        if named[key] != 1 or len(matching) > 1: # shadowed: which is which can't be told
            counts["shadowed"] += 1
            continue
        if not matching and not known(theirs["value"]):
            counts["neither"] += 1 # nothing but a name, of what is optimised out
            continue
        if not matching:
            counts["missing"] += 1
            yield "not there", f"{key[0]}: gdb's {theirs['value']}"
            continue
        mine_has, gdb_has = "error" not in matching[0], known(theirs["value"])
        if mine_has and gdb_has:
            c = Comparison()
            c.whole(key[0], matching[0], matching[0]["value"], theirs["value"])
            counts["same" if not c.apart else "apart"] += bool(c.same or c.apart)
            counts["leaves"] += c.same
            for path, one, other in c.apart:
                yield "apart", f"{path} ({matching[0]['type']}): ours {one}, gdb's {other}"
        elif gdb_has:
            counts["gdb alone"] += 1
            yield "gdb alone", f"{key[0]} ({matching[0]['type']}): {matching[0]['error']}, gdb's {theirs['value']}"
        else:
            counts["ours alone" if mine_has else "neither"] += 1
            if mine_has:
                yield "ours alone", f"{key[0]} ({matching[0]['type']}): {matching[0]['text']}"


def main():
    stop(OPTIONS.pid)
    try:
        mine, said = ours(OPTIONS.pid), gdbs(OPTIONS.pid)
    finally:
        os.kill(OPTIONS.pid, signal.SIGCONT)
    counts = collections.Counter()
    for frame in said:
        own = mine.get((frame["tid"], frame["frame"]))
        if not own or int(own["ip"], 16) != frame["ip"] or own["inlined"] != frame["inlined"]:
            counts["frames apart"] += 1
            print(f"{frame['tid']} #{frame['frame']} {frame['function']}: another frame")
            continue
        counts["frames"] += 1
        for what, text in compare(own, frame, counts):
            if what in ("apart", "not there") or OPTIONS.all:
                print(f"{frame['tid']} #{frame['frame']} {frame['function']}: {what}: {text}")
    for what in ("frames", "frames apart", "same", "leaves", "apart", "missing", "gdb alone",
                 "ours alone", "neither", "shadowed"):
        print(f"{counts[what]:9}  {what}")
    return 1 if counts["apart"] or counts["missing"] or not counts["same"] else 0


def options():
    p = argparse.ArgumentParser(prog="judge-stack")
    p.add_argument("--all", action="store_true")
    p.add_argument("pid", type=int)
    return p.parse_args()


OPTIONS = options()
sys.exit(main())
