#!/usr/bin/env python3
"""Judges landing pads by what the compiler wrote into its assembly: every one
that a table of call sites names begins a block.

    pads_judge.py PROBE_DUMP SOURCE COMPILER...    a compiler that is not there is left out
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

# A call site: its begin, its size, and, if an exception is caught there, its pad,
# the first and the last relative to the function (or what landing pads begin at).
SITE = re.compile(r"^\t\.uleb128 (\S+?)-(\S+).*\n\t\.uleb128 \S+?-(\S+).*\n\t\.uleb128 (\S+?)-(\S+)", re.M)
# Landing pads of clang are no endbr: none tells of them but the table.
FLAGS = ["-w", "-std=c++17", "-fcf-protection=none"]


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def build(compiler, level, source, work):
    """Its assembly's text, and a program that keeps the labels."""
    asm, made, program = (os.path.join(work, name) for name in ("p.s", "p.o", "p"))
    flags = ["-fno-addrsig"] if "clang" in compiler else []
    output(compiler, *FLAGS, *flags, level, "-S", "-o", asm, source)
    output("g++", "-c", "-Wa,-L", "-o", made, asm)
    output("g++", "-Wl,--discard-none", "-o", program, made, "-pthread", "-ldl")
    with open(asm, encoding="utf-8") as text:
        return text.read(), program


def judge(dump, compiler, level, source, work):
    text, program = build(compiler, level, source, work)
    labels = {parts[2]: int(parts[0], 16) for parts in map(str.split, output("nm", program).splitlines())
              if len(parts) == 3}
    pads = {m.group(4) for m in SITE.finditer(text) if m.group(1) == m.group(3) and m.group(2) == m.group(5)}
    starts = {int(block.split(":")[0], 16) for line in output(dump, "blocks", program).splitlines()
              for block in line.rsplit("|", 2)[1].split()}
    bad = [f"{pad} {labels[pad]:x}" for pad in sorted(pads) if labels[pad] not in starts]
    print(f"{compiler} {level} {os.path.basename(source)}: {len(pads)} landing pads, "
          f"{len(bad)} begin no block", *bad[:5])
    return len(pads) >= 10 and not bad


def main():
    dump, source, compilers = sys.argv[1], sys.argv[2], sys.argv[3:]
    with tempfile.TemporaryDirectory() as work:
        results = [judge(dump, compiler, level, source, work) for compiler in compilers
                   if shutil.which(compiler) for level in ("-O0", "-O2")]
    return 0 if results and all(results) else 1


sys.exit(main())
