"""scripts/bench: see there."""
import signal
import sys

import annotations
import calls
import coverage
import detours
import inspected
import large
import overhead
import programs
import short
import threads
from harness import LeftOut, Table, allow_many_files, machine

BENCHMARKS = [overhead.overhead, overhead.pause, overhead.cost_of_samples, overhead.weights, overhead.walk, threads.idle_threads,
              threads.many_threads, threads.spinning_threads, threads.stack_once, programs.first_sample, programs.redis,
              programs.top,
              programs.recording_size, calls.calls, calls.lengths, calls.arming, calls.stands, detours.detours,
              detours.allocations, detours.exceptions, coverage.coverage, coverage.starts, short.short,
              annotations.annotations, inspected.inspected, large.large]


def main():
    wanted = [arg for arg in sys.argv[1:] if not arg.startswith("-")]
    names = [b.__name__ for b in BENCHMARKS]
    unknown = [arg for arg in sys.argv[1:] if arg not in names + ["--quick", "--list"]]
    if unknown or "--list" in sys.argv:
        for benchmark in BENCHMARKS:
            print(f"{benchmark.__name__:<18} {benchmark.__doc__}")
        return 2 if unknown else 0
    allow_many_files()
    # A shell's background command has it ignored, and so would have those that
    # are to end by it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    print(machine())
    table = Table()
    for benchmark in BENCHMARKS:
        if wanted and benchmark.__name__ not in wanted:
            continue
        try:
            benchmark(table, "--quick" in sys.argv)
        except LeftOut as why:
            table.left_out(benchmark.__name__, str(why))
    return 0


sys.exit(main())
