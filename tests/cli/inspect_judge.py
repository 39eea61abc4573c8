# SPDX-License-Identifier: MIT
"""What `cprof inspect` says of expressions beside what gdb says of them:
    inspect_judge.py PID FILE    a line an expression; what gdb calls it, behind a tab
The process is stopped while gdb looks. Prints what differs, and how many are the same.
"""
import json
import os
import subprocess
import sys
import tempfile

if "gdb" in sys.modules or "GDB_JUDGE" in os.environ:
    import gdb # inside of gdb

    sys.path.insert(0, os.environ["GDB_VALUES"])
    from gdb_value import value_of

    with open(os.environ["GDB_JUDGE"], encoding="utf-8") as expressions, \
            open(os.environ["GDB_SAID"], "w", encoding="utf-8") as said:
        for line in expressions:
            text = line.rstrip("\n").split("\t")[-1]
            try:
                value = gdb.parse_and_eval(text)
                record = {"value": value_of(value), "address": int(value.address) if value.address else None}
            except gdb.error as error:
                record = {"failed": str(error)}
            said.write(json.dumps(record) + "\n")
    gdb.execute("detach")
    sys.exit(0)

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../judge"))
from compare import Comparison # pylint: disable=wrong-import-position


class Inspected(Comparison):
    moves = False

    def pointer(self, path, ours, theirs):
        if isinstance(ours, str) and ours.startswith("0x"):
            self.leaf(path, int(ours, 16), theirs["pointer"])
        elif theirs.get("text") is not None:
            self.text(path, ours, theirs["text"])
        else:
            self.leaf(path, ours, theirs["pointer"])


def main(pid, path):
    with open(path, encoding="utf-8") as file:
        expressions = [line.rstrip("\n").split("\t")[0] for line in file]
    ours = json.loads(subprocess.run([os.environ["CPROF"], "inspect", "--json", "--depth=6", "--", pid] + expressions,
                                     stdout=subprocess.PIPE, check=False).stdout)
    ours = {one["expression"]: one for one in ours}
    with tempfile.TemporaryDirectory() as directory:
        answers = os.path.join(directory, "said")
        log = subprocess.run(["gdb", "-q", "-nx", "-batch", "-iex", "set debuginfod enabled off", "-p", pid,
                              "-x", __file__], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, check=False,
                             env={**os.environ, "GDB_JUDGE": path, "GDB_SAID": answers,
                                  "GDB_VALUES": os.path.join(HERE, "../judge")}).stdout
        if not os.path.exists(answers):
            sys.exit("gdb said nothing:\n" + log.decode(errors="replace"))
        with open(answers, encoding="utf-8") as file:
            theirs = [json.loads(line) for line in file]
    same = 0
    for expression, said in zip(expressions, theirs):
        if "failed" in said:
            print(f"gdb: {expression}: {said['failed']}")
            continue
        if said["value"] is None and ours.get(expression, {}).get("error") == "optimized_out":
            continue
        if expression not in ours or ours[expression].get("error"):
            print(f"apart: {expression}: {ours.get(expression, {}).get('error', 'nothing')}, not {said['value']}")
            continue
        one, comparison = ours[expression], Inspected()
        comparison.value("", one["value"], said["value"])
        if one["address"] and said["address"] and int(one["address"], 16) != said["address"]:
            comparison.apart.append(("&", one["address"], hex(said["address"])))
        for at, mine, gdbs in comparison.apart:
            print(f"apart: {expression}{at}: {mine}, not {gdbs}")
        if not comparison.same and said["value"] is not None:
            print(f"apart: {expression}: {one['value']} beside {said['value']}: nothing compared")
        same += comparison.same
    print(f"same {same}")


main(*sys.argv[1:])
