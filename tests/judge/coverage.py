#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""scripts/judge-coverage: see there.

Only lines that both know are compared: gcov knows none of the closing braces
of functions, and has lines of code that a plain build has not. Of branches,
those of lines with as many conditional jumps in both: gcov counts the arms of
a switch and calls that may throw, too. A direction that cprof calls unknown is
neither right nor wrong.
"""
import argparse
import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CPROF = os.path.abspath(os.environ.get("CPROF", os.path.join(HERE, "../../build/cprof")))


class Line:
    def __init__(self):
        self.count = 0
        self.branches = []  # pairs of counts, None: unknown
        self.comparable = True


def run(options, directory, *command, **environment):
    """Its exit status, which all builds must agree on."""
    source = open(options.input, "rb") if options.input else subprocess.DEVNULL
    return subprocess.run(["setarch", "-R", *command], cwd=directory, stdin=source,
                          stdout=subprocess.DEVNULL, check=False,
                          env=dict(os.environ, **environment)).returncode


def called_alike(work, program):
    """A name that is the same for all of them: some hash it, or print it."""
    name = os.path.join(work, "program")
    shutil.copy2(program, name)
    return name


def place(options, work, name):
    """A directory to run in: where it is, or a copy."""
    if not options.directory:
        return os.getcwd()
    to = os.path.join(work, name)
    shutil.copytree(options.directory, to, symlinks=True)
    return to


# ---- gcov ----

def gcov_branches(listed):
    """Pairs; those of calls that may throw are left out. None: no pairs."""
    pairs, i = [], 0
    while i < len(listed):
        pair = listed[i:i + 2]
        i += 2
        if len(pair) < 2:
            return None
        if not any(b["throw"] for b in pair):
            pairs.append([b["count"] for b in pair])
    return pairs


def gcov_add(found, document):
    folder = document.get("current_working_directory", "")
    for file in document["files"]:
        path = os.path.normpath(os.path.join(folder, file["file"]))
        for of in file["lines"]:
            key = (path, of["line_number"])
            line = found.setdefault(key, Line())
            branches = gcov_branches(of["branches"])
            # Several instances (of templates) can't be told apart in ours.
            line.comparable &= branches is not None and not (line.count and line.branches)
            line.count += of["count"]
            line.branches += branches or []


def gcov(options, work):
    """(file, line) -> Line; and the exit status."""
    prefix = os.path.join(work, "gcda")
    program = called_alike(work, options.gcov)
    status = run(options, place(options, work, "gcov"), program, *options.args,
                 GCOV_PREFIX=prefix, GCOV_PREFIX_STRIP="0")
    found = {}
    for folder, _, names in os.walk(prefix):
        for name in (n for n in names if n.endswith(".gcda")):
            notes = os.path.join("/", os.path.relpath(folder, prefix), name[:-4] + "gcno")
            shutil.copy(notes, folder)
            text = subprocess.run(["gcov", "-b", "-c", "-t", "--json-format", name], cwd=folder,
                                  check=True, capture_output=True).stdout
            for document in text.splitlines():
                gcov_add(found, json.loads(document))
    return found, status


# ---- cprof ----

def lcov_read(path):
    found, file, jumps = {}, None, {}
    for text in open(path, encoding="utf-8"):
        key, _, value = text.rstrip("\n").partition(":")
        fields = value.split(",")
        if key == "SF":
            file = value
        elif key == "DA":
            found.setdefault((file, int(fields[0])), Line()).count = int(fields[1])
        elif key == "BRDA":
            jump = jumps.setdefault((file, int(fields[0])), {}).setdefault(int(fields[1]), {})
            jump[int(fields[2])] = 0 if fields[3] == "-" else int(fields[3])
    for key, listed in jumps.items():
        line = found.setdefault(key, Line())
        line.branches = [[jump.get(0), jump.get(1)] for _, jump in sorted(listed.items())]
    return found


def cprof(options, work):
    report = os.path.join(work, "cprof.info")
    more = ["--count"] if options.count else []
    status = run(options, place(options, work, "cprof"), CPROF, "cover", "--stale=warn",
                 f"--lcov={report}", *more, "--", called_alike(work, options.plain), *options.args)
    return lcov_read(report), status


# ---- clang ----

def clang(options, work):
    """What it has of lines; None: there is no such build."""
    if not options.clang:
        return None
    raw, data = os.path.join(work, "clang.raw"), os.path.join(work, "clang.data")
    run(options, place(options, work, "clang"), called_alike(work, options.clang), *options.args,
        LLVM_PROFILE_FILE=raw)
    subprocess.run(["llvm-profdata", "merge", "-o", data, raw], check=True)
    report = os.path.join(work, "clang.info")
    with open(report, "wb") as out:
        subprocess.run(["llvm-cov", "export", "--format=lcov", options.clang,
                        f"--instr-profile={data}"], check=True, stdout=out)
    return lcov_read(report)


# ---- comparing ----

class Verdict:
    def __init__(self, options):
        self.options, self.sources = options, {}
        self.counts = collections.Counter()
        self.examples = collections.defaultdict(list)

    def text(self, key):
        if key[0] not in self.sources:
            try:
                with open(key[0], encoding="utf-8", errors="replace") as f:
                    self.sources[key[0]] = f.read().split("\n")
            except OSError:
                self.sources[key[0]] = []
        lines = self.sources[key[0]]
        return lines[key[1] - 1].strip()[:80] if key[1] <= len(lines) else ""

    def differ(self, kind, key, ours, theirs):
        self.counts[kind] += 1
        self.examples[kind].append(f"{os.path.basename(key[0])}:{key[1]}: cprof {ours}, "
                                   f"gcov {theirs}   | {self.text(key)}")


def same_pairs(ours, theirs):
    """Directions that agree, and that are known: gcov's order is another one."""
    agree = known = 0
    for mine, other in zip(sorted(ours, key=str), sorted(theirs, key=str)):
        if None in mine:
            continue
        known += 2
        agree += sum(a == b for a, b in zip(sorted(bool(n) for n in mine),
                                            sorted(bool(n) for n in other)))
    return agree, known


