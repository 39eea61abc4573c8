#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""replay_text.py JSON TEXT: does the text of `cprof replay --thread=TID` tell the calls of
`cprof replay --json --thread=TID`: the same ones, as deep, as long, ended likewise?
Where a thread goes on on another stack, calls there are its own again."""
import json
import re
import sys

FINEST = 16  # ns: no bound is less
UNITS = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}
ENDS = {"leave": "", "unwind": "✗ unwound"}
LINE = re.compile(r"^ *(\d+\.\d+)  ( *)(.*?)(?:  (?:<= )?([\d.]+) (ns|µs|ms|s))?$")
MARK = re.compile(r"^⇄(\d+) ")
CALL = re.compile(r"(?:^|: )([A-Za-z_]\w*)\((.*?)\)( \{)?(.*)$")


def calls_of(path):
    """Calls in the order of their enters, each with its end."""
    calls, open_calls = [], {}
    for line in open(path):
        e = json.loads(line)
        if e["event"] == "enter":
            call = {"name": e["function"], "depth": e["depth"], "start": e["ts_ns"]}
            calls.append(call)
            open_calls.setdefault((e["function"], e["depth"], e["ts_ns"]), []).append(call)
        elif e["event"] in ENDS:
            key = (e["function"], e["depth"], e["ts_ns"] - e["duration_ns"])
            call = open_calls[key].pop()
            call["end"] = e["ts_ns"]
            call["how"] = ENDS[e["event"]]
            call["net"] = max(0, e["duration_ns"] - e["overhead_ns"])
            if e.get("uncertain_ns"):
                call["net"] = max(FINEST, call["net"])
    return calls


def same_time(call, number, unit):
    if number is None:
        return call["net"] == 0
    shown = float(number) * UNITS[unit]
    return abs(shown - call["net"]) <= max(1, call["net"] * 0.006)


def main():
    calls, entered, closed = calls_of(sys.argv[1]), 0, 0
    braces, now = [], "0"
    for line in open(sys.argv[2]):
        m = LINE.match(line.rstrip("\n"))
        assert m, line
        at, indent, text, number, unit = m.groups()
        mark = MARK.match(text)
        if mark:
            assert mark[1] != now, "no other stack: " + line
            now, text = mark[1], text[mark.end():]
        if text.startswith("}"):
            ends = [c for c in braces if 2 * c["depth"] == len(indent) and "end" in c
                    and c["mark"] == now
                    and "%.6f" % (c["end"] // 1000 / 1e6) == at
                    and c["how"] == text[1:].strip() and same_time(c, number, unit)]
            assert ends, "no such end: " + line
            braces.remove(ends[0])
            closed += 1
            continue
        m = CALL.search(text)
        if not m:
            continue
        call = calls[entered]
        entered += 1
        assert (call["name"], 2 * call["depth"]) == (m[1], len(indent)), (call, line)
        call["mark"] = now
        if m[3]:
            braces.append(call)
        else:
            assert call["how"] == m[4].strip() and same_time(call, number, unit), (call, line)
    assert entered == len(calls), (entered, len(calls))
    assert not braces, braces[:3]
    print(entered, "calls,", closed, "with calls in them")


main()
