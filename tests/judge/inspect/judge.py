#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""scripts/judge-inspect: see there."""
import argparse
import collections
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from agree import Agreement # pylint: disable=wrong-import-position

SKIPPED_MAX = 60 # variables that gdb does not survive
CPROF = os.environ.get("CPROF", os.path.join(HERE, "../../../build/cprof"))


class Program:
    """One that was started, up to where it waits in read()."""

    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        if b"ready" not in self.process.stdout.readline():
            sys.exit(f"{path} is not ready")
        self.pid = self.process.pid
        while True:
            with open(f"/proc/{self.pid}/syscall", encoding="utf-8") as file:
                if file.read().startswith("0 0x0 "): # read(0, ...)
                    return
            time.sleep(0.001)

    def end(self):
        self.process.stdin.close()
        self.process.stdout.close()
        return self.process.wait()


class Stranger:
    """One that ran before, and goes on."""

    def __init__(self, pid):
        self.pid = pid

    def end(self):
        """It goes on."""


def inspect(*arguments):
    run = subprocess.run([CPROF, "inspect", "--json", "--depth=8", *arguments], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, check=False)
    if run.returncode < 0 or (not run.stdout and run.returncode != 1):
        sys.exit(f"cprof inspect {' '.join(arguments)}: {run.returncode}: {run.stderr.decode()}")
    return json.loads(run.stdout or b"[]")


