#!/usr/bin/env bats
# What is allocated and freed, against what the program says, what glibc's mtrace()
# writes of the same run, and what is known of programs by their making.

load helpers
load tracees

CC=${CC:-cc}
CXX=${CXX:-c++}

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
}

# told [FILE]: allocated, their bytes, freed, moved or resized, left, its bytes, unknown.
told() {
	"$CPROF" report --json "${1-cprof.data}" | jq -r '.allocations |
		"\(.allocated.blocks) \(.allocated.bytes) \(.freed) \(.moved + .resized) \(.left.blocks) \(.left.bytes) \(.unknown)"'
}

# random_program: allocates, resizes and frees as chance has it, in threads, and
# says how often.
random_program() {
	cat >random.c <<'END'
#include <mcheck.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static long sums[4];
static void *work(void *seed)
{
	unsigned s = (unsigned)(long)seed, i, k;
	long counts[4] = { 0 };
	void *p[50] = { 0 };

	for (i = 0; i < 500; i++) {
		s = s * 1103515245 + 12345;
		k = (s >> 16) % 50;
		if (!p[k]) {
			p[k] = malloc(1 + (s >> 8) % 3000);
			counts[0]++;
		} else if (s >> 31) {
			p[k] = realloc(p[k], 1 + (s >> 9) % 5000);
			counts[1]++;
		} else {
			free(p[k]);
			p[k] = NULL;
			counts[2]++;
		}
	}
	for (k = 0; k < 50; k++)
		counts[3] += p[k] != NULL;
	for (k = 0; k < 4; k++)
		__atomic_add_fetch(&sums[k], counts[k], __ATOMIC_RELAXED);
	return NULL;
}
int main(int argc, char **argv)
{
	static char text[256];
	pthread_t t[8];
	long i, n = argc > 1 ? atol(argv[1]) : 0;

	setvbuf(stdout, text, _IOFBF, sizeof(text));
	if (getenv("MALLOC_TRACE"))
		mtrace();
	for (i = 0; i < n; i++)
		pthread_create(&t[i], NULL, work, (void *)(i + 1));
	for (i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	if (!n)
		work((void *)1);
	if (getenv("MALLOC_TRACE"))
		muntrace();
	printf("allocated %ld moved %ld freed %ld left %ld\n", sums[0], sums[1], sums[2], sums[3]);
	return 0;
}
END
	$CC -O1 -g -o random random.c -pthread "$@"
}

# said NAME: what the program says in ./out.
said() {
	sed -n "s/.*\<$1 \([0-9]*\).*/\1/p" out
}

@test "a thousand allocations are a thousand, and so are their bytes" {
	cat >alloc1000.c <<'END'
#include <stdlib.h>
int main(void)
{
	static void *p[1000];
	for (int i = 0; i < 1000; i++)
		p[i] = malloc(16);
	for (int i = 0; i < 1000; i++)
		free(p[i]);
	return 0;
}
END
	$CC -O1 -fno-builtin -o alloc1000 alloc1000.c
	run --separate-stderr "$CPROF" run --allocs -- ./alloc1000
	assert_success
	[[ $stderr == *"Allocations  16,000 bytes in 1,000 blocks; left: nothing"* ]]
	[[ $stderr == *"1,000 freed, 0 moved, 0 resized in place; at most 16,000 bytes at once"* ]]
	assert_equal "$(told)" '1000 16000 1000 0 0 0 0'
	run "$CPROF" report
	assert_regex "$output" ' 0 +0 +16,000 +1,000 +main'
	# That the break was moved is a stop, and so are the first call of malloc() and of free()
	# from main(). By breakpoints the one that only remembers the size is no event, and none
	# that was in vain.
	local stops='.overhead | [.call_stops, .rejected[]] | add'
	[ "$("$CPROF" report --json | jq -c "$stops")" -le 3 ]
	"$CPROF" run -q --allocs --traps -- ./alloc1000
	assert_equal "$(told)" '1000 16000 1000 0 0 0 0'
	assert_equal "$("$CPROF" report --json | jq -c "$stops")" 2001
}

@test "a profiler that does not ask is told nothing; one that asks, of each, with its stack" {
	random_program
	$CC -std=c99 -D_GNU_SOURCE -Wall -Wextra -Werror -fPIC -shared -O1 -I "$SOURCES/include" \
		-o libcprof-profiler-heapprobe.so "$SOURCES/tests/modules/heapprobe.c"
	run "$CPROF" run --plugin-dir=. --profile=heapprobe -- ./random
	assert_line 'allocated 0 bytes 0 moves 0 resized 0 freed 0 wrong 0'
	"$CPROF" run --plugin-dir=. --profile=heapprobe:on -- ./random >out
	[[ $(tail -n 1 out) == *' wrong 0' ]] || fail "$(cat out)"
	assert_equal "$(tail -n 1 out | awk '{ print $2, $6 + $8, $10 }')" \
		"$(head -n 1 out | awk '{ print $2, $4, $6 }')"
	# Both kinds there were.
	[ "$(tail -n 1 out | awk '{ print ($6 > 0) + ($8 > 0) }')" = 2 ]
}

@test "addresses and sizes are those that mtrace writes of the same run" {
	random_program
	library=$(ldd ./random | awk '/libc\.so/ { print $3 }')
	debug=${library%/*}/libc_malloc_debug.so.0
	[ -e "$debug" ] || skip "no $debug"
	LD_PRELOAD='' "$CPROF" run -q --allocs -- env MALLOC_TRACE=log LD_PRELOAD="$debug" ./random
	# + ADDRESS SIZE, - ADDRESS, < OLD, > NEW SIZE; sizes in hex.
	perl -ne 's/ (0x[0-9a-f]+)$/" " . hex $1/e if / [+>] /;
		print "$2 $3\n" if /(\S+) ([-+]) (.*)/; $old = $1 if / < (.*)/;
		print "~ $old $1\n" if / > (.*)/' log >want
	"$CPROF" replay --json | jq -r 'select(.function == "work" and .event != "heap") |
		if .event == "alloc" then "+ \(.address) \(.size)" elif .event == "free" then
		"- \(.address)" else "~ \(.previous // .address) \(.address) \(.size)" end' >got
	[ "$(wc -l <got)" -gt 400 ]
	diff want got
}

@test "threads: each block has its end, and what glibc does for itself is nobody's" {
	random_program
	"$CPROF" run -q --allocs -- ./random 8 >out
	run "$CPROF" report --json
	assert_equal "$(jq -c '.allocations.functions[] | select(.function == "work") |
		[.allocated.blocks - .moved - .resized, .moved + .resized, .left.blocks]' <<<"$output")" \
		"[$(said allocated),$(said moved),$(said left)]"
	assert_equal "$(jq .allocations.unknown <<<"$output")" 0
	# Static, too.
	random_program -static
	"$CPROF" run -q --allocs -- ./random >out
	run "$CPROF" report --json
	assert_equal "$(jq -c '.allocations.functions[] | select(.function == "work") |
		[.allocated.blocks - .moved - .resized, .moved + .resized, .left.blocks]' <<<"$output")" \
		"[$(said allocated),$(said moved),$(said left)]"
}

@test "wrappers of usual names are nobody; who asks is told by stacks, of a sample, too" {
	cat >wrapped.c <<'END'
#include <stdlib.h>
__attribute__((noinline)) void *zmalloc(size_t n) { return malloc(n); }
__attribute__((noinline)) void *buffer(size_t n) { void *p = zmalloc(n); __asm__ volatile("" : "+r"(p)); return p; }
/* As interpreters have them; the last one is no wrapper. */
#define WRAP(name, inner) \
	__attribute__((noinline)) void *name(size_t n) { void *p = inner(n); __asm__ volatile("" : "+r"(p)); return p; }
WRAP(Perl_safesysmalloc, malloc)
WRAP(_PyMem_RawMalloc, malloc)
WRAP(_PyObject_Malloc, _PyMem_RawMalloc)
WRAP(PyObject_Malloc, _PyObject_Malloc)
WRAP(newSV, Perl_safesysmalloc)
WRAP(PyObject_Repr, PyObject_Malloc)
int main(void)
{
	for (int i = 0; i < 3000; i++) {
		free(buffer(1000));
		free(zmalloc(10));
		free(newSV(10));
		free(PyObject_Repr(10));
	}
	return 0;
}
END
	$CC -O1 -fno-builtin -g -o wrapped wrapped.c
	"$CPROF" run -q --allocs --max-rate=0 -- ./wrapped
	assert_equal "$("$CPROF" report --json | jq -c '[.allocations.functions[] | [.function, .allocated.blocks]] | sort')" \
		'[["PyObject_Repr",3000],["buffer",3000],["main",3000],["newSV",3000]]'
	run "$CPROF" report --allocs
	refute_line --partial 'Allocated  most first'
	run "$CPROF" report --allocs --traces
	assert_line --partial 'Allocated  most first'
	assert_line '  3,000,000 bytes in 3,000 blocks from'
	assert_line --regexp '^ +buffer  wrapped.c:3$'
}

# Addresses by their order; what a program does before main() has another one each time.
named() {
	grep -v '^blocks' "$1" | awk '/<work</ {
		for (i = 2; i <= 3; i++) { if (!($i in n)) n[$i] = ++count; $i = n[$i] } print }'
}

@test "told in blocks or one by one: the same events, functions, sizes and stacks" {
	random_program
	$CC -std=c99 -D_GNU_SOURCE -Wall -Wextra -Werror -fPIC -shared -O1 -I "$SOURCES/include" \
		-o libcprof-profiler-heapblocks.so "$SOURCES/tests/modules/heapblocks.c"
	for way in blocks one.single; do
		"$CPROF" run --plugin-dir=. --profile="heapblocks:$way" -- ./random >out
		! grep -E 'another thread|OUT OF ORDER' "$way" || fail "$way"
	done
	assert_equal "$(tail -n 1 one.single)" 'blocks 0'
	[ "$(tail -n 1 blocks | cut -d' ' -f2)" -gt 400 ]
	named blocks >of_blocks
	named one.single >one
	[ "$(grep -c '^[+]' one)" -eq "$(said allocated)" ]
	diff one of_blocks
	# Of threads, each at the same time as others, none is lost.
	"$CPROF" run --plugin-dir=. --profile=heapblocks:blocks -- ./random 8 >out
	! grep 'another thread' blocks
	assert_equal "$(grep -c '^[+].*<work<' blocks) $(grep -c '^[>=].*<work<' blocks) \
$(grep -c '^-.*<work<' blocks)" "$(said allocated) $(said moved) \
$(said freed)"
}

@test "realloc: in place, moved and freed are told apart; sums are the rows', and valgrind's" {
	needs valgrind
	cat >grow.c <<'END'
#include <stdlib.h>
int main(void)
{
	char *p = malloc(10), *in_the_way;
	for (int i = 0; i < 5; i++)
		p = realloc(p, 10 << (2 * i));
	in_the_way = malloc(100);
	p = realloc(p, 100000);
	free(p);
	free(in_the_way);
	return 0;
}
END
	$CC -O0 -g -fno-builtin -o grow grow.c
	valgrind ./grow 2>&1 | sed -n 's/.*heap usage: \([0-9,]*\) allocs, [0-9,]* frees, \([0-9,]*\) bytes.*/\2 bytes in \1 blocks/p' >want
	"$CPROF" run -q --allocs -- ./grow
	COLUMNS=200 "$CPROF" report --allocs >got
	assert_equal "$(sed -n 's/^Allocations  \([^;]*\);.*/\1/p' got)" "$(cat want)"
	grep -q '2 freed, 1 moved, 5 resized in place' got
	assert_equal "$("$CPROF" report --json | jq -c '.allocations | [.allocated.blocks, .freed, .moved, .resized,
		([.functions[].allocated.blocks] | add), ([.stacks[].allocated.bytes] | add) - .allocated.bytes,
		([.functions[].freed.blocks] | add), ([.functions[].replaced.blocks] | add)]')" \
		'[8,2,1,5,8,0,2,6]'
}

