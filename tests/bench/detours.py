"""What a call costs that is seen without a stop, an allocation, and an exception."""
import os
import statistics
import subprocess

from calls import callee, microseconds
from harness import BUILD, CPROF, LeftOut, cpu_of, measured, must, need, recording, report, spread


def nanoseconds(command):
    return microseconds(command) * 1e3


def seen(calls, *options, events=2, how=None):
    """Nanoseconds of a call, none of which may be missing; `how`: of another function than callee."""
    command = [callee(1, calls)[0], "--" + how, str(calls)] if how else callee(1, calls)
    with recording() as data:
        took = nanoseconds([CPROF, "run", "-q", "-o", data, "-t", how or "callee", *options, "--", *command])
        overhead = report(data)["overhead"]
        if overhead["records_lost"] or overhead["records"] < events * (calls - 100):
            raise LeftOut(f"{overhead['records']} records of {calls} calls")
    return took


def dropped(calls):
    """What the program takes where it waits for nobody: most calls are lost."""
    with recording() as data:
        return nanoseconds([CPROF, "run", "-q", "-o", data, "-t", "callee", "--on-full=drop", "--", *callee(1, calls)])


def with_uftrace(calls):
    with recording() as data:
        return nanoseconds([need("uftrace"), "record", "--no-libcall", "-d", data + ".uftrace",
                            *callee(1, calls, "callee-pg")])


def compare(table, rounds, ways, unit, base):
    figures, out = measured(rounds, ways)
    for name, values in figures.items():
        if name in out:
            table.left_out(name, out[name])
            continue
        ratios = [v / b for v, b in zip(values, figures[base])]
        table.row(name, f"{statistics.median(values):.3g} {unit}", f"{statistics.median(ratios):.3g} x {base}",
                  spread(values, lambda v: f"{v:.3g}"))


