# SPDX-License-Identifier: MIT
"""A variable as cprof has it in JSON beside what gdb says of it (said_by_gdb.py)."""
import base64
import collections
import decimal
import re
import struct

EQUAL, OURS, GDB, APART, NEITHER = "equal", "cprof", "gdb", "differ", "neither"
WRONG, NOTHING = "gdb wrong", "nothing compared"
COLUMNS = [EQUAL, OURS, WRONG, GDB, APART, NOTHING, NEITHER]
MAPPED = 200


def raw(ours):
    """Bytes of a text."""
    return base64.b64decode(ours["b64"]) if isinstance(ours, dict) else ours.encode("utf-8", "surrogatepass")


def is_address(ours):
    return isinstance(ours, str) and ours.startswith("0x")


def is_text(ours):
    return isinstance(ours, str) or (isinstance(ours, dict) and set(ours) == {"b64"})


def number(ours):
    if isinstance(ours, bool):
        return int(ours)
    if isinstance(ours, int):
        return ours
    try:
        return int(ours, 0)
    except (TypeError, ValueError):
        return None


def real(text):
    """What is written, exactly; "inf" and "nan" as such."""
    text = str(text).replace("(0x8000000000000)", "").replace("(0xc000000000000000)", "")
    if text.lstrip("-") in ("nan", "inf"):
        return text.replace("-nan", "nan")
    try:
        return decimal.Decimal(text)
    except decimal.InvalidOperation:
        return None


def still(node):
    """What of a value is the same in all programs: all but addresses."""
    if isinstance(node, list):
        return [still(x) for x in node]
    if not isinstance(node, dict):
        return node
    return {key: bool(value) if key == "at" else still(value) for key, value in node.items() if key != "function"}


def is_whole(ours):
    """No part of it is unknown."""
    if isinstance(ours, (list, dict)):
        return all(is_whole(part) for part in (ours.values() if isinstance(ours, dict) else ours))
    return ours is not None


