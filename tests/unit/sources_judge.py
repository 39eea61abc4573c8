#!/usr/bin/env python3
"""Which lines count, judged by the tools that people have for it.

sources_judge.py DUMP paths|markers|rules|changes|refusals

Markers: of the lines that gcov knows, lcov and gcovr leave out those that we
mark. Changes: diff-cover finds the same lines, in a repository that tries to
spoil the answer.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

DUMP = os.path.abspath(sys.argv[1])
GIT = dict(os.environ, GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_SYSTEM="/dev/null",
           GIT_AUTHOR_NAME="a", GIT_AUTHOR_EMAIL="a@b", GIT_COMMITTER_NAME="a",
           GIT_COMMITTER_EMAIL="a@b", LC_ALL="C.UTF-8")


def sh(*command, **more):
    done = subprocess.run(command, capture_output=True, text=True, errors="surrogateescape", **more)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


def git(*command):
    return sh("git", "-c", "protocol.file.allow=always", *command, env=GIT)


def write(path, text):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w", errors="surrogateescape") as file:
        file.write(text)


def dump(*args, env=None):
    """{path: (wanted, name, where, new, {line: marks})}"""
    found, marks = {}, None
    for line in sh(DUMP, *args, env=env).splitlines():
        mark = re.fullmatch(r"(\d+)([XBC]+)", line)
        if mark:
            marks[int(mark[1])] = mark[2]
            continue
        recorded, wanted, name, where, _ = line.split(" ")[:5]
        marks = {}
        found[recorded] = (wanted == "wanted", name, where, line.endswith(" new"), marks)
    return found


def fails(*args, env=None):
    done = subprocess.run([DUMP, *args], capture_output=True, text=True, env=env)
    assert done.returncode == 1, f"{args} is accepted"
    return done.stderr


def same(what, ours, theirs):
    assert ours == theirs, f"{what}: ours {ours}, expected {theirs}"


# ---- paths ----

def paths():
    root = os.getcwd()
    system = ["/usr/include/stdio.h", "/usr/lib/gcc/x86_64-linux-gnu/12/include/emmintrin.h",
              "/usr/local/include/x.h", "/lib/x.c", "/opt/rust/lib/core.rs", "/rustc/90c54/library/core/src/a.rs",
              "/home/u/.cargo/registry/src/index.crates.io-6f17/libc-0.2/src/lib.rs",
              "/usr/src/rustc-1.63.0/library/alloc/src/vec/mod.rs", "/rust/deps/gimli-0.32.3/src/lib.rs",
              "/srv/ci/cargo/registry/src/index.crates.io-1949cf8c6b5b557f/libc-0.2/src/lib.rs",
              "/srv/ci/cargo/git/checkouts/regex-5a7cbf2b7a9ac1d2/4b8e/src/lib.rs",
              "/srv/rust/toolchains/nightly/lib/rustlib/src/rust/library/std/src/io.rs"]
    own = ["/home/u/a.c", "/usr/src/sqlite/a.c", "/usr/local/src/a.c", "/library/a.c", "src/a.c", "/build/x/a.c",
           "/usr/src/rustcheck/a.c", "/rustcheck/a.c", "/home/u/registry/src/index-1/a.c", "/home/u/git/checkouts/a.c"]
    found = dump(*system, *own)
    same("wanted", [path for path in found if found[path][0]], own)
    same("relative to the root", found["src/a.c"][1:3], ("src/a.c", f"{root}/src/a.c"))
    same("outside", found["/home/u/a.c"][1:3], ("/home/u/a.c", "/home/u/a.c"))

    found = dump("--include=src/*", "--include=*/stdio.h", "--exclude=*/gen/*", "src/a.c", "src/gen/b.c",
                 f"{root}/src/sub/c.c", f"{root}/x/../src/d.c", "/usr/include/stdio.h", "test/a.c")
    same("included", [path for path in found if found[path][0]],
         ["src/a.c", f"{root}/src/sub/c.c", f"{root}/x/../src/d.c", "/usr/include/stdio.h"])
    found = dump("--include=src/", "src/a.c", "srcs/b.c")
    same("below a directory", [path for path in found if found[path][0]], ["src/a.c"])

    maps = ["--path-map=/build=/nowhere", f"--path-map=/build/pkg={root}", "--path-map=lib=other"]
    found = dump(*maps, "/build/pkg/a.c", "/build/x.c", "/buildings/a.c", "/build/pkg", "lib/q.c", "libs/q.c")
    same("mapped", [found[path][2] for path in found],
         [f"{root}/a.c", "/nowhere/x.c", "/buildings/a.c", root, f"{root}/other/q.c", f"{root}/libs/q.c"])
    same("a glob over the mapped name", dump(*maps, "--include=a.c", "/build/pkg/a.c")["/build/pkg/a.c"][0], True)

    # The shell's name of a directory, as compilers keep it.
    os.mkdir("real")
    write("real/a.c", "x\n")
    os.symlink("real", "link")
    os.chdir("real")
    found = dump(f"{root}/link/a.c")
    same("through a link", found[f"{root}/link/a.c"][1:3], ("a.c", f"{root}/real/a.c"))


# ---- markers ----

SOURCE = """\
#include <stdio.h>
int twice(int n); // LCOV_EXCL_LINE
int twice(int n)
{
	if (n > 1) // LCOV_EXCL_BR_LINE
		n++;
	if (n > 2) // GCOVR_EXCL_START
		n++; // unclosed here: GCOVR_EXCL_STOP
	n++; /* %(kind)s_EXCL_LINE and more */
	n++; /* %(kind)s_EXCL_START */
	n++;
	if (n > 3)
		n++; /* %(kind)s_EXCL_STOP */
	n++; // EXCL_LINE COV_EXCL_LINE LCOV_EXCL_ LCOV EXCL_LINE
	if (n > 4) n++; /* %(kind)s_EXCL_BR_START */
	if (n > 5) n++;
	if (n > 6) n++; /* %(kind)s_EXCL_BR_STOP */
	if (n > 7) n++;
	return n;
}
int main(void)
{
	puts("x"); /* %(kind)s_EXCL_START */
	twice(3); /* the end is missing */
	return 0;
}
"""


def known_lines(data):
    return {line["line_number"] for line in data["lines"]}


def judge_markers(kind):
    text = SOURCE % {"kind": kind}
    if kind == "LCOV":  # lcov does not know the others
        text = text.replace("GCOVR_", "LCOV_")
    write("m.c", text)
    sh("gcc", "--coverage", "-O0", "-o", "m", "m.c")
    sh("./m")
    sh("gcov", "-b", "--json-format", "m-m.gcda" if os.path.exists("m-m.gcda") else "m.gcda")
    packed = [name for name in os.listdir(".") if name.endswith(".gcov.json.gz")]
    data = json.loads(sh("zcat", packed[0]))
    file = next(file for file in data["files"] if file["file"] == "m.c")
    marks = dump("m.c")["m.c"][4]
    excluded = {line for line in marks if "X" in marks[line]}
    left = known_lines(file) - excluded
    branching = {line["line_number"] for line in file["lines"] if line["branches"]}
    left_branching = branching - excluded - {line for line in marks if "B" in marks[line]}
    assert excluded & known_lines(file) and branching - left_branching
    return left, left_branching


def markers():
    left, branching = judge_markers("LCOV")
    sh("lcov", "-q", "-c", "-d", ".", "-o", "m.info", "--rc", "lcov_branch_coverage=1")
    info = open("m.info").read()
    same("lcov's lines", left, {int(n) for n in re.findall(r"^DA:(\d+),", info, re.M)})
    same("lcov's branches", branching, {int(n) for n in re.findall(r"^BRDA:(\d+),", info, re.M)})
    for kind in "LCOV", "GCOV", "GCOVR":
        left, branching = judge_markers(kind)
        data = json.loads(sh("gcovr", "--json", "--root", ".").splitlines()[-1])
        lines = [line for line in data["files"][0]["lines"]
                 if not line["gcovr/noncode"] and not line["gcovr/excluded"]]
        # gcovr drops a START without a STOP, lcov goes on to the end, as we do.
        last = SOURCE.splitlines().index('\tputs("x"); /* %(kind)s_EXCL_START */') + 1
        same(f"gcovr's lines, {kind}", {line for line in left if line < last},
             {line["line_number"] for line in lines if line["line_number"] < last})


# ---- rules ----

def rules():
    write("r.c", "assert(a)\nb\n  abort();\nBEGIN x\nc\nEND\nd\nBEGIN END\ne\na:b\nf\nend\r\n")
    marks = dump("--exclude-line=^[ \t]*(assert|abort)", "--exclude-line=^end$", "r.c")["r.c"][4]
    same("exclude-line", sorted(marks), [1, 3, 12])
    marks = dump("--exclude-region=^BEGIN:^END|END$", r"--exclude-region=a\:b:^end", "r.c")["r.c"][4]
    same("exclude-region", sorted(marks), [4, 5, 8, 10, 11])
    write("empty.c", "")
    write("nul.c", "a\0LCOV_EXCL_LINE\nb LCOV_EXCL_LINE")
    os.mkfifo("pipe.c")
    found = dump("--exclude-line=b", "empty.c", "nul.c", "pipe.c", "none.c")
    same("strange files", [found[name][4] for name in found], [{}, {1: "X", 2: "X"}, {}, {}])


# ---- changes ----

HOSTILE = ["with space.c", "tab\there.c", "quo\"te.c", "back\\slash.c", "ü.c", "+++ b.c", "-dash.c", "new\nline.c",
           "[glob]*.c", "\udcff.c"]


def body(count, start=0):
    return "".join(f"line {n};\n" for n in range(start, start + count))


def make_repository():
    git("init", "-q", "-b", "main", "repo")
    os.chdir("repo")
    for name in ["plain.c", "moved.c", "deleted.c", "sub/deep.c", "untouched.c"] + HOSTILE:
        write(name, body(30))
    git("add", "-A")
    git("commit", "-qm", "first")
    git("branch", "start")
    git("checkout", "-qb", "work")
    for name in ["plain.c", "sub/deep.c"] + HOSTILE:
        write(name, body(5) + "++ changed;\n" + body(20, 6) + "-- added\n@@ -1 +1 @@\n" + body(4, 26))
    git("mv", "moved.c", "renamed.c")
    write("renamed.c", body(29) + "last changed;\n")
    git("rm", "-q", "deleted.c")
    write("new.c", body(3))
    git("add", "-A")
    git("commit", "-qm", "second")
    # Not committed, and not known to git at all.
    write("plain.c", open("plain.c").read() + "not committed\n")
    write("untracked.c", body(4))
    write(".gitignore", "ignored.c\n")
    write("ignored.c", body(4))
    # What happened to the branch since is none of our changes.
    git("stash", "-q")
    git("checkout", "-q", "main")
    write("untouched.c", "theirs\n" + body(30))
    git("commit", "-qam", "theirs")
    git("checkout", "-q", "work")
    git("stash", "pop", "-q")


def spoil():
    for key, value in {"diff.noprefix": "true", "color.ui": "always", "diff.external": "false",
                       "diff.interHunkContext": "9", "diff.mnemonicPrefix": "true", "diff.context": "5",
                       "core.quotePath": "true", "diff.relative": "true", "core.fsmonitor": "touch owned",
                       "core.pager": "false", "diff.renames": "false"}.items():
        git("config", key, value)
    write(".gitattributes", "*.c binary diff=odd\n")
    git("config", "diff.odd.textconv", "false")


def diff_cover(names):
    """The lines that diff-cover looks at: those of an lcov file with all."""
    info = "".join(f"SF:{os.path.abspath(name)}\n"
                   + "".join(f"DA:{n + 1},0\n" for n in range(len(open(name).readlines()))) + "end_of_record\n"
                   for name in names)
    write("../all.info", info)
    sh("diff-cover", "../all.info", "--compare-branch=main", "--json-report=../diff.json",
       "--include-untracked", env=GIT)
    stats = json.load(open("../diff.json"))["src_stats"]
    return {name: sorted(stats[name]["violation_lines"]) for name in stats}


def changes():
    make_repository()
    ordinary = ["plain.c", "renamed.c", "sub/deep.c", "new.c", "untracked.c", "untouched.c"]
    expected = diff_cover(ordinary)
    spoil()
    found = dump("--diff=main", *ordinary)
    ours = {name: sorted(line for line in found[name][4] if "C" in found[name][4][line]) for name in found}
    same("diff-cover's lines", {name: ours[name] for name in ours if ours[name]}, expected)
    assert expected["renamed.c"] == [30] and 6 in expected["plain.c"] and "untouched.c" not in expected
    same("the untracked file", found["untracked.c"][3], True)
    assert not os.path.exists("owned"), "the configuration's program ran"
    env = dict(os.environ, GIT_DIFF_OPTS="-u5", GIT_EXTERNAL_DIFF="false", GIT_PAGER="false")
    for name in HOSTILE:
        if "\n" in name or "\udcff" in name:
            continue
        lines = subprocess.run([DUMP, "--diff=start", "./" + name], capture_output=True, env=env).stdout
        same(name, [int(n) for n in re.findall(rb"^(\d+)C$", lines, re.M)], [6, 27, 28])
    for name in "new\nline.c", "\udcff.c":
        lines = subprocess.run([DUMP.encode(), b"--diff=start", name.encode("utf-8", "surrogateescape")],
                               capture_output=True, env=env).stdout
        same(repr(name), [int(n) for n in re.findall(rb"^(\d+)C$", lines, re.M)], [6, 27, 28])
    same("from a directory below", sorted(dump_in("sub", "--diff=main", "deep.c")), expected["sub/deep.c"])
    git("worktree", "add", "-q", "--detach", "../tree")
    write("../tree/plain.c", "x\n" + open("../tree/plain.c").read())
    assert sorted(dump_in("../tree", "--diff=main", "plain.c"))[0] == 1
    submodule()


def dump_in(directory, *args):
    here = os.getcwd()
    os.chdir(directory)
    found = dump(*args)
    os.chdir(here)
    return list(found.values())[0][4]


def submodule():
    os.chdir("..")
    git("init", "-q", "-b", "main", "inner")
    write("inner/in.c", body(10))
    git("-C", "inner", "add", "-A")
    git("-C", "inner", "commit", "-qm", "inner")
    git("init", "-q", "-b", "main", "outer")
    os.chdir("outer")
    git("submodule", "add", "-q", "../inner", "lib")
    git("commit", "-qm", "outer")
    write("lib/in.c", body(3) + "changed\n" + body(6, 4))
    git("-C", "lib", "commit", "-qam", "changed")
    same("in a submodule", sorted(dump_in(".", "--diff=HEAD", "lib/in.c")), [4])


# ---- refusals ----

def refusals():
    assert "is no regular expression" in fails("--exclude-line=(")
    assert "START:END" in fails("--exclude-region=start")
    assert "OLD=NEW" in fails("--path-map=/build")
    write("a.c", "x\n")
    said = fails("--include=nothing/*", "./a.c")
    assert "--include=nothing/* matches no source file" in said and "./a.c" in said
    assert "--exclude=b.c matches no source" in fails("--exclude=b.c", "a.c")
    alone = dict(os.environ, GIT_CEILING_DIRECTORIES=os.path.dirname(os.getcwd()))
    assert "not a git repository" in fails("--diff=main", "a.c", env=alone)
    assert "git, which is not installed" in fails("--diff=main", "a.c", env=dict(alone, PATH="/nowhere"))
    git("init", "-q", "-b", "main", ".")
    git("add", "a.c")
    git("commit", "-qm", "a")
    for revision in "nothing", "--output=owned", "-x", "", "HEAD:a.c", "HEAD^{tree}":
        assert "git knows no revision" in fails(f"--diff={revision}", "a.c"), revision
    assert os.listdir(".").count("owned") == 0
    write("a.c", "y\n")
    git("commit", "-qam", "b")
    git("clone", "-q", "--depth=1", f"file://{os.getcwd()}", "shallow")
    os.chdir("shallow")
    assert "shallow" in fails("--diff=HEAD~1", "a.c")


with tempfile.TemporaryDirectory() as directory:
    os.chdir(os.path.realpath(directory))
    globals()[sys.argv[2]]()