def detours(table, quick):
    """entry and return of a function without a stop, all calls recorded, beside uftrace"""
    table.section("a call by detours; the program waits for who writes them down")
    count, rounds = (200000, 1) if quick else (3000000, 5)
    compare(table, rounds, {
        "untraced": lambda: nanoseconds(callee(1, count)),
        "run -t callee": lambda: seen(count),
        "run -t callee --summary": lambda: seen(count, "--summary"),
        "run -t callee --on-full=drop (of the program alone)": lambda: dropped(count),
        "run -t callee -a -r": lambda: seen(count, "-a", "-r"),
        "run -t six -a -r (six arguments and a result)": lambda: seen(count, "-a", "-r", how="six"),
        "run -t text -a (a text of 32 bytes)": lambda: seen(count, "-a", how="text"),
        "run -t visit -a (a structure of 12 members)": lambda: seen(count // 3, "-a", how="visit"),
        "run -t visit": lambda: seen(count // 3, how="visit"),
        "run -t visit --args='node->value' (one of its members)":
            lambda: seen(count // 3, "--args=node->value", how="visit"),
        "run -t callee --stack": lambda: seen(count // 10, "--stack"),
        "run -t callee --when='value < 0' (refused)": lambda: seen(count, "--when=value < 0", events=0),
        "uftrace record --no-libcall (recompiled with -pg)": lambda: with_uftrace(count),
    }, "ns", "untraced")


def built(name, text, compiler, *options):
    """Builds a program, once."""
    target = BUILD / name
    if not target.exists():
        subprocess.run([need(compiler), "-O1", "-g", *options, "-", "-o", str(target)], input=text, text=True,
                       check=True)
    return str(target)


def pairs(count=1000000):
    """A program that allocates and frees so many blocks."""
    return [built("bench-pairs-of",
                  "#include <stdlib.h>\n"
                  "__attribute__((noinline)) void *inner(size_t n) { void *p = malloc(n); "
                  '__asm__ volatile("" ::"r"(p) : "memory"); return p; }\n'
                  "__attribute__((noinline)) void *outer(int i) { return inner(16 + i % 64 * 8); }\n"
                  "int main(int argc, char **argv) { long n = argc > 1 ? atol(argv[1]) : 0; "
                  "for (long i = 0; i < n; i++) free(outer((int)i)); }\n",
                  "cc", "-fno-builtin", "-x", "c"), str(count)]


def sampler():
    """A library that does the least by which a sample can be chosen and its blocks' ends be known."""
    return built("bench-sampler.so",
                 "#include <stddef.h>\n"
                 "void *__libc_malloc(size_t); void __libc_free(void *);\n"
                 "static __thread long left; static unsigned char chosen[65536];\n"
                 "#define CHOSEN(p) chosen[(size_t)(p) >> 4 & 65535]\n"
                 "__attribute__((noinline)) static void *choose(size_t n) { void *p = __libc_malloc(n); "
                 "left = 512 << 10; __atomic_fetch_add(&CHOSEN(p), 1, __ATOMIC_RELAXED); return p; }\n"
                 "__attribute__((noinline)) static void forget(void *p) { "
                 "__atomic_fetch_sub(&CHOSEN(p), 1, __ATOMIC_RELAXED); __libc_free(p); }\n"
                 "void *malloc(size_t n) { left -= (long)n; return left < 0 ? choose(n) : __libc_malloc(n); }\n"
                 "void free(void *p) { if (p && CHOSEN(p)) forget(p); else __libc_free(p); }\n",
                 "cc", "-fno-builtin", "-fPIC", "-shared", "-ftls-model=initial-exec", "-x", "c")


def seconds(command, **kwargs):
    status, _, took = cpu_of(command, **kwargs)
    must(status, command[0])
    return took


def watched(*options):
    """Seconds of a program of which every block has to be there."""
    with recording() as data:
        took = seconds([CPROF, "run", "-q", "-o", data, "--allocs", *options, "--", *pairs()])
        blocks = report(data)["allocations"]["allocated"]["blocks"]
        if "--max-rate=0" in options and blocks != 1000000:
            raise LeftOut(f"{blocks} blocks of 1,000,000")
    return took


def sampled(every, count=1000000):
    with recording() as data:
        return seconds([CPROF, "run", "-q", "-o", data, f"--allocs={every}", "--", *pairs(count)])


def with_heaptrack():
    with recording() as data:
        return seconds([need("heaptrack"), "-o", data, *pairs()])


def allocations(table, quick):
    """a million pairs of malloc and free with stacks, beside heaptrack"""
    table.section("1,000,000 blocks allocated and freed, each with its stack")
    compare(table, 1 if quick else 5, {
        "alone": lambda: seconds(pairs()),
        "run --allocs --max-rate=0 (all of them)": lambda: watched("--max-rate=0"),
        "run --allocs (the first 150,000, then in pieces)": watched,
        "run --allocs=512K (a sample)": lambda: sampled("512K"),
        "heaptrack": with_heaptrack,
    }, "s", "alone")
    many = 1000000 if quick else 100000000
    table.section(f"{many:,} blocks allocated and freed, by a program that does nothing else, a sample of them")
    compare(table, 1 if quick else 3, {
        "alone": lambda: seconds(pairs(many)),
        "run --allocs=512K": lambda: sampled("512K", many),
        "a preloaded library that does the least": lambda: seconds(
            pairs(many), env={**os.environ, "LD_PRELOAD": sampler()}),
    }, "s", "alone")


def throws():
    """A program that throws and catches 100,000 exceptions."""
    return built("bench-throws",
                 "#include <stdexcept>\n"
                 '__attribute__((noinline)) void thrower() { throw std::runtime_error("thrown"); }\n'
                 "int main() { int caught = 0; for (int i = 0; i < 100000; i++) "
                 "try { thrower(); } catch (std::exception &) { caught++; } return caught != 100000; }\n",
                 "c++", "-x", "c++")


def caught(*options):
    """Seconds of a program of which every exception has to be there."""
    with recording() as data:
        took = seconds([CPROF, "run", "-q", "-o", data, "--exceptions", "--max-rate=0", *options, "--", throws()])
        told = report(data)["exceptions"]
        if (told["thrown"], told["caught"]) != (100000, 100000):
            raise LeftOut(f"{told['thrown']} thrown and {told['caught']} caught of 100,000")
    return took


def exceptions(table, quick):
    """a hundred thousand exceptions thrown and caught"""
    table.section("100,000 exceptions thrown and caught")
    compare(table, 1 if quick else 5, {
        "alone": lambda: seconds([throws()]),
        "run --exceptions": caught,
        "run --exceptions --stack": lambda: caught("--stack"),
        "run --exceptions --traps": lambda: caught("--traps"),
    }, "s", "alone")
