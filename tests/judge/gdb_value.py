# SPDX-License-Identifier: MIT
"""What gdb says of a value, as JSON has it:

    number, {"enum": text, "number": n}, {"float": x}, {"members": {...}}, [...],
    {"pointer": address, "to": value, "text": bytes in hex}, null: not known
"""
import gdb

DEPTH = 4
ELEMENTS = 64
TEXT = 201


def text_at(address):
    """Up to the end of what can be read."""
    size = TEXT
    while size:
        try:
            data = bytes(gdb.selected_inferior().read_memory(address, size))
            return data.split(b"\0")[0].hex() + ("" if b"\0" in data else "+")
        except gdb.MemoryError:
            size = min(size - 1, (-address) % 4096)
    return None


def members_of(v, depth):
    members = {}
    for f in v.type.strip_typedefs().fields():
        if not hasattr(f, "bitpos"): # static
            continue
        if not f.name and f.bitsize:
            continue
        inner = value_of(v[f], depth + 1)
        if f.name and not (f.artificial and not f.is_base_class):
            members[f.name] = inner
        elif isinstance(inner, dict) and "members" in inner:
            members.update(inner["members"])
    return members


def pointer_of(v, t, depth, hops):
    if t.code != gdb.TYPE_CODE_PTR:
        v = v.referenced_value().address
    address = int(v) & (2**64 - 1)
    out = {"pointer": address}
    to = t.target().strip_typedefs()
    if not address or depth > DEPTH:
        return out
    if to.sizeof == 1 and to.code in (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_CHAR):
        out["text"] = text_at(address)
    if to.code not in (gdb.TYPE_CODE_FUNC, gdb.TYPE_CODE_METHOD, gdb.TYPE_CODE_VOID) and not hops:
        out["to"] = value_of(v.dereference(), depth + 1, hops + (t.code == gdb.TYPE_CODE_PTR))
    return out


def value_of(v, depth=0, hops=0):
    try:
        return value_of_known(v, depth, hops)
    except gdb.error:
        return None


def value_of_known(v, depth, hops):
    t = v.type.strip_typedefs()
    if v.is_optimized_out:
        return None
    if t.code == gdb.TYPE_CODE_ENUM:
        return {"enum": str(v), "number": int(v)}
    if t.code in (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_CHAR, gdb.TYPE_CODE_BOOL):
        return int(v)
    if t.code in (gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
        return pointer_of(v, t, depth, hops)
    if t.code == gdb.TYPE_CODE_FLT:
        return {"float": repr(float(v))} if t.sizeof <= 8 else None
    if t.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
        return {"members": members_of(v, depth)} if depth < DEPTH else None
    if t.code == gdb.TYPE_CODE_ARRAY and depth < DEPTH and not t.dynamic:
        low, high = t.range()
        return [value_of(v[i], depth + 1) for i in range(low, min(high + 1, low + ELEMENTS))]
    return None