@test "at 80 columns the stacks and calls of a program with long names are in 80" {
	cat >long.cpp <<'END'
#include <cstdlib>
#include <map>
#include <string>
#include <vector>
template <class K, class V> struct in_a_place_of_its_own { using map_of_many = std::map<K, std::vector<V>>; };
using many = in_a_place_of_its_own<std::string, std::pair<std::string, std::vector<double>>>::map_of_many;
__attribute__((noinline)) static void *kept(const many &m, size_t n) { __asm__ volatile("" : : "r"(&m)); return malloc(n); }
template <class... T> struct nested {
	__attribute__((noinline)) static void *keep(const many &m, int n, T... t)
	{
		void *p = n ? nested<T..., many>::keep(m, n / 2, t..., m) : kept(m, 1000);
		__asm__ volatile("" : "+r"(p));
		return p;
	}
};
template <class A, class B, class C> struct nested<A, B, C> {
	__attribute__((noinline)) static void *keep(const many &m, int, A, B, C) { return kept(m, 10000); }
};
int main() { many m; m["a"]; return !nested<>::keep(m, 100); }
END
	$CXX -O1 -g -o long long.cpp
	"$CPROF" run -q --allocs -t program -a -r -o long.data -- ./long
	local how
	for how in 'report --allocs' 'report --traces' replay; do
		# shellcheck disable=SC2086 # words
		COLUMNS=80 "$CPROF" $how long.data >wide
		grep -q nested wide
		[ "$(wc -L <wide)" -le 80 ] || complain "$how"
	done
	no_complaints
	# A file has them whole.
	COLUMNS='' "$CPROF" report --allocs long.data | grep -q ' nested<.*>::keep('
}

