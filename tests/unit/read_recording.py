#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A second reader of recordings, written after cprof-recording(5) alone, as a
judge of the first one and of that page: prints samples, calls and annotations as
record_dump does, and compares when it is given record_dump and where to write."""

import shutil
import struct
import subprocess
import sys

REFERS = {  # columns of each table: the table referred to, or 0
    2: (1, 1, 1, 0), 3: (3, 2, 0, 0), 4: (1, 1, 1), 5: (0, 0, 0, 1, 1, 0),
    6: (5, 0, 0, 1, 0), 7: (4, 0, 0, 0, 3), 8: (8, 7), 9: (8, 0), 10: (0, 0, 0, 1, 1),
}


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


class Bytes:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n):
        self.at += n
        assert self.at <= len(self.data)
        return self.data[self.at - n:self.at]

    def num(self):
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def snum(self):
        n = self.num()
        return n >> 1 ^ -(n & 1)

    def fields(self):
        while self.at < len(self.data):
            tag, size = self.num(), self.num()
            yield tag, Bytes(self.take(size))

    def column(self, n):
        how = self.take(1)[0]
        times = self.num() if how & 4 else 1
        values = [self.snum() if how & 3 else self.num() for _ in range(n)]
        if how & 1:
            for i in range(1, n):
                values[i] += values[i - 1]
        return [v * times % 2**64 for v in values]


def read_table(tables, tag, section):
    n = section.num()
    numbers = section.column(n)
    if tag == 1:
        strings = section.data[section.at:].split(b"\0")
        for number, string in zip(numbers, strings):
            tables[1][number] = string
        return
    columns = [section.column(n) for _ in REFERS[tag]]
    for number, row in zip(numbers, zip(*columns)):
        for value, table in zip(row, REFERS[tag]):
            assert not table or not value or value - 1 in tables[table] or table == tag
        tables[tag][number] = row


def read_samples(section):
    section.num()
    section.num()
    n = section.num()
    ts, thread, stack, count, flags = (section.column(n) for _ in range(5))
    elapsed = section.take(1)[0]
    weight = section.column(n)
    last = {}
    for i in range(n):
        before, was = last.get(thread[i], (ts[i], None))
        if elapsed:
            weight[i] = (weight[i] + ts[i] - before) % 2**64
        number = stack[i] - 1 if stack[i] else was
        last[thread[i]] = ts[i], number
        yield ts[i], thread[i], number, count[i], flags[i], weight[i]


def read_sums(section):
    """What the samples that come next add up to: how many they are, the last one's time, rows."""
    n, end, rows = section.num(), section.num(), section.num()
    return n, end, list(zip(*(section.column(rows) for _ in range(5))))


def check_sums(sums, samples):
    rows = {}
    for _, thread, number, count, flags, weight in samples:
        so_far = rows.get((thread, number + 1, flags), (0, 0))
        rows[thread, number + 1, flags] = so_far[0] + count, (so_far[1] + weight) % 2**64
    assert sums == (len(samples), max(s[0] for s in samples), [k + v for k, v in rows.items()])


def text(tables, ref, none=b""):
    return tables[1][ref - 1] if ref else none


def describe_location(tables, number):
    image, address, flags, start, frame = tables[7][number]
    what = b"none  "
    if image:
        what = b" ".join(text(tables, ref) for ref in tables[4][image - 1])
    start = address - start + 1 if start else 0
    out = b" | %s 0x%x+%s %x" % (what, address, b"0x%x" % start if start else b"0", flags)
    while frame:
        outer, function, line, inlined = tables[3][frame - 1]
        name, linkage, file, decl = tables[2][function - 1]
        out += b" {%s %s %s %d %d %d}" % (
            text(tables, name), text(tables, linkage, b"-"), text(tables, file, b"-"), line, decl,
            inlined)
        frame = outer
    return out


def describe(tables, sample):
    ts, thread, stack, count, flags, weight = sample
    process, tid, ns_tid, name, start = tables[6][thread]
    pid, ns_pid, ppid, pname, exe, pstart = tables[5][process - 1]
    node, stack_flags = tables[9][stack]
    out = b"%d %d %d %x | %d %d %d %s %s %d | %d %d %s %d | %x" % (
        ts, count, weight, flags, pid, ns_pid, ppid, text(tables, pname), text(tables, exe),
        pstart, tid, ns_tid, text(tables, name), start, stack_flags)
    while node:
        node, location = tables[8][node - 1]
        out += describe_location(tables, location - 1)
    return out


