#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""replay_judge.py EVENTS REPORT: adds up the events of `cprof replay --json`,
in the plainest way, and compares with `cprof report --json`.

A stack for each thread; a leave ends the call on top of it. Durations are less
overhead, and bounds if they are uncertain by more; sums are those of what is shown.
total: of calls that are not inside of another one of the same function; self: less the
most likely times of the calls made by it, which are in the middle of what is uncertain,
and no more uncertain than the rest of it; a part of total; quantiles: the nearest rank;
average and deviation: of calls that are over. A call that is open at the end took until
then."""

import collections
import json
import math
import statistics
import sys

FINEST = 16  # ns: of a single call nothing shorter is known, so no bound is less


def read(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def rank(values, share):
    return values[max(math.ceil(share * len(values)) - 1, 0)] if values else 0


class Sum:
    def __init__(self):
        self.likely = self.room = 0

    def add(self, likely, room):
        self.likely += likely
        self.room += room

    def bound(self):
        return max(self.likely + self.room, 0)


class Sums:
    def __init__(self):
        self.calls = 0
        self.total, self.self = Sum(), Sum()
        self.times, self.likely, self.over = [], [], Sum()


def end(stack, sums, net, uncertain):
    name, inner, inner_room, _ = stack.pop()
    s = sums[name]
    s.calls += 1
    likely, room = net - uncertain // 2, uncertain // 2
    s.self.add(likely - inner, max(room - inner_room, 0))
    if name not in [frame[0] for frame in stack]:
        s.total.add(likely, room)
    if stack:
        stack[-1][1] += likely
        stack[-1][2] += room


def add_up(events, length):
    sums, stacks = collections.defaultdict(Sums), collections.defaultdict(list)
    overheads, uncertains = collections.defaultdict(int), collections.defaultdict(int)
    for e in events:
        stack = stacks[e["tid"]]
        if e["event"] == "enter":
            assert e["depth"] == len(stack), e
            stack.append([e["function"], 0, 0, e["ts_ns"]])
        elif e["event"] != "disarmed":
            assert stack[-1][0] == e["function"] and e["ts_ns"] - stack[-1][3] == e["duration_ns"], e
            net = e["duration_ns"] - min(e["overhead_ns"], e["duration_ns"])
            uncertain = e.get("uncertain_ns", 0)
            if uncertain and net < FINEST:
                net = uncertain = FINEST
            sums[e["function"]].times.append(net)
            sums[e["function"]].likely.append(net - uncertain // 2)
            sums[e["function"]].over.add(net - uncertain // 2, uncertain // 2)
            end(stack, sums, net, uncertain)
            if len(stack) == 1:
                overheads[e["tid"]] += e["overhead_ns"]
                uncertains[e["tid"]] += e.get("uncertain_ns", 0)
    for tid, stack in stacks.items():
        assert len(stack) <= 1  # the recordings of the tests leave main alone open
        while stack:
            end(stack, sums, length - stack[-1][3] - overheads[tid], uncertains[tid])
    return sums


def main():
    with open(sys.argv[2], encoding="utf-8") as file:
        report = json.load(file)
    events = read(sys.argv[1])
    sums = add_up(events, report["duration_ns"])
    got = {f["function"]: f for f in report["calls"]["functions"] if f["calls"]}
    assert report["calls"]["events"] == len(events)
    assert sorted(got) == sorted(sums), (sorted(got), sorted(sums))
    for name, s in sums.items():
        times = sorted(s.times)
        want = {"calls": s.calls, "total_ns": s.total.bound(), "self_ns": min(s.self.bound(), s.total.bound()),
                "min_ns": rank(times, 0),
                "average_ns": s.over.bound() // len(times) if times else 0,
                "deviation_ns": round(statistics.pstdev(s.likely)) if times else 0,
                "median_ns": rank(times, 0.5), "p90_ns": rank(times, 0.9),
                "p95_ns": rank(times, 0.95),
                "p99_ns": rank(times, 0.99), "p999_ns": rank(times, 0.999), "max_ns": rank(times, 1)}
        for key, value in want.items():
            if abs(got[name][key] - value) > (key == "deviation_ns"):
                sys.exit(f"{name}: {key} is {got[name][key]}, added up {value}")
    print(f"{len(events)} events, {len(sums)} functions agree")


main()
