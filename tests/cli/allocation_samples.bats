#!/usr/bin/env bats
# --allocs=BYTES: what a sample of the allocations says, within five standard errors
# of what all of them say; the errors follow from the sizes of all blocks, not from
# the sample.

load helpers

CXX=${CXX:-c++}
CC=${CC:-cc}

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	cat >mix.cpp <<'END'
#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <unistd.h>
static long bytes, blocks, moved;
#define ADD(x, n) __atomic_add_fetch(&x, n, __ATOMIC_RELAXED)
struct kept { void *p; unsigned how; };
__attribute__((noipa)) static void *allocate(unsigned how, size_t n)
{
	void *p = nullptr;

	switch (how) {
	case 0: p = malloc(n); break;
	case 1: p = calloc(2, n /= 2), n *= 2; break;
	case 2: if (posix_memalign(&p, 64, n)) abort(); break;
	case 3: p = ::operator new(n); break;
	case 4: p = realloc(nullptr, n); break;
	case 5: p = aligned_alloc(64, n = n / 64 * 64 + 64); break;
	}
	ADD(bytes, n), ADD(blocks, 1);
	return p;
}
static void *work(void *arg)
{
	unsigned s = (unsigned)(long)arg;
	kept kept[64] = {};

	for (int i = 0; i < 4000; i++) {
		s = s * 1103515245 + 12345;
		unsigned k = s >> 16 & 63, how = (s >> 8 & 255) % 6;
		size_t n = 2 + (s >> 9) % 2000;
		if (!kept[k].p)
			kept[k] = { allocate(how, n), how };
		else if (how == 0 && kept[k].how != 3)
			kept[k] = { realloc(kept[k].p, n), 0 }, ADD(moved, 1);
		else if (kept[k].how == 3)
			::operator delete(kept[k].p), kept[k].p = nullptr;
		else
			free(kept[k].p), kept[k].p = nullptr;
	}
	return arg;
}
int main()
{
	pthread_t t[4];
	char text[300];

	for (long i = 0; i < 4; i++)
		pthread_create(&t[i], nullptr, work, (void *)(i + 7));
	for (auto &x : t)
		pthread_join(x, nullptr);
	write(1, text, snprintf(text, sizeof(text), "%ld %ld %ld\n", blocks, bytes, moved));
	_exit(0);
}
END
	# With these, operator new is the program's own, and calls malloc.
	$CXX -O1 -g -fno-builtin -o mix mix.cpp -pthread -static-libstdc++ -static-libgcc
	"$CPROF" run -q --allocs --max-rate=0 -o all.data -- ./mix >said
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return
}

# near SAMPLE ALL: all sums of one are near those of the other.
near() {
	"$CPROF" export -f sqlite -o all.sqlite "$2"
	"$CPROF" report --json --limit=0 "$1" >sample.json
	python3 - <<'END'
import json, math, sqlite3
db = sqlite3.connect("all.sqlite")
told = json.load(open("sample.json"))["allocations"]
every = told["sampled_every_bytes"]
def check(what, got, where, of):
    sums, variance, step = 0, 0, 0
    for size, in db.execute("SELECT bytes FROM allocations WHERE " + where):
        p = -math.expm1(-max(size, 1) / every)
        sums += of(size)
        variance += of(size) ** 2 * (1 - p) / p
        step = max(step, of(size) / p)
    # Bernstein's bound, once in 270,000: few small blocks are chosen, and each stands for
    # many. Each estimate is rounded, up or down as chance has it.
    bound = 5 * math.sqrt(variance) + 12.5 / 3 * step + 2 * math.sqrt(sums) + 2
    print(f"{what}: {got} of {sums}, give or take {bound:.0f}")
    assert abs(got - sums) <= bound, what
    return math.sqrt(variance)
for key, of in ("blocks", lambda size: 1), ("bytes", lambda size: size):
    error = check(key, told["allocated"][key], "1", of)
    said = told["standard_errors"]["allocated_" + key]
    # It is estimated itself, and a small block that is chosen stands for many.
    assert 0.2 * error < said < 5 * error, (said, error)
    check("left " + key, told["left"][key], "freed_ns IS NULL", of)
check("moved", told["moved"] + told["resized"], "moved_from IS NOT NULL", lambda size: 1)
check("of all stacks", sum(s["allocated"]["bytes"] for s in told["stacks"]), "1", lambda size: size)
END
}