def read_layouts(section):
    n = section.num()
    nodes, roots, roles = (section.column(n) for _ in range(3))
    rows = list(zip(*(section.column(count) for count in [section.num()] for _ in range(4))))
    layouts = []
    for i in range(n):
        layouts.append((rows[:nodes[i]], roots[i], roles[i]))
        rows = rows[nodes[i]:]
    return layouts


def read_values(tables, layout, numbers, texts):
    """Trees of (shape, node, content, address, symbol, items)."""
    rows, roots, _ = layout
    flat = []
    for node in rows:
        shape = tables[10][node[0]]
        width = {3: 2, 4: 2}.get(shape[0], 0 if shape[0] in (0, 9, 13, 14, 15, 17) else 1)
        content = [next(numbers) for _ in range(width)]
        if shape[0] in (8, 12, 16):
            content = texts[content[0]]
        if shape[0] == 7:
            content = struct.unpack("<d", content[0].to_bytes(8, "big"))[0]
        address = next(numbers) if node[2] & 2 else 0
        symbol = texts[next(numbers)] if node[2] & 4 else None
        flat.append((shape, node, content, address, symbol, []))
    left = iter(flat[roots:])
    for value in flat:
        value[5].extend(next(left) for _ in range(value[1][1]))
    return flat[:roots]


def read_calls(tables, section):
    section.num()
    section.num()
    n = section.num()
    columns = [section.column(n) for _ in range(10)]
    count = section.num()
    sizes = section.column(count)
    texts = [section.take(size + 1)[:-1] for size in sizes]
    layouts = read_layouts(section)
    uses = [columns[5].count(i + 1) for i in range(len(layouts))]
    data = []
    for use in uses:
        body, rows = Bytes(section.take(section.num())), []
        while use and body.at < len(body.data):
            rows.append(body.column(use))
        data.append(zip(*rows) if rows else iter([()] * use))
    expected, entered = {}, {}
    for ts, how, thread, depth, function, layout, more, duration, overhead, cpu in zip(*columns):
        kind = how & 7 | how >> 11 << 3
        leaving = 1 <= kind <= 3
        depth = (expected.get(thread, (0, 0))[leaving] + (depth >> 1 ^ -(depth & 1))) % 2**32
        left = entered.get((thread, depth)) if leaving else None
        function = function - 1 if function else left[1]
        duration = ((duration >> 1 ^ -(duration & 1)) + (ts - left[0] if left else 0)) % 2**64
        if leaving:
            expected[thread] = depth, max(depth - 1, 0)
        elif kind == 0:
            expected[thread], entered[thread, depth] = (depth + 1, depth), (ts, function)
        values = []
        if layout:
            values = read_values(tables, layouts[layout - 1], iter(next(data[layout - 1])), texts)
        yield (ts, kind, how >> 3 & 255, thread, function, depth, more, duration, overhead, cpu,
               layouts[layout - 1][2] if layout else 0, values)


def hexfloat(value):
    """As printf's %a has it, which leaves out zeros."""
    mantissa, exponent = value.hex().split("p")
    if "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    return (mantissa + "p" + exponent).encode()


def describe_value(tables, value):
    shape, node, content, address, symbol, items = value
    out = b" (%d %d %d %d %d %d x%d %s:%s @%x" % (
        shape[0], shape[1] & 15, shape[1] >> 4 & 15, node[2] & 1, shape[1] >> 8 & 1, shape[2], node[3],
        text(tables, shape[3]), text(tables, shape[4]), address)
    if symbol is not None:
        out += b" " + symbol
    if isinstance(content, bytes):
        out += b" %d'%s'" % (len(content), content)
    elif isinstance(content, float):
        out += b" " + hexfloat(content)
    else:
        out += b"".join(b" %x" % word for word in content)
    return out + b"".join(describe_value(tables, item) for item in items) + b")"


def outermost(tables, location):
    frame = tables[7][location][4]
    while frame:
        outer, function, _, _ = tables[3][frame - 1]
        frame, name = outer, text(tables, tables[2][function - 1][0])
    return name


