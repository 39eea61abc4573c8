#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""layout_judge.py CPROF FILE...: all that pahole tells of structs, classes and unions of
each FILE beside `cprof layout --all`: sizes, and offset and size of each member of the first
level. What is only pahole's to name (a type without a name) is left out."""
import json
import re
import subprocess
import sys

CPROF = sys.argv[1]
MEMBER = re.compile(r"^\t(?P<what>[^\t/].*?);\s*/\*\s*(?P<offset>\d+)(?::\s*(?P<bit>\d+))?\s+(?P<size>\d+) \*/$")


def name_of(what):
    """`void (*call)(int)`, `char text[6]`, `unsigned a:3`."""
    pointer = re.search(r"\(\*+(\w+)[^)]*\)\(", what)
    if pointer:
        return pointer.group(1)
    plain = re.match(r".*?(\w+)\s*(\[[^]]*\])*(:\d+)?$", what)
    return plain.group(1) if plain else None


def output_of(*command):
    return subprocess.run(command, check=False, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          encoding="utf-8", errors="replace").stdout


def structs(file):
    name, members = None, []
    for line in output_of("pahole", file).splitlines():
        head = re.match(r"^(?:struct|class|union) (\S.*?)(?: : .*)? \{$", line)
        if head:
            name, members = head.group(1), []
        member = MEMBER.match(line) if name else None
        if member and name_of(member["what"]):
            members.append((name_of(member["what"]), int(member["offset"]), member["bit"],
                            int(member["size"])))
        size = re.match(r"^\t/\* size: (\d+)", line) if name else None
        if size:
            yield name, int(size.group(1)), members
            name = None


def last_part(name):
    """`ns::Box<ns::Inner>` as `Box<ns::Inner>`."""
    depth = begin = 0
    for at, c in enumerate(name):
        depth += (c in "<(") - (c in ">)")
        if not depth and name.startswith("::", at):
            begin = at + 2
    return name[begin:]


def differences(ours, members):
    """Members that are not where pahole has them."""
    fields = {f["name"]: f for f in ours["fields"]}
    for name, offset, bit, width in members:
        f = fields.get(name)
        # (It has no size of what is _Atomic.)
        if not f or (bit is None and (f["offset"], f["size"]) != (offset, width or f["size"])):
            yield f"{name}: pahole's {offset} {width}, ours {f}"


def judge(file):
    types = {}
    for t in json.loads(output_of(CPROF, "layout", "--all", "--json", file)):
        types.setdefault((t["type"], t["size"]), []).append(t)
        # pahole leaves out what a type is in.
        types.setdefault((last_part(t["type"]), t["size"]), []).append(t)
    compared = apart = unknown = found = 0
    for name, size, members in structs(file):
        if (name, size) not in types:
            unknown += 1
            print(f"{file}: {name} of {size} bytes is pahole's alone")
            continue
        # Several files may have one of that name.
        wrong = min(([*differences(t, members)] for t in types[name, size]), key=len)
        found += 1
        compared += len(members)
        apart += len(wrong)
        for what in wrong:
            print(f"{file}: {name}.{what}")
    print(f"{file}: {found} types, {compared} members, {apart} apart, {unknown} not found")
    return apart or unknown or not compared


sys.exit(any([judge(file) for file in sys.argv[2:]]))