class Agreement:
    """Counts of leaves, by what they are: equal, known to one side alone, or different."""

    def __init__(self, moves=False):
        self.moves = moves # the values are of two programs: addresses are not compared
        self.worst, self.bases, self.text, self.target = [], [], None, None
        self.leaves = collections.Counter()
        self.variables = collections.defaultdict(collections.Counter)
        self.told = [] # (what, where, ours, theirs)
        self.rules = collections.Counter()

    def leaf(self, what, where, ours=None, theirs=None):
        self.leaves[what] += 1
        self.worst.append(what)
        if what != EQUAL:
            self.told.append((what, where, ours, theirs))

    def rule(self, why):
        """A difference that is explained."""
        self.rules[why] += 1
        self.worst.append(EQUAL)

    def same(self, where, ours, theirs):
        self.leaf(EQUAL if ours == theirs else APART, where, ours, theirs)

    def variable(self, where, kind, ours, theirs, truth=None):
        """`ours` in JSON, `theirs` as gdb has it, and what it holds by unoptimised code; or None."""
        self.worst, told = [], len(self.told)
        what = self.compare(where, ours, theirs)
        if truth and truth["is"] not in ("gone", "failed"):
            what = self.by_source(where, what, ours, theirs, truth, told)
        self.variables[kind][what] += 1

    def compare(self, where, ours, theirs):
        """What the whole variable is."""
        known = ours is not None and not (ours.get("error") and ours.get("value") is None)
        gone = theirs is None or theirs["is"] in ("gone", "failed")
        if not known and gone:
            return NEITHER
        if not known:
            self.leaf(GDB, where, ours and ours.get("error"), theirs)
        elif gone:
            self.leaf(OURS, where, ours["text"], theirs)
        else:
            self.both(where, ours, theirs)
        for what in (APART, GDB, OURS, EQUAL, NEITHER):
            if what in self.worst:
                return what
        self.told.append((NOTHING, where, ours, theirs))
        return NOTHING

    def both(self, where, ours, theirs):
        self.bases, self.text, self.target = [], ours["text"], ours.get("target")
        if theirs["is"] == "pointer" and "target" in ours:
            self.pointer(where, ours["value"], theirs, ours["target"])
        elif is_address(ours["value"]) and "target" in ours and (theirs.get("pretty") or {}).get("text", "").startswith("{"):
            self.rule("gdb's printer of an iterator has what it leads to, as a text")
        else:
            self.value(where, ours["value"], theirs)

    def by_source(self, where, what, ours, theirs, truth, told):
        """Who is right; differences of who is wrong are no longer told from `told` on."""
        gdb_is_right = theirs is not None and still(theirs) == still(truth)
        check = Agreement(moves=True)
        check.worst = []
        if what not in (NEITHER, GDB) and (is_whole(ours["value"]) or not ours.get("lacks")):
            check.both(where, ours, truth)
        are_right = APART not in check.worst
        if are_right and not gdb_is_right and what in (GDB, APART):
            del self.told[told:]
            self.told.append((WRONG, where, ours and ours["text"], theirs))
            return WRONG
        if not are_right and what in (EQUAL, NOTHING) and not gdb_is_right: # NOTHING: both have no elements
            self.rule("both have what debug information says, which is wrong: nothing was stored there")
            del self.told[told:]
            return EQUAL
        if not are_right:
            self.told.append((APART, where + " by the source", *check.told[0][2:]))
            return APART
        return what

    # Each of these compares what `ours` is with what gdb says.

    def value(self, where, ours, theirs):
        what = theirs["is"]
        if what == "deep":
            self.rule("one side goes no deeper")
        elif what == "int" and not theirs["size"]: # Rust's ()
            self.same(where, ours or None, None)
        elif ours is None and what in ("gone", "failed"):
            self.worst.append("neither")
        elif what in ("gone", "failed"):
            self.leaf(OURS, where, ours, theirs)
        elif "pretty" in theirs:
            self.pretty(where, ours, theirs)
        elif ours is None and what != "struct":
            self.leaf(GDB, where, ours, theirs)
        else:
            getattr(self, "is_" + what, self.unknown)(where, ours, theirs)

    def unknown(self, where, ours, theirs):
        self.leaf(APART, where, ours, theirs)

    def is_int(self, where, ours, theirs):
        n = theirs["number"]
        if isinstance(ours, str) and len(ours) <= 4 and theirs["size"] <= 4 and number(ours) is None:
            if len(ours) == 1:
                self.same(where, ord(ours), n & 0xffffffff)
                return
        self.same(where, number(ours), n)

    def is_enum(self, where, ours, theirs):
        said = theirs["text"]
        if isinstance(ours, int):
            self.same(where, ours, theirs["number"])
        elif "|" in said:
            self.same(where, sorted(x.strip(" ()").split("::")[-1] for x in ours.split("|")),
                      sorted(x.strip(" ()").split("::")[-1] for x in said.split("|")))
        else:
            self.same(where, ours.split("::")[-1], said.split("::")[-1])

    def is_float(self, where, ours, theirs):
        mine, said = real(ours), real(theirs["text"])
        if theirs["size"] > 8 and isinstance(mine, decimal.Decimal) and isinstance(said, decimal.Decimal):
            close = abs(mine - said) <= abs(said) * decimal.Decimal("1e-17")
            self.leaf(EQUAL if close else APART, where, ours, theirs)
        elif theirs["size"] == 4: # the shortest that reads as it
            self.same(where, struct.pack("f", float(ours)), struct.pack("f", float(theirs["text"])))
        elif theirs["size"] <= 8:
            self.same(where, repr(float(ours)), theirs["text"])
        else:
            self.same(where, mine, said)

    def is_complex(self, where, ours, theirs):
        said = [real(part) for part in re.findall(r"[-+]?(?:[0-9.]+(?:e[-+]?[0-9]+)?|inf|nan)", theirs["text"])]
        self.same(where, [real(part) for part in ours] if isinstance(ours, list) else ours, said)

    def pointer(self, where, ours, theirs, target):
        self.is_pointer(where, ours, {k: v for k, v in theirs.items() if k != "to"})
        if theirs.get("to") and theirs["to"]["is"] not in ("gone", "failed"):
            self.value(where + "*", target, theirs["to"])

    def is_pointer(self, where, ours, theirs):
        if isinstance(ours, str) and ours.startswith("0x"):
            self.same(where, bool(int(ours, 16)) if self.moves else int(ours, 16),
                      bool(theirs["at"]) if self.moves else theirs["at"])
        elif theirs["reference"] and theirs.get("to"):
            self.value(where, ours, theirs["to"])
        elif theirs["at"] == 0 and ours is None:
            self.leaf(EQUAL, where)
        elif is_text(ours) and theirs.get("text") is not None:
            said = bytes.fromhex(theirs["text"].rstrip("+"))[:MAPPED]
            self.same(where, raw(ours)[:MAPPED], said)
        elif is_text(ours) and theirs.get("wide") is not None:
            self.same(where, ours, theirs["wide"])
        elif isinstance(ours, str) and theirs.get("function"):
            self.same(where, ours.split("(")[0].split("+")[0], theirs["function"].split("(")[0].split("+")[0])
        elif theirs.get("to"):
            self.value(where + "*", ours, theirs["to"])
        else:
            self.leaf(APART, where, ours, theirs)

    def is_array(self, where, ours, theirs):
        items = theirs["items"]
        if is_text(ours) and all(item["is"] == "int" for item in items):
            unit = items[0]["size"] if items else 1
            data = b"".join((item["number"] & (1 << 8 * unit) - 1).to_bytes(unit, "little") for item in items)
            text = data.decode({1: "latin-1", 2: "utf-16-le", 4: "utf-32-le"}[unit], errors="replace").rstrip("\0")
            mine = raw(ours).decode("latin-1" if unit == 1 else "utf-8").rstrip("\0")
            self.same(where, mine[:64].rstrip("\0"), text[:64])
        elif isinstance(ours, list):
            if len(ours) < min(theirs["length"], 64):
                self.leaf(APART, where + " length", len(ours), theirs["length"])
            for i, (mine, said) in enumerate(zip(ours, items)):
                self.value(f"{where}[{i}]", mine, said)
            if not items:
                self.leaf(EQUAL, where)
        else:
            self.leaf(APART, where, ours, theirs)

    def has_seen(self, said):
        """The same object was compared before, as another class's base."""
        return said in self.bases

    def is_word(self, where, ours, theirs):
        """Of a printer: True, or 1."""
        self.same(where, str(int(ours) if isinstance(ours, bool) and theirs["word"].isdigit() else ours),
                  theirs["word"])

    def is_other(self, where, ours, theirs):
        """Pointers to members, as text: JSON has numbers."""
        if self.text is not None:
            mine = self.text.replace("&virtual ", "&").replace("(int)", "").replace("() const", "")
            said = theirs["text"].replace("&virtual ", "&").replace("() const", "").rstrip(">").split("<")[-1]
            self.same(where, mine.lstrip("&"), said.replace("(int)", "").lstrip("&"))
        else:
            self.leaf(APART, where, ours, theirs)

    def seen_through(self, where, ours, theirs):
        """A class without a printer that cprof shows as what it stands for."""
        members, node = dict(theirs["members"]), None
        while len(members) == 1:
            node = next(iter(members.values()))
            if node["is"] != "struct" or isinstance(ours, dict):
                break
            members = dict(node["members"])
        if list(members) == ["_M_elems"] or (len(members) == 1 and not isinstance(ours, dict)):
            if node["is"] == "pointer" and self.target is not None:
                self.pointer(where, ours, node, self.target)
            else:
                self.value(where, ours, node)
            return True
        if any("_Function_base" in name for name in members):
            self.leaf(OURS, where, ours, "no printer")
            return True
        return False

    def fits(self, ours, node):
        """All of a value that gdb has somewhere inside is the same."""
        trial = Agreement(self.moves)
        trial.target = self.target
        trial.value("", ours, node)
        return EQUAL in trial.worst and not {APART, GDB} & set(trial.worst)

    def trait_object(self, where, ours, members):
        """A pointer to an object whose type its vtable tells."""
        if set(members) != {"pointer", "vtable"} or not isinstance(ours, str):
            return False
        if members["pointer"]["is"] in ("gone", "failed"):
            self.leaf(OURS, where, ours, None)
        else:
            self.is_pointer(where, ours, {k: v for k, v in members["pointer"].items() if k != "to"})
        return True

    def stands_for(self, where, ours, theirs):
        """Rust's wrappers: what is inside, by the names that the library has for it."""
        members = dict(theirs["members"])
        if self.trait_object(where, ours, members):
            return True
        if set(members) == {"secs", "nanos"} and isinstance(ours, (int, float)): # Duration
            nanos = dict(members["nanos"]["members"])["__0"]["number"]
            self.same(where, round(ours * 10**9), members["secs"]["number"] * 10**9 + nanos)
            return True
        first = members.get("data_ptr", members.get("_M_data")) # Box<str>, Box<[T]>, valarray
        length = members.get("length", members.get("_M_size"))
        if first and length and ours is not None:
            length = length["number"]
            self.same(where + " length", len(raw(ours)) if is_text(ours) else len(ours), length)
            if is_text(ours):
                self.same(where, raw(ours), bytes.fromhex(first["text"].rstrip("+"))[:length])
            elif length:
                self.value(where + "[0]", ours[0], first["to"])
            return True
        for name in ("data", "value", "inner", "v", "__0", "vec", "buf", "Some"):
            node = members.get(name)
            if node and (self.fits(ours, node) or (node["is"] == "struct" and self.stands_for(where, ours, node))):
                self.leaf(EQUAL, where)
                return True
        return False

    def is_variant(self, where, ours, theirs):
        """A form of a Rust enum; False: it is none."""
        forms = [(name, node) for name, node in theirs["members"] if name]
        if len(forms) == len(theirs["members"]) or len(forms) != 1 or forms[0][1]["is"] != "struct":
            return False
        name, node = forms[0]
        if ours is None or isinstance(ours, str):
            self.same(where, (ours or name, []), (name, node["members"]))
        elif isinstance(ours, dict) and name in ours:
            self.value(f"{where}.{name}", ours[name], node)
        else:
            return False
        return True

    @staticmethod
    def is_not_set(node):
        """Rust's OnceLock of 1.95 before it has a value, which gdb has no printer for: its state is not 0."""
        path = ["once", "inner", "state_and_queued", "v", "value"]
        while path and node["is"] == "struct":
            node = dict(node["members"]).get(path.pop(0), {"is": "gone"})
        return not path and node["is"] == "int" and node["number"] != 0

    def is_struct(self, where, ours, theirs):
        if self.is_variant(where, ours, theirs):
            return
        named = {name: node for name, node in theirs["members"] if name or node["is"] != "int"}
        if not (isinstance(ours, dict) and set(ours) & set(named)) and named and self.seen_through(where, ours, theirs):
            return
        if ours is None and not named:
            self.leaf(EQUAL, where)
            return
        if ours is None and self.is_not_set(theirs):
            self.rule("what has no value yet is nothing")
            return
        if not (isinstance(ours, dict) and (set(ours) & set(named) or not ours)):
            if self.stands_for(where, ours, theirs):
                return
            if {"head", "tail", "len"} <= set(named):
                self.leaf(OURS, where, ours, "no printer")
                return
        if not isinstance(ours, dict):
            self.leaf(GDB if ours is None else APART, where, ours, theirs)
            return
        if not named and not ours:
            self.leaf(EQUAL, where)
        for name, said in named.items():
            if name in ours:
                if said["is"] == "struct":
                    self.bases.append(said)
                self.value(f"{where}.{name}", ours[name], said)
            elif said["is"] == "struct" and not said["members"]:
                self.rule("a member or base without anything in it is left out")
            elif said["is"] in ("gone", "failed"):
                self.worst.append("neither")
            elif said["is"] == "struct" and self.has_seen(said):
                self.rule("a virtual base is shown once")
            else:
                self.leaf(GDB, f"{where}.{name}", None, said)
        for name in ours:
            if name not in named:
                self.leaf(OURS, f"{where}.{name}", ours[name], None)

    def pretty(self, where, ours, theirs):
        said = theirs["pretty"]
        children = said.get("children")
        if (said.get("text") or "").startswith(("Rc(", "Arc(", "RefCell(")): # and their counts
            self.value(where, ours, children[0][1])
        elif is_text(ours) and children and all(child["is"] == "int" for _, child in children): # of bytes
            self.same(where, raw(ours), bytes(child["number"] for _, child in children))
        elif said["hint"] == "string":
            text = said["text"][:MAPPED]
            self.same(where, raw(ours).decode("utf-8", "replace")[:MAPPED] if is_text(ours) else ours, text)
        elif said["hint"] == "map" and children is not None:
            pairs = list(ours.items()) if isinstance(ours, dict) else ours
            mine = [x for pair in pairs for x in pair][:128] if isinstance(pairs, list) else None
            self.children(where, mine, [child for _, child in children], ours)
        elif children and isinstance(ours, list) and len(children) < len(ours) and \
                all(child.get("word") == "1" for _, child in children): # bits that are set
            self.same(where, [f"[{i}]" for i, bit in enumerate(ours) if bit], [name for name, _ in children])
        elif children is not None and isinstance(ours, list):
            self.children(where, ours[:64] if len(children) >= 64 else ours, [child for _, child in children][:64], ours)
        elif isinstance(ours, dict) and ours and theirs["is"] == "struct" and \
                set(ours) <= {name for name, _ in theirs["members"]}:
            self.is_struct(where, ours, theirs)
        elif children is not None and len(children) == 1 and isinstance(ours, dict) and len(ours) == 1 and \
                children[0][0].startswith("[contained"):
            self.value(where, next(iter(ours.values())), children[0][1])
        elif children is None and theirs["is"] == "struct" and not is_text(ours):
            self.is_struct(where, ours, theirs)
        elif children is not None and len(children) == 1:
            self.value(where, ours, children[0][1])
        elif children is not None and not children and ours is None:
            self.leaf(EQUAL, where)
        elif children is not None and isinstance(ours, dict):
            self.children(where, list(ours.values()), [child for _, child in children], ours)
        elif said.get("text") is not None:
            self.same(where, str(ours), said["text"])
        else:
            self.leaf(APART, where, ours, theirs)

    def children(self, where, ours, theirs, shown):
        if ours is None or len(ours) != len(theirs):
            self.leaf(APART, where + " elements", shown, [c for c in theirs][:4])
            return
        for i, (mine, said) in enumerate(zip(ours, theirs)):
            self.value(f"{where}[{i}]", mine, said)
        if not ours:
            self.leaf(EQUAL, where)

    def good(self):
        return not any(what in (APART, GDB, NOTHING) for what, *_ in self.told)

    def tell(self, show):
        for what, where, ours, theirs in self.told:
            if what in show:
                print(f"{what}: {where}: {str(ours)[:160]} | {str(theirs)[:260]}")
        print(f"{'':12}" + "".join(f"{c:>10}" for c in ("equal", "cprof", "gdb wrong", "gdb", "differ", "nothing", "neither")))
        for kind, counts in sorted(self.variables.items()):
            print(f"{kind + 's':12}" + "".join(f"{counts[c]:10}" for c in COLUMNS))
        print(f"{'leaves':12}" + "".join(f"{self.leaves[c]:10}" for c in COLUMNS))
        for why, n in sorted(self.rules.items()):
            print(f"{n:6}  {why}")