@test "realloc: moved blocks are pairs, others are resized, none of no bytes" {
	cat >re.c <<'END'
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
	static char text[256];
	char *a, *b, *c;

	setvbuf(stdout, text, _IOFBF, sizeof(text));
	a = malloc(24);
	b = malloc(24); /* in the way */
	printf("%p", (void *)a);
	a = realloc(a, 4000);
	printf(" %p", (void *)a);
	c = realloc(a, 2000);
	printf(" %d", c == a);
	b = realloc(b, 0);
	c = realloc(c, (size_t)-4096); /* fails */
	printf(" %d\n", !b && !c);
	return 0;
}
END
	$CC -O0 -o re re.c 2>/dev/null
	"$CPROF" run -q --allocs -- ./re >out
	read -r from to same failed <out
	assert_equal "$same $failed" '1 1'
	"$CPROF" replay --json >events
	assert_equal "$(jq -r 'select(.event == "move") | "\(.previous) \(.address) \(.size)"' events)" \
		"$from $to 4000"
	assert_equal "$(jq -r 'select(.event == "resize") | "\(.address) \(.size)"' events)" "$to 2000"
	assert_equal "$(jq -r '.event' events | sort | uniq -c | awk '{ printf "%s %s,", $2, $1 }')" \
		'alloc 2,free 1,heap 1,move 1,resize 1,'
	assert_equal "$(told)" '4 6048 1 2 1 2000 0'
	run "$CPROF" replay
	assert_regex "$output" "~ 4,000 bytes at $to, before at $from in main"
	assert_regex "$output" '- 0x[0-9a-f]+ in main'
}

