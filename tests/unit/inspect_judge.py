#!/usr/bin/env python3
"""gdb's values for the functions of a program, beside ours.

inspect_judge.py DUMP PROGRAM [ARG...]: runs both, each stopping at the first
call of every function; compares what scalars, pointers and structs' members
are. What gdb says is optimised out, and what it is known to get wrong at a
function's first instruction (-O0: slots not yet written), is not compared.
"""
import os
import subprocess
import sys
import tempfile

GDB = r'''
import gdb

said = []  # what is printed while the program runs is lost

def text(v, depth=0):
    t = v.type.strip_typedefs()
    code = t.code
    if v.is_optimized_out:
        return "?"
    if code in (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_ENUM, gdb.TYPE_CODE_CHAR, gdb.TYPE_CODE_BOOL):
        return str(int(v)) if t.sizeof <= 8 else "*"
    if code in (gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
        if code != gdb.TYPE_CODE_PTR:
            v = v.referenced_value().address
        return hex(int(v) & (2**64 - 1))
    if code == gdb.TYPE_CODE_FLT and t.sizeof <= 8:
        return "%.9g" % float(v)
    if code == gdb.TYPE_CODE_STRUCT:
        if depth >= 2:
            return "{}"
        return "{" + "".join(f"{f.name}:{text(v[f], depth + 1)};" for f in t.fields()
                             if f.name and not f.artificial and hasattr(f, "bitpos")) + "}"
    return "*"

class Return(gdb.FinishBreakpoint):
    def __init__(self, frame, name):
        super().__init__(frame, internal=True)
        self.name = name
        self.silent = True
    def stop(self):
        try:
            if self.return_value is not None:
                said.append(f"@{self.name} = {text(self.return_value)}")
        except Exception as e:
            said.append(f"!{self.name} {e}")
        return False

class Entry(gdb.Breakpoint):
    def __init__(self, address, name):
        super().__init__(f"*{address}", internal=True)
        self.name = name
        self.silent = True
        self.returns = []
    def stop(self):
        frame = gdb.newest_frame()
        try:
            block = gdb.block_for_pc(frame.pc())
            while block is not None and block.function is None:
                block = block.superblock
            for symbol in list(block) if block is not None else []:
                if symbol.is_argument:
                    said.append(f"@{self.name} {symbol.print_name} {text(frame.read_var(symbol))}")
        except Exception as e:
            said.append(f"!{self.name} {e}")
        pending.append(self)
        return True

pending = []
gdb.execute("set pagination off")
gdb.execute("set confirm off")
gdb.execute("set breakpoint pending off")
for setting in ("unset environment LINES", "unset environment COLUMNS",
                "set startup-with-shell off"):
    gdb.execute(setting)
gdb.execute("starti", to_string=True)
bias = None
for line in open(f"/proc/{gdb.selected_inferior().pid}/maps"):
    bias = int(line.split("-")[0], 16)
    break
entries = {}
for line in open(NAMES):
    address, name = line.split()
    entries[name] = Entry(hex(int(address, 16) + (bias if PIE else 0)), name)
while gdb.selected_inferior().pid:
    try:
        gdb.execute("continue", to_string=True)
    except gdb.error:
        break
    while pending:
        e = pending.pop()
        e.enabled = False
        try:
            Return(gdb.newest_frame(), e.name)
        except Exception as error:
            said.append(f"!{e.name} {error}")
print("\n".join(said))
'''


def gdb_lines(program, names):
    with tempfile.TemporaryDirectory() as directory:
        table, script = os.path.join(directory, "names"), os.path.join(directory, "judge.py")
        pie = "DYN" in subprocess.run(["readelf", "-hW", program[0]], stdout=subprocess.PIPE,
                                      check=True, text=True).stdout
        symbols = subprocess.run(["nm", program[0]], stdout=subprocess.PIPE, check=True, text=True)
        with open(table, "w") as out:
            for line in symbols.stdout.splitlines():
                word = line.split()
                if len(word) == 3 and word[2] in names and word[1] in "tTwW":
                    out.write(f"{word[0]} {word[2]}\n")
        with open(script, "w") as out:
            out.write(f"NAMES = {table!r}\nPIE = {pie}\n{GDB}")
        got = subprocess.run(["gdb", "-q", "-nx", "-batch", "-iex", "set debuginfod enabled off",
                              "-x", script, "--args", *program],
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, errors="replace")
    return got.stdout.splitlines()


def table(lines):
    values = {}
    for line in lines:
        word = line.split(" ", 2)
        if len(word) == 3:
            values.setdefault((word[0], word[1]), word[2])
    return values


def comparable(a, b):
    return not any(c in a + b for c in "?*")


def main():
    dump, program = sys.argv[1], [os.path.abspath(sys.argv[2]), *sys.argv[3:]]
    os.environ.clear() # both programs find the same things at the same addresses
    os.environ["PATH"] = "/usr/bin:/bin"
    ours = subprocess.run([dump, *program], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          check=True, text=True, errors="replace")
    mine = table(ours.stdout.splitlines())
    lines = gdb_lines(program, {name for name, _ in mine})
    theirs = table(line[1:] for line in lines if line.startswith("@"))
    both = [key for key in mine if key in theirs and comparable(mine[key], theirs[key])]
    wrong = [key for key in both if mine[key] != theirs[key]]
    for key in wrong:
        print(f"{key[0]} {key[1]}: ours {mine[key]}, gdb's {theirs[key]}")
    functions = len({name for name, _ in both})
    print(f"{program[0]}: {len(both)} values of {functions} functions compared, {len(wrong)} differ; "
          f"{len(mine)} ours, {len(theirs)} gdb's")
    if not both:
        print("\n".join(lines[:20]))
    return 1 if wrong or not both else 0


sys.exit(main())
