# SPDX-License-Identifier: MIT
"""What `cprof inspect` says of expressions beside what gdb says of them:
    inspect_judge.py PID FILE [FUNCTION [PROGRAM]]
FILE has a line an expression; what gdb calls it, behind a tab. In the frame of FUNCTION,
if that is told. With PROGRAM, PID is a core file of it. A process is stopped while gdb
looks, by the language of its innermost frame or the one that GDB_LANGUAGE names. Prints
what differs, how many are the same, and what a frame has in registers that nobody saved.
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

    def choose(function):
        """The innermost frame of that function, of the first thread that has one."""
        for thread in reversed(gdb.selected_inferior().threads()):
            thread.switch()
            frame = gdb.newest_frame()
            while frame and (frame.name() or "").split("(")[0].split("::")[-1] != function:
                frame = frame.older()
            if frame:
                frame.select()
                return

    if os.environ.get("GDB_LANGUAGE"):
        gdb.execute("set language " + os.environ["GDB_LANGUAGE"])
    if os.environ.get("GDB_FRAME"):
        choose(os.environ["GDB_FRAME"])
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
    if not os.environ["GDB_PROGRAM"]:
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


def main(pid, path, function=None, program=None):
    with open(path, encoding="utf-8") as file:
        expressions = [line.rstrip("\n").split("\t")[0] for line in file]
    frame = [f"--frame={function}"] if function else []
    ours = json.loads(subprocess.run([os.environ["CPROF"], "inspect", "--json", "--depth=6", *frame, "--", pid]
                                     + expressions, stdout=subprocess.PIPE, check=False).stdout)
    ours = {one["expression"]: one for one in ours}
    with tempfile.TemporaryDirectory() as directory:
        answers = os.path.join(directory, "said")
        what = [program, pid] if program else ["-p", pid]
        log = subprocess.run(["gdb", "-q", "-nx", "-batch", "-iex", "set debuginfod enabled off", *what,
                              "-x", __file__], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, check=False,
                             env={**os.environ, "GDB_JUDGE": path, "GDB_SAID": answers,
                                  "GDB_FRAME": function or "", "GDB_PROGRAM": program or "",
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
        if function and not program and ours.get(expression, {}).get("error") == "unavailable":
            print(f"unavailable: {expression}")
            continue
        if expression not in ours or ours[expression].get("error"):
            print(f"apart: {expression}: {ours.get(expression, {}).get('error', 'nothing')}, not {said['value']}")
            continue
        one, comparison = ours[expression], Inspected()
        comparison.ended_by_nul = not (".." in expression or "@" in expression or one["type"].startswith("const char ["))
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