@test "leaks: how much is left, in what function, by which stack" {
	cat >leak.cpp <<'END'
#include <cstdlib>
#include <map>
#include <string>
#include <vector>
struct node { int v[10]; };
__attribute__((noinline)) node *make() { node *n = new node; n->v[1] = 2; return n; }
__attribute__((noinline)) node *also() { node *n = make(); n->v[0] = 1; return n; }
__attribute__((noinline)) void grow(std::vector<int> &v) { for (int i = 0; i < 1000; i++) v.push_back(i); }
node *volatile sink;
int main()
{
	std::vector<int> v;
	std::map<std::string, int> m;
	grow(v);
	for (int i = 0; i < 100; i++) {
		sink = make();
		if (i % 10)
			delete sink;
	}
	sink = also();
	for (int i = 0; i < 50; i++)
		m["a key that is long enough for the heap " + std::to_string(i)] = i;
	return 0;
}
END
	for how in -O0 -O2 '-O2 -static-libstdc++ -static-libgcc' '-O2 -static'; do
		# shellcheck disable=SC2086
		$CXX -g $how -o leak leak.cpp
		"$CPROF" run -q --allocs -- ./leak
		run "$CPROF" report --json
		assert_equal "$how: $(jq -c '[.allocations.functions[] | select(.function | test("^make")) |
			.left.blocks, .left.bytes, .allocated.blocks]' <<<"$output")" "$how: [11,440,101]"
		# 4, 8, ... 4096 bytes.
		assert_equal "$how: $(jq -c '[.allocations.functions[] | select(.function | test("^grow")) |
			.left.blocks, .allocated.bytes, .allocated.blocks]' <<<"$output")" "$how: [0,8188,11]"
		# By two ways.
		assert_equal "$how: $(jq -c '[.allocations.stacks[] | select(.left.blocks > 0 and
			(.function | test("^make"))) | [.left.blocks, (.stack | map(.function) |
			join(" ") | test("also"))]]' <<<"$output")" "$how: [[10,false],[1,true]]"
		assert_equal "$how: $(jq .allocations.unknown <<<"$output")" "$how: 0"
	done
	run "$CPROF" report --allocs
	assert_regex "$output" ' 440 +11 +4,040 +101 +make\(\)'
	assert_regex "$output" '400 bytes in 10 blocks from'
	[[ $output == *"main  leak.cpp:$(grep -n 'sink = make' leak.cpp | cut -d : -f 1)"* ]]
}

@test "each way to allocate, once, by the name that the program called" {
	cat >ways.c <<'END'
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
__attribute__((noinline)) void ways(void)
{
	void *volatile p[9];
	void *q;

	p[0] = malloc(1);
	p[1] = calloc(2, 10);
	p[2] = memalign(64, 300);
	p[3] = aligned_alloc(64, 4096);
	if (posix_memalign(&q, 64, 50000))
		exit(1);
	p[4] = q;
	p[5] = reallocarray(NULL, 100, 6000);
	p[6] = strdup("1234567");
	p[7] = valloc(7000000);
	p[8] = realloc(NULL, 80000000);
	for (int i = 0; i < 9; i++)
		free(p[i]);
	free(NULL);
}
int main(void)
{
	ways();
	return 0;
}
END
	for how in '' -static; do
		# shellcheck disable=SC2086
		$CC -O1 -g $how -fno-builtin -D_GNU_SOURCE -o ways ways.c
		"$CPROF" run -q --allocs -- ./ways
		assert_equal "$("$CPROF" replay --json | jq -r 'select(.function == "ways" and .event ==
			"alloc").size' | tr '\n' ' ')" '1 20 300 4096 50000 600000 8 7000000 80000000 '
		assert_equal "$("$CPROF" replay --json | jq -r 'select(.function == "ways" and .event ==
			"free").address' | wc -l)" 9
	done
}

@test "an allocator of the program's own is seen, and what it calls is not" {
	cat >own.c <<'END'
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
static char *at, *end;
__attribute__((noinline)) static void *slow(size_t size)
{
	at = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	end = at + (1 << 20);
	return at == MAP_FAILED || size > 1 << 19 ? NULL : malloc(size);
}
__attribute__((noinline)) void *malloc(size_t size)
{
	void *p = at;

	size = (size + 15) & ~(size_t)15;
	if (size > (size_t)(end - at))
		return slow(size);
	at += size;
	return p;
}
__attribute__((noinline)) void free(void *p) { __asm__ volatile("" : : "r"(p)); }
__attribute__((noinline)) void *calloc(size_t n, size_t size) { return memset(malloc(n * size), 0, n * size); }
__attribute__((noinline)) void *realloc(void *p, size_t size)
{
	void *q = malloc(size);

	if (q && p)
		memcpy(q, p, size);
	return q;
}
int main(void)
{
	for (int i = 0; i < 100; i++)
		free(calloc(10, 24));
	free(realloc(malloc(1), 2));
	return 0;
}
END
	$CC -O2 -fno-builtin -g -o own own.c
	"$CPROF" run -q --allocs -- ./own
	assert_equal "$("$CPROF" report --json | jq -c '[.allocations.functions[] | select(.function ==
		"main") | .allocated.blocks, .allocated.bytes, .moved + .resized, .left.blocks]')" '[102,24003,1,0]'
}

