#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kill_early.py CPROF OPTIONS PROGRAM FILE: kills all of a cprof that runs PROGRAM when it first
says (-v) that something of FILE, a part of its path, has breakpoints, and awaits the program's
end, which is printed: "status N", and what it wrote."""
import ctypes
import os
import subprocess
import sys

PR_SET_CHILD_SUBREAPER = 36


def children(pid):
    """The tracer, and the program."""
    tracers, others = [], []
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        for child in file.read().split():
            with open(f"/proc/{child}/comm", encoding="utf-8") as comm:
                (tracers if comm.read().startswith("cprof") else others).append(int(child))
    return *tracers, *others


def main():
    cprof, options, program, armed = sys.argv[1:]
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    command = [cprof, "run", "-v", "-o", "early.data", *options.split(), "--", program]
    with open("early.out", "w+", encoding="utf-8") as out, \
            subprocess.Popen(command, stdout=out, stderr=subprocess.PIPE, text=True) as controller:
        for line in controller.stderr:
            if f"/{armed}" in line and "breakpoints" in line:
                break
        else:
            sys.exit(f"{armed} was never armed")
        tracer, started = children(controller.pid)
        for pid in (tracer, controller.pid):
            os.kill(pid, 9)
        while True:
            pid, status = os.wait()
            if pid == started:
                break
        out.seek(0)
        print(f"status {os.waitstatus_to_exitcode(status)}, {out.read().strip()}")


main()
