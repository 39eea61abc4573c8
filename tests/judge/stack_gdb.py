# SPDX-License-Identifier: MIT
"""What gdb says of the variables of every frame of every thread.

Runs inside gdb, for stack.py; $JUDGE names the file that is written: an object
a frame, with {"name", "kind": "arg" | "local", "value"} of each variable in scope.
"""
import json
import os
import sys

import gdb

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from gdb_value import value_of


def variables_of(frame):
    """Innermost block first; statics are no variables of the frame."""
    try:
        block = frame.block()
    except RuntimeError: # no debug information
        return
    while block is not None and not block.is_static and not block.is_global:
        for symbol in block:
            if not symbol.is_argument and not symbol.is_variable:
                continue
            if symbol.addr_class == gdb.SYMBOL_LOC_STATIC:
                continue
            try:
                value = value_of(frame.read_var(symbol, block))
            except (gdb.error, RuntimeError) as error:
                value = None
            yield {"name": symbol.print_name, "kind": "arg" if symbol.is_argument else "local",
                   "value": value}
        if block.function is not None:
            break
        block = block.superblock


def frames_of(thread):
    frame, n = gdb.newest_frame(), 0
    while frame is not None:
        if frame.type() != gdb.TAILCALL_FRAME:
            frame.select()
            yield {"tid": thread.ptid[1], "frame": n, "ip": frame.pc(), "function": frame.name(),
                   "inlined": frame.type() == gdb.INLINE_FRAME,
                   "variables": list(variables_of(frame))}
            n += 1
        frame = frame.older()


for setting in ("set pagination off", "set backtrace past-main on", "set print elements 0",
                "set print entry-values no"):
    gdb.execute(setting)
with open(os.environ["JUDGE"], "w", encoding="utf-8") as out:
    for thread in gdb.selected_inferior().threads():
        thread.switch()
        for said in frames_of(thread):
            out.write(json.dumps(said) + "\n")
