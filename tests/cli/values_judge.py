#!/usr/bin/env python3
"""Values of the functions of values_rust.rs beside what the program says they are.

values_judge.py SAID REPLAY: what it printed, and `cprof replay --json`. Prints what
is wrong, then how many are right and how many are said to be unknown.
"""
import json
import re
import sys

UNKNOWN = ("<unavailable>", "<optimized out>")
ALONE = {
    "turn": (["&{a=1, b=2, c=3, d=4}"], "{a=4, b=3, c=2, d=1}"),
    "after": (['(5, "five")', "'\u00e9'", "8", "77"], "327"),
    "array": (["6"], "{6, 2}"),
    "constant": (None, "5"),
    "half": (None, "(1, 7)"),
    "unused": (None, "11"),
}


def bare(text):
    """Without the structs of one value that the library has around numbers."""
    before = None
    while before != text:
        before, text = text, re.sub(r"\{__0=([^{},=]*)\}", r"\1", text)
    return text


def is_partly(text, wanted):
    """Right in what is known of it."""
    known = re.split("<unavailable>|<optimized out>", bare(text))
    return len(known) > 1 and re.fullmatch(".+".join(map(re.escape, known)), bare(wanted)) is not None


def main():
    said = dict(line.rstrip("\n").split("\t") for line in open(sys.argv[1]))
    arguments = {"b": "8", "c": "2.5", "d": "77"}
    right = unknown = 0
    deep = []
    for line in open(sys.argv[2]):
        event = json.loads(line)
        if event.get("event") not in ("enter", "leave"):
            continue
        name = re.sub(r"\(.*|::h[0-9a-f]{16}$", "", event["function"]).split("::")
        got = []
        if name[-1] == "deep":
            if event["event"] == "leave":
                deep.append(event["result"]["text"])
        elif name[-1] in ALONE:
            wanted, result = ALONE[name[-1]]
            if event["event"] == "leave":
                got = [("result", event["result"]["text"], result)]
            elif wanted:
                got = [("argument", a["text"], w) for a, w in zip(event.get("args", []), wanted)]
        elif name[-2] not in said:
            continue
        elif event["event"] == "leave":
            if event.get("result"):
                got = [("result", event["result"]["text"], said[name[-2]])]
        else:
            got = [(a["name"], a["text"], {**arguments, "a": said[name[-2]]}[a["name"]])
                   for a in event.get("args", []) if a.get("name")]
        for what, text, wanted in got:
            if text in UNKNOWN or is_partly(text, wanted):
                unknown += 1
            elif bare(text) == bare(wanted):
                right += 1
            else:
                print("::".join(name), what, "is", text, "not", wanted)
    # Of calls in one another the first arguments of 32 are kept.
    wanted = [f"{{a={i}, b=2, c=3, d=4}}" for i in [*range(21), *range(32)]] + ["<unavailable>"] * 9
    if deep != wanted:
        print("deep", deep)
    print(right, unknown)


main()
