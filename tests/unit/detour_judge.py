#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""detour_judge.py DETOUR_DUMP FILE...: windows beside objdump's disassembly.

Of each window, as objdump decodes the function:
  - it begins with an instruction, and so do the others where they are said to;
  - no direct jump or call of the file, and no return from a call, leads into its middle;
  - it shares no byte with another one, and ends where its function does at the latest;
  - a hop's jump lies where there is nothing but padding, or in a window that moves for it.
"""
import bisect
import re
import subprocess
import sys

LINE = re.compile(r"^ *([0-9a-f]+):\t([0-9a-f ]+?) *\t(.*)$")
TARGET = re.compile(r"^(?:notrack |bnd |rep |data16 |cs |ds )*(j\w+|call|loop\w*)\S* +([0-9a-f]+)(?: |$)")
PADDING = re.compile(r"^(?:data16 |cs )*(?:nop[wl]?|int3|xchg +%ax,%ax)\b")


class Listing:
    def __init__(self, path):
        self.sizes, self.leads, self.padding = {}, set(), set()
        text = subprocess.run(["objdump", "-d", "-w", "--insn-width=16", path], check=True, capture_output=True,
                              text=True).stdout
        for line in text.splitlines():
            match = LINE.match(line)
            if match:
                self.add(int(match[1], 16), len(match[2].split()), match[3])

    def add(self, at, size, text):
        self.sizes[at] = size
        target = TARGET.match(text)
        if target:
            self.leads.add(int(target[2], 16))
        if text.startswith(("call", "notrack call", "bnd call", "syscall", "data16 call", "addr32 call")):
            self.leads.add(at + size)
        if PADDING.match(text):
            self.padding.update(range(at, at + size))


def judge_window(listing, text, sites, hosts):
    address, size, room, how, hop, begins = text.split(":")
    address, size, room, hop, begins = int(address, 16), int(size), int(room), int(hop, 16), int(begins, 16)
    bad, at = [], address
    while at < address + size:
        if at not in listing.sizes:
            bad.append(f"no instruction at {at:x}")
            break
        if at != address and not begins >> (at - address) & 1:
            bad.append(f"an instruction at {at:x} is not told")
        begins &= ~(1 << (at - address))
        at += listing.sizes[at]
    if at != address + size:
        bad.append("it ends in an instruction")
    if begins & ~1:
        bad.append(f"instructions that there are not: {begins:x}")
    replaced = {"j": size if sites == "host" else room, "h": 2, "c": 0, "p": 1}[how]
    bad += [f"something leads to {at:x}" for at in range(address + 1, address + max(replaced, size)) if at in listing.leads]
    bad += [f"no padding at {at:x}" for at in range(address + size, address + room) if at not in listing.padding]
    mine = set(range(address, address + max(replaced, size)))
    if how == "h" and any(low + 5 <= hop and hop + 5 <= high and hop not in listing.sizes for low, high in hosts):
        pass  # instructions are moved away for it
    elif how == "h":
        bad += [f"no padding for the hop at {at:x}" for at in range(hop, hop + 5) if at not in listing.padding]
        mine |= set(range(hop, hop + 5))
    return bad, mine


def judge(dump, path):
    listing, taken = Listing(path), {}
    windows = wrong = 0
    for line in subprocess.run([dump, path], check=True, capture_output=True, text=True).stdout.splitlines():
        head, _, rest = line.partition(" |")
        words = rest.split()
        pairs = list(zip(words[0::2], words[1::2]))
        hosts = [(int(w.split(":")[0], 16), int(w.split(":")[0], 16) + int(w.split(":")[1])) for w, s in pairs if s == "host"]
        for window, sites in pairs:
            bad, mine = judge_window(listing, window, sites, hosts)
            bad += [f"{at:x} is also of {taken[at]}" for at in mine if at in taken][:1]
            taken.update((at, head.split()[0]) for at in mine)
            windows += 1
            wrong += bool(bad)
            if bad:
                print(f"{path}: {head}: {window}: {'; '.join(bad)}")
    print(f"{path}: {windows} windows, {wrong} wrong")
    return windows > 0 and not wrong


def main():
    files = sys.argv[2:]
    return 0 if files and all([judge(sys.argv[1], path) for path in files]) else 1


sys.exit(main())
