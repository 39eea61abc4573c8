#!/usr/bin/env bats
# Times of calls that have hundreds of traced calls in them: what is told as known is the
# program's own, which it measures itself when nobody traces it; else it is a bound.

load helpers

# A program whose function outer calls 550 others in some microseconds; it prints the least
# that outer took, in ns.
many_inside() {
	cat >inside.c <<-'END'
		#include <stdio.h>
		#include <time.h>
		static long now(void)
		{
			struct timespec t;
			clock_gettime(CLOCK_MONOTONIC, &t);
			return t.tv_sec * 1000000000L + t.tv_nsec;
		}
		static volatile int sum;
		__attribute__((noinline)) void inner(int n) { for (int i = 0; i < 20; i++) sum += n; }
		__attribute__((noinline)) void middle(int n) { for (int i = 0; i < 10; i++) inner(n); sum++; }
		__attribute__((noinline)) void outer(void) { for (int i = 0; i < 50; i++) middle(i); sum++; }
		int main(void)
		{
			long least = -1UL >> 1, start;
			for (int i = 0; i < 20; i++) {
				start = now();
				outer();
				start = now() - start;
				least = start < least ? start : least;
			}
			printf("%ld\n", least);
		}
	END
	gcc -g -O1 -o inside inside.c
}

@test "the least time of calls with hundreds of calls inside is the program's own, or a bound" {
	local ways=('' --traps --stack '-a -r' '-a -r --stack' --summary '--summary --traps') way own
	many_inside
	own=$(./inside)
	for way in "${ways[@]}"; do
		# shellcheck disable=SC2086 # words
		"$CPROF" run -q -o x.data --max-rate=0 -t inner,middle,outer $way -- ./inside >/dev/null
		# Times as they were measured, tracing and all, are many times as long.
		"$CPROF" report --json --limit=0 x.data | jq -c --arg way "$way" --argjson own "$own" '
			.calls.functions[] | select(.function == "outer" and .calls == 20) |
			(.upper_bounds // [] | contains(["min_ns"])) as $bound |
			if .min_ns <= 3 * $own or ($bound and .min_ns * 2 >= $own) then "fine"
			else "\($way): \(.min_ns) ns of \($own), bound: \($bound)" end'
	done >said
	assert_equal "$(sort said | uniq -c | tr -s ' ')" " ${#ways[@]} \"fine\""
}

# A chain of multiplications is all that inner does: a detour is nearly hidden behind it, and
# what it takes elsewhere is not what is to be subtracted here.
chained_inside() {
	many_inside
	sed -i 's/for (int i = 0; i < 20; i++) sum += n;/unsigned x = n; __asm__ volatile(".rept 18; imul %0, %0; .endr" : "+r"(x));/' inside.c
	gcc -g -O1 -o inside inside.c
}

@test "what detours hide behind is not subtracted" {
	local way own
	chained_inside
	own=$(./inside)
	for way in '' --stack --summary; do
		# shellcheck disable=SC2086 # words
		"$CPROF" run -q -o x.data --max-rate=0 -t inner,middle,outer $way -- ./inside >/dev/null
		"$CPROF" report --json --limit=0 x.data | jq -c --arg way "$way" --argjson own "$own" '
			.calls.functions | map(select(.function == "inner" or .function == "outer")) |
			{least: map(.min_ns), outer: map(select(.function == "outer").min_ns)[0],
			 bounds: map(.upper_bounds // [] | contains(["min_ns"]))} |
			if (.bounds | all) and .outer >= 0.9 * $own and (.least | min) >= 16 then "fine"
			else "\($way): \(.) of \($own)" end'
	done >said
	assert_equal "$(sort said | uniq -c | tr -s ' ')" ' 3 "fine"'
}

# What a thread lost between two stops is known when it stops again, and calls that began in
# between lost no more than they lasted until then. Beside others that want the CPUs it is much.
@test "what a thread lost before a call is not subtracted from it" {
	local loops=() own least
	chained_inside
	own=$(./inside)
	for _ in 1 2 3 4; do
		while :; do :; done 3>&- &
		loops+=($!)
	done
	for _ in 1 2 3 4 5 6 7 8; do
		"$CPROF" run -q -o x.data --max-rate=0 -t inner,middle,outer --stack -- ./inside >/dev/null
		"$CPROF" report --json --limit=0 x.data |
			jq '.calls.functions[] | select(.function == "outer") | .min_ns'
	done >least
	kill "${loops[@]}"
	for least in $(<least); do
		((10 * least >= 9 * own)) || fail "$least ns of $own"
	done
}

@test "what a call by detours takes is tried out, and only where there are some" {
	many_inside
	"$CPROF" run -q -o x.data -t inner,middle,outer -- ./inside >/dev/null
	"$CPROF" report --json x.data | jq -e '.overhead.detour_ns > 0'
	"$CPROF" run -q -o x.data --traps -t inner,middle,outer -- ./inside >/dev/null
	"$CPROF" report --json x.data | jq -e '.overhead.detour_ns == null'
}

@test "what lasts is known, however it is traced" {
	local way
	cat >slow.c <<-'END'
		#include <time.h>
		__attribute__((noinline)) void pauses(void)
		{
			struct timespec t = { 0, 100000000 };
			nanosleep(&t, 0);
		}
		__attribute__((noinline)) void around(void) { for (int i = 0; i < 3; i++) pauses(); }
		int main(void) { around(); }
	END
	gcc -g -O1 -o slow slow.c
	for way in '' --traps --stack --summary; do
		# shellcheck disable=SC2086 # words
		"$CPROF" run -q -o x.data -t pauses,around $way -- ./slow
		"$CPROF" report --json --limit=0 x.data | jq -c '
			.calls.functions[] | select(.function == "around") |
			[(.upper_bounds // [] | length), .total_ns >= 295e6, .calls]'
	done >said
	assert_equal "$(sort said | uniq -c | tr -s ' ')" ' 4 [0,true,1]'
}
