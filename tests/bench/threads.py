"""Many threads: those that sleep must cost nothing, those that are there must
be taken and let go quickly."""
import os
import subprocess
import time

from harness import (CPROF, LeftOut, NULL, attach, cpu_of, cpu_so_far, must, need, program, recording, report, running,
                     stop)


def switches(pid):
    """How often the process's threads were scheduled: one that was stopped and
    let go was."""
    total = 0
    for tid in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{tid}/status", encoding="utf-8") as status:
            total += sum(int(line.split()[1]) for line in status if "ctxt_switches" in line)
    return total


def idle_threads(table, quick):
    """1,000 threads that sleep, 100 Hz, both clocks"""
    table.section("1,000 sleeping threads at 100 Hz: CPU of cprof while it samples")
    for clock in ("cpu", "wall"):
        with recording() as data, running([program("idle"), "1000"], ready="ready") as idle:
            before = switches(idle.pid)
            profiler = subprocess.Popen(attach(idle.pid, data, "-s", "100", f"--clock={clock}"), stdin=NULL,
                                        stderr=NULL)
            time.sleep(2)  # what the start costs is not asked here
            start, used = time.monotonic(), cpu_so_far(profiler.pid)
            time.sleep(2 if quick else 10)
            share = (cpu_so_far(profiler.pid) - used) / (time.monotonic() - start)
            stop(profiler)
            must(profiler.returncode, "cprof attach")
            stops = report(data)["overhead"]["stops"]
            table.row(f"--clock={clock}", f"{share * 100:.2f} %", "of a CPU",
                      f"{stops} stops, {switches(idle.pid) - before} switches seen by the kernel")


def traced(pid, tid):
    with open(f"/proc/{pid}/task/{tid}/status", encoding="utf-8") as status:
        return any(line.startswith("TracerPid:") and line.split()[1] != "0" for line in status)


def seize_time(pid, command):
    """Seconds until the last thread has a tracer, and until all were let go."""
    last = max(os.listdir(f"/proc/{pid}/task"), key=int)
    start = time.monotonic()
    process = subprocess.Popen(command, stdin=NULL, stdout=NULL, stderr=NULL)
    while not traced(pid, last):
        if process.poll() is not None:
            raise LeftOut(f"{command[0]} ended with {process.returncode}")
        time.sleep(0.002)
    seized = time.monotonic() - start
    start = time.monotonic()
    stop(process)
    return seized, time.monotonic() - start


def many_threads(table, quick):
    """seizing 16,000 threads"""
    count = 2000 if quick else 16000
    table.section(f"{count:,} sleeping threads: seize all, let all go")
    with recording() as data, running([program("idle"), str(count)], ready="ready") as idle:
        before = switches(idle.pid)
        seized, left = seize_time(idle.pid, attach(idle.pid, data))
        table.row("cprof attach: start to the last thread seized", f"{seized:.2f} s",
                  f"Ctrl-C to its end {left:.2f} s", f"{switches(idle.pid) - before} switches of the threads")
    try:
        gdb = need("gdb")
        count = count // 8
        with running([program("idle"), str(count)], ready="ready") as idle:
            start = time.monotonic()
            subprocess.run([gdb, "-nx", "-batch", "-p", str(idle.pid)], stdin=NULL, stdout=NULL, stderr=NULL,
                           check=False, timeout=120)
            table.row(f"gdb -batch -p, {count:,} of them", f"{time.monotonic() - start:.2f} s", "all stopped meanwhile")
    except (LeftOut, subprocess.TimeoutExpired) as why:
        table.left_out("gdb -batch -p", str(why))


def spinning_threads(table, quick):
    """stopping 16,000 threads that compute, and letting them go"""
    count = 2000 if quick else 16000
    table.section(f"{count:,} computing threads: stop all, let all go")
    # In a session, and so a scheduling group, of its own: they are to have the CPUs, not everybody's.
    with running([program("idle"), str(count), "busy"], ready="ready", start_new_session=True) as busy:
        floor = []
        for _ in range(1 if quick else 3):
            start = time.monotonic()
            subprocess.run([program("stopall"), str(busy.pid)], stdin=NULL, stdout=NULL, check=True)
            floor.append(time.monotonic() - start)
        least = sorted(floor)[len(floor) // 2]
        table.row("PTRACE_INTERRUPT and waitpid for each, and no more", f"{least:.2f} s", "", f"{min(floor):.2f} to {max(floor):.2f} s")
        start = time.monotonic()
        shown = subprocess.run([CPROF, "stack", str(busy.pid)], stdin=NULL, stdout=subprocess.PIPE, text=True, check=True)
        took = time.monotonic() - start
        table.row("cprof stack", f"{took:.2f} s", f"{took / least:.1f} times that",
                  f"{shown.stdout.count(' compute')} of {count} stacks")
        with recording() as data:
            start = time.monotonic()
            subprocess.run(attach(busy.pid, data, "-d", "1s", "-s", "10"), stdin=NULL, stderr=NULL, check=True)
            took = time.monotonic() - start - 1
            table.row("cprof attach -d 1s -s 10, beyond the second", f"{took:.2f} s", f"{took / least:.1f} times that",
                      f"{report(data)['overhead']['stops']} stops")


def stack_once(table, quick):
    """the stacks of a process, once: cprof stack and gdb"""
    table.section("every stack once: 8 busy threads, 40 frames")
    with running([program("spin"), "8", "1000000000"]) as busy:
        for name, command in (("cprof stack", [CPROF, "stack", str(busy.pid)]),
                              ("gdb -batch -ex 'thread apply all bt'",
                               ["gdb", "-nx", "-batch", "-p", str(busy.pid), "-ex", "thread apply all bt"])):
            try:
                need(command[0])
                took = []
                for _ in range(1 if quick else 5):
                    status, _, elapsed = cpu_of(command)
                    must(status, name)
                    took.append(elapsed)
                table.row(name, f"{sorted(took)[len(took) // 2] * 1e3:.0f} ms", "", f"{min(took) * 1e3:.0f} to {max(took) * 1e3:.0f} ms")
            except LeftOut as why:
                table.left_out(name, str(why))