@test "sums are near those of all of them, and the errors are what is said" {
	assert_equal "$("$CPROF" report --json all.data | jq -r '.allocations.functions[] |
		select(.function | test("^allocate")) | .allocated.blocks')" "$(cut -d' ' -f1 said)"
	local every
	for every in 64 8K; do
		"$CPROF" run -q --allocs=$every --max-rate=0 -o s.data -- ./mix
		near s.data all.data
	done
	# The program says itself how much that was, of the function that allocates.
	"$CPROF" run -q --allocs=64 --max-rate=0 -o s.data -- ./mix >said
	"$CPROF" report --json s.data | jq -e --arg said "$(<said)" '($said | split(" ") |
		map(tonumber)) as $n | .allocations.functions[] | select(.function | test("^allocate")) |
		[(.allocated.blocks - $n[0]) / .standard_errors.allocated_blocks,
		 (.allocated.bytes - $n[1]) / .standard_errors.allocated_bytes] | all(-5 < . and . < 5)'
}

@test "many times over, no sum is off by chance alone" {
	local i
	for ((i = 0; i < $(long_or 200 1); i++)); do
		"$CPROF" run -q --allocs=4k --max-rate=0 -o s.data -- ./mix
		near s.data all.data
		"$CPROF" report --json s.data | jq .allocations.allocated.bytes >>sums
	done
	# The mean of them all is the nearer for it.
	awk -v all="$("$CPROF" report --json all.data | jq .allocations.allocated.bytes)" '
		{ n++; sum += $1 } END { off = sum / n / all - 1; exit off * off * n > 25 * 0.0006 }' sums
}

@test "what is not chosen costs no stop; by breakpoints one, and none where it returns" {
	cat >churn.c <<'END'
#include <stdlib.h>
int main(void)
{
	for (int i = 0; i < 5000; i++)
		free(malloc(100));
	return 0;
}
END
	$CC -O1 -fno-builtin -o churn churn.c
	"$CPROF" run -q --allocs=1024G -o s.data -- ./churn
	"$CPROF" report --json s.data | jq -e '.overhead.call_stops < 100 and
		(.allocations | .sampled_blocks == 0 and .unseen_bytes == 3 * .sampled_every_bytes)'
	"$CPROF" report --allocs s.data | grep -q 'none seen, so less than 3.00 TiB'
	"$CPROF" run -q --allocs=1G --traps -o s.data -- ./churn
	"$CPROF" report --json s.data >s.json
	jq -e '.overhead.call_stops | . >= 10000 and . < 10100' s.json
	jq -e '.allocations.held_most_bytes == null' s.json
	jq -e '.overhead | .rejected.unsampled >= .call_stops - 30' s.json
	"$CPROF" run -q --allocs --traps --max-rate=0 -o a.data -- ./churn
	"$CPROF" report --json a.data | jq -e '.overhead.stops > 15000'
	# Where all are chosen, nothing is left of what was freed.
	"$CPROF" run -q --allocs=1 --traps -o s.data -- ./churn
	"$CPROF" report --json s.data | jq -e '.allocations | .allocated.blocks == 5000 and
		.freed == 5000 and .left.bytes == 0 and .standard_errors.allocated_bytes < 1'
	"$CPROF" run -q --allocs=1 -o s.data -- ./churn
	"$CPROF" report --json s.data | jq -e '.allocations | .allocated.blocks == 5000 and
		.freed == 5000 and .left.bytes == 0 and .standard_errors.allocated_bytes < 1'
}