def compare_branches(verdict, key, ours, theirs):
    mine = [p for p in ours.branches if None not in p]
    verdict.counts["directions unknown"] += sum(p.count(None) for p in ours.branches)
    if not ours.branches and not theirs.branches:
        return
    if not theirs.comparable or len(ours.branches) != len(theirs.branches):
        verdict.counts["lines with other branches"] += 1
        return
    other = [[bool(n) for n in p] for p in theirs.branches]
    if len(mine) != len(other):
        return
    agree, known = same_pairs([[bool(n) for n in sorted(p, reverse=True)] for p in mine],
                              [sorted(p, reverse=True) for p in other])
    verdict.counts["directions"] += known
    verdict.counts["directions agree"] += agree
    if agree < known:
        verdict.differ("direction", key, ours.branches, theirs.branches)


def compare(verdict, ours, theirs, decider):
    exact = verdict.options.count
    for key in sorted(set(ours) | set(theirs)):
        if verdict.options.only not in key[0]:
            continue
        if key not in ours or key not in theirs:
            of = "cprof" if key in ours else "gcov"
            verdict.counts["lines only of " + of] += 1
            if verdict.options.all:
                verdict.differ(f"only of {of}", key, *(s[key].count if key in s else "-"
                                                       for s in (ours, theirs)))
            continue
        mine, other = ours[key].count, theirs[key].count
        verdict.counts["lines of both"] += 1
        compare_branches(verdict, key, ours[key], theirs[key])
        if mine == other if exact else bool(mine) == bool(other):
            verdict.counts["lines agree"] += 1
            continue
        judge = decider.get(key) if decider is not None else None
        kind = "line, nobody decides"
        if judge:
            right = judge.count == mine if exact else bool(judge.count) == bool(mine)
            wrong = judge.count == other if exact else bool(judge.count) == bool(other)
            kind = f"line, clang says {'cprof' if right else 'gcov' if wrong else 'neither'}"
        verdict.differ(kind, key, mine, other)


def percent(part, of):
    return f"{100 * part / of:.3f} %" if of else "-"


def show(verdict):
    c = verdict.counts
    print(f"lines of both: {c['lines of both']}, agree {c['lines agree']} = "
          f"{percent(c['lines agree'], c['lines of both'])}")
    print(f"lines only of cprof {c['lines only of cprof']}, of gcov {c['lines only of gcov']}")
    print(f"directions: {c['directions']}, agree {c['directions agree']} = "
          f"{percent(c['directions agree'], c['directions'])}; unknown "
          f"{c['directions unknown']}; lines with other branches "
          f"{c['lines with other branches']}")
    for kind, listed in sorted(verdict.examples.items()):
        print(f"\n{kind}: {len(listed)}")
        for text in listed if verdict.options.all else listed[:10]:
            print("  " + text)


def arguments():
    parser = argparse.ArgumentParser(prog="scripts/judge-coverage")
    for name in ("plain", "gcov"):
        parser.add_argument(f"--{name}", required=True, type=os.path.abspath)
    parser.add_argument("--clang", type=os.path.abspath)
    parser.add_argument("--count", action="store_true")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--in", dest="directory")
    parser.add_argument("--input", type=os.path.abspath)
    parser.add_argument("--only", default="")
    parser.add_argument("args", nargs="*")
    return parser.parse_args()


def main():
    options = arguments()
    verdict = Verdict(options)
    with tempfile.TemporaryDirectory() as work:
        theirs, expected = gcov(options, work)
        ours, status = cprof(options, work)
        if status != expected:
            sys.exit(f"the runs ended differently: {status} below cprof, {expected} with gcov")
        compare(verdict, ours, theirs, clang(options, work))
    show(verdict)
    # What clang decides for us is no difference; exact counts are its business, too.
    lost = sum(n for kind, n in verdict.counts.items()
               if kind.startswith("line, ") and not kind.endswith("says cprof"))
    lines, directions = verdict.counts["lines of both"], verdict.counts["directions"]
    sys.exit(not lines or lost > lines * 0.0002 or
             verdict.counts["directions agree"] < directions * 0.99)


main()
