#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""coverage_pages_judge.py COVERAGE_PAGES: the pages of coverage, read by a parser of HTML,
say what the description says that they were made from, and nothing in names or
sources gets out of its place."""
import collections
import html.parser
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile

TOOL = sys.argv[1]
VOID = {"meta", "link", "rect", "path", "br", "input"}
EXCLUDED, SHARED, REMOVED, CHANGED, NO_BRANCHES = 1, 2, 4, 8, 16
failures = 0


def check(ok, *what):
    global failures
    if not ok:
        failures += 1
        print("failed:", *what, file=sys.stderr)


class Page(html.parser.HTMLParser):
    """Elements with their text; the end of an <li> may be missing."""

    def __init__(self, path):
        super().__init__(convert_charrefs=True)
        self.open, self.all, self.path = [], [], path
        self.raw = path.read_text(encoding="utf-8")
        self.feed(self.raw)
        self.close()
        check(not self.open, path, "left open:", [e["tag"] for e in self.open])

    def handle_starttag(self, tag, attrs):
        if tag == "li" and self.open and self.open[-1]["tag"] == "li":
            self.open.pop()
        check(len(attrs) == len(dict(attrs)), self.path, "an attribute twice", attrs)
        element = {"tag": tag, "text": "", "up": [e["tag"] for e in self.open], **dict(attrs)}
        self.all.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag, attrs):
        self.all.append({"tag": tag, "text": "", "up": [], **dict(attrs)})

    def handle_endtag(self, tag):
        if tag in ("ol", "ul") and self.open[-1]["tag"] == "li":
            self.open.pop()
        check(self.open and self.open[-1]["tag"] == tag, self.path, "ends what is not open:", tag)
        self.open.pop()

    def handle_data(self, data):
        for element in self.open:
            element["text"] += data

    def those(self, tag, **attrs):
        return [e for e in self.all if e["tag"] == tag and all(e.get(k) == v for k, v in attrs.items())]


def number(word):
    return None if word == "?" else int(word)


def described(text):
    """What a person takes from the description."""
    files, binaries, now = {}, {}, None
    for line in text.splitlines():
        word, _, rest = line.partition(" ")
        if word in ("file", "binary"):
            name, path, *flags = rest.split(" ")
            now = {"path": path, "flags": flags, "lines": {}, "functions": []}
            (files if word == "file" else binaries)[unescaped(name)] = now
        elif word == "f":
            line_number, count, blocks, covered, flags, name = rest.split(" ", 5)
            now["functions"].append((unescaped(name), int(line_number), number(count), int(blocks), int(covered), int(flags)))
        elif word == "l":
            n, count, _, _, flags = rest.split(" ")
            last = now["lines"][int(n)] = {"count": number(count), "flags": int(flags), "branches": []}
        elif word == "b":
            taken, passed, flags = rest.split(" ")
            last["branches"].append((number(taken), number(passed), int(flags)))
    return files, binaries


def unescaped(name):
    return name.replace(r"\n", "\n").replace(r"\e", "\033").replace(r"\s", " ")


def shown(text):
    """Control characters and bytes that are not UTF-8, as pages show them."""
    out = "".join(f"\\x{ord(c) - 0xdc00:02x}" if 0xdc80 <= ord(c) <= 0xdcff else c for c in text)
    out = re.sub("[\0-\x08\n-\x1f\x7f-\x9f]", lambda m: f"\\x{ord(m[0]):02x}", out)
    return re.sub("[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]", lambda m: f"\\u{{{ord(m[0]):x}}}", out)


def totals(d):
    t = collections.Counter()
    for line in d["lines"].values():
        if line["flags"] & (EXCLUDED | REMOVED) or line["count"] is None:
            continue
        t["lines of"] += 1
        t["lines"] += bool(line["count"])
        if line["flags"] & CHANGED:
            t["changed of"] += 1
            t["changed"] += bool(line["count"])
        for branch in line["branches"]:
            if (line["flags"] | branch[2]) & (EXCLUDED | NO_BRANCHES):
                continue
            t["branches of"] += 2  # also what is unknown of them
            t["branches"] += sum(bool(way) for way in branch[:2])
    for _, _, count, blocks, covered, flags in d["functions"]:
        if flags & (EXCLUDED | REMOVED) or count is None:
            continue
        t["functions of"] += 1
        t["functions"] += bool(count)
        t["blocks of"] += blocks
        t["blocks"] += covered
    return t


def mark(line):
    flags, count = line["flags"], line["count"]
    if flags & REMOVED:
        kind = "r"
    elif flags & EXCLUDED:
        kind = "e"
    elif count is None:
        kind = "q"
    elif not count:
        kind = "x"
    else:
        missed = any(0 in b[:2] for b in line["branches"] if not b[2] & EXCLUDED)
        kind = "p" if missed and not flags & NO_BRANCHES else "c"
    return {kind} | ({"u"} if flags & SHARED else set()) | ({"d"} if flags & CHANGED else set())


def check_harmless(page):
    for e in page.all:
        check(not any(k == "style" or k.startswith("on") for k in e), page.path, "inline style or script", e)
        if e["tag"] == "script":
            check(e.get("src") == "cprof-coverage.js" and not e["text"], page.path, "a script of whose?", e)
        for key in ("href", "src"):
            check(re.fullmatch(r"[\w.@+-]+(html|css|js)|#L\d+", e.get(key, "x.html")), page.path, "leads outside:", e)
    ids = [e["id"] for e in page.all if "id" in e]
    check(len(ids) == len(set(ids)), page.path, "an id twice")
    for e in page.those("a"):
        if e["href"].startswith("#"):
            check(e["href"][1:] in ids, page.path, "leads nowhere:", e["href"])
        else:
            check((page.path.parent / e["href"]).exists(), page.path, "leads nowhere:", e["href"])
    policy = page.those("meta", **{"http-equiv": "Content-Security-Policy"})[0]["content"]
    check("default-src 'none'" in policy and "unsafe" not in policy, page.path, policy)
    check(not re.search("[\0-\x08\x0b-\x1f\x7f\u202e]", page.raw), page.path, "control characters")


def check_totals(page, t):
    for e in page.those("li"):
        name = e.get("id", "")
        if name.startswith("total-"):
            name = name[6:]
            got = int(e["data-covered"]), int(e["data-of"])
            check(got == (t[name], t[name + " of"]), page.path, name, got, "want", t[name], t[name + " of"])
            part = 100 * got[0] / got[1] if got[1] else 0
            part = min(part, 99.9) if got[0] < got[1] else part
            check((f"{max(part, 0.1 if got[0] else 0):.1f}%" if got[1] else "–") in e["text"], page.path, name, e["text"])
    check(t["changed of"] == 0 or page.those("li", id="total-changed"), page.path, "no changed lines")


def check_branches(page, n, line, shown_branches):
    told = shown_branches["title"].split("\n")
    ways = [w for b in line["branches"] for w in b[:2]]
    check(len(told) == min(len(line["branches"]), 13), page.path, n, told)
    if len(line["branches"]) > 3:
        known = [w for w in ways if w is not None]
        check(shown_branches["text"] == f"{sum(map(bool, known))}/{len(known)}", page.path, n, shown_branches)
    else:
        signs = "".join("?" if w is None else "+" if w else "-" for w in ways)
        check(shown_branches["text"].replace(" ", "") == signs, page.path, n, shown_branches)
    first = line["branches"][0]
    if first[2] & EXCLUDED:
        check("excluded" in told[0], page.path, n, told)
    elif first[0] == 0 and first[1]:
        check("jumped: never" in told[0], page.path, n, told)
    if None in first[:2]:
        check("unknown" in told[0], page.path, n, told)


def check_lines(page, d, counted):
    got = {int(e["id"][1:]): e for e in page.those("li") if e.get("id", "").startswith("L")}
    source = d["text"]
    want = set(d["lines"]) | set(range(1, len(source or []) + 1))
    check(set(got) == want, page.path, "lines", sorted(set(got) ^ want)[:5])
    branches = {}
    for i, e in enumerate(page.all):
        if e["tag"] == "li":
            at = e.get("id", "")
        elif e["tag"] == "span" and e.get("class", "").startswith("b"):
            branches[int(at[1:])] = e
    for n, e in got.items():
        line, classes = d["lines"].get(n), set(e.get("class", "").split())
        check(classes == (mark(line) if line else set()), page.path, n, "is", classes, "want", line)
        text = e["text"].rstrip("\n")
        if line and line["branches"] and not line["flags"] & (EXCLUDED | REMOVED):
            check(n in branches, page.path, n, "has no branches")
            check_branches(page, n, line, branches[n])
            check(branches[n]["text"] in text, page.path, n)
            text = text.replace(branches[n]["text"], "", 1)
        else:
            check(n not in branches, page.path, n, "has branches")
        if counted and line and line["count"] is not None and not line["flags"] & REMOVED:
            short = {12345678901: "12345M", 10**19: "1e+19"}.get(line["count"], str(line["count"]))
            check(text.startswith(short), page.path, n, "count", text[:20])
            text = text[len(short):]
        elif text[:1].isdigit():
            check(False, page.path, n, "has a count", text[:20])
        if source and n <= len(source):
            want_text = shown(source[n - 1])
            check(text == want_text if len(want_text) < 4000 else text.startswith(want_text[:3900]) and
                  len(text) < 4100, page.path, n, repr(text[:60]), "want", repr(want_text[:60]))
        else:
            check(text == ("the source has no such line" if source else ""), page.path, n, text)


def check_functions(page, d):
    rows = [e for e in page.those("td", **{"class": "name"})]
    check(len(rows) == len(d["functions"]), page.path, "functions")
    for row, f in zip(rows, d["functions"]):
        check(row["text"].startswith(shown(f[0]) or "(no name)"), page.path, row["text"], f[0])


def check_site(directory, description, counted):
    files, binaries = described(description)
    index = Page(directory / "index.html")
    check_harmless(index)
    check_totals(index, sum(map(totals, [*files.values(), *binaries.values()]), collections.Counter()))
    links = {e["text"]: e["href"] for e in index.those("a")}
    check(set(links) == {shown(n) for n in [*files, *binaries]}, "names", set(links))
    check(len({href.lower() for href in links.values()}) == len(links), "pages share a name")
    check(all(len(href) < 150 for href in links.values()), "long name of a page")
    order = [files_of(files, e["text"]) for e in index.those("a") if e["text"] in map(shown, files)]
    shares = [t["lines"] / t["lines of"] if t["lines of"] else 2 for t in map(totals, order)]
    check(shares == sorted(shares), "the worst are not first", shares)
    for name, d in files.items():
        try:
            text = pathlib.Path(d["path"]).read_bytes().decode("utf-8", errors="surrogateescape")
            lines = text.removeprefix("\ufeff").split("\n")
            d["text"] = [line.removesuffix("\r") for line in (lines[:-1] if lines[-1] == "" else lines)]
        except OSError:
            d["text"] = None
        page = Page(directory / links[shown(name)])
        check_harmless(page)
        check_totals(page, totals(d))
        check_lines(page, d, counted)
        if d["functions"]:
            check_functions(page, d)
        notes = " ".join(e["text"] for e in page.those("li", **{"class": "warn"}))
        check(("can't be read" in notes) == (d["text"] is None), name, notes)
        check(("changed after" in notes) == ("newer" in d["flags"]), name, notes)
    for name, d in binaries.items():
        page = Page(directory / links[shown(name)])
        check_harmless(page)
        check_totals(page, totals(d | {"lines": {}}))
        check_functions(page, d)
    return index


def files_of(files, name):
    return next(d for n, d in files.items() if shown(n) == name)


HOSTILE = b"""\xef\xbb\xbfint main(void)\r
{\r
\tif (a < b && c > d) /* </li></ol><script>alert(1)</script> &lt; " ' */
\t\treturn "\x1b[31m\x01\x7f"[0];

\t/* \xe2\x80\xae bidi; Latin-1: \xe9; half: \xf0\x9f */
""" + b"x" * 3999 + "é".encode() * 500 + b"\nlast line, not ended"


def description(work):
    """Every kind of mark, name and source."""
    source, plain = work / "hostile.c", work / "plain.c"
    source.write_bytes(HOSTILE)
    plain.write_text("".join(f"line {n};\n" for n in range(1, 451)).replace("line", "  line"))
    marks = "".join(f"l {n} {count} 3 {2 if count == '7' else 0} {flags}\n{branches}"
                    for n, (count, flags, branches) in enumerate([
                        ("7", 0, ""), ("0", 0, ""), ("?", 0, ""), ("7", SHARED, ""), ("0", CHANGED | SHARED, ""),
                        ("7", EXCLUDED, "b 1 0 0\n"), ("0", REMOVED, ""), ("7", 0, "b 3 4 0\n"),
                        ("7", 0, "b 0 7 0\n"), ("7", 0, "b 7 ? 0\n"), ("0", 0, "b 0 0 0\n"),
                        ("7", NO_BRANCHES, "b 0 7 0\n"), ("7", 0, "b 0 7 1\nb 3 4 0\n"),
                        ("7", CHANGED, "b 3 4 0\n" * 4), ("7", 0, "b 3 0 0\n" * 20)], 1))
    long_name = "deep/" * 60 + "end.c"
    return "\n".join([
        r"command ./a<script>alert(1)</script>\e[31m --x", "version 9.8.7", "root /nowhere/\"><b>", "time 1700000000",
        "seen 99",
        f"file src/plain.c {plain}", "f 1 7 3 2 0 first", "f 400 0 3 0 0 second", "f 0 1 1 1 2 unplaced",
        f"f 9 0 2 0 {REMOVED} gone", "f 10 ? 2 0 0 doubtful", marks + "l 400 1 1 1 0", "l 401 12345678901 2 1 0", f"l 402 {10**19} 1 1 0",
        "l 4000000000 1 1 1 0",
        f"file src-plain.c {plain}", "l 2 1 1 1 0",
        f"file src/Plain.c {plain}", "l 2 1 1 1 0", "l 3 0 1 0 0",
        f"file index {plain}", "l 2 0 1 0 0",
        f"file ../up.c {plain}", "l 200 1 1 1 0", "l 201 1 1 1 0",
        f"file {long_name} {plain}", "l 2 1 1 1 0", f"file {long_name}x {plain}", "l 2 1 1 1 0",
        rf"file src/<img\ssrc=x\sonerror=alert(1)>'\"\n\e.c {source}", r"f 3 1 1 1 0 main</a><script>\e",
        "l 3 1 2 2 0", "b 1 0 0", "l 4 0 1 0 0", "l 9 1 1 1 0", "l 11 1 1 1 0",
        "file lost.c /nowhere/lost.c missing", "l 5 1 1 1 0", "b 1 1 0", "l 7 0 1 0 0",
        f"file edited.c {plain} newer", "l 5 1 1 1 0", f"file nothing.c {plain}",
        f"file nearly.c {plain}", *[f"l {n} 1 1 1 0" for n in range(1, 450)], *["b 1 1 0"] * 3000, "b 0 1 0",
        "binary libstripped.so /usr/lib/libstripped.so", "f 0 1 5 3 0 known", r"f 0 0 2 0 0 <b>\n",
        "binary libstripped.so.1 /opt/libstripped.so.1", "f 0 0 2 0 0 ", ""])


def run(directory, text, **more):
    return subprocess.run([TOOL, str(directory)], input=text, text=True, capture_output=True, timeout=60, **more)


def refused(directory, text, *words, **more):
    got = run(directory, text, **more)
    check(got.returncode == 1, directory, "was written to", got.returncode, got.stderr)
    check(all(word in got.stderr for word in words), got.stderr)


def small_files():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (15000, 15000))


def main():
    with tempfile.TemporaryDirectory() as temporary:
        work = pathlib.Path(temporary)
        text = description(work)
        for name, more in ("plain", ""), ("counts", "counted\nexact-branches\n"):
            site = work / "made" / name
            got = run(site, more + text)
            check(got.returncode == 0, got.stderr)
            index = check_site(site, text, bool(more))
            page = (site / "src-plain.c.html").read_text()
            check(not more or 'title="12,345,678,901 times; 1 of its 2 blocks ran"' in page, "exact count")
            check("2023-11-14" in index.raw and "9.8.7" in index.raw, "when, with which cprof")
        # Again, over the first; what is not ours stays.
        (site / "mine.html").write_text("mine")
        before = sorted(p.name for p in site.iterdir())
        check(run(site, text).returncode == 0, "not written again")
        check(sorted(p.name for p in site.iterdir()) == before, "other files than before")
        check((site / "mine.html").read_text() == "mine", "overwritten")
        check_site(site, text, False)
        # What has one of our names and is not ours.
        (work / "docs").mkdir()
        (work / "docs/index.html").write_text("<p>My page")
        refused(work / "docs", text, "docs/index.html", "in the way")
        check([p.name for p in (work / "docs").iterdir()] == ["index.html"], "written beside it")
        (work / "docs/index.html").unlink()
        (work / "docs/index.html").symlink_to(work / "target")
        refused(work / "docs", text, "in the way")
        refused(work / "plain.c", text, "plain.c")
        refused(work / "plain.c/below", text, "plain.c/below", "Not a directory")
        # A full disk: said so; the earlier page is still whole, nothing half is left.
        whole = {p.name: p.read_bytes() for p in site.iterdir()}
        refused(site, "counted\n" + text, "cannot write", "File too large", preexec_fn=small_files)
        check({p.name for p in site.iterdir()} == set(whole), "something half is left")
        check(all(b"</html>" in p.read_bytes() for p in site.glob("*.html") if p.name != "mine.html"), "cut short")
        empty = work / "empty"
        check(run(empty, "").returncode == 0 and "Nothing was recorded" in (empty / "index.html").read_text(), "empty")
    print(f"{failures} failed")
    return failures != 0


sys.exit(main())
