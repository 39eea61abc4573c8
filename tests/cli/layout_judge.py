#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""layout_judge.py CPROF FILE STEP: each STEPth struct of `pahole CPROF` (in FILE) beside
`cprof layout`: sizes, and offset and size of each member of the first level."""
import json
import re
import subprocess
import sys

CPROF, FILE, STEP = sys.argv[1], sys.argv[2], int(sys.argv[3])
MEMBER = re.compile(r"^\t(?P<what>[^\t/].*?);\s*/\*\s*(?P<offset>\d+)(?::\s*(?P<bit>\d+))?\s+(?P<size>\d+) \*/$")


def name_of(what):
    """`void (*call)(int)`, `char text[6]`, `unsigned a:3`."""
    pointer = re.search(r"\(\*+(\w+)[^)]*\)\(", what)
    if pointer:
        return pointer.group(1)
    plain = re.match(r".*?(\w+)\s*(\[[^]]*\])*(:\d+)?$", what)
    return plain.group(1) if plain else None


def structs():
    name, members = None, []
    for line in open(FILE, encoding="utf-8", errors="replace"):
        head = re.match(r"^struct (\w+) \{", line)
        if head:
            name, members = head.group(1), []
        member = MEMBER.match(line.rstrip("\n")) if name else None
        if member and name_of(member["what"]):
            members.append((name_of(member["what"]), int(member["offset"]), member["bit"],
                            int(member["size"])))
        size = re.match(r"^\t/\* size: (\d+)", line) if name else None
        if size:
            yield name, int(size.group(1)), members
            name = None


def differences(ours, members):
    """Members that are not where pahole has them."""
    fields = {f["name"]: f for f in ours["fields"]}
    for name, offset, bit, width in members:
        f = fields.get(name)
        # (It has no size of what is _Atomic.)
        if not f or (bit is None and (f["offset"], f["size"]) != (offset, width or f["size"])):
            yield f"{name}: pahole's {offset} {width}, ours {f}"


compared = apart = 0
for number, (name, size, members) in enumerate(structs()):
    if number % STEP:
        continue
    said = subprocess.run([CPROF, "layout", "--json", CPROF, f"struct {name}"], check=True,
                          stdout=subprocess.PIPE).stdout
    types = json.loads(said)
    # Several files may have one of that name.
    types = [t for t in (types if isinstance(types, list) else [types])
             if t["type"] == name and t["size"] == size]
    wrong = min(([*differences(t, members)] for t in types), key=len,
                default=[f"pahole's has {size} bytes, none of ours"])
    compared += len(members)
    apart += len(wrong)
    for what in wrong:
        print(f"struct {name}.{what}")
print(f"{compared} members, {apart} apart")
sys.exit(apart > 0 or compared < 100)