@test "a forked child frees what it has from its parent; another program's heap is another" {
	cat >forks.c <<'END'
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	void *volatile p = malloc(100);

	if (argc > 1)
		return 0; /* leaves it */
	if (!fork()) {
		free(p);
		p = malloc(200);
		execl(argv[0], argv[0], "again", (char *)NULL);
		_exit(1);
	}
	wait(NULL);
	free(p);
	return 0;
}
END
	$CC -O0 -o forks forks.c
	"$CPROF" run -q --allocs -- ./forks
	# 200 went with the exec. What the child freed is a copy of its parent's.
	assert_equal "$(told)" '3 400 2 0 1 100 0'
	assert_equal "$("$CPROF" report --json | jq .allocations.inherited)" 1
	"$CPROF" report --allocs | grep -q '^  1 block freed or moved that its process was forked with$'
}

@test "a running program's, from outside, and it is left as it was" {
	cat >loop.c <<'END'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
static volatile sig_atomic_t done;
static void end(int sig) { done = sig; }
int main(void)
{
	void *volatile p;
	long n = 0;

	signal(SIGTERM, end);
	puts("ready");
	fflush(stdout);
	for (; !done; n++) {
		p = malloc(64);
		free(p);
	}
	puts(n ? "ok" : "none");
	return 0;
}
END
	$CC -O1 -fno-builtin -o loop loop.c
	./loop >out &
	local loop=$!
	until grep -q ready out; do :; done
	local way
	for way in --traps '' --on-full=wait; do
		# shellcheck disable=SC2086
		"$CPROF" attach -q --allocs $way -o "x$way.data" -d 300ms "$loop"
		left_alone "$loop"
	done
	kill "$loop"
	wait "$loop"
	assert_equal "$(tail -n 1 out)" ok
	for way in --traps '' --on-full=wait; do
		run "$CPROF" report --json "x$way.data"
		[ "$(jq .allocations.allocated.blocks <<<"$output")" -gt 10 ]
		# A block at each end of the time, or of a piece of it, may be half seen.
		jq -e '.allocations | .unknown <= .sampled.pauses + 1 and .left.blocks <= 1' <<<"$output"
		assert_equal "$(jq '.allocations.allocated.bytes / .allocations.allocated.blocks' \
			<<<"$output")" 64
	done
	jq -e '.allocations | .unknown <= 1 and .sampled.pauses == null' <<<"$output"
}

@test "beside calls; too many are sampled, and that is said" {
	random_program
	"$CPROF" run -q --allocs -t work,malloc -a -- ./random >out
	"$CPROF" replay --json >events
	assert_equal "$(jq -r 'select(.event == "enter" and .function == "malloc").function' events | wc -l)" \
		"$(jq -r 'select(.event == "alloc").address' events | wc -l)"
	assert_equal "$(jq -c 'select(.event == "enter" and .function == "malloc").depth' events | sort -u)" 1
	# Three blocks are allocated each time round, one of them by big().
	cat >churn.c <<'END'
#include <stdio.h>
#include <stdlib.h>
__attribute__((noipa)) static void *big(void) { return malloc(300); }
__attribute__((noipa)) static void *small(void) { return malloc(100); }
int main(int argc, char **argv)
{
	long n = atol(argv[argc - 1]);
	for (long i = 0; i < n; i++) {
		void *p[] = { big(), small(), small() };
		free(p[0]), free(p[1]), free(p[2]);
	}
	printf("churned %ld\n", n);
	return 0;
}
END
	$CC -O1 -g -fno-builtin -o churn churn.c
	run --separate-stderr "$CPROF" run --allocs -- ./churn 30000000
	assert_success
	assert_output 'churned 30000000'
	[[ $stderr == *'in pieces of the time, '*' of it'*'; between them'*'too many to see all of them'* ]]
	"$CPROF" report --json >sampled.json
	"$CPROF" report --allocs | grep -q '^Allocated  most first'
	jq -e '.allocations | .sampled.pauses > 0 and .sampled.paused_ns > 0 and .left == null and
		.functions[0].left == null' sampled.json
	# Nothing is taken for nested or freed that was cut off by a pause: of three blocks one. A
	# piece begins and ends anywhere in a round, so each is off by one or two, this way or
	# that; six times what that comes to is less than one for each pause. It begins by time and
	# ends by bytes, of which a function's records have other shares: an eighth on average.
	jq -e '(.allocations.sampled.pauses | 6 * sqrt + . / 4 + 100) as $off | [.allocations.functions[] |
		select(.function == "big" or .function == "small") | .allocated.blocks] | sort |
		length == 2 and .[0] > 3000 and .[1] < 2 * .[0] + $off and .[1] > 2 * .[0] - $off' \
		sampled.json
	# What a process does in its first moments is seen whole; all of it, when that is wanted.
	run --separate-stderr "$CPROF" run --allocs -- ./churn 3000
	assert_equal "$(told | awk '{ print $1 }')" 9001
	"$CPROF" run -q --allocs --max-rate=0 -- ./churn 9000
	assert_equal "$(told | awk '{ print $1 }')" 27001
	"$CPROF" run -q --allocs --traps --max-rate=500 -- ./churn 9000
	"$CPROF" report --json | jq -e '.allocations | .sampled.pauses > 0 and .allocated.blocks < 27001'
}

