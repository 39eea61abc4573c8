# SPDX-License-Identifier: MIT
"""What gdb says of static variables, and of the variables of every frame of the first thread, or with
$ALL_THREADS of all.

Runs inside gdb, for judge.py; $SAID names the file that is written, a JSON object a line:

    {"names": [...]}                           expressions that $EXPRESSIONS has, a line each
    {"thread": tid, "frame": n, "function": name, "variables": [{"name", "line", "kind", "value"}]}

A value is {"is": what, ...}: int, enum, float, pointer, struct, array, gone, or not known
("failed"); with "pretty" where a printer of a library's knows it.
"""
import json
import os
import sys

import gdb

DEPTH, ELEMENTS, TEXT = 6, 64, 201
SKIPPED = os.environ.get("SKIPPED", "").split("\n")


def printers():
    for where, module, register in ((("/usr/share/gcc/python"), "libstdcxx.v6", "register_libstdcxx_printers"),
                                    (os.environ.get("RUST_ETC", ""), "gdb_lookup", "register_printers")):
        if not where or not os.path.isdir(where):
            continue
        sys.path.insert(0, where)
        try:
            module = __import__(module, fromlist=[register])
            for objfile in [None] if "libstdcxx" in module.__name__ else gdb.objfiles():
                getattr(module, register)(objfile)
        except (ImportError, RuntimeError) as error:
            print(f"printers: {error}")


def text_at(address):
    """Up to the end of what can be read, in hex; with + where it does not end there."""
    size = TEXT
    while size:
        try:
            data = bytes(gdb.selected_inferior().read_memory(address, size))
            return data.split(b"\0")[0].hex() + ("" if b"\0" in data else "+")
        except gdb.MemoryError:
            size = min(size - 1, (-address) % 4096)
    return None


def said_text(text):
    if isinstance(text, gdb.Value):
        text = text.string()
    elif hasattr(text, "value"): # lazy: all of it, zeros with it
        v = text.value()
        n = text.length if text.length >= 0 else v.type.range()[1] + 1
        unit = max(v.type.target().sizeof, 1)
        data = bytes(gdb.selected_inferior().read_memory(text.address, n * unit)) if n else b""
        text = data.decode({1: "utf-8", 2: "utf-16-le", 4: "utf-32-le"}[unit], errors="replace")
    return str(text)


def pretty(v, depth):
    printer = gdb.default_visualizer(v)
    if printer is None:
        return None
    out = {"hint": printer.display_hint() if hasattr(printer, "display_hint") else None}
    if hasattr(printer, "to_string"):
        said = printer.to_string()
        out["text"] = None if said is None else said_text(said)
    if hasattr(printer, "children"):
        out["children"] = []
        for name, child in printer.children():
            if len(out["children"]) >= 2 * ELEMENTS:
                break
            out["children"].append([name, node(child, depth + 1) if isinstance(child, gdb.Value)
                                    else {"is": "word", "word": str(child)}])
    return out


def pointer(v, t, depth, hops):
    if t.code != gdb.TYPE_CODE_PTR:
        v = v.referenced_value().address
    address = int(v) & (2**64 - 1)
    out = {"is": "pointer", "at": address, "reference": t.code != gdb.TYPE_CODE_PTR}
    to = t.target().strip_typedefs()
    if to.code == gdb.TYPE_CODE_FUNC:
        out["function"] = str(v).split("<", 1)[1].rstrip(">") if "<" in str(v) else None
        return out
    if not address or depth > DEPTH:
        return out
    if to.sizeof == 1 and to.code in (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_CHAR):
        out["text"] = text_at(address)
    if to.sizeof in (2, 4) and t.target().unqualified().name in ("wchar_t", "char16_t", "char32_t"):
        out["wide"] = v.string("utf-32-le" if to.sizeof == 4 else "utf-16-le") if t.code == gdb.TYPE_CODE_PTR else None
    if to.code not in (gdb.TYPE_CODE_METHOD, gdb.TYPE_CODE_VOID) and (not hops or out["reference"]):
        out["to"] = node(v.dereference(), depth + 1, hops + (t.code == gdb.TYPE_CODE_PTR))
    return out


def members(v, t, depth, hops):
    out = []
    for f in t.fields():
        if not hasattr(f, "bitpos"): # static
            continue
        if not f.name and f.bitsize:
            continue
        if f.artificial and not f.is_base_class and (f.name or "").startswith("_vptr"):
            continue
        inner = node(v[f], depth + 1, hops)
        if not f.name and inner["is"] == "struct":
            out += inner["members"]
        else:
            out.append([f.name or "", inner])
    return out


def node(v, depth=0, hops=0):
    try:
        return known(v, depth, hops)
    except Exception as error: # pylint: disable=broad-except; printers are strangers' code
        gone = "optimized out" in str(error)
        return {"is": "gone"} if gone else {"is": "failed", "why": f"{type(error).__name__}: {error}"}


