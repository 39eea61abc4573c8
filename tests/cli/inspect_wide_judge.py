# SPDX-License-Identifier: MIT
"""What `cprof inspect` makes of integers of up to 128 bits, beside what they are:
    inspect_wide_judge.py PID
The process holds m0, m1, ... of VALUES, "u" or "s" __int128. Prints what differs, and how
many are the same.
"""
import json
import operator
import os
import subprocess
import sys

VALUES = [0, 1, 3, -1, -7, 100, 2**64, 2**100 + 1, 2**127 - 1, -(2**127), 2**127, 2**128 - 1]
LEAST, MOST = -(2**127), 2**128 - 1


def truncated(divide):
    """By C: towards 0."""

    def of(a, b):
        size = abs(a) // abs(b)
        quotient = -size if (a < 0) != (b < 0) else size
        return quotient if divide else a - quotient * b

    return of


def shift(shifted):
    return lambda a, b: shifted(a, b) if 0 <= b <= 127 else None


OPERATORS = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": truncated(True),
    "%": truncated(False),
    "<<": shift(operator.lshift),
    ">>": shift(operator.rshift),
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<": operator.lt,
    ">=": operator.ge,
    "==": operator.eq,
}


def wanted():
    for i, a in enumerate(VALUES):
        yield f"-m{i}", -a
        yield f"~m{i}", ~a
        for j, b in enumerate(VALUES):
            for name, of in OPERATORS.items():
                if name in "/%" and not b:
                    continue
                result = of(a, b)
                if result is not None:
                    yield f"m{i} {name} m{j}", result


def said(pid, texts):
    run = subprocess.run([os.environ["CPROF"], "inspect", "--json", pid, "--", *texts],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    return run.stdout, run.stderr


def main(pid):
    same = 0
    cases = list(wanted())
    fits = [(text, value) for text, value in cases if LEAST <= value <= MOST]
    rest = [text for text, value in cases if not LEAST <= value <= MOST]
    for at in range(0, len(fits), 200):
        some = fits[at : at + 200]
        out, err = said(pid, [text for text, _ in some])
        found = {v["expression"]: v["value"] for v in json.loads(out)}
        if err:
            print(err)
        for text, value in some:
            got = str(found.get(text))
            if got == str(value):
                same += 1
            else:
                print(f"apart: {text}: {got}, is {value}")
    for text in rest:
        out, err = said(pid, [text])
        if "overflows 128 bits" in err + out:
            same += 1
        else:
            print(f"apart: {text}: {out}{err}, overflows")
    print("same", same)


if __name__ == "__main__" and sys.argv[1:] == ["values"]:
    for number, value in enumerate(VALUES):
        kind = "unsigned __int128" if value >= 2**127 else "__int128"
        print(f"{kind} m{number} = (unsigned __int128){(value >> 64) % 2**64}u << 64 | {value % 2**64}u;")
elif __name__ == "__main__":
    main(sys.argv[1])