@test "an allocator that throws is open no more, and what follows is seen" {
	cat >throws.cpp <<'END'
#include <cstdio>
#include <cstdlib>
#include <new>
static void *volatile sink;
__attribute__((noipa)) void *deep(int n) { sink = malloc(100 + n); return sink; }
int main()
{
	long failed = 0;

	for (int i = 0; i < 3000; i++) {
		if (i % 3 == 0) {
			try {
				sink = ::operator new((size_t)1 << 62);
			} catch (std::bad_alloc &) {
				failed++;
			}
		}
		free(deep(1));
	}
	return failed != 1000;
}
END
	$CXX -O1 -g -fno-builtin -static-libstdc++ -o throws throws.cpp
	deep() { "$CPROF" report --json s.data | jq -c '.allocations.functions[] |
		select(.function | test("^deep")) | [.allocated.blocks, .left.blocks]'; }
	for allocs in --allocs --allocs=1; do
		"$CPROF" run -q $allocs --max-rate=0 -o s.data -- ./throws
		assert_equal "$allocs $(deep)" "$allocs [3000,0]"
	done
}

@test "report, exports and a merge say that it is a sample" {
	"$CPROF" run -q --allocs=2K --max-rate=0 -o s.data -- ./mix
	run "$CPROF" report --allocs s.data
	local off='\(±[0-9.]+ %\)'
	assert_regex "$output" "Allocations  about [0-9,]+ bytes $off in [0-9,]+ blocks $off; left: about "
	assert_regex "$output" ' [0-9,]+ ± *[0-9.]+% .*  allocate'
	assert_regex "$output" 'sampled, one block about every 2.00 KiB: estimates from [0-9,]+ blocks, of the bytes give or take [0-9.]+ %, of the blocks [0-9.]+ %; ± is one standard error'
	run --separate-stderr "$CPROF" export -f folded --of=bytes s.data
	assert_regex "$stderr" 'sampled, one block about every 2.00 KiB'
	assert_equal "$(awk '{ n += $NF } END { print n }' <<<"$output")" \
		"$("$CPROF" report --json --limit=0 s.data | jq '[.allocations.stacks[].allocated.bytes] | add')"
	"$CPROF" export -f flamegraph --of=live s.data 2>/dev/null | grep -q 'sampled, one block about every 2.00 KiB'
	"$CPROF" export -f pprof -o s.pb.gz s.data 2>/dev/null
	gunzip <s.pb.gz | protoc --decode=cprof.pprof.Profile -I "$SOURCES/src/report/export" pprof.proto |
		grep -q '^period: 2048$'
	"$CPROF" export -f sqlite -o s.sqlite s.data
	assert_equal "$(sqlite3 s.sqlite 'SELECT sum(stands_for_bytes) FROM allocations')" \
		"$("$CPROF" report --json --limit=0 s.data | jq '[.allocations.stacks[].allocated.bytes] | add')"
	"$CPROF" merge -o both.data s.data s.data all.data && fail 'samples and all of them are one'
	"$CPROF" run -q --allocs=2K --max-rate=0 -o s2.data -- ./mix
	"$CPROF" merge -o both.data s.data s2.data
	"$CPROF" report --json both.data | jq -e '.allocations.sampled_every_bytes == 2048'
	# Beside calls of the same functions.
	"$CPROF" run -q --allocs=2K --max-rate=0 -t malloc -o t.data -- ./mix
	near t.data all.data
}

@test "BYTES is a number, with a suffix" {
	for bad in 0 x 4Q -1 ''; do
		run "$CPROF" run --allocs=$bad -- true
		assert_failure 125
		assert_line --partial -- '--allocs takes a number of bytes'
	done
	"$CPROF" run -q --allocs=1.5M -o s.data -- ./mix
	assert_equal "$("$CPROF" report --json s.data | jq .allocations.sampled_every_bytes)" 1572864
}
