# SPDX-License-Identifier: MIT
"""In gdb: which libraries come and go, until the program executes another one."""
import os
import re

import gdb

OUT = open(os.environ["GDB_OUT"], "w")
known = []


def libraries():
    found = []
    for line in gdb.execute("info sharedlibrary", to_string=True).splitlines():
        path = re.search(r"(/\S+)$", line)
        if path:
            found.append(os.path.realpath(path[1]))
    return found


def look():
    now = libraries()
    for path in known[:]:
        if known.count(path) > now.count(path):
            known.remove(path)
            OUT.write(f"- {path}\n")
    for path in now:
        if now.count(path) > known.count(path):
            known.append(path)
            OUT.write(f"+ {path}\n")


for command in (
    "set pagination off",
    "set confirm off",
    "set debuginfod enabled off",
    "set startup-with-shell off",
    "set stop-on-solib-events 1",
    "set detach-on-fork on",
    "handle all nostop noprint pass",
    "catch exec",
    "run",
):
    gdb.execute(command, to_string=True)
while gdb.selected_inferior().pid:
    if "last" in open(f"/proc/{gdb.selected_inferior().pid}/cmdline").read().split("\0"):
        break
    look()
    gdb.execute("continue", to_string=True)
OUT.close()
gdb.execute("kill")