@test "functions seen by stops and those that are not are left out together" {
	cat >both.c <<-'END'
		#include <stdlib.h>
		__attribute__((noipa)) void *by_malloc(void) { return malloc(100); }
		__attribute__((noipa)) void *by_memalign(void) { void *p; return posix_memalign(&p, 64, 100) ? NULL : p; }
		int main(int argc, char **argv)
		{
			for (long i = atol(argv[argc - 1]); i; i--) {
				free(by_malloc());
				free(by_memalign());
			}
		}
	END
	gcc -O1 -g -fno-builtin -o both both.c
	"$CPROF" run -q --allocs -o x.data -- ./both 150000
	"$CPROF" report --json x.data | jq -c '.allocations | [.sampled.pauses > 0,
		(.functions | map(select(.function | startswith("by_")).allocated.blocks) | sort)]' >said
	cat said
	# As often as each other, but for what the ends of pieces cut off.
	jq -e '.[0] and (.[1] | length == 2 and .[0] > 1000 and .[1] - .[0] < .[1] / 20)' said
	"$CPROF" run -q --allocs --on-full=wait -o x.data -- ./both 15000
	"$CPROF" report --json x.data | jq -e '.allocations | .allocated.blocks == 30000 and
		.freed == 30000 and .sampled == null'
}

@test "realloc() of nothing, which jumps to malloc(), needs no stop" {
	cat >grow.c <<-'END'
		#include <stdlib.h>
		int main(void)
		{
			void *(*volatile grow)(void *, size_t) = realloc;

			for (int i = 0; i < 5000; i++)
				free(grow(NULL, 100));
			return 0;
		}
	END
	gcc -O1 -g -o grow grow.c
	"$CPROF" run -q --allocs -o x.data -- ./grow
	"$CPROF" report --json x.data >x.json
	jq -e '.allocations | .allocated.blocks == 5000 and .allocated.bytes == 500000 and
		.freed == 5000 and .moved == 0 and .left.bytes == 0' x.json
	# That the break was moved, and what it takes to know who calls from where.
	jq -e '.overhead.call_stops < 20' x.json
}

@test "calloc(), which ends in a jump to memset(), needs no stop" {
	cat >clears.c <<'END'
#include <stdlib.h>
#include <unistd.h>
int main(void)
{
	for (int i = 0; i < 3000; i++) {
		char *p = calloc(i % 100 + 1, 8), *q = malloc(10);

		free(p);
		free(q);
	}
	_exit(0);
}
END
	${CC:-cc} -O1 -fno-builtin -o clears clears.c
	for way in --max-rate=0 --traps "--allocs=1"; do
		"$CPROF" run -q --allocs --max-rate=0 $way -o a.data -- ./clears
		"$CPROF" report --json a.data >a.json
		[ "$way" = --traps ] || [ "$(uname -m)" != x86_64 ] ||
			jq -e '.overhead.call_stops < 100' a.json
		assert_equal "$(jq -c '.allocations | [.allocated.blocks, .freed, .left.bytes]' a.json)" \
			"[6000,6000,0]"
	done
}

@test "deep stacks: whole by stops, and where these are too many, cut off without" {
	cat >deep.c <<-'END'
		#include <stdlib.h>
		#include <string.h>
		__attribute__((noipa)) void *leaf(int i) { void *p = malloc(16 + i % 64); return p ? p : abort(), p; }
		__attribute__((noipa)) long deep(int levels, int n)
		{
			char room[900];
			memset(room, levels, sizeof(room));
			__asm__ volatile("" ::"r"(room) : "memory");
			for (int i = 0; !levels && i < n; i++)
				free(leaf(i));
			return (levels ? deep(levels - 1, n) : 0) + room[5];
		}
		int main(int argc, char **argv) { return deep(40, atoi(argv[argc - 1])) == -1; }
	END
	gcc -O1 -g -o deep deep.c
	# As many frames as are open: leaf, 41 times deep, main.
	"$CPROF" run -q --allocs --max-rate=500 -o x.data -- ./deep 3000
	"$CPROF" replay --json x.data | jq -c 'select(.event == "alloc") |
		[.stack | index("leaf"), (map(select(. == "deep")) | length == 41), index("main") != null]' |
		sort | uniq -c >stacks
	"$CPROF" report --json x.data >x.json
	jq -e '.allocations.allocated.blocks == 3000' x.json
	jq -e '.overhead | .records > 5000 and .records < 9000' x.json
	grep -F '[1,true,true]' stacks
	grep -F '[1,false,false]' stacks
	assert_equal "$(wc -l <stacks)" 2
	"$CPROF" run -q --allocs --max-rate=0 -o y.data -- ./deep 1000
	assert_equal "$("$CPROF" replay --json y.data | jq -c 'select(.event == "alloc") |
		[.stack | index("leaf"), (map(select(. == "deep")) | length)]' | sort | uniq -c | xargs)" \
		'1000 [1,41]'
}

