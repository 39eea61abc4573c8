#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""embed.py OUT.h FILE...: each file as a C array of bytes, NUL-terminated,
named after it: flame.js is cp_asset_flame_js."""
import pathlib
import sys

out, *files = map(pathlib.Path, sys.argv[1:])
lines = ["/* written by embed.py */"]
for file in files:
    name = "cp_asset_" + file.name.replace(".", "_")
    data = file.read_bytes() + b"\0"
    lines.append(f"static const char {name}[] = {{")
    for at in range(0, len(data), 24):
        lines.append(",".join(str(b if b < 128 else b - 256) for b in data[at:at + 24]) + ",")
    lines.append("};")
out.write_text("\n".join(lines) + "\n")
