#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""durations_judge.py OUTPUT EVENTS [TITLE]: what self_timed says of each of its calls
beside the durations that `cprof replay --json` gives them.

Prints a line for each function: how many calls, how many of them came out at less
than 90 % of their own time, how many as nothing; of those that are not said to be
bounds the share, how many of these came out at more than 110 %, and the median
ratio; of bounds likewise."""

import collections
import json
import statistics
import sys


def read_own(path):
    own = collections.defaultdict(list)
    with open(path, encoding="utf-8") as file:
        for words in map(str.split, file):
            if len(words) == 3 and words[1].isdigit():
                own[words[0], int(words[1])].append(int(words[2]))
    return own


def read_events(path):
    got = collections.defaultdict(list)
    with open(path, encoding="utf-8") as file:
        for e in map(json.loads, file):
            if e["event"] == "leave" and e["depth"] == 0:
                net = e["duration_ns"] - e["overhead_ns"]
                got[e["function"], e["tid"]].append((net, "uncertain_ns" in e))
    return got


def percent(part, whole):
    return 100 * part / whole if whole else 0


def median(ratios):
    return statistics.median(ratios) if ratios else 0


def main():
    own, got = read_own(sys.argv[1]), read_events(sys.argv[2])
    title = sys.argv[3] + " " if len(sys.argv) > 3 else ""
    for name in sorted({name for name, _ in own}):
        plain, bounds, nothing = [], [], 0
        for (function, tid), times in own.items():
            if function != name:
                continue
            calls = got[name, tid]
            assert len(calls) == len(times), (name, tid, len(calls), len(times))
            for (net, bound), time in zip(calls, times):
                (bounds if bound else plain).append(net / time)
                nothing += net == 0
        both = plain + bounds
        print(f"{title}{name}: {len(both)} calls,"
              f" under 90 %: {percent(sum(r < 0.9 for r in both), len(both)):.1f}, nothing: {nothing};"
              f" plain {percent(len(plain), len(both)):.1f} %,"
              f" over 110 %: {percent(sum(r > 1.1 for r in plain), len(plain)):.1f},"
              f" median {median(plain):.3f}; bounds:"
              f" over 110 %: {percent(sum(r > 1.1 for r in bounds), len(bounds)):.1f},"
              f" median {median(bounds):.3f}")


main()
