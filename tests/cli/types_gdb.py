# SPDX-License-Identifier: MIT
"""gdb -batch -x types_gdb.py -ex "python show('NAME;NAME')" PROGRAM: types in the words of
tests/modules/typeprobe.c."""
import gdb


def full(typ):
    """`ns::Named *`, which gdb names by its target's short name."""
    return full(typ.target()) + " *" if typ.code == gdb.TYPE_CODE_PTR else typ.name


def show(names):
    for name in names.split(";"):
        try:
            typ = gdb.lookup_type(name)
        except gdb.error:
            typ = gdb.lookup_type("struct " + name)
        typ = typ.strip_typedefs()
        align = int(gdb.parse_and_eval(f"_Alignof({name})"))
        print(f"type {name} size {typ.sizeof} align {align}")
        if "<" in typ.name:
            print(f"  template {typ.name[:typ.name.index('<')]}")
        for number in range(64):
            try:
                argument = typ.template_argument(number)
            except (RuntimeError, gdb.error):
                break
            print("  argument", full(argument) if isinstance(argument, gdb.Type) else int(argument))
        if typ.code == gdb.TYPE_CODE_ENUM:
            for field in typ.fields():
                print(f"  value {field.name.rsplit('::', 1)[-1]} {field.enumval}")
            continue
        for field in typ.fields():
            what = "base" if field.is_base_class else "member"
            size = field.type.strip_typedefs().sizeof
            print(f"  {what} {field.name or ''} at {field.bitpos} bits {field.bitsize} size {size}")
