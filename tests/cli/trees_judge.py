#!/usr/bin/env python3
"""Compares two recordings' events as `cprof replay --json` has them: what each thread
called, in which order and at which depth, with which values.

    trees_judge.py OLD NEW

Times, numbers of processes and threads and addresses differ between two runs of a
program; all else may not."""

import json
import re
import sys

TIMES = {"ts_ns", "pid", "tid", "duration_ns", "overhead_ns", "uncertain_ns", "cpu_ns", "entered_ns",
         "entered_tid", "entered_pid", "address", "pointer"}
ADDRESS = re.compile(r"0x[0-9a-f]{5,}")


def plain(value):
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items() if k not in TIMES}
    if isinstance(value, list):
        return [plain(v) for v in value]
    return ADDRESS.sub("0x", value) if isinstance(value, str) else value


def threads(path):
    """Events of each thread, in the order in which threads first do something."""
    found = {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            event = json.loads(line)
            if event["event"] in ("enter", "leave", "tail_call", "unwind", "inherited"):
                found.setdefault((event["pid"], event["tid"]), []).append(plain(event))
    return found


def ordered(events):
    """What one jump leaves behind ends at the same moment, in any order."""
    found, ended = [], []
    for event in events:
        if event["event"] == "unwind":
            ended.append(event)
            continue
        found += sorted(ended, key=json.dumps) + [event]
        ended = []
    return found + sorted(ended, key=json.dumps)


def compare(old, new):
    count = 0
    if len(old) != len(new):
        print(f"{len(old)} threads and {len(new)}")
        return None
    # Threads that run beside each other come in any order: by what they did, then.
    old = [ordered(events) for events in old.values()]
    new = [ordered(events) for events in new.values()]
    for a, b in zip(sorted(old, key=json.dumps), sorted(new, key=json.dumps)):
        for number, (x, y) in enumerate(zip(a, b)):
            if x != y:
                print(f"event {number} of a thread:\n  {json.dumps(x)}\n  {json.dumps(y)}")
                return None
        if len(a) != len(b):
            longer = a if len(a) > len(b) else b
            print(f"{len(a)} events and {len(b)}: {json.dumps(longer[min(len(a), len(b))])}")
            return None
        count += len(a)
    return count


def main():
    count = compare(threads(sys.argv[1]), threads(sys.argv[2]))
    if count is None:
        return 1
    print(f"{count} events, the same")
    return 0


if __name__ == "__main__":
    sys.exit(main())