def known(v, depth, hops):
    t = v.type.strip_typedefs()
    if v.is_optimized_out:
        return {"is": "gone"}
    out = plain(v, t, depth, hops)
    if depth <= DEPTH and t.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION, gdb.TYPE_CODE_PTR):
        try:
            said = pretty(v, depth)
        except Exception as error: # pylint: disable=broad-except
            said = None
            out["printer_failed"] = str(error)
        if said:
            out["pretty"] = said
    return out


def integer(v, t):
    if t.sizeof <= 8:
        return int(v)
    number = int(v.format_string(format="d", repeat_threshold=0))
    return number % (1 << 8 * t.sizeof) if not t.is_signed else number


def plain(v, t, depth, hops):
    if t.code == gdb.TYPE_CODE_ENUM:
        return {"is": "enum", "text": str(v), "number": int(v)}
    if t.code in (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_CHAR, gdb.TYPE_CODE_BOOL):
        return {"is": "int", "number": integer(v, t), "size": t.sizeof}
    if t.code in (gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
        return pointer(v, t, depth, hops)
    if t.code == gdb.TYPE_CODE_FLT:
        return {"is": "float", "text": repr(float(v)) if t.sizeof <= 8 else str(v), "size": t.sizeof}
    if t.code == gdb.TYPE_CODE_COMPLEX:
        return {"is": "complex", "text": str(v)}
    if t.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
        if depth > DEPTH:
            return {"is": "deep"}
        return {"is": "struct", "members": members(v, t, depth, hops), "union": t.code == gdb.TYPE_CODE_UNION,
                "text": str(v) if os.environ.get("RUST_ETC") else None}
    if t.code == gdb.TYPE_CODE_ARRAY:
        if depth > DEPTH:
            return {"is": "deep"}
        low, high = t.range()
        return {"is": "array", "items": [node(v[i], depth + 1, hops) for i in range(low, min(high + 1, low + ELEMENTS))],
                "length": high + 1 - low}
    if str(v) == "<incomplete type>": # decltype(nullptr)
        return {"is": "failed", "why": str(v)}
    return {"is": "other", "text": str(v), "code": t.code}


def read_safely(frame, symbol, block):
    """Tells which variable is looked at, for gdb 13 ends itself at some, and leaves out those."""
    what = f"{frame.level()} {block.start:x} {symbol.name}"
    if what in SKIPPED:
        raise RuntimeError("gdb does not survive it")
    with open(os.environ["SAID"] + ".at", "w", encoding="utf-8") as file:
        file.write(what)
    return frame.read_var(symbol, block)


def variables(frame):
    """Innermost block first; static ones are no variables of the frame."""
    try:
        block = frame.block()
    except RuntimeError: # no debug information
        return
    depth = 0
    while block is not None and not block.is_static and not block.is_global:
        for symbol in block:
            if not symbol.is_argument and not symbol.is_variable:
                continue
            kind = "argument" if symbol.is_argument else "local"
            if symbol.addr_class == gdb.SYMBOL_LOC_STATIC:
                kind = "static"
            try:
                value = node(read_safely(frame, symbol, block))
            except (gdb.error, RuntimeError) as error:
                value = {"is": "failed", "why": str(error)}
            yield {"name": symbol.print_name, "line": symbol.line, "kind": kind, "depth": depth, "value": value}
        if block.function is not None:
            break
        block = block.superblock
        depth += 1


def frames():
    frame, n = gdb.newest_frame(), 0
    while frame is not None:
        if frame.type() != gdb.TAILCALL_FRAME:
            frame.select()
            yield {"frame": n, "function": frame.name(), "variables": list(variables(frame))}
            n += 1
        frame = frame.older()


def main():
    printers()
    for setting in ("pagination off", "backtrace past-main on", "print elements 0", "print entry-values no"):
        gdb.execute("set " + setting)
    if os.environ.get("GDB_LANGUAGE"):
        gdb.execute("set language " + os.environ["GDB_LANGUAGE"])
    threads = sorted(gdb.selected_inferior().threads(), key=lambda thread: thread.num)
    with open(os.environ["SAID"], "w", encoding="utf-8") as out:
        for thread in threads if os.environ.get("ALL_THREADS") else threads[:1]:
            thread.switch()
            for said in frames():
                out.write(json.dumps({**said, "thread": thread.ptid[1]}) + "\n")
        threads[0].switch()
        with open(os.environ["EXPRESSIONS"], encoding="utf-8") as file:
            for line in file:
                name = line.rstrip("\n")
                try:
                    value = node(gdb.parse_and_eval(name))
                except (gdb.error, RuntimeError) as error:
                    value = {"is": "failed", "why": str(error)}
                out.write(json.dumps({"static": name, "value": value}) + "\n")
    if not os.environ.get("CORE_OF"):
        gdb.execute("detach")


main()
