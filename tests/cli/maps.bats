#!/usr/bin/env bats
# What programs map into their memory and out of it; against strace, /proc/PID/maps
# and what the programs print.

load helpers
load tracees

CC=${CC:-cc}

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
	$CC -std=c99 -D_GNU_SOURCE -Wall -Wextra -Werror -fPIC -shared -O1 -I "$SOURCES/include" \
		-o libcprof-profiler-mapprobe.so "$SOURCES/tests/modules/mapprobe.c"
}

# probe [OPTION...] -- CMD...: the events in ./told; CMD may print nothing.
probe() {
	local options=()
	while [ "$1" != -- ]; do options+=("$1"); shift; done
	shift
	"$CPROF" run -q --plugin-dir=. --profile="${PROBE:-mapprobe}" "${options[@]}" -- "$@" >told
	[[ $(tail -n 1 told) == 'wrong 0' ]] || fail "$(tail -n 20 told)"
}

# The program's own calls: once the dynamic linker is done, which unmaps its cache last,
# and without what it maps of libraries later. Each with what it has changed: what is created, and each piece that is removed of
# what was; the break as pages. To be compared with `changes` of ./told.
changes_of_strace() {
	python3 - "$1" <<'END'
import re, sys
page = 4096
linker = []
pieces, linked, end = [], False, 0  # (start, end, kind, protection, offset)
prots = {"PROT_NONE": 0, "PROT_READ": 1, "PROT_WRITE": 2, "PROT_EXEC": 4}

def up(n):
    return (n + page - 1) & -page

def take(start, stop):
    global pieces
    kept, taken = [], []
    for s, e, kind, prot, offset in sorted(pieces):
        a, b = max(s, start), min(e, stop)
        if a >= b:
            kept.append((s, e, kind, prot, offset))
            continue
        def part(x, y):
            return (x, y, kind, prot, offset + (x - s if kind == "file" else 0))
        taken.append(part(a, b))
        kept += [part(x, y) for x, y in ((s, a), (b, e)) if x < y]
    pieces = kept
    return taken

def tell(sign, piece, first):
    start, stop, kind, prot, offset = piece
    print(sign, stop - start, kind, f"prot={prot}", f"offset={offset}")

def remove(start, stop):
    taken = take(start, stop)
    for it in taken or [(start, stop, "unknown", 0, 0)]:
        tell("-", it, None)
    return taken

def create(piece, replaces):
    if replaces:
        for it in take(piece[0], piece[1]):
            tell("-", it, None)
    pieces.append(piece)
    tell("+", piece, None)

for line in open(sys.argv[1], errors="replace"):
    m = re.match(r"(?:\d+ +)?(\w+)\((.*)\)\s+= (-?\w+)", line)
    if not m:
        continue
    name, args, result = m.group(1), m.group(2).split(", "), m.group(3)
    if name == "brk":
        before, end = end, up(int(result, 0))
        if linked and before < end:
            create((before, end, "break", 3, 0), False)
        elif linked and end < before:
            remove(end, before)
        continue
    if not linked:
        linked = name == "munmap"
        continue
    if result == "-1":
        continue
    start, size = 0 if args[0] == "NULL" else int(args[0], 0), up(int(args[1], 0))
    if name == "munmap":
        remove(start, start + size)
    elif name == "mmap":
        if "MAP_DENYWRITE" in args[3]:
            linker.append((int(result, 0), int(result, 0) + size))
        if any(s <= int(result, 0) < e for s, e in linker):
            continue
        kind = "anonymous" if "MAP_ANONYMOUS" in args[3] else "file"
        at = int(result, 0)
        create((at, at + size, kind, sum(prots[p] for p in args[2].split("|")),
                int(args[5], 0)), "MAP_FIXED" in args[3].split("|"))
    elif name == "mremap":
        at, new = int(result, 0), up(int(args[2], 0))
        if (at, new) == (start, size):
            continue
        if size and "DONTUNMAP" not in args[3]:
            old = remove(start, start + size)[:1]
        else:
            old = [p for p in pieces if p[0] <= start < p[1]]
        kind, prot, offset = old[0][2:] if old else ("unknown", 0, 0)
        if old and kind == "file":
            offset += max(0, start - old[0][0])
        create((at, at + new, kind, prot, offset), "MREMAP_FIXED" in args[3])
END
}
changes() { awk '$2 == "+" || $2 == "-" { print $2, $4, $5, $6, $9 }' told; }

MAPS=trace=mmap,munmap,mremap,brk

