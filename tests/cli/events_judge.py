#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The order of events, as others see it.

    events_judge.py strace EVENTS STRACE    births, execs, names, signals, ends
    events_judge.py gdb EVENTS GDB          libraries of the first process
    events_judge.py mixed EVENTS GDB        threads, forks, exceptions, signals
                                            and the plugin of the first process

EVENTS is what the module of tests/modules/events.c printed, STRACE the output
of `strace -f`, GDB that of events_gdb.py or events_mixed.gdb. Tasks are numbered as they appear.
Prints what differs; status 1 then.
"""
import difflib
import re
import signal
import sys


class Tasks:
    def __init__(self):
        self.numbers = {}
        self.out = []

    def task(self, tid):
        if tid not in self.numbers:
            self.numbers[tid] = len(self.numbers)
            self.out.append(f"{self.numbers[tid]} born")
        return self.numbers[tid]

    def say(self, tid, what):
        self.out.append(f"{self.task(tid)} {what}")


def own(lines):
    """Of a process that another one replaces, only the exec is told."""
    tasks = Tasks()
    loaded = set()
    for line in lines:
        pid, tid, event, *rest = line.split()
        if event == "domain_loaded":
            if rest[0] in loaded or not loaded:
                tasks.say(rest[0], "exec")
            else:
                tasks.task(rest[0])
            loaded.add(rest[0])
        elif event == "thread_started":
            tasks.task(rest[0])
        elif event == "thread_exited":
            tasks.say(rest[0], "end")
        elif event == "thread_name":
            tasks.say(rest[0], "name " + rest[1])
        elif event == "signal_delivered":
            tasks.say(rest[0], f"signal {rest[1]} {int(rest[2], 0):#x}")
    return tasks.out


def strace(lines):
    tasks = Tasks()
    for line in lines:
        tid, text = line.rstrip("\n").split(None, 1)
        born = re.match(r"(?:<\.\.\. )?(?:clone3?|v?fork)\b.*= (\d+)$", text)
        named = re.match(r'prctl\(PR_SET_NAME, "(.*)"\)', text)
        got = re.match(r"--- (SIG\w+) \{(.*)\} ---", text)
        if born:
            tasks.task(born[1])
        elif re.match(r"(?:<\.\.\. )?execve\b.*= 0$", text):
            tasks.say(tid, "exec")
        elif named:
            tasks.say(tid, "name " + named[1])
        elif got:
            at = re.search(r"si_addr=(0x[0-9a-f]+)", got[2])
            tasks.say(tid, f"signal {signal.Signals[got[1]].value} {at[1] if at else '0x0'}")
        elif text.startswith("+++ "):
            tasks.say(tid, "end")
    return tasks.out


def libraries(lines):
    """Of the first process, until it executes something else."""
    out = []
    first, exe, execs = None, None, 0
    for line in lines:
        pid, tid, event, *rest = line.split()
        if event == "domain_loaded":
            first, exe = first or pid, exe or rest[1]
            execs += pid == first
        if pid != first or execs > 1 or (rest and rest[0] in (exe, "[vdso]")):
            continue
        if event == "domain_unloading":
            break
        if event == "image_loaded":
            out.append("+ " + rest[0])
        elif event == "image_unloaded":
            out.append("- " + rest[0])
    return out


PLAIN = {"exception_throw": "throw", "image_loaded": "load", "image_unloaded": "unload"}
CATCH = "0"


def mixed(lines):
    """Of the first process; whose fork it was is not told."""
    out, threads, first = [], {}, None
    for line in lines:
        pid, tid, event, *rest = line.split()
        first = first or pid
        if event == "domain_loading" and pid != first:
            out.append("fork")
        if pid != first:
            continue
        if event == "thread_started":
            threads[tid] = len(threads) + 1
            out.append(f"{threads[tid]} born")
        elif event == "thread_exited":
            out.append(f"{threads[tid]} end")
        elif event == "signal_delivered" and int(rest[1]) != signal.SIGCHLD:
            out.append(f"{threads[tid]} signal {rest[1]}")
        elif event == "exception_clause" and rest[0] == CATCH:
            out.append(f"{threads[tid]} catch")
        elif event == "exception_throw" or event in PLAIN and "libplugin" in rest[0]:
            out.append(f"{threads[tid]} {PLAIN[event]}")
    return out


def mixed_gdb(lines):
    """gdb tells neither the birth nor the end of the first thread by itself."""
    out, threads = ["1 born"], {}
    for line in lines:
        born = re.match(r"\[New Thread .*\(LWP (\d+)\)\]", line)
        end = re.match(r"\[Thread .*\(LWP (\d+)\) exited\]", line)
        event = re.match(r"EVENT (\d+) (.*)", line)
        if born:
            threads[born[1]] = len(threads) + 2
            out.append(f"{threads[born[1]]} born")
        elif end:
            out.append(f"{threads[end[1]]} end")
        elif event:
            out.append("fork" if event[2] == "fork" else f"{event[1]} {event[2]}")
        elif re.match(r"\[Inferior 1 .*exited normally\]", line):
            out.append("1 end")
    return out


def others(lines):
    return [line.rstrip("\n") for line in lines]


JUDGES = {"strace": (own, strace), "gdb": (libraries, others), "mixed": (mixed, mixed_gdb)}


def main():
    how = sys.argv[1]
    with open(sys.argv[2]) as f:
        ours = JUDGES[how][0](f)
    with open(sys.argv[3]) as f:
        theirs = JUDGES[how][1](f)
    if not theirs:
        sys.exit(f"{how} saw nothing")
    diff = list(difflib.unified_diff(ours, theirs, "cprof", how, lineterm="", n=3))
    print("\n".join(diff) if diff else f"{len(ours)} events, the same")
    sys.exit(1 if diff else 0)


main()
