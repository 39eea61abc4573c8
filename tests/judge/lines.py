#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""scripts/judge-lines: see there."""
import argparse
import bisect
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CPROF = os.path.abspath(os.environ.get("CPROF", os.path.join(HERE, "../../build/cprof")))

Row = collections.namedtuple("Row", "low high statement")


# ---- what ran ----

COST = re.compile(r"(0x[0-9a-f]+|\+\d+|-\d+|\*) ")


def executed(work, command):
    """Addresses of the instructions, in order."""
    out = os.path.join(work, "callgrind")
    subprocess.run(["setarch", "-R", "valgrind", "--tool=callgrind", "--dump-instr=yes",
                    f"--callgrind-out-file={out}", *command],
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=False)
    found, last = set(), 0
    for line in open(out, encoding="utf-8", errors="replace"):
        m = COST.match(line)
        if not m:
            continue
        at = m.group(1)
        last = (int(at, 16) if at.startswith("0x") else last if at == "*" else last + int(at))
        found.add(last)
    if not found:
        sys.exit(f"callgrind saw nothing of {command[0]}")
    return sorted(found)


# ---- line tables ----

ROW = re.compile(r"0x([0-9a-f]{16})\s+(\d+)\s+\d+\s+(\d+)\s+\d+\s+\d+\s+(.*)$")
NAMED = re.compile(r'\s*name: "(.*)"$')
NUMBERED = re.compile(r"(file_names|include_directories)\[\s*(\d+)\](?:: | = )?(.*)$")


class Table:
    """One program of the line table, as llvm-dwarfdump prints it."""

    def __init__(self):
        self.directories, self.names, self.of, self.file = {}, {}, {}, None
        self.sequence = []

    def take(self, text):
        """A header's line."""
        m = NUMBERED.match(text)
        if m and m.group(1) == "include_directories":
            self.directories[int(m.group(2))] = m.group(3).strip('"')
        elif m:
            self.file = int(m.group(2))
        elif NAMED.match(text):
            self.names[self.file] = NAMED.match(text).group(1)
        elif text.strip().startswith("dir_index:"):
            self.of[self.file] = int(text.split(":")[1])

    def path(self, number, home):
        name = self.names.get(number, "?")
        folder = self.directories.get(self.of.get(number, 0), "")
        return os.path.normpath(os.path.join(home, folder, name))


def line_rows(program):
    """(file, line) -> rows."""
    info = subprocess.run(["llvm-dwarfdump", "--debug-info", "--recurse-depth=0", program],
                          check=True, capture_output=True, text=True).stdout
    homes = dict(re.findall(r"DW_AT_stmt_list\s+\((0x[0-9a-f]+)\)(?:.*\n)*?.*"
                            r"DW_AT_comp_dir\s+\(\"(.*)\"\)", info))
    homes.update((at, home) for home, at in re.findall(
        r"DW_AT_comp_dir\s+\(\"(.*)\"\)(?:\n\s+DW_AT_(?!comp_dir).*)*?"
        r"\n\s+DW_AT_stmt_list\s+\((0x[0-9a-f]+)\)", info))
    text = subprocess.run(["llvm-dwarfdump", "--debug-line", program], check=True,
                          capture_output=True, text=True).stdout
    found, table, home = collections.defaultdict(list), Table(), "/"
    for line in text.splitlines():
        if line.startswith("debug_line["):
            table = Table()
            home = homes.get("0x" + line[len("debug_line[0x"):-1], "/")
            continue
        m = ROW.match(line)
        if not m:
            table.take(line)
            continue
        table.sequence.append((int(m.group(1), 16), int(m.group(2)), int(m.group(3)),
                               "is_stmt" in m.group(4)))
        if "end_sequence" not in m.group(4):
            continue
        for row, after in zip(table.sequence, table.sequence[1:]):
            if row[1]:
                found[table.path(row[2], home), row[1]].append(Row(row[0], after[0], row[3]))
        table.sequence = []
    return found


class Oracle:
    def __init__(self, work, program, args):
        self.rows = line_rows(program)
        self.ran = executed(work, [program, *args])

    def row_ran(self, row):
        """Any instruction of it; of one that has none, the one at its address."""
        i = bisect.bisect_left(self.ran, row.low)
        return i < len(self.ran) and self.ran[i] < max(row.high, row.low + 1)

    def code_ran(self, key):
        return any(r.high > r.low and self.row_ran(r) for r in self.rows.get(key, ()))

    def statement_ran(self, key):
        """A statement with instructions, or its beginning and instructions of its line."""
        begun = [r for r in self.rows.get(key, ()) if r.statement and self.row_ran(r)]
        return any(r.high > r.low for r in begun) or (begun and self.code_ran(key))


# ---- cprof ----

def cprof(options, work):
    """(file, line) -> (reached, uncertain)."""
    report, data = os.path.join(work, "report"), os.path.join(work, "data")
    subprocess.run([CPROF, "cover", "-q", "--stale=warn", "-o", data, f"--json={report}", "--",
                    options.program, *options.args], stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    found = {}
    for file in json.load(open(report, encoding="utf-8"))["files"]:
        path = os.path.normpath(os.path.join(os.getcwd(), file["file"]))
        for line in file["lines"]:
            if options.only in path and not line["gcovr/noncode"]:
                found[path, line["line_number"]] = (line["count"] > 0,
                                                    "cprof/uncertain" in line)
    return found


# ---- comparing ----

def show(options, title, keys):
    print(f"{title}: {len(keys)}")
    for path, line in sorted(keys)[:None if options.all else 10]:
        try:
            source = open(path, encoding="utf-8", errors="replace").read().splitlines()[line - 1]
        except (OSError, IndexError):
            source = ""
        print(f"  {os.path.basename(path)}:{line}   | {source.strip()}")


def judge(options, work):
    said = cprof(options, work)
    oracle = Oracle(work, options.program, options.args)
    certain = {k: reached for k, (reached, uncertain) in said.items() if not uncertain}
    unproved = [k for k, reached in certain.items() if reached and not oracle.statement_ran(k)]
    missed = [k for k, reached in certain.items() if not reached and oracle.code_ran(k)]
    print(f"lines: {len(said)}, reached {sum(r for r, _ in said.values())}; "
          f"uncertain {len(said) - len(certain)}")
    show(options, "reached, and no statement of it ran", unproved)
    show(options, "missed, and code of it ran", missed)
    if options.plain:
        plain = Oracle(work, options.plain, options.args)
        both = {k: reached for k, reached in certain.items() if k in plain.rows}
        print(f"lines of -O0, too: {len(both)}")
        show(options, "reached, and not at -O0",
             [k for k, reached in both.items() if reached and not plain.code_ran(k)])
        show(options, "missed, and reached at -O0",
             [k for k, reached in both.items() if not reached and plain.code_ran(k)])
    return bool(unproved or missed)


def main():
    parser = argparse.ArgumentParser(usage="judge-lines [options] EXE [ARG...]")
    parser.add_argument("--plain")
    parser.add_argument("--only", default="")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("program")
    parser.add_argument("args", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    options.program = os.path.abspath(options.program)
    options.plain = options.plain and os.path.abspath(options.plain)
    with tempfile.TemporaryDirectory() as work:
        sys.exit(judge(options, work))


main()
