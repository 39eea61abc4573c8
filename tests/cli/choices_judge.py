#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""choices_judge.py EVENTS REPORT [--filtered=EVENTS] [--report=REPORT] [--slices=TRACE]
[--rows=CSV] [--under=GLOB] [--not-under=GLOB] [--paths-to=GLOB] [--levels=N]
[--min-duration=NS]: what is left of a recording by a choice of its calls.

EVENTS and REPORT are `replay --json` and `report --json` of all of it. From these a tree
is built, and the choice made on it, in the plainest way; the others are what cprof makes
of the same choice, and are compared: events in their order, sums, slices of the format
chrome, rows of the table `calls`."""

import argparse
import collections
import fnmatch
import json
import sys

FINEST = 16  # ns: no bound is less


class Call:
    def __init__(self, event, number, parent, maker):
        self.name, self.thread = event["function"], event["tid"]
        self.parent, self.maker = parent, maker  # on the stack; or who ended by a tail call of it
        self.first, self.last = number, None
        self.start, self.net, self.overhead = event["ts_ns"], None, 0
        self.made = []
        self.inherited = event["event"] == "inherited"  # entered, and counted, by who forked

    def lineage(self):
        call = self
        while call:
            yield call
            call = call.maker

    def around(self):
        call = self
        while call:
            yield call
            call = call.parent


def build(events, length):
    calls, moments = [], []
    stacks, tails = collections.defaultdict(list), {}
    for number, e in enumerate(events):
        stack, kind = stacks[e["tid"]], e["event"]
        if kind in ("enter", "inherited"):
            parent = stack[-1] if stack else None
            tail = tails.pop(e["tid"], None)
            follows = tail and tail[1] == (e["function"], e["depth"])
            call = Call(e, number, parent, tail[0] if follows else parent)
            if call.maker:
                call.maker.made.append(call)
            stack.append(call)
            calls.append(call)
        elif kind in ("leave", "unwind", "tail_call"):
            call = stack.pop()
            assert call.name == e["function"], (call.name, e)
            tails.pop(e["tid"], None)
            if kind == "tail_call":
                tails[e["tid"]] = (call, (e["target"], e["depth"]))
            call.last, call.end = number, kind
            call.net = e["duration_ns"] - min(e["overhead_ns"], e["duration_ns"])
            call.uncertain = e.get("uncertain_ns", 0)
            if call.uncertain and call.net < FINEST:
                call.net = call.uncertain = FINEST
            if stack:
                stack[-1].overhead += e["overhead_ns"]
        else:
            inside = [call for call in stack if "depth" in e and call is not None]
            moments.append((number, e, inside[-1] if inside else None))
    for stack in stacks.values():
        while stack:
            call = stack.pop()
            call.end = "open"
            call.net = length - call.start - min(call.overhead, length - call.start)
            if stack:
                stack[-1].overhead += call.overhead
    return calls, moments


def choose(calls, o):
    def left(call):
        names = [c.name for c in call.lineage()]
        return (not o.under or fnmatch.filter(names, o.under)) and not (
            o.not_under and fnmatch.filter(names, o.not_under))

    def leads(call):
        todo = [call]
        while todo:
            c = todo.pop()
            if fnmatch.fnmatchcase(c.name, o.paths_to) and c.passes:
                return True
            todo += c.made
        return False

    for call in calls:
        call.left = bool(left(call))
        call.passes = call.left and call.net >= o.min_duration
    for call in calls:
        call.chosen = call.passes and (not o.paths_to or leads(call)) and (
            not o.levels or sum(c.left for c in call.around()) <= o.levels)


def filtered(events, calls, moments, o):
    keep = {n for c in calls if c.chosen for n in (c.first, c.last)}
    for number, e, inside in moments:
        outside = not (o.under or o.paths_to)
        if e["event"] == "disarmed":
            fine = outside
        else:
            fine = e.get("duration_ns", 0) >= o.min_duration and (inside.chosen if inside else outside)
        if fine:
            keep.add(number)
    return [e for n, e in enumerate(events) if n in keep]


def add_up(calls):
    sums = collections.defaultdict(lambda: {"calls": 0, "total_ns": 0, "self_ns": 0})
    own = {c: c.net for c in calls if c.chosen}
    for call in own:
        around = next((c for c in list(call.around())[1:] if c.chosen), None)
        if around:
            own[around] -= call.net
    for call in own:
        s = sums[call.name]
        s["calls"] += not call.inherited
        s["self_ns"] += own[call]
        if not any(c.chosen and c.name == call.name for c in list(call.around())[1:]):
            s["total_ns"] += call.net
    return sums


def compare(what, got, want):
    if got != want:
        for number, (g, w) in enumerate(zip(got, want)):
            if g != w:
                sys.exit(f"{what} {number}: got {g}, wanted {w}")
        sys.exit(f"{what}: {len(got)} for {len(want)}; next: {(list(got) + list(want))[min(len(got), len(want))]}")


def read_lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def compare_sums(path, calls, exactly):
    got = {f["function"]: f for f in read(path)["calls"]["functions"] if f["calls"]}
    want = add_up(calls)
    keys = ("calls", "total_ns", "self_ns") if exactly else ("calls",)
    compare("sum", [(n, [got[n][k] for k in keys]) for n in sorted(got)],
            [(n, [want[n][k] for k in keys]) for n in sorted(want) if want[n]["calls"]])


def main():
    p = argparse.ArgumentParser()
    for name in ("events", "all"):
        p.add_argument(name)
    for name in ("filtered", "report", "slices", "rows", "under", "not-under", "paths-to"):
        p.add_argument("--" + name)
    for name in ("levels", "min-duration"):
        p.add_argument("--" + name, type=int, default=0)
    o = p.parse_args()
    events = read_lines(o.events)
    calls, moments = build(events, read(o.all)["duration_ns"])
    choose(calls, o)
    chosen = [c for c in calls if c.chosen]
    names = collections.Counter(c.name for c in chosen)
    if o.filtered:
        compare("event", read_lines(o.filtered), filtered(events, calls, moments, o))
    if o.report:
        compare_sums(o.report, calls, not any(getattr(c, "uncertain", 0) for c in calls))
    if o.slices:
        slices = collections.Counter(e["name"] for e in read(o.slices)["traceEvents"] if e["ph"] in "BX")
        compare("slice", sorted(slices.items()), sorted(names.items()))
    if o.rows:
        with open(o.rows, encoding="utf-8") as file:
            rows = collections.Counter(line.rstrip("\n") for line in file)
        compare("row", sorted(rows.items()), sorted(names.items()))
    print(f"{len(chosen)} of {len(calls)} calls")


main()