@test "a pause is one where functions are seen at their return addresses, too" {
	cat >zeroed.c <<-'END'
		#include <stdlib.h>
		int main(void)
		{
			for (int i = 0; i < 60000; i++) {
				char *volatile p = calloc(1, 24 + i % 64);

				free(p);
			}
		}
	END
	gcc -O1 -g -o zeroed zeroed.c
	"$CPROF" run -q --allocs --traps --max-rate=500 -o z.data -- ./zeroed
	"$CPROF" report --json z.data >z.json
	jq -e '.allocations.sampled.pauses > 0 and .overhead.stops_per_event < 2' z.json
}

@test "merged, read from a pipe, cut off: the same events" {
	random_program
	"$CPROF" run -q --allocs -o 1.data -- ./random
	"$CPROF" run -q --allocs -o 2.data -- ./random
	"$CPROF" merge -o both.data 1.data 2.data
	assert_equal "$(told both.data)" \
		"$( (told 1.data; told 2.data) | awk '{ for (i = 1; i < 8; i++) s[i] += $i } END { print s[1], s[2], s[3], s[4], s[5], s[6], s[7] }')"
	"$CPROF" run -q -- true
	run "$CPROF" report --allocs
	assert_line 'No allocations were recorded.'
	assert_equal "$("$CPROF" report --json | jq 'has("allocations")')" false
}

@test "the stress programs under run --allocs say what they say alone" {
	which=breakable everywhere_run --allocs
}

@test "timelines: what is in use, and what the allocator has, as counters of the process" {
	cat >exec.c <<'END'
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	char *volatile p[3] = { malloc(3000000), malloc(argc > 1 ? 50000 : 700), malloc(11) };
	free(p[0]);
	if (argc > 1)
		execl(argv[0], argv[0], NULL);
	return !p[1];
}
END
	$CC -O1 -fno-builtin -o exec exec.c
	# The program that was replaced had 50,011 bytes more than it freed.
	"$CPROF" run -q --allocs -- ./exec again
	"$CPROF" export -f chrome -o out.json
	assert_equal "$(jq -c '[.traceEvents[] | select(.ph == "C" and .name == "heap in use").args.bytes]' out.json)" \
		'[3000000,3050000,3050011,50011,3000000,3000700,3000711,711]'
	assert_equal "$("$CPROF" report --json | jq -c '.allocations | [.most.bytes, .left.bytes]')" '[3050011,711]'
	needs protoc
	"$CPROF" export -f perfetto -o out.pftrace
	protoc --decode=cprof.perfetto.Trace -I "$SOURCES/src/report/export" perfetto.proto <out.pftrace >decoded
	assert_equal "$(sed -n 's/.* counter_value: //p' decoded | sort -n)" \
		"$(jq '.traceEvents[] | select(.ph == "C").args.bytes' out.json | sort -n)"
	assert_equal "$(grep -c 'name: "heap \(in use\|held\)"' decoded)" 2
	"$CPROF" replay --json | jq 'select(.event == "heap").size' >sizes
	[ -s sizes ]
	jq '.traceEvents[] | select(.name == "heap held").args.bytes' out.json | diff sizes -
}

