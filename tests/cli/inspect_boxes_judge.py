# SPDX-License-Identifier: MIT
"""What `cprof inspect` says of containers beside what libstdc++'s own printers for gdb do:
    inspect_boxes_judge.py PID FILE    a line an expression; what gdb calls it, behind a tab
Prints what differs, and how many are the same.
"""
import base64
import json
import os
import subprocess
import sys
import tempfile

LIMIT, TEXT = 64, 200

if "GDB_JUDGE" in os.environ:
    import gdb # inside of gdb

    sys.path.insert(0, "/usr/share/gcc/python")
    from libstdcxx.v6 import register_libstdcxx_printers

    register_libstdcxx_printers(None)
    gdb.execute("set language c++") # the thread may be in a function of C

    def text_of(text):
        if isinstance(text, gdb.Value):
            text = text.string()
        elif hasattr(text, "value"):
            # All of a lazy string, zeros with it.
            v = text.value()
            n = text.length if text.length >= 0 else v.type.range()[1] + 1
            unit = v.type.target().sizeof
            at = text.address
            data = bytes(gdb.selected_inferior().read_memory(at, n * unit)) if n else b""
            text = data.decode({1: "utf-8", 2: "utf-16-le", 4: "utf-32-le"}[unit])
        return {"text": text}

    def printed(v, printer):
        hint = printer.display_hint() if hasattr(printer, "display_hint") else None
        if hint == "string":
            return text_of(printer.to_string())
        if not hasattr(printer, "children"):
            return {"said": str(printer.to_string())}
        names, children = [], []
        for name, child in printer.children():
            if len(children) >= 2 * LIMIT:
                break
            names.append(name)
            children.append(plain(child) if isinstance(child, gdb.Value) else child)
        if names == ["first", "second"]:
            return dict(zip(names, children))
        if hint == "map":
            return {"map": list(zip(children[::2], children[1::2]))}
        if names in (["get()"], ["[contained value]"]):
            return children[0]
        if not names and "no contained value" in str(printer.to_string()):
            return None
        return {"list": children, "names": names}

    def plain(v):
        t = v.type.strip_typedefs()
        printer = gdb.default_visualizer(v)
        if printer:
            return printed(v, printer)
        if t.code == gdb.TYPE_CODE_ENUM:
            return str(v).split("::")[-1]
        if t.code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
            return plain(v.referenced_value())
        if t.code == gdb.TYPE_CODE_PTR:
            return hex(int(v))
        if t.code == gdb.TYPE_CODE_FLT:
            return float(v)
        if t.code == gdb.TYPE_CODE_ARRAY:
            return {"list": [plain(v[i]) for i in range(min(t.range()[1] + 1, LIMIT))], "names": []}
        if t.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
            if [f.name for f in t.fields()] == ["_M_elems"]: # std::array has no printer
                return plain(v["_M_elems"])
            return {f.name: plain(v[f]) for f in t.fields() if hasattr(f, "bitpos")}
        return int(v)

    with open(os.environ["GDB_JUDGE"], encoding="utf-8") as expressions, \
            open(os.environ["GDB_SAID"], "w", encoding="utf-8") as said:
        for line in expressions:
            try:
                record = {"value": plain(gdb.parse_and_eval(line.rstrip("\n").split("\t")[-1]))}
            except Exception as error: # pylint: disable=broad-except; printers are strangers' code
                record = {"failed": str(error)}
            said.write(json.dumps(record) + "\n")
    gdb.execute("detach")
    sys.exit(0)


def compare(path, ours, theirs):
    """Differences, and how many leaves are the same."""
    if isinstance(theirs, dict) and "text" in theirs:
        if isinstance(ours, dict) and "b64" in ours:
            ours = base64.b64decode(ours["b64"]).decode(errors="replace")
        return leaf(path, ours, theirs["text"][:TEXT])
    if isinstance(theirs, dict) and "map" in theirs:
        pairs = list(ours.items()) if isinstance(ours, dict) else ours
        return all_of(path, [x for pair in pairs for x in pair], [x for pair in theirs["map"] for x in pair][:2 * LIMIT])
    if isinstance(theirs, dict) and "list" in theirs:
        if len(theirs["list"]) < len(ours) and all(x == 1 for x in theirs["list"]): # bits that are set
            bits = [int(n.strip("[]")) for n in theirs["names"]]
            return leaf(path, [i for i, bit in enumerate(ours) if bit], [n for n in bits if n < LIMIT])
        return all_of(path, ours, theirs["list"][:LIMIT])
    if isinstance(theirs, dict) and "said" in theirs:
        return leaf(path, str(ours), theirs["said"])
    if isinstance(theirs, dict):
        members = [x for x in theirs.values() if x != {}] # bases without anything
        return all_of(path, list(ours.values()) if isinstance(ours, dict) else ours, members)
    if isinstance(ours, bool):
        return leaf(path, int(ours), theirs)
    if isinstance(theirs, int) and isinstance(ours, str): # beyond 2^53, or a character
        return leaf(path, ours, str(theirs) if abs(theirs) > 1 << 53 else chr(theirs))
    if isinstance(theirs, float):
        return leaf(path, float(ours), theirs)
    return leaf(path, ours, theirs)


def leaf(path, ours, theirs):
    return ([], 1) if ours == theirs else ([(path, ours, theirs)], 0)


def all_of(path, ours, theirs):
    if isinstance(ours, list) and len(theirs) == LIMIT: # ours tells all of what repeats
        ours = ours[:LIMIT]
    if not isinstance(ours, list) or len(ours) != len(theirs):
        return [(path, ours, theirs)], 0
    apart, same = [], 0
    for i, (a, b) in enumerate(zip(ours, theirs)):
        more, n = compare(f"{path}[{i}]", a, b)
        apart += more
        same += n
    return apart, same + (not ours)


def main(pid, path):
    with open(path, encoding="utf-8") as file:
        expressions = [line.rstrip("\n").split("\t")[0] for line in file]
    ours = json.loads(subprocess.run([os.environ["CPROF"], "inspect", "--json", "--depth=8", "--", pid] + expressions,
                                     stdout=subprocess.PIPE, check=False).stdout)
    ours = {one["expression"]: one for one in ours}
    with tempfile.TemporaryDirectory() as directory:
        answers = os.path.join(directory, "said")
        log = subprocess.run(["gdb", "-q", "-nx", "-batch", "-iex", "set debuginfod enabled off", "-iex",
                              "set auto-load no", "-p", pid, "-x", __file__], stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                             env={**os.environ, "GDB_JUDGE": path, "GDB_SAID": answers}).stdout
        if not os.path.exists(answers):
            sys.exit("gdb said nothing:\n" + log.decode(errors="replace"))
        with open(answers, encoding="utf-8") as file:
            theirs = [json.loads(line) for line in file]
    total = 0
    for expression, said in zip(expressions, theirs):
        if "failed" in said:
            print(f"gdb: {expression}: {said['failed']}")
            continue
        if expression not in ours or ours[expression].get("error"):
            print(f"apart: {expression}: {ours.get(expression, {}).get('error', 'nothing')}, not {said['value']}")
            continue
        apart, same = compare(expression, ours[expression]["value"], said["value"])
        for at, mine, gdbs in apart:
            print(f"apart: {at}: {mine}, not {gdbs}")
        total += same
    print(f"same {total}")


main(*sys.argv[1:])