@test "every way to map and unmap is told, as strace has it; what fails is not" {
	needs strace python3
	cat >ways.c <<'END'
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#define ANON (MAP_PRIVATE | MAP_ANONYMOUS)
int main(void)
{
	int fd = open("ways.c", O_RDONLY), memory = memfd_create("mine", 0), i;
	char *file, *p, *q, text[4096];
	ssize_t n;

	file = mmap(NULL, 100, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd); /* another file has its number then */
	fd = open("/dev/zero", O_RDWR);
	q = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 4096);
	ftruncate(memory, 65536);
	p = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 8192);
	munmap(p + 4096, 8192); /* in its middle: its offset goes on behind it */
	munmap(p, 65536);
	p = mmap(NULL, 65536, PROT_READ | PROT_WRITE, ANON, -1, 0);
	mmap(p + 16384, 4096, PROT_NONE, ANON | MAP_FIXED, -1, 0);
	mprotect(p, 4096, PROT_READ);
	munmap(p + 8192, 20000);
	mmap(NULL, 0, PROT_READ, ANON, -1, 0); /* these fail */
	mmap(NULL, 10, PROT_READ, MAP_PRIVATE, 99, 0);
	munmap((void *)1, 1);
	mremap(p, 4096, 0, 0);
	brk((void *)(1ul << 60));
	q = mremap(q, 8192, 4096, 0);
	q = mremap(q, 4096, 1 << 20, MREMAP_MAYMOVE);
	q = mremap(q, 1 << 20, 1 << 20, MREMAP_MAYMOVE); /* nothing */
	p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, ANON, -1, 0);
	q = mremap(q, 4096, 8192, MREMAP_MAYMOVE | MREMAP_FIXED, p + 4096);
	for (i = 0; i < 5; i++)
		sbrk(3000);
	for (i = 0; i < 5; i++)
		sbrk(-3000);
	free(malloc(1 << 20));
	i = open("maps", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	fd = open("/proc/self/maps", O_RDONLY);
	while ((n = read(fd, text, sizeof(text))) > 0)
		write(i, text, n);
	_exit(0);
}
END
	$CC -O1 -w -fno-builtin -D_GNU_SOURCE -o ways ways.c
	strace -o trace -e "$MAPS" ./ways
	changes_of_strace trace >expected
	probe -- ./ways
	changes | diff expected -
	[ "$(wc -l <expected)" -gt 25 ]
	# What it says of files, though their descriptors are others' by then.
	grep -q " + [0-9a-f]* 4096 file prot=1 flags=0x2 fd=[0-9]* offset=0 by=mmap .* path=$PWD/ways.c$" told || fail "$(head -n 5 told)"
	grep -q ' + [0-9a-f]* 8192 file .* offset=4096 by=mmap .* path=/dev/zero$' told
	grep -q ' - [0-9a-f]* 53248 file .* offset=20480 by=munmap .* known path=/memfd:mine (deleted)$' told
	! grep -q ' unseen \| by=- ' told || fail "$(cat told)"
	# What is left is there, at these addresses, and nothing that is not.
	python3 - <<'END'
there = []
for line in open("maps"):
    start, end = (int(x, 16) for x in line.split()[0].split("-"))
    if there and there[-1][1] == start:
        there[-1] = (there[-1][0], end)
    else:
        there.append((start, end))
left = {}
for line in open("told"):
    w = line.split()
    if w[1] in "+-":
        start, size = int(w[2], 16), int(w[3])
        for page in range(start, start + size, 4096):
            if w[1] == "+":
                assert page not in left, line
                left[page] = line
            else:
                del left[page]
wrong = [hex(p) for p in left if not any(s <= p < e for s, e in there)]
assert left and not wrong, wrong
END
	# Statically linked: the same, but that its break was moved before.
	$CC -O1 -w -fno-builtin -D_GNU_SOURCE -static -o static ways.c
	probe -- ./static
	changes | sed -n '/file prot=1/,$p' | grep -v break |
		diff <(sed -n '/file prot=1/,$p' expected | grep -v break) -
}

@test "what sqlite3 and python3 map is told, as strace has it" {
	needs strace python3 sqlite3
	cat >maps.py <<'END'
import mmap, os
m = mmap.mmap(-1, 1 << 20)
m.resize(1 << 21)
m.close()
with open("maps.py", "rb") as f:
    m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)
x = bytearray(300000)
del x
os._exit(0)
END
	for command in "/usr/bin/python3 -S -E maps.py" \
		"sqlite3 :memory: 'create table t as select randomblob(3000000)'"; do
		eval "strace -o trace -e $MAPS $command"
		changes_of_strace trace >expected
		eval "probe -- $command"
		changes | diff expected -
		grep -q + expected
		! grep ' unseen ' told || fail "$(cat told)"
		[[ $command == sqlite3* ]] || grep -q " file prot=1 .* path=$PWD/maps.py$" told
	done
}

