#!/usr/bin/env python3
"""Judges the plans of a file's functions by `objdump -d` and `nm -S`.

  - every function with a symbol and a size has a plan, or a reason why not;
  - of one planned in full, the `ret`s are those that objdump has in its
    ranges, and the tail calls its jumps to outside of them;
  - of one that never returns, objdump has neither.

    probe_judge.py PROBE_DUMP FILE...       a file that is not there is left out
"""
import bisect
import os
import re
import subprocess
import sys

LINE = re.compile(r"^ *([0-9a-f]+):\t((?:[0-9a-f]{2} )+) *\t?(.*)$")
JUMP = re.compile(r"^(?:(?:bnd|notrack|addr32|c[sd]) )*(j[a-z]+)(?:,p[nt])?\s+([0-9a-f]+)(?: <.*)?$")
FAR = re.compile(r"^(?:(?:bnd|notrack|[c-g]s|rex\S*) )*jmp\s+\*")
RET = re.compile(r"^(?:(?:bnd|repz|rep|rex\S*) )*ret\b")


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True,
                          errors="replace").stdout


def disassemble(path):
    """Address -> ("ret", None), ("jmp", target) or ("jmp*", None), in order."""
    found = {}
    for line in output("objdump", "-d", "-w", "--insn-width=16", path).splitlines():
        m = LINE.match(line)
        if not m:
            continue
        at, text = int(m.group(1), 16), m.group(3).strip()
        jump = JUMP.match(text)
        if RET.match(text):
            found[at] = ("ret", None)
        elif jump:
            found[at] = (jump.group(1), int(jump.group(2), 16))
        elif FAR.match(text):
            found[at] = ("jmp*", None)
    return found


class Plan:
    def __init__(self, line):
        head, self.text, sites, ranges = line.split(" | ")[0], *[p.strip() for p in line.split("|")[-3:]]
        address, size, kind, self.why, self.name = head.split(" ", 4)
        self.address, self.size, self.kind = int(address, 16), int(size, 16), int(kind)
        self.sites = [(s[0], int(s[1:], 16)) for s in sites.split()]
        self.ranges = [tuple(int(x, 16) for x in r.split("-")) for r in ranges.split() if "-" in r]

    def inside(self, at):
        return any(start <= at < end for start, end in self.ranges)


def compare(plan, found, ordered):
    rets, tails = set(), set()
    for start, end in plan.ranges:
        for at in ordered[bisect.bisect_left(ordered, start):bisect.bisect_left(ordered, end)]:
            what, target = found[at]
            if what == "ret":
                rets.add(at)
            elif target is not None and not plan.inside(target):
                tails.add(at)
    ours = {kind: {at for k, at in plan.sites if k == kind} for kind in "rtc"}
    bad = []
    if ours["r"] != rets:
        bad.append(f"ret {fmt(ours['r'] - rets)} more, {fmt(rets - ours['r'])} less")
    if ours["t"] | ours["c"] != tails:
        bad.append(f"tail calls {fmt((ours['t'] | ours['c']) - tails)} more, "
                   f"{fmt(tails - (ours['t'] | ours['c']))} less")
    return bad


def fmt(addresses):
    return "[" + " ".join(f"{a:x}" for a in sorted(addresses)) + "]"


def named(path):
    """Addresses that nm gives to functions with a size."""
    for line in output("nm", "-S", "--defined-only", path).splitlines():
        parts = line.split()
        if len(parts) >= 4 and parts[2] in "tTwWi" and int(parts[1], 16):
            yield int(parts[0], 16), parts[3]


def judge(dump, path):
    plans = [Plan(line) for line in output(dump, "plans", path).splitlines()]
    found = disassemble(path)
    ordered = sorted(found)
    bad = full = 0
    for plan in plans:
        if plan.kind == 1:
            continue
        if plan.why not in ("FULL", "NO_EXIT"):
            if not plan.text:
                print(f"{path}: {plan.name}: {plan.why} without a reason")
                bad += 1
            continue
        full += 1
        for what in compare(plan, found, ordered):
            print(f"{path}: {plan.address:x} {plan.name} {plan.why}: {what}")
            bad += 1
    planned = {plan.address for plan in plans}
    parts = {r[0] for plan in plans for r in plan.ranges}
    for at, name in named(path):
        if at not in planned and at not in parts and ".cold" not in name:
            print(f"{path}: {at:x} {name} has no plan")
            bad += 1
    print(f"{path}: {len(plans)} functions, {full} judged, {bad} differ")
    return bad, full


def main():
    results = [judge(sys.argv[1], path) for path in sys.argv[2:] if os.path.exists(path)]
    # Hand-written code with data in it is read differently by objdump.
    return 1 if any(bad * 1000 > full for bad, full in results) else 0


sys.exit(main())
