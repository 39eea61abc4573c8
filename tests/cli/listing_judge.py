"""What cprof annotate says of instructions, beside objdump: listing_judge.py JSON FILE

Addresses, where jumps lead, and which mnemonics; what was seen in each adds up.
"""
import json
import re
import subprocess
import sys

# The same instruction under objdump's name and capstone's.
JUMP = re.compile(r"^j[a-z]+|^loop[a-z]*")
SAME = {"cs nopw": "nop", "data16": "nop", "nopw": "nop", "nopl": "nop"}


def objdump(path, first, last):
    """{address: (mnemonic, target or None)} of first up to last."""
    text = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", f"--start-address={first}", f"--stop-address={last + 16}", path],
        stdout=subprocess.PIPE, text=True, check=True,
    ).stdout
    found = {}
    for line in text.splitlines():
        match = re.match(r"^ *([0-9a-f]+):\s+(.*)$", line)
        if not match or int(match.group(1), 16) > last:
            continue
        words = match.group(2).split()
        words = [w for w in words if w not in ("lock", "rep", "repz", "repnz", "bnd", "notrack", "cs")] or words
        target = None
        if JUMP.match(words[0]) and re.fullmatch(r"[0-9a-f]+", words[1]):
            target = int(words[1], 16)
        found[int(match.group(1), 16)] = (words[0], target)
    return found


def same(one, other):
    """Two mnemonics, either with a suffix that says the size."""
    one, other = SAME.get(one, one), SAME.get(other, other)
    if {one, other} == {"nop", "xchg"}:
        return True
    return one[:3] == other[:3] or one.rstrip("bwlq") == other.rstrip("bwlq")


def main():
    listing = json.load(open(sys.argv[1], encoding="utf-8"))
    insns = listing["instructions"]
    want = objdump(sys.argv[2], int(insns[0]["address"], 16), int(insns[-1]["address"], 16))
    wrong = []
    for insn in insns:
        at = int(insn["address"], 16)
        target = insn["target"] and int(insn["target"], 16)
        if at not in want:
            wrong.append(f"{at:x}: objdump has none there")
            continue
        name, to = want[at]
        if to != target:
            wrong.append(f"{at:x}: leads to {target}, not {to}")
        words = [w for w in insn["text"].split() if w not in ("lock", "rep", "repz", "repne", "bnd", "notrack", "cs")]
        if words[0] != ".byte" and not same(words[0], name):
            wrong.append(f"{at:x}: {words[0]}, not {name}")
    missing = set(want) - {int(i["address"], 16) for i in insns}
    wrong += [f"{at:x}: not told" for at in missing]
    if sum(i["self_ns"] for i in insns) < listing["self_ns"]:
        wrong.append("instructions do not add up to the function")
    if any(i["self_ns"] > i["total_ns"] for i in insns):
        wrong.append("more in itself than in all")
    for line in wrong[:20]:
        print(line)
    print(len(insns), "instructions")
    sys.exit(bool(wrong))


main()