def without_core():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def gdbs(pid, names, directory, language):
    said, expressions = os.path.join(directory, "said"), os.path.join(directory, "expressions")
    with open(expressions, "w", encoding="utf-8") as file:
        file.write("".join(name + "\n" for name in names))
    environment = {**os.environ, "SAID": said, "EXPRESSIONS": expressions}
    if language == "rust":
        root = subprocess.run(["rustc", "--print", "sysroot"], stdout=subprocess.PIPE, check=True).stdout
        environment["RUST_ETC"] = os.path.join(root.decode().strip(), "lib/rustlib/etc")
    environment["GDB_LANGUAGE"] = {"c": "c", "cpp": "c++", "rust": "rust"}[language]
    skipped = []
    while True:
        what = [os.environ["CORE_OF"]] if os.environ.get("CORE_OF") else ["-p"]
        run = subprocess.run(["gdb", "-q", "-nx", "-batch", "-iex", "set debuginfod enabled off", "-iex",
                              "set auto-load no", *what, str(pid), "-x", os.path.join(HERE, "said_by_gdb.py")],
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             check=False, env={**environment, "SKIPPED": "\n".join(skipped)},
                             preexec_fn=without_core)
        if run.returncode == 0 and os.path.exists(said):
            break
        if len(skipped) == SKIPPED_MAX or b"internal-error" not in run.stdout:
            sys.exit("gdb failed:\n" + run.stdout.decode(errors="replace"))
        with open(said + ".at", encoding="utf-8") as file:
            skipped.append(file.read())
    with open(said, encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    return [r for r in records if "frame" in r], [r for r in records if "static" in r]


def visible(values):
    """By name; what is hidden by a variable of an inner block is not."""
    found = {}
    for value in values:
        if not any(note.startswith("hidden by") for note in value.get("notes", ())):
            found[value["expression"]] = value
    return found


def keyed(function, name):
    """A variable of a function, or of a lambda in it, by the same words at all optimisations."""
    function = function or ""
    return f"{function.split('(')[0].split('<')[0]}{' lambda' if 'lambda' in function else ''}: {name}"


def is_settled(name, function):
    """Never changes once it was set, before the program waits."""
    if name.endswith("no_once"): # bytes that nobody has set
        return False
    if (function or "").startswith(("std::", "core::")): # below main()
        return True
    return name.split("::")[-1][:2] in ("a_", "k_", "c_", "u_", "g_", "s_") or name in ("vla", "vlas", "shadowed")


class Truth:
    """What the variables hold, by unoptimised code."""

    def __init__(self, frames, statics):
        self.values = {r["static"]: r["value"] for r in statics}
        for said in frames:
            for theirs in reversed(said["variables"]):
                self.values[keyed(said["function"], theirs["name"])] = theirs["value"]

    def of(self, name, function=None):
        return self.values.get(keyed(function, name) if function else name) if is_settled(name, function) else None


def frame_by_frame(pid, frames, agreement, truth, stop):
    for said in frames:
        function = said["function"]
        if not said["variables"] or not function:
            continue
        thread = [f"--thread={said['thread']}"] if os.environ.get("ALL_THREADS") else []
        mine = visible(inspect(f"--frame={said['frame']}", *thread, *stop, str(pid)))
        seen = set()
        arguments = collections.Counter(v["name"] for v in said["variables"] if v["kind"] == "argument")
        for theirs in said["variables"]:
            name = theirs["name"]
            if name in seen or theirs["kind"] == "static":
                continue
            seen.add(name)
            ours = mine.pop(name, None)
            if arguments[name] > 1:
                agreement.rule("a parameter pack, whose parts have one name")
                continue
            if ours is None and name.startswith("__vla_expr"):
                agreement.rule("the compiler's own variables are left out")
                continue
            agreement.variable(f"#{said['frame']} {function.split('(')[0]}: {name}", theirs["kind"], ours,
                               theirs["value"], truth and truth.of(name, function))
        for name, value in mine.items():
            agreement.variable(f"#{said['frame']} {function}: {name}", "local", value, None)


def judge_expressions(pid, path, language, agreement):
    """Those that the file has, a line each."""
    with open(path, encoding="utf-8") as file:
        texts = file.read().splitlines()
    with tempfile.TemporaryDirectory() as directory:
        _, statics = gdbs(pid, texts, directory, language)
    ours = {v["expression"]: v for v in inspect(str(pid), "--", *texts)}
    for said in statics:
        agreement.variable(said["static"], "expression", ours.get(said["static"]), said["value"])


def judge(running, language, truth, options):
    """The agreement, and the truth by gdb."""
    agreement = Agreement()
    try:
        pid = running.pid
        ours = {v["expression"]: v for v in inspect("--globals", str(pid))}
        names = sorted(n for n in ours if not n.startswith(("std::", "__", "core::", "alloc::")))
        with tempfile.TemporaryDirectory() as directory:
            frames, statics = gdbs(pid, names, directory, language)
        for said in statics:
            agreement.variable(said["static"], "static", ours[said["static"]], said["value"],
                               truth and truth.of(said["static"]))
        frame_by_frame(pid, frames, agreement, truth, ["--stop"] if options.stop else [])
    finally:
        running.end()
    agreement.tell(options.show.split(","))
    return agreement, Truth(frames, statics)


def main():
    parser = argparse.ArgumentParser(prog="judge-inspect")
    parser.add_argument("--show", default="differ,gdb,nothing compared", help="what is told one by one")
    parser.add_argument("--stop", action="store_true", help="hold the process meanwhile: all registers are known")
    parser.add_argument("--least", type=int, default=0, help="equal values, or it fails")
    parser.add_argument("language", choices=["c", "cpp", "rust"])
    parser.add_argument("--pid", help="of a program that runs, or a core file, instead of compilers")
    parser.add_argument("--core-of", help="with --pid: the program that the core file is of")
    parser.add_argument("--all-threads", action="store_true", help="the frames of each, not of the first alone")
    parser.add_argument("--expressions", help="with --pid: a file of them, a line each, instead of its variables")
    parser.add_argument("compiler", nargs="*", help="with options, the first without optimisation")
    options = parser.parse_args()
    os.environ.update({"CORE_OF": options.core_of or "", "ALL_THREADS": "1" if options.all_threads else ""})
    if options.pid:
        agreement = Agreement()
        if options.expressions:
            judge_expressions(options.pid, options.expressions, options.language, agreement)
            agreement.tell(options.show.split(","))
        else:
            agreement, _ = judge(Stranger(options.pid), options.language, None, options)
        sys.exit(not (agreement.good() and agreement.leaves["equal"] >= options.least))
    truth, good = None, True
    with tempfile.TemporaryDirectory() as directory:
        source = os.path.join(directory, "program." + {"rust": "rs"}.get(options.language, options.language))
        program = os.path.join(directory, "program")
        with open(source, "w", encoding="utf-8") as file:
            subprocess.run([sys.executable, os.path.join(HERE, "make.py"), options.language], stdout=file, check=True)
        for compiler in options.compiler:
            print(f"{options.language}: {compiler}")
            subprocess.run([*compiler.split(), "-o", program, source], check=True)
            agreement, said = judge(Program(program), options.language, truth, options)
            truth = truth or said
            good = good and agreement.good() and agreement.leaves["equal"] >= options.least
    sys.exit(not good)


main()