@test "an allocator whose slow path is a jump to a function without a name costs no stop" {
	[ "$(uname -m)" = x86_64 ] || skip "detours are for x86-64"
	cat >jumps.c <<'END'
#include <stddef.h>
#include <string.h>
static char pool[1 << 26], *top = pool;
static void *cached;
__attribute__((noinline)) static void *slow(size_t size)
{
	char *p = top;

	top += 16 + (size + 15) / 16 * 16;
	*(size_t *)p = size;
	return p + 16;
}
void *malloc(size_t size)
{
	void *p = cached;

	if (p && size <= 64) {
		cached = NULL;
		return p;
	}
	return slow(size);
}
void free(void *p)
{
	if (p)
		cached = p;
}
__attribute__((noinline)) static void *resize(void *p, size_t size, int moves)
{
	void *to;

	if (!p)
		return slow(size);
	if (!moves && size <= ((size_t *)p)[-2])
		return p;
	to = slow(size);
	memcpy(to, p, size < 64 ? size : 64);
	__asm__ volatile("" ::: "memory");
	return to;
}
void *realloc(void *p, size_t size) { return resize(p, size, 0); }
void *calloc(size_t count, size_t size) { return slow(count * size); }
END
	cat >uses.c <<'END'
#include <stdlib.h>
#include <unistd.h>
int main(void)
{
	for (int i = 0; i < 2000; i++) {
		char *p = malloc(i % 2 ? 40 : 4000), *q = realloc(NULL, 100);
		q = realloc(q, 50);
		q = realloc(q, 200);
		free(p);
		free(q);
		free(calloc(10, 10));
	}
	_exit(0);
}
END
	${CC:-cc} -O2 -fno-builtin -shared -fPIC -o jumps.so jumps.c
	strip jumps.so
	${CC:-cc} -O1 -fno-builtin -o uses uses.c ./jumps.so
	"$CPROF" run -q --allocs --max-rate=0 -o a.data -- ./uses
	"$CPROF" report --json a.data | jq -e '.overhead.call_stops < 100'
	"$CPROF" report --json a.data | jq -e '.allocations | .allocated.blocks == 10000 and
		.freed == 6000 and .moved == 2000 and .resized == 2000 and
		.allocated.bytes == 1000 * 4040 + 2000 * (100 + 50 + 200 + 100)'
	"$CPROF" report --json a.data | jq -e '[.allocations.functions[].function] == ["main"]'
	"$CPROF" run -q --allocs --max-rate=0 --traps -o b.data -- ./uses
	"$CPROF" report --json b.data | jq '.allocations | del(.stacks)' >b
	assert_equal "$("$CPROF" report --json a.data | jq '.allocations | del(.stacks)')" "$(<b)"
	# A sample of all of them.
	"$CPROF" run -q --allocs=1 --max-rate=0 -o s.data -- ./uses
	"$CPROF" report --json s.data | jq -e '.overhead.call_stops < 100 and
		(.allocations | .allocated.blocks == 10000 and .left.bytes == 0)'
}

# The program says which types it allocates, how many blocks of what size.
@test "report --allocs: by type, as far as names tell; what a constructor allocates is not its type's" {
	cat >types.cpp <<'END'
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <vector>
struct node { long words[5]; };
struct leaf { char bytes[100]; };
struct fat { void *p; __attribute__((noinline)) fat() : p(malloc(333)) { __asm__(""); } };
__attribute__((noinline)) void keep(void *p) { static void *volatile kept; kept = p; }
int main()
{
	auto *nodes = new std::vector<node>;
	nodes->reserve(100);
	auto *map = new std::map<int, long>;
	for (int i = 0; i < 50; i++)
		(*map)[i] = i;
	for (int i = 0; i < 7; i++)
		keep(std::make_unique<leaf>().release());
	keep(std::make_unique<fat>().release());
	keep(new leaf);
	keep(nodes), keep(map);
	fprintf(stderr, "fat 1 %zu\nleaf 7 %zu\nnode 1 %zu\n", sizeof(fat), 7 * sizeof(leaf), 100 * sizeof(node));
	fprintf(stderr, "std::_Rb_tree_node<std::pair<int const, long> > 50 %zu\n",
		50 * sizeof(std::_Rb_tree_node<std::pair<int const, long>>));
}
END
	local how
	for how in '-O0 -g' '-O2 -g' '-O0'; do
		# shellcheck disable=SC2086 # words
		$CXX $how -o types types.cpp
		"$CPROF" run -q --allocs --max-rate=0 -- ./types 2>want
		"$CPROF" report --json >types.json
		jq -r '.allocations.types[] | select(.type) | "\(.type) \(.left.blocks) \(.left.bytes)"' types.json | sort |
			diff <(sort want) - || complain "$how"
		# All of it is in there, 333 bytes of no type among them.
		assert_equal "$(jq '[.allocations.types[].allocated.bytes] | add == $all' --argjson all \
			"$(jq .allocations.allocated.bytes types.json)" types.json)" true
		[ "$(jq '.allocations.types[] | select(.type == null).left.bytes' types.json)" -ge 433 ]
		"$CPROF" report --allocs | grep -q -E '^ *4,000 +1 +4,000 +1  node$' || complain "$how: no table"
	done
	no_complaints
	# Where nothing tells, nothing is said.
	random_program
	"$CPROF" run -q --allocs -- ./random
	"$CPROF" report --allocs >report
	run grep Types report
	assert_failure
}

@test "stacks that read the same are one, wherever in the line calls came from" {
	cat >alike.c <<-'END'
		#include <stdlib.h>
		__attribute__((noinline)) static void *make(size_t n) { void *p = malloc(n); __asm__("" : "+r"(p)); return p; }
		void *kept[5];
		int main(void)
		{
			kept[0] = make(10); kept[1] = make(20); kept[2] = make(30);
			kept[3] = make(1000);
			return 0;
		}
	END
	gcc -O1 -g -o alike alike.c
	"$CPROF" run -q --allocs -o x.data -- ./alike
	assert_equal "$("$CPROF" report --json --allocs x.data | jq -c '[.allocations.stacks[] |
		select(any(.stack[]; .function == "make")) | [.left.blocks, .left.bytes]]')" '[[1,1000],[3,60]]'
	"$CPROF" report --allocs x.data | grep -q '^  60 bytes in 3 blocks from$'
}
