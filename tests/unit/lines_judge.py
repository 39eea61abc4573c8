#!/usr/bin/env python3
"""Judges line tables and functions of the debug information by llvm-dwarfdump.

  - rows: all of them, in order of address, with file, line, column,
    discriminator, is_stmt, and the ends of sequences;
  - functions: where each one with code and each inlined instance is entered,
    and where it is declared.

    lines_judge.py IMAGE_DUMP SOURCES
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True,
                          errors="replace").stdout


def code_ranges(path):
    """Addresses of the segments that may be executed."""
    found = []
    for line in output("readelf", "-lW", path).splitlines():
        m = re.match(r"\s*LOAD\s+\S+\s+0x(\S+)\s+\S+\s+\S+\s+0x(\S+)\s+.*E\s", line)
        if m:
            found.append((int(m[1], 16), int(m[1], 16) + int(m[2], 16)))
    return found


# ---- rows ----

class Program:
    def __init__(self):
        self.version = 5
        self.dirs, self.files, self.sequences, self.rows = {}, {}, [], []

    def path(self, number, base):
        name, at = self.files[number]
        folder = self.dirs.get(at, base if not at else "")
        if self.version >= 5 and at and not folder.startswith("/"):
            folder = os.path.join(self.dirs[0], folder)
        return shortened(os.path.join(base, folder, name))


def shortened(path):
    """As text; os.path.normpath() keeps two slashes at the start."""
    return re.sub("^//", "/", os.path.normpath(path))


ROW = re.compile(r"^0x([0-9a-f]{16})\s+(\d+)\s+(\d+)\s+(\d+)\s+\d+\s+(\d+)\s*(.*)$")


def programs(path):
    """Offset -> Program."""
    found, now, number = {}, None, None
    for line in output("llvm-dwarfdump", "--debug-line", path).splitlines():
        if line.startswith("0x"):  # nearly all of them
            m = ROW.match(line)
            if m:
                now.rows.append((int(m[1], 16), int(m[2]), int(m[3]), int(m[5]), int(m[4]),
                                 m[6].split()))
                if "end_sequence" in m[6]:
                    now.sequences.append(now.rows)
                    now.rows = []
            continue
        if line.startswith("debug_line["):
            now = found[int(line[11:-1], 16)] = Program()
            continue
        m = re.match(r'^\s+version: (\d+)', line)
        if m:
            now.version = int(m[1])
        m = re.match(r'^include_directories\[\s*(\d+)\] = "(.*)"', line)
        if m:
            now.dirs[int(m[1])] = m[2]
        m = re.match(r"^file_names\[\s*(\d+)\]", line)
        if m:
            number = int(m[1])
        m = re.match(r'^\s+name: "(.*)"', line)
        if m:
            now.files[number] = [m[1], 0]
        m = re.match(r"^\s+dir_index: (\d+)", line)
        if m:
            now.files[number][1] = int(m[1])
    return found


def bases(path):
    """Offset of a program -> directory of the compilation."""
    found = {}
    text = output("llvm-dwarfdump", "--debug-info", "-r", "0", path)
    for unit in text.split("DW_TAG_")[1:]:
        at = re.search(r"DW_AT_stmt_list\s+\(0x([0-9a-f]+)\)", unit)
        folder = re.search(r'DW_AT_comp_dir\s+\("(.*)"\)', unit)
        if at and folder:
            found[int(at[1], 16)] = folder[1]
    return found


def expected_rows(path):
    code, base = code_ranges(path), bases(path)
    sequences = []
    for offset, program in programs(path).items():
        for rows in program.sequences:
            end = rows[-1]
            kept = [r for r in rows[:-1] if r[0] < end[0]]
            if not kept or not any(low <= rows[0][0] < high for low, high in code):
                continue
            folder = base.get(offset) or ""
            sequences.append([f"{r[0]:x} {r[1]} {r[2]} {r[3]} "
                              + ("s" if "is_stmt" in r[5] else "")
                              + ("e" if "end_sequence" in r[5] else "")
                              + f". {program.path(r[4], folder)}"
                              for r in sorted(kept, key=lambda r: r[0]) + [end]])
    sequences.sort(key=lambda rows: int(rows[0].split()[0], 16))
    return [row for rows in sequences for row in rows]


# ---- functions ----

DIE = re.compile(r"^0x([0-9a-f]+):\s+(DW_TAG_\w+|NULL)")
FUNCTIONS = ("DW_TAG_subprogram", "DW_TAG_inlined_subroutine")


def dies(path, *more):
    """Offset -> tag and attributes as text, of functions."""
    found, now = {}, None
    for line in output("llvm-dwarfdump", "--debug-info", *more, path).splitlines():
        if line.startswith("0x"):
            m = DIE.match(line)
            if m:
                known = m[2] in FUNCTIONS
                now = found.setdefault(int(m[1], 16), {"tag": m[2]}) if known else None
            continue
        if now is None:
            continue
        m = re.match(r"^\s+(DW_AT_\w+)\s+\((.*?)\)?$", line)
        if m:
            now[m[1]] = m[2]
            continue
        m = re.match(r"^\s+\[0x([0-9a-f]+), 0x([0-9a-f]+)\)", line)
        if m:
            now.setdefault("ranges", []).append((int(m[1], 16), int(m[2], 16)))
    return found


def said(all_dies, die, name):
    for _ in range(16):
        if die is None or name in die:
            return die and die.get(name)
        to = die.get("DW_AT_abstract_origin") or die.get("DW_AT_specification")
        die = all_dies.get(int(to.split()[0], 16)) if to else None
    return None


def expected_functions(path):
    code, all_dies = code_ranges(path), dies(path)
    found = set()
    for die in all_dies.values():
        ranges = die.get("ranges", [])
        if "DW_AT_low_pc" in die and "DW_AT_high_pc" in die:
            ranges = [(int(die["DW_AT_low_pc"], 16), int(die["DW_AT_high_pc"], 16))]
        ranges = [r for r in ranges if r[0] < r[1] and any(c[0] <= r[0] < c[1] for c in code)]
        if not ranges:
            continue
        entry = int(die.get("DW_AT_entry_pc", "0"), 16)
        if len(die.get("DW_AT_entry_pc", "")) < 18:  # no address: behind the beginning
            entry += ranges[0][0]
        at = entry if any(r[0] <= entry < r[1] for r in ranges) else ranges[0][0]
        file = said(all_dies, die, "DW_AT_decl_file")
        line = said(all_dies, die, "DW_AT_decl_line")
        found.add((f"{at:x}", line or "0",
                   "i" if die["tag"] == "DW_TAG_inlined_subroutine" else "",
                   shortened(file.strip('"')) if file else "?"))
    return found


def got_functions(dump, path):
    found = set()
    for line in output(dump, path, "functions").splitlines():
        at, number, flags, name, file = line.split(" ", 4)[:5]
        file = line.rsplit(" /", 1)[-1] if " /" in line else file
        if at != "0":
            found.add((at, number, "i" if "i" in flags else "",
                       "/" + file if " /" in line else file))
    return found


# ---- the files ----

def differences(what, path, want, got):
    if want == got and want:
        return 0
    print(f"{path}: {what} differ: {len(want)} wanted, {len(got)} there")
    for text in sorted(set(want) - set(got))[:5]:
        print("  missing", text)
    for text in sorted(set(got) - set(want))[:5]:
        print("  more   ", text)
    return 1


def judge(dump, path):
    """What `path` says is what llvm-dwarfdump says of it."""
    got = output(dump, path, "rows").splitlines()
    bad = differences("rows", path, expected_rows(path), got)
    functions = got_functions(dump, path)
    bad += differences("functions", path, expected_functions(path), functions)
    print(f"{path}: {len(got)} rows, {len(functions)} functions")
    return bad


def same(dump, path, reference):
    """The same code, with its debug information elsewhere."""
    return (differences("rows", path, output(dump, reference, "rows").splitlines(),
                        output(dump, path, "rows").splitlines())
            + differences("functions", path, got_functions(dump, reference),
                          got_functions(dump, path)))


def build(compiler, cpp, flags, sources, name, link=()):
    for source in ("inlines.cc", "other.c"):
        output(cpp if source.endswith("cc") else compiler, *flags, "-c",
               os.path.join(sources, source), "-o", f"{name}.{source}.o")
    output(cpp, f"{name}.inlines.cc.o", f"{name}.other.c.o", "-o", name, "-lm", *link)
    return name


def main():
    dump, sources = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    bad = 0
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        for compiler, cpp in (("gcc", "g++"), ("clang", "clang++")):
            if not shutil.which(cpp):
                print(f"left out: no {cpp}")
                continue
            ways = [["-O2", "-gdwarf-5", "-ffunction-sections"]]
            if compiler == "gcc":
                ways.append(["-O0", "-gdwarf-4"])
            for flags in ways:
                name = build(compiler, cpp, flags, sources, compiler + "".join(flags),
                             ["-Wl,--gc-sections", "-Wl,--build-id"])
                bad += judge(dump, name)
        bad += judge(dump, build("gcc", "g++", ["-O1", "-gdwarf-2", "-gstrict-dwarf"], sources,
                                 "old"))
        flags = ["-O2", "-gdwarf-5", "-ffunction-sections"]
        whole = "gcc" + "".join(flags)  # was judged above
        output("objcopy", "--compress-debug-sections", whole, "compressed")
        bad += same(dump, "compressed", whole)
        output("objcopy", "--only-keep-debug", whole, "apart.debug")
        output("objcopy", "--strip-debug", "--add-gnu-debuglink=apart.debug", whole, "apart")
        bad += same(dump, "apart", whole)
        if shutil.which("dwz"):
            for name in ("dwz1", "dwz2"):
                shutil.copy(whole, name)
            output("dwz", "-m", "common.dwz", "dwz1", "dwz2")
            bad += same(dump, "dwz1", whole)
        bad += same(dump, build("gcc", "g++", flags + ["-gsplit-dwarf"], sources, "split",
                                ["-Wl,--gc-sections"]), whole)
        if shutil.which("rustc"):
            output("rustc", "-g", "-o", "rust", os.path.join(sources, "program.rs"))
            got = output(dump, "rust", "rows").splitlines()
            bad += differences("rows", "rust", expected_rows("rust"), got)
    return 1 if bad else 0


sys.exit(main())
