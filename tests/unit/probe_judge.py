#!/usr/bin/env python3
"""Judges the plans of a file's functions by `objdump -d` and `nm -S`.

  - every function with a symbol and a size has a plan, or a reason why not;
  - of one planned in full, the `ret`s are those that objdump has in its
    ranges, and the tail calls its jumps to outside of them;
  - of one that never returns, objdump has neither.

Then the blocks:

  - each begins and ends where instructions do, and they don't overlap;
  - what a direct jump leads to, and what is behind a jump, a call or a return,
    begins a block; a conditional jump is a branch;
  - all of a function is in some block, but for padding.

Of large files a quarter is judged: functions that lie wholly in every fourth
64 KiB of the addresses. With CPROF_TEST_LONG, all.

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
BRANCH = re.compile(r"^(?:(?:bnd|notrack|addr32|data16|c[sd]|ds) )*(j[a-z]+|loop[a-z]*|xbegin)(?:,p[nt])?\s+"
                    r"([0-9a-f]+)(?: <.*)?$")
CALL = re.compile(r"^(?:(?:bnd|notrack|[c-g]s|rex\S*|data16|addr32) )*(?:call|syscall|int +\$0x80)")
END = re.compile(r"^(?:iret|ud2|hlt|int3)")
NOP = re.compile(r"^(?:(?:data16|cs|ds) )*(?:nop|xchg +%ax,%ax)")
RET = re.compile(r"^(?:(?:bnd|repz|rep|rex\S*) )*ret\b")


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True,
                          errors="replace").stdout


class Sample:
    LARGE, SHIFT, PARTS = 1 << 20, 16, 4

    def __init__(self, path):
        self.all = bool(os.environ.get("CPROF_TEST_LONG")) or os.path.getsize(path) < self.LARGE

    def has(self, start, end=None):
        """All of it."""
        if self.all:
            return True
        part, last = start >> self.SHIFT, (end or start + 1) - 1 >> self.SHIFT
        return part == last and part % self.PARTS == 1


def instructions(path, sample):
    """Address -> (size, text), in order."""
    found = {}
    for line in output("objdump", "-d", "-w", "--insn-width=16", path).splitlines():
        at = line.split(":", 1)[0].strip()
        if not re.fullmatch("[0-9a-f]+", at) or not sample.has(int(at, 16)):
            continue
        m = LINE.match(line)
        if m:
            found[int(m.group(1), 16)] = (len(m.group(2).split()), m.group(3).strip())
    return found


def transfers(found):
    """Address -> ("ret", None), ("jmp", target) or ("jmp*", None), in order."""
    leaving = {}
    for at, (_, text) in found.items():
        jump = JUMP.match(text)
        if RET.match(text):
            leaving[at] = ("ret", None)
        elif jump:
            leaving[at] = (jump.group(1), int(jump.group(2), 16))
        elif FAR.match(text):
            leaving[at] = ("jmp*", None)
    return leaving


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
    """Addresses that nm gives to functions with a size; to it, weak variables are W, too."""
    symbols = (line.split() for line in output("readelf", "-sW", path).splitlines())
    variables = {s[7] for s in symbols if len(s) > 7 and s[3] in ("TLS", "OBJECT")}
    for line in output("nm", "-S", "--defined-only", path).splitlines():
        parts = line.split()
        if len(parts) >= 4 and parts[2] in "tTwWi" and int(parts[1], 16) and parts[3] not in variables:
            yield int(parts[0], 16), parts[3]


class Blocks:
    def __init__(self, line):
        head, why, blocks, branches = line.rsplit("|", 3)
        address, size, kind, self.how, self.name = head.split(None, 4)[:5]
        self.address, self.size, self.kind = int(address, 16), int(size, 16), int(kind)
        self.why = why.strip()
        self.blocks = [(int(b.split(":")[0], 16), int(b.split(":")[1], 16)) for b in blocks.split()]
        self.branches = {int(b.split(":")[0], 16) for b in branches.split()}


def inside_of(f, found, bad):
    """Addresses of the instructions in its blocks."""
    inside, end = [], 0
    for start, size in f.blocks:
        if start < end:
            bad.append(f"block {start:x} overlaps")
        end = start + size
        at = start
        while at < end and at in found:
            inside.append(at)
            at += found[at][0]
        if at != end:
            bad.append(f"block {start:x} does not end with an instruction")
    return inside


def no_block_begins_at(target, found):
    """Where no breakpoint can stand: at an instruction that ends all (hlt), and
    behind a lock prefix, which glibc jumps over while there is one thread."""
    text = found.get(target, (0, ""))[1]
    return END.match(text) or found.get(target - 1, (0, ""))[1].startswith("lock ")


def judge_blocks(f, found, ordered):
    bad = []
    inside = inside_of(f, found, bad)
    known, starts = set(inside), {start for start, _ in f.blocks}
    for at in inside:
        size, text = found[at]
        jump = BRANCH.match(text)
        if jump:
            target = int(jump.group(2), 16)
            if (f.address <= target < f.address + f.size and target not in starts and
                    not no_block_begins_at(target, found)):
                bad.append(f"{at:x} jumps to {target:x}, no block")
        if (at in f.branches) != bool(jump and jump.group(1) != "jmp"):
            bad.append(f"branch at {at:x}")
        ends = jump or FAR.match(text) or CALL.match(text) or RET.match(text) or END.match(text)
        if ends and at + size in known and at + size not in starts:
            bad.append(f"{at + size:x} is behind {text}, no block")
    for at in ordered[bisect.bisect_left(ordered, f.address):
                      bisect.bisect_left(ordered, f.address + f.size)]:
        if at not in known and not NOP.match(found[at][1]) and not END.match(found[at][1]):
            bad.append(f"{at:x} is in no block")
    return bad


def judge_all_blocks(dump, path, found, ordered, sample):
    bad = full = count = 0
    for line in output(dump, "blocks", path).splitlines():
        f = Blocks(line)
        ends = [f.address + f.size] + [at + size for at, size in f.blocks]
        if f.kind == 1 or not sample.has(min([f.address] + [at for at, _ in f.blocks]), max(ends)):
            continue
        if f.how != "FULL":
            bad += not f.why
            continue
        full += 1
        count += len(f.blocks)
        for what in judge_blocks(f, found, ordered):
            print(f"{path}: {f.address:x} {f.name}: {what}")
            bad += 1
    print(f"{path}: {full} functions of {count} blocks, {bad} differ")
    return bad, full


def judge(dump, path, instructions_found, sample):
    plans = [Plan(line) for line in output(dump, "plans", path).splitlines()]
    found = transfers(instructions_found)
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
        if not all(sample.has(*r) for r in plan.ranges):
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
    results = []
    for path in filter(os.path.exists, sys.argv[2:]):
        sample = Sample(path)
        found = instructions(path, sample)
        results.append(judge(sys.argv[1], path, found, sample))
        results.append(judge_all_blocks(sys.argv[1], path, found, sorted(found), sample))
    # Hand-written code with data in it is read differently by objdump.
    return 1 if any(bad * 1000 > full for bad, full in results) else 0


sys.exit(main())
