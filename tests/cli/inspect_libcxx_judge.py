# SPDX-License-Identifier: MIT
"""The same containers by two libraries: inspect_libcxx_judge.py JSON OTHER: what `cprof
inspect --json` says of either. Prints what differs, and how many are the same."""
import json
import sys

one, other = ({e["expression"]: e for e in json.load(open(name, encoding="utf-8"))} for name in sys.argv[1:])
same = 0
for name, e in one.items():
    found = other.get(name, {})
    # Pointers are told by what they lead to.
    if found.get("text", "nothing") == e["text"] and ("&" in e["text"] or found.get("value") == e["value"]):
        same += 1
    else:
        print(f"apart: {name}: {e['text'][:100]}, {found.get('text', 'nothing')[:100]}")
print("same", same)