@test "threads that unmap get each other's addresses, and each mapping ends once" {
	local rounds
	rounds=$(long_or 2000 150)
	cat >threads.c <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
static int rounds;
static void *work(void *unused)
{
	int i;

	for (i = 0; i < rounds; i++) {
		char *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		p[0] = 1;
		p = mremap(p, 8192, i % 2 ? 4096 : 16384, MREMAP_MAYMOVE);
		munmap(p, i % 2 ? 4096 : 16384);
	}
	return unused;
}
int main(int argc, char **argv)
{
	pthread_t t[4];
	int i;

	rounds = atoi(argv[argc - 1]);
	for (i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, work, NULL);
	for (i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	return 0;
}
END
	$CC -O1 -w -D_GNU_SOURCE -pthread -o threads threads.c
	probe --max-rate=0 -- ./threads "$rounds"
	! grep ' unseen \| by=- ' told || fail "$(grep -B 20 -m 1 ' unseen \| by=- ' told)"
	# 4 threads, each of so many rounds: by mmap and by mremap.
	assert_equal "$(grep -c ' + [0-9a-f]* 8192 .* by=mmap ' told)" $((4 * rounds))
	assert_equal "$(grep -c ' + .* by=mremap ' told)" $((4 * rounds))
	assert_equal "$(grep -c ' - [0-9a-f]* 8192 .* by=mremap ' told)" $((4 * rounds))
	assert_equal "$(grep -c ' - [0-9a-f]* \(4096\|16384\) .* by=munmap ' told)" $((4 * rounds))
	# The heap's size beside it: both families look for the same functions.
	PROBE=mapprobe:heap probe --max-rate=0 -- ./threads 10
	assert_equal "$(grep -c ' + .* by=mremap ' told)" 40
	grep -q ' heap ' told
	grep ' heap ' told | awk '{ print $3 }' >both
	PROBE=mapprobe:heaponly probe --max-rate=0 -- ./threads 10
	grep ' heap ' told | awk '{ print $3 }' | diff both -
	! grep ' [+-] ' told || fail "$(cat told)"
}

@test "a fork has its parent's mappings; an exec begins without" {
	cat >forks.c <<'END'
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	char *p;

	if (argc > 1)
		return munmap((void *)((unsigned long)&argc & -4096UL) - (1 << 22), 4096), 0;
	p = mmap(NULL, 20480, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!fork()) {
		munmap(p, 20480);
		mmap(p, 12288, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		execl(argv[0], argv[0], "again", NULL);
	}
	wait(NULL);
	munmap(p, 4096);
	return 0;
}
END
	$CC -O1 -w -D_GNU_SOURCE -o forks forks.c
	probe -- ./forks
	awk '$2 ~ /[+-]/ { if (!($1 in n)) n[$1] = ++count; print n[$1], $2, $4, $NF == "path=-" ? $(NF - 1) : "" }' \
		told >seen
	diff - seen <<-END
		1 + 20480 known
		2 - 20480 known
		2 + 12288 known
		2 - 4096 unseen
		1 - 4096 known
	END
}

@test "run --maps, report --maps and replay: who mapped what, and what of it is left" {
	needs jq
	cat >grows.c <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
static void *grow(size_t size)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
static void *read_file(const char *path)
{
	int fd = open(path, O_RDONLY);
	void *p = mmap(NULL, 5000, PROT_READ, MAP_SHARED, fd, 4096);

	close(fd);
	return p;
}
int main(int argc, char **argv)
{
	char *p;
	int i;

	for (i = 0; i < 3; i++)
		grow(1 << 20);
	p = grow(1 << 20);
	munmap(p, 1 << 19);
	munmap(grow(4096), 4096);
	p = grow(8192);
	mremap(p, 8192, 16384, MREMAP_MAYMOVE);
	munmap(read_file("grows.c"), 8192);
	read_file(argv[0]);
	munmap((void *)1, 1);
	_exit(0);
}
END
	$CC -g -O1 -w -fno-inline -o grows grows.c
	"$CPROF" run -q --maps -o data -- ./grows
	"$CPROF" replay --json data >events
	assert_equal "$(jq -c 'select(.event == "map") | [.function, .size, .kind, .by]' events)" \
'["grow",1048576,"anonymous","mmap"]
["grow",1048576,"anonymous","mmap"]
["grow",1048576,"anonymous","mmap"]
["grow",1048576,"anonymous","mmap"]
["grow",4096,"anonymous","mmap"]
["grow",8192,"anonymous","mmap"]
["main",16384,"anonymous","mremap"]
["read_file",8192,"file","mmap"]
["read_file",8192,"file","mmap"]'
	assert_equal "$(jq -c 'select(.event == "unmap") | [.function, .size, .by, .lived_ns > 0, .path]' events)" \
"[\"main\",524288,\"munmap\",true,null]
[\"main\",4096,\"munmap\",true,null]
[\"main\",8192,\"mremap\",true,null]
[\"main\",8192,\"munmap\",true,\"$PWD/grows.c\"]"
	[ "$(jq -c 'select(.event == "map") | .stack[:3]' events | head -n 1)" = '["mmap","grow","main"]' ]
	jq -s -e '(map(select(.event == "unmap" and .by == "mremap"))[0].address) as $was |
		map(select(.by == "mremap" and .event == "map"))[0].previous == $was' events
	run "$CPROF" replay data
	assert_line -p "+ 8.00 KiB of $PWD/grows.c at 0x"
	# As a table and as JSON.
	"$CPROF" report --json data | jq .mappings >sums
	assert_equal "$(jq -c '[.created.mappings, .removed.mappings, .left.mappings, .left.bytes, .before]' sums)" \
		"[9,3,6,$((7 * (1 << 19) + 16384 + 8192)),0]"
	assert_equal "$(jq -c '.functions[] | [.function, .mapped, .left.bytes]' sums)" \
"[\"grow\",\"anonymous\",3670016]
[\"main\",\"anonymous\",16384]
[\"read_file\",\"$PWD/grows\",8192]
[\"read_file\",\"$PWD/grows.c\",0]"
	jq -e '.stacks[0].stack[1].function == "grow" and .stacks[0].longest_ns > 0' sums
	for columns in 80 200; do
		COLUMNS=$columns run "$CPROF" report --maps data
		assert_line -e '^ *left +mappings +made +mappings .*mapped in$'
		assert_line -e '^ *3.50 MiB +4 +4.01 MiB +6 .*anonymous +grow$'
		assert_line -e 'Still mapped'
	done
	"$CPROF" report --reports=maps data | grep -q 'Still mapped'
	# With a C library inside, whose mmap() is a function of the program.
	$CC -g -O1 -w -fno-inline -static -o static_grows grows.c
	"$CPROF" run -q --maps -o inside -- ./static_grows
	"$CPROF" report --json inside | jq -e '[.mappings.functions[] | select(.function == "grow")][0].left.bytes == 3670016'
	# Merged twice, twice as much; a recording without says so.
	"$CPROF" run -q --maps -o again -- ./grows
	"$CPROF" merge -o merged data again
	assert_equal "$("$CPROF" report --json merged | jq .mappings.left.mappings)" 12
	"$CPROF" run -q --locks -o none -- ./grows
	"$CPROF" report --maps none | grep -q 'No mappings were recorded'
	# Allocations beside them, and a limit that is met: it is said.
	"$CPROF" run -q --maps --allocs -o both -- sqlite3 :memory: 'select 1'
	"$CPROF" report --json both | jq -e '.allocations.held_most_bytes > 0 and .mappings.created.mappings > 0'
}

@test "mappings that are made too often end with --max-rate, and the report says so" {
	needs jq
	cat >often.c <<'END'
#include <sys/mman.h>
int main(void)
{
	int i;

	for (i = 0; i < 400; i++)
		munmap(mmap(0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 4096);
	return 0;
}
END
	$CC -O1 -w -D_GNU_SOURCE -o often often.c
	"$CPROF" run -q --maps --max-rate=10 -o data -- ./often
	"$CPROF" replay --json data | jq -s -e 'map(select(.event == "disarmed")) | length >= 1'
	"$CPROF" report --maps data | grep -q 'they were too many (--max-rate)'
}

@test "a program that is attached to: what it maps since, and what it had before is unseen" {
	cat >later.c <<'END'
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
int main(void)
{
	char *before = mmap(0, 12288, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct pollfd in = { .fd = 0, .events = POLLIN };

	sbrk(4096); /* it has been moved */
	write(1, "ready\n", 6);
	while (!poll(&in, 1, 1)) /* until its input ends */
		munmap(mmap(0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 4096);
	sbrk(8192);
	munmap(before, 12288);
	return 0;
}
END
	$CC -O1 -w -D_GNU_SOURCE -o later later.c
	mkfifo input
	./later <input >out 3>&- &
	started+=("$!")
	exec 7>input
	until_true grep -q ready out
	"$CPROF" attach -q --plugin-dir=. --profile=mapprobe "${started[0]}" >told 3>&- 7>&- &
	attached=$!
	until_true grep -q ' + ' told
	exec 7>&-
	wait "$attached"
	[[ $(tail -n 1 told) == 'wrong 0' ]]
	assert_equal "$(grep -c ' + [0-9a-f]* 8192 break ' told)" 1
	assert_equal "$(grep -c ' - [0-9a-f]* 12288 unknown .* unseen ' told)" 1
	assert_equal "$(grep ' unseen ' told | grep -vc ' 12288 unknown ')" "$(head -n 1 told | grep -c ' unseen ')"
}
