# SPDX-License-Identifier: MIT
"""What gdb says of the arguments and results of the first calls of functions.

Runs inside gdb, for values.py; the plan is a JSON file named by $JUDGE:
functions (name: link-time address), calls (how many of each), prologue (read
arguments behind it: at -O0 they are in memory only then), out (a file, an
object a line). Values are as in gdb_value.py.
"""
import json
import os
import sys

import gdb

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from gdb_value import value_of

with open(os.environ["JUDGE"], encoding="utf-8") as file:
    PLAN = json.load(file)


def real_frame():
    frame = gdb.newest_frame()
    while frame.type() == gdb.INLINE_FRAME:
        frame = frame.older()
    return frame


def function_block(pc):
    block, found = gdb.block_for_pc(pc), None
    while block is not None and not block.is_static and not block.is_global:
        found = block if block.function is not None else found
        block = block.superblock
    return found


def arguments_of(frame):
    block = function_block(frame.pc())
    return {s.print_name: value_of(frame.read_var(s, block))
            for s in block or [] if s.is_argument}


OUT = open(PLAN["out"], "w", encoding="utf-8")


def say(name, call, what, value):
    OUT.write(json.dumps({"function": name, "call": call, what: value}) + "\n")


class Return(gdb.FinishBreakpoint):
    def __init__(self, frame, name, call):
        super().__init__(frame, internal=True)
        self.name, self.call, self.silent = name, call, True

    def stop(self):
        try:
            if self.return_value is not None:
                say(self.name, self.call, "result", value_of(self.return_value))
        except Exception as error:
            say(self.name, self.call, "error", str(error))
        return False


class Behind(gdb.Breakpoint):
    """Behind the prologue; only for the call that was just counted."""

    def __init__(self, address, name):
        super().__init__(f"*{address:#x}", internal=True)
        self.name, self.silent, self.enabled = name, True, False

    def stop(self):
        pending.append((self, self.entry.calls - 1))
        return True


class Entry(gdb.Breakpoint):
    def __init__(self, address, name, behind):
        super().__init__(f"*{address:#x}", internal=True)
        self.name, self.silent, self.calls = name, True, 0
        self.behind = Behind(behind, name) if behind and behind != address else None
        if self.behind:
            self.behind.entry = self

    def stop(self):
        pending.append((self, self.calls))
        self.calls += 1
        return True


LINES = {}


def behind_prologue(address):
    """Where gdb's `break FUNCTION` stops: at the function's second line."""
    sal, block = gdb.find_pc_line(address), function_block(address)
    if not sal.symtab or not block:
        return None
    name = sal.symtab.filename
    if name not in LINES:
        LINES[name] = sorted({line.pc for line in sal.symtab.linetable()})
    lines = [pc for pc in LINES[name] if block.start < pc < block.end]
    return lines[0] if lines else None


def serve(breakpoint, call):
    """The program stands at it."""
    if isinstance(breakpoint, Behind):
        breakpoint.enabled = False
        say(breakpoint.name, call, "args", arguments_of(real_frame()))
        return
    if breakpoint.calls >= PLAN["calls"]:
        breakpoint.enabled = False
    if breakpoint.behind:
        breakpoint.behind.enabled = True
    else:
        say(breakpoint.name, call, "args", arguments_of(real_frame()))
    Return(real_frame(), breakpoint.name, call)


pending = []
for setting in ("set pagination off", "set confirm off", "unset environment LINES",
                "unset environment COLUMNS", "unset environment JUDGE", "set startup-with-shell off",
                "set print elements 0"):
    gdb.execute(setting)
gdb.execute("starti", to_string=True)
with open(f"/proc/{gdb.selected_inferior().pid}/maps", encoding="utf-8") as file:
    bias = int(file.readline().split("-")[0], 16) if PLAN["pie"] else 0
for name, address in PLAN["functions"].items():
    place = int(address, 16) + bias
    Entry(place, name, behind_prologue(place) if PLAN["prologue"] else None)
gdb.execute("set breakpoint always-inserted on") # all of them out and in at each stop is slow
while gdb.selected_inferior().pid:
    try:
        gdb.execute("continue", to_string=True)
    except gdb.error:
        break
    while pending:
        where = pending.pop()
        try:
            serve(*where)
        except Exception as error:
            say(where[0].name, where[1], "error", str(error))
OUT.close()