def describe_call(tables, call):
    ts, kind, flags, thread, function, depth, more, duration, overhead, cpu, roles, values = call
    caller, count = 0, more if kind == 4 else (more - 1) % 2**32 if kind == 6 else 0
    if kind == 0: # the column says something else
        caller, count, overhead = (0, overhead, 0) if flags & 28 == 12 else (overhead, 0, 0)
    uncertain = more if kind in (1, 3) else more >> 32 if kind == 2 else 0
    target = more % 2**32 if kind == 2 else caller
    target = outermost(tables, target - 1) if target else b"-"
    stack = b"-"
    if kind in (0, 5, 7, 8, 9, 10) and more:
        stack = outermost(tables, tables[8][tables[9][more - 1][0] - 1][1] - 1)
    return b"%d %d %d %d %s %d > %s | %s %d %d %d~%d %d %d %d" % (
        ts, kind, flags, tables[6][thread][1], outermost(tables, function), depth, target, stack,
        count, duration, overhead, uncertain, cpu, roles & 1, roles >> 1) + (
            b" by %d" % (tables[6][more - 1][1] if more else -1) if kind == 12 else b"") + b"".join(
            describe_value(tables, value) for value in values)


def read_annotations(section):
    section.num()
    section.num()
    n = section.num()
    return zip(*[section.column(n) for _ in range(8)])


def describe_annotation(tables, annotation):
    ts, how, thread, number, name, category, thing, value = annotation
    value = value - 2**64 if value >> 63 else value
    return b"%d a%d %d %d %d %d %s|%s|%s" % (
        ts, how & 15, how >> 4, tables[6][thread][1], number, value, text(tables, name, b"-"),
        text(tables, category, b"-"), text(tables, thing, b"-"))


def unpack(codec, payload, raw):
    if codec:
        payload = subprocess.run(["zstd", "-dcq"], input=payload, stdout=subprocess.PIPE,
                                 check=True).stdout
    assert len(payload) == raw
    return payload


def chunks(data):
    assert data[:8] == b"CPROF\r\n\x1a" and crc32c(data[:32]) == struct.unpack("<I", data[32:36])[0]
    at, expected = 36, 0
    while at < len(data):
        header = data[at:at + 28]
        sync, kind, codec, sequence, stored, raw, crc, own = struct.unpack("<4sBBxxIIIII", header)
        assert sync == b"CPCH" and own == crc32c(header[:24]) and sequence == expected
        payload = data[at + 28:at + 28 + stored]
        assert crc == crc32c(payload)
        yield kind, unpack(codec, payload, raw)
        at += 28 + stored
        expected += 1
    assert kind == 3


def dump(path, summed=None):
    """All of a recording in words; to `summed`, how many samples are also there added up."""
    with open(path, "rb") as file:
        data = file.read()
    tables = {n: {} for n in range(1, 11)}
    samples, calls, annotations, sums = [], [], [], None
    for kind, payload in chunks(data):
        for tag, section in Bytes(payload).fields() if kind == 2 else ():
            if tag < 11:
                read_table(tables, tag, section)
            elif tag == 16:
                more = list(read_samples(section))
                if sums:
                    check_sums(sums, more)
                    if summed is not None:
                        summed.append(len(more))
                samples.extend(more)
                sums = None
            elif tag == 32:
                sums = read_sums(section)
            elif tag in (19, 26):
                calls.extend(read_calls(tables, section))
            elif tag == 22:
                annotations.extend(read_annotations(section))
    return b"".join([describe(tables, s) + b"\n" for s in samples] +
                    [describe_call(tables, c) + b"\n" for c in calls] +
                    [describe_annotation(tables, a) + b"\n" for a in annotations])


def judge(tool, path):
    for model in (["1", "3"], ["2", "3000"], ["3", "900", "4", "700"],
                  ["few", "7", "3000"], ["calls", "5", "2000"], ["annotations", "6", "3000"]):
        want = dump_of(tool, path, model)
        summed = []
        if dump(path, summed) != want or (model[0] == "few") != bool(summed):
            sys.exit("record_dump and cprof-recording(5) disagree about " + " ".join(model))
        print("seeds and numbers %s: %d lines agree" % (" ".join(model), want.count(b"\n")))


def dump_of(tool, path, model):
    return subprocess.run([tool, path, *model], stdout=subprocess.PIPE, check=True).stdout


if len(sys.argv) == 3:
    if not shutil.which("zstd"):
        print("skipped: there is no zstd")
        sys.exit(77)
    judge(sys.argv[1], sys.argv[2])
else:
    sys.stdout.buffer.write(dump(sys.argv[1]))
