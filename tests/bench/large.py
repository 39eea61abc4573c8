"""What commands take that read a large recording, and the memory that they use."""
import os
import statistics
import subprocess
import tempfile

from harness import CPROF, NULL, must, need, report, spread

SCRIPT = """local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local words = {}
for i = 1, %d do
	words[i] = tostring(i):rep(3)
	if i %% 3 == 0 then words[i] = words[i]:gsub("1", "x"):upper() end
end
table.sort(words)
fib(20)
"""
RECORDINGS = [("all calls", ["--trace=all"]), ("calls with values", ["--trace=lua*", "--args", "--result", "--traps"])]
COMMANDS = [["report"], ["replay"], ["export", "-f", "chrome", "-o", "-"], ["export", "-f", "html", "-o", "-"],
            ["export", "-f", "folded", "-o", "-"]]


def used(command, path):
    """Seconds of CPU time, and MB at most."""
    with subprocess.Popen([CPROF, *command, path], stdin=NULL, stdout=NULL, stderr=NULL,
                          env={**os.environ, "PAGER": "cat"}) as child:
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    must(child.returncode, " ".join(command))
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def large(table, quick):
    """reports, replay and exports of millions of calls: CPU time a call, memory"""
    lua = need("lua5.4")
    with tempfile.TemporaryDirectory() as directory:
        script = os.path.join(directory, "work.lua")
        with open(script, "w", encoding="utf-8") as out:
            out.write(SCRIPT % (3000 if quick else 30000))
        for name, options in RECORDINGS:
            path = os.path.join(directory, "calls.cprof")
            done = subprocess.run([CPROF, "run", "-o", path, *options, "--", lua, script], stdin=NULL, stdout=NULL,
                                  stderr=NULL, check=False)
            must(done.returncode, "cprof run")
            calls = report(path)["calls"]["calls"]
            table.section(f"{name}: {calls:,} calls, {os.path.getsize(path) / 1e6:.1f} MB")
            for command in COMMANDS:
                rounds = [used(command, path) for _ in range(1 if quick else 3)]
                ns = [seconds * 1e9 / calls for seconds, _ in rounds]
                table.row(" ".join(command[:3]), f"{statistics.median(ns):.0f} ns", "a call",
                          spread(ns, lambda v: f"{v:.0f} ns") + f"  {max(m for _, m in rounds):.0f} MB".rstrip())
