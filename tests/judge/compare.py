# SPDX-License-Identifier: MIT
"""A value as cprof has it in JSON beside one as gdb has it (gdb_value.py)."""
import base64

MAPPED, STACK = 0x7fff00000000, 0x7ffffff00000 # without randomization
MOVED = set() # how far libraries are from where they are under gdb: room for slots is below


def as_number(value):
    return int.from_bytes(value, "little") if isinstance(value, bytes) else \
        value if isinstance(value, int) else 0


def ours_moved(ours, theirs):
    """Addresses in libraries: all by the same number of pages."""
    if MAPPED <= ours < STACK and MAPPED <= theirs < STACK and (ours - theirs) % 4096 == 0 and abs(ours - theirs) < 1 << 24:
        MOVED.add(ours - theirs)
        return len(MOVED) == 1
    return ours - theirs in MOVED # half of one, in what nobody has written to yet


class Comparison:
    """Of one value: leaves that are the same, and differences."""

    moves = True # the program was started twice
    ended_by_nul = True # texts in arrays of characters

    def __init__(self):
        self.same = self.moved = 0
        self.apart = [] # (path, ours, theirs)

    def leaf(self, path, ours, theirs):
        if ours == theirs:
            self.same += 1
        elif self.moves and ours_moved(as_number(ours), as_number(theirs)):
            self.moved += 1
        else:
            self.apart.append((path, ours, theirs))

    def text(self, path, ours, hexadecimal):
        raw = base64.b64decode(ours["b64"]) if isinstance(ours, dict) else ours.encode()
        theirs = bytes.fromhex(hexadecimal.rstrip("+"))
        self.leaf(path, raw[:200], theirs[:200])

    def pointer(self, path, ours, theirs):
        if isinstance(ours, str) and ours.startswith("0x") and set(theirs) == {"pointer"}:
            self.leaf(path, int(ours, 16), theirs["pointer"])
        elif (isinstance(ours, str) or (isinstance(ours, dict) and "b64" in ours)) and \
                theirs.get("text") is not None:
            if isinstance(ours, str) and ours == hex(theirs["pointer"]):
                self.same += 1
            else:
                self.text(path, ours, theirs["text"])
        elif isinstance(ours, str) and ours.startswith("0x"):
            if isinstance(theirs.get("to"), dict) and "members" in theirs["to"]:
                return # a class that reads as the pointer that it holds
            self.leaf(path, int(ours, 16), theirs["pointer"])
        elif theirs.get("to") is not None:
            self.value(path + "*", ours, theirs["to"])

    def whole(self, path, shown, ours, theirs):
        """`shown` is the object that `ours` is the value of."""
        if "pointer" in shown and isinstance(theirs, dict) and "pointer" in theirs:
            self.leaf(path, int(shown["pointer"], 16), theirs["pointer"])
            path, theirs = path + "*", theirs.get("to")
        self.value(path, ours, theirs)

    def value(self, path, ours, theirs):
        if ours is None or theirs is None:
            return
        if isinstance(theirs, dict) and "pointer" in theirs:
            self.pointer(path, ours, theirs)
        elif isinstance(theirs, dict) and "enum" in theirs:
            self.leaf(path, ours, theirs["number"] if isinstance(ours, int) else theirs["enum"])
        elif isinstance(theirs, dict) and "float" in theirs:
            if isinstance(ours, (int, float, str)):
                self.leaf(path, repr(float(ours)), theirs["float"])
        elif isinstance(theirs, dict):
            if isinstance(ours, dict): # else a library's type, shown as what it holds
                for name, value in ours.items():
                    if name in theirs["members"]:
                        self.value(f"{path}.{name}", value, theirs["members"][name])
        elif isinstance(theirs, list):
            if isinstance(ours, list):
                for i, (a, b) in enumerate(zip(ours, theirs)):
                    self.value(f"{path}[{i}]", a, b)
            elif isinstance(ours, str) and None not in theirs:
                said = bytes(b & 255 for b in theirs)
                ended = said.split(b"\0")[0] if self.ended_by_nul else said.rstrip(b"\0")
                self.leaf(path, ours.encode()[:64], ended[:64])
        elif isinstance(ours, str):
            self.leaf(path, ours, str(theirs) if abs(theirs) > 1 << 53 else hex(theirs))
        else:
            self.leaf(path, int(ours), theirs)
