#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What others read in our files of coverage: coverage_judge.py ROOT [--no-diff].

Here are lcov.info, cobertura.xml, sonarqube.xml and gcovr.json; ROOT is the
git repository with the sources, all of whose lines are new in its last commit.
Prints a line for each reader with what it adds up: covered/of all lines,
functions, branches; - for what the format has no word for.
"""
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as xml

ROOT = os.path.abspath(sys.argv[1])
HERE = os.getcwd()


def run(*command, cwd=HERE):
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, errors="replace")
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def say(reader, lines, functions=None, branches=None):
    def of(pair):
        return "-" if pair is None else "%d/%d" % tuple(pair)

    print(reader, of(lines), of(functions), of(branches))


def percentages(text):
    """lcov's and genhtml's "lines......: 60.0% (3 of 5 lines)"."""
    found = {}
    for what in "lines", "functions", "branches":
        m = re.findall(what + r"\.*: .*?(?:\((\d+) of (\d+)|no data found)", text)[-1]
        found[what] = tuple(int(n or 0) for n in m)
    return found


def lcov():
    summary = run("lcov", "--rc", "lcov_branch_coverage=1", "--summary", "lcov.info")
    say("lcov", **percentages(summary))
    shown = run("genhtml", "--branch-coverage", "-o", "genhtml", "lcov.info")
    say("genhtml", **percentages(shown))
    # Its own sums of each file, which those two ignore.
    sums = dict.fromkeys(("LH", "LF", "FNH", "FNF", "BRH", "BRF"), 0)
    for line in open("lcov.info", errors="replace"):
        key, _, value = line.strip().partition(":")
        if key in sums:
            sums[key] += int(value)
    say("sums", (sums["LH"], sums["LF"]), (sums["FNH"], sums["FNF"]), (sums["BRH"], sums["BRF"]))


def gcovr():
    text = run("gcovr", "--root", ROOT, "--add-tracefile", os.path.join(HERE, "gcovr.json"),
               "--json-summary", "-", cwd=ROOT)
    s = json.loads(text)
    say("gcovr", (s["line_covered"], s["line_total"]),
        (s["function_covered"], s["function_total"]), (s["branch_covered"], s["branch_total"]))


def cobertura():
    root = xml.parse("cobertura.xml").getroot()
    number = root.attrib
    say("cobertura", (int(number["lines-covered"]), int(number["lines-valid"])), None,
        (int(number["branches-covered"]), int(number["branches-valid"])))
    lines, functions, branches, jumps = [0, 0], [0, 0], [0, 0], 0
    for line in root.iterfind(".//class/lines/line"):
        lines[0] += int(line.get("hits")) > 0
        lines[1] += 1
        share = line.get("condition-coverage")
        conditions = line.findall("conditions/condition")
        assert (line.get("branch") == "true") == bool(share) == bool(conditions)
        if share:
            percent, covered, of = map(int, re.fullmatch(r"(\d+)% \((\d+)/(\d+)\)", share).groups())
            assert percent == covered * 100 // of
            branches[0] += covered
            branches[1] += of
            jumps += sum(int(c.get("coverage")[:-1]) == 100 for c in conditions)
    for method in root.iterfind(".//method"):
        functions[0] += int(method.find("lines/line").get("hits")) > 0
        functions[1] += 1
    say("elements", lines, functions, branches)
    assert abs(float(number["line-rate"]) - lines[0] / lines[1]) < 1e-9
    for package in root.iterfind(".//package"):
        inside = [int(l.get("hits")) > 0 for l in package.iterfind("classes/class/lines/line")]
        assert abs(float(package.get("line-rate")) - sum(inside) / max(len(inside), 1)) < 1e-9


def sonarqube():
    lines, branches = [0, 0], [0, 0]
    for line in xml.parse("sonarqube.xml").getroot().iterfind("file/lineToCover"):
        lines[0] += line.get("covered") == "true"
        lines[1] += 1
        covered, of = int(line.get("coveredBranches", 0)), int(line.get("branchesToCover", 0))
        assert covered <= of
        branches[0] += covered
        branches[1] += of
    say("sonarqube", lines, None, branches)


def diff_cover(name):
    report = os.path.join(HERE, "diff.json")
    run("diff-cover", "--compare-branch=HEAD~1", "--json-report", report,
        os.path.join(HERE, name), cwd=ROOT)
    found = json.load(open(report))
    total = found["total_num_lines"]
    say("diff-cover-" + name.split(".")[0], (total - found["total_num_violations"], total))


lcov()
gcovr()
cobertura()
sonarqube()
if "--no-diff" not in sys.argv:
    diff_cover("cobertura.xml")
    diff_cover("lcov.info")
