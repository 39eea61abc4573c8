#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""scripts/judge-values: see there.

cprof runs the program twice; what differs between these (times, random
numbers) is not compared. A call is known by its function and how many came
before it. Of each value all that both sides have is compared: numbers,
addresses, members, elements, what is behind pointers.
"""
import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile

from compare import MOVED, Comparison

HERE = os.path.dirname(os.path.abspath(__file__))
CPROF = os.environ.get("CPROF", os.path.join(HERE, "../../build/cprof"))
LINKAGE = {} # names of clones to those of their functions
ENVIRONMENT = {"PATH": "/usr/bin:/bin"}


def run(command, check=True, **more):
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=check,
                          **more).stdout


def functions_of(program):
    """Those with an entry, by name; names that stand for several are left out."""
    found = json.loads(run([CPROF, "functions", "--json", program]))
    names = collections.Counter(f["function"] for f in found)
    ours = [f for f in found if f["entry"] and f["kind"] == "function" and
            names[f["function"]] == 1]
    LINKAGE.update({f["linkage_name"]: f["function"] for f in ours})
    return {f["function"]: f["address"] for f in ours}


def record(command, path):
    """{(function, call): {"args": {name: value}, "result": value, "end": event}}"""
    run(["setarch", "-R", CPROF, "run", "-q", "-o", path, "-t", "program", "-a", "-r",
         "--max-rate=0", "--", *command], check=False, env=ENVIRONMENT)
    calls, counts, stacks = {}, collections.Counter(), collections.defaultdict(list)
    replay = subprocess.Popen([CPROF, "replay", "--json", path], stdout=subprocess.PIPE)
    for line in replay.stdout:
        e = json.loads(line)
        stack = stacks[e["tid"]]
        if e["event"] == "enter":
            name = LINKAGE.get(e["function"], e["function"])
            key = name, counts[name]
            counts[name] += 1
            stack.append(key)
            if key[1] < OPTIONS.calls:
                calls[key] = {"args": {a["name"]: a for a in e.get("args", []) if "name" in a}}
        elif e["event"] != "disarmed":
            key = stack.pop()
            if key in calls:
                calls[key]["end"] = e["event"]
                if "result" in e:
                    calls[key]["result"] = e["result"]
    if replay.wait():
        sys.exit("cprof replay failed")
    return calls, len(counts)


def ask_gdb(command, functions, directory):
    plan, out = os.path.join(directory, "plan"), os.path.join(directory, "said")
    pie = "DYN" in run(["readelf", "-hW", command[0]], text=True)
    with open(plan, "w", encoding="utf-8") as file:
        json.dump({"functions": functions, "calls": OPTIONS.calls, "pie": pie,
                   "prologue": OPTIONS.prologue, "out": out}, file)
    log = subprocess.run(["gdb", "-q", "-nx", "-batch", "-iex", "set debuginfod enabled off", "-x",
                          os.path.join(HERE, "values_gdb.py"), "--args", *command],
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True,
                         stderr=subprocess.STDOUT, env={**ENVIRONMENT, "JUDGE": plan})
    calls = collections.defaultdict(dict)
    errors = collections.Counter()
    with open(out, encoding="utf-8") as file:
        for line in file:
            said = json.loads(line)
            call = calls[said["function"], said["call"]]
            if "error" in said:
                errors[said["error"]] += 1
            for what in ("args", "result"):
                if what in said:
                    call[what] = said[what]
    if not calls:
        sys.exit("gdb said nothing:\n" + log.stdout.decode(errors="replace"))
    return calls, errors


def stable(ours, again):
    """What is the same in both of our own runs; None where it is not."""
    if isinstance(ours, dict) and isinstance(again, dict) and "b64" not in ours:
        return {key: stable(ours[key], again.get(key)) for key in ours}
    if isinstance(ours, list) and isinstance(again, list) and len(ours) == len(again):
        return [stable(a, b) for a, b in zip(ours, again)]
    return ours if ours == again else None


def pairs(mine, again, theirs):
    for key, call in mine.items():
        if key not in theirs:
            continue
        other = again.get(key, {"args": {}})
        for name, value in theirs[key].get("args", {}).items():
            if name in call["args"] and name in other["args"]:
                yield (*key, name, call["args"][name],
                       stable(call["args"][name]["value"], other["args"][name]["value"]), value)
        if "result" in theirs[key] and "result" in call and "result" in other:
            yield (*key, "=", call["result"],
                   stable(call["result"]["value"], other["result"]["value"]),
                   theirs[key]["result"])


def main():
    command = [os.path.abspath(OPTIONS.program), *OPTIONS.arguments]
    if any(len(a.split()) != 1 for a in command):
        sys.exit("judge-values: gdb can't start a program with blanks in its arguments")
    functions = functions_of(command[0])
    with tempfile.TemporaryDirectory() as directory:
        mine, called = record(command, os.path.join(directory, "one"))
        again, _ = record(command, os.path.join(directory, "two"))
        theirs, errors = ask_gdb(command, functions, directory)
    values, leaves, moved, shown = collections.Counter(), 0, 0, set()
    agreeing, apart, results = set(), collections.defaultdict(set), set()
    for function, call, name, shape, value, said in pairs(mine, again, theirs):
        c = Comparison()
        c.whole(name, shape, value, said)
        values["compared" if c.same or c.apart else "not comparable"] += 1
        leaves += c.same + len(c.apart)
        moved += c.moved
        if c.same:
            agreeing.add(function)
            if name == "=":
                results.add(function)
        for path, ours, other in c.apart:
            apart[function].add(path)
            if OPTIONS.all or (function, name) not in shown:
                shown.add((function, name))
                print(f"{function} #{call} {path} ({shape['type']}, {shape['source']}): "
                      f"ours {ours}, gdb's {other}")
    missing = [key for key in theirs if key not in mine]
    for key in missing[:20]:
        print(f"{key[0]} #{key[1]}: gdb saw a call, we did not")
    for error, count in errors.most_common(5):
        print(f"gdb: {error} ({count} times)")
    ends = collections.Counter(call.get("end", "open") for call in mine.values())
    rows = [("functions of the program", len(functions)), ("called", called),
            ("with values of both", len(agreeing | set(apart))),
            ("of these with results of both", len(results)),
            ("with a difference", len(apart)), ("arguments and results compared", values["compared"]),
            ("not comparable (one side has nothing)", values["not comparable"]),
            ("numbers, addresses and texts in them", leaves),
            ("addresses in libraries, elsewhere by " + "".join(map(str, MOVED)), moved),
            ("differences", sum(len(paths) for paths in apart.values())),
            ("calls compared that returned", ends["leave"]),
            ("left by a tail call", ends["tail_call"]), ("unwound or open", ends["unwind"] + ends["open"]),
            ("calls that gdb alone saw", len(missing))]
    print("\n".join(f"{count:9}  {what}" for what, count in rows))
    return 1 if apart or missing or not leaves else 0


def options():
    p = argparse.ArgumentParser(prog="judge-values")
    p.add_argument("--calls", type=int, default=3)
    p.add_argument("--prologue", action="store_true")
    p.add_argument("--all", action="store_true")
    p.add_argument("program")
    p.add_argument("arguments", nargs=argparse.REMAINDER)
    return p.parse_args()


OPTIONS = options()
sys.exit(main())
