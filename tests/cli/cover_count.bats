#!/usr/bin/env bats
# cover --count without stops: detours count where blocks begin and where jumps go. The
# judges are gcov, the program, whose loops go round as often as it is told, and what
# breakpoints count (--traps).

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	export XDG_CACHE_HOME=$BATS_FILE_TMPDIR/cache
	needs gcc
	[ "$(uname -m)" = x86_64 ] || skip "x86-64 only"
	source="$SOURCES/tests/cli/cover_count.c"
}

# built NAME OPTION...
built() { gcc -g -o "$1" "${@:2}" "$source" -pthread; }

# count FILE MARK: how often the line with that comment was executed.
count() {
	local line
	line=$(grep -n "/\* $2 \*/" "$source" | cut -d: -f1)
	sed -n "s/^DA:$line,//p" "$1"
}

# counted N ROUNDS INFO: each of the ROUNDS times that the loop went round N times was counted.
counted() {
	local line thirds=$((($1 + 2) / 3))
	assert_equal "$(count "$3" third)" $((thirds * $2))
	line=$(grep -n "/\* directions \*/" "$source" | cut -d: -f1)
	assert_equal "$(sed -n "s/^BRDA:$line,.*,//p" "$3" | sort -n | paste -sd,)" \
		"$((thirds * $2)),$((($1 - thirds) * $2))"
	assert_equal "$(($(count "$3" odd) + $(count "$3" even)))" $((($1 - thirds) * $2))
}

# With a breakpoint for each, this would take many minutes.
@test "a loop of 30 million rounds is counted, to the last one" {
	for options in -O0 '-O0 -no-pie'; do
		# shellcheck disable=SC2086 # words
		built p $options
		"$CPROF" cover -q --count --lcov=info -- ./p h 30000000 >out
		assert_equal "$(<out)" '0 0'
		assert_equal "$(count info hot)" 30000000
		[ "$(count info third)" = 1 ]
	done
}

@test "eight threads at once lose no count" {
	built p -O0
	"$CPROF" cover -q --count --lcov=info -- ./p t 3000
	counted 3000 9 info
}

@test "forked processes, and what they execute, are counted with the others" {
	built p -O0
	"$CPROF" cover -q --count --lcov=info -- ./p s 3000
	counted 3000 4 info
}

# Forty times each run of it: loaded where it was before, a thousand rounds, unloaded.
@test "a library that comes back where it was is counted without stops again" {
	needs jq
	"$CPROF" cover -q --count --lcov=info -o data -- "$TRACEES/dlopen_loop" --rounds=1
	line=$(grep -n 'x = x \* 1664525' "$SOURCES/tests/tracees/plugin.c" | cut -d: -f1)
	sed -n '/^SF:.*plugin\.c$/,/^end/p' info | sed -n "s/^DA:$line,//p" >counts
	assert_equal "$(<counts)" 40000
	assert [ "$("$CPROF" report --json data | jq .overhead.stops)" -lt 20000 ]
}

@test "what was counted before a SIGKILL is there" {
	built p -O0
	run "$CPROF" cover -q --count --lcov=info -- ./p k 3000
	assert_equal "$status" 137
	counted 3000 1 info
}

@test "signals between a count and its instruction change no count, and no stack" {
	built p -O0
	"$CPROF" cover -q --count --lcov=info -- ./p i 300 >out
	read -r alarms lost <out
	assert_equal "$lost" 0
	assert_equal "$(count info alarm)" "$alarms"
	counted 300 $(($(count info interrupted) + 1)) info
}

# gcov's counts of the same source, all that both know.
@test "gcov counts the same" {
	mkdir gcov
	built p -O0
	(cd gcov && built p -O0 --coverage -fprofile-update=atomic && ./p t 300 && gcov -t ./*.gcda) |
		sed -n 's/^ *\([0-9]*\)\**: *\([0-9]*\):.*/\2,\1/p' | sort >want
	"$CPROF" cover -q --count --lcov=info -- ./p t 300
	sed -n 's/^DA://p' info | sort >got
	join -t, want got | awk -F, '$2 != $3' >differ
	[ "$(join -t, want got | wc -l)" -ge 20 ]
	assert_equal "$(<differ)" ''
}

# The instruction that fails is where a block begins, with -O2: it is come to once,
# whether its handler leads back to it or away.
@test "breakpoints count the same: faults, threads, children, optimised or not" {
	for options in -O0 -O2 '-O2 -no-pie' '-O1 -fcf-protection=full'; do
		# shellcheck disable=SC2086 # words
		built p $options
		for how in f ts fts; do
			"$CPROF" cover -q --count --branches=exact --lcov=fast -- ./p "$how" 30
			"$CPROF" cover -q --count --branches=exact --traps --lcov=slow -- ./p "$how" 30
			diff fast slow
		done
	done
}

# They have two bytes, or three. Where one fails and is gone back to, it was come to once.
@test "a block without room for a jump is counted on the one way that leads to it" {
	needs jq
	source="$SOURCES/tests/cli/cover_ways.c"
	built ways -O0
	"$CPROF" cover -q --count --lcov=fast -o x.data -- ./ways 1000 work >out
	"$CPROF" cover -q --count --traps --lcov=slow -- ./ways 1000 work >>out
	diff fast slow
	assert_equal "$(sort -u out)" '11695733380 0'
	assert [ "$("$CPROF" report --json x.data | jq .overhead.stops)" -lt 3500 ]
	built ways -O1
	"$CPROF" cover -q --count --lcov=fast -- ./ways 9 fault >out
	"$CPROF" cover -q --count --traps --lcov=slow -- ./ways 9 fault >>out
	diff fast slow
	assert_equal "$(sort -u out)" '72 1'
	assert_equal "$(count fast read),$(count fast odd),$(count fast after)" 4,4,9
}

@test "a stack without room for a detour: breakpoints come in its place" {
	cat >deep.c <<-'END'
		#include <setjmp.h>
		#include <signal.h>
		#include <stdio.h>
		static sigjmp_buf back;
		static volatile int depth;
		static char other[65536];
		static void on_fault(int signal) { siglongjmp(back, signal); }
		__attribute__((noipa)) static int down(int n)
		{
			depth++; /* down */
			return n ? down(n + 1) + depth : 0;
		}
		int main(void)
		{
			struct sigaction action = { .sa_handler = on_fault, .sa_flags = SA_ONSTACK };
			sigaltstack(&(stack_t){ .ss_sp = other, .ss_size = sizeof(other) }, NULL);
			sigaction(SIGSEGV, &action, NULL);
			for (int i = 0; i < 2; i++)
				if (!sigsetjmp(back, 1))
					down(1);
			printf("%d\n", depth);
			return 0;
		}
	END
	source=deep.c
	built deep -O1
	(
		ulimit -s 256
		"$CPROF" cover -q --count --lcov=info -- ./deep >out
	)
	assert_equal "$(count info down)" "$(<out)"
}

@test "attached and let go: the code is as it was, and so it is after a SIGKILL" {
	built p -O2
	./p u 100 stop >out &
	local pid=$! attached
	"$CPROF" attach -q -c --count -d 200ms -o x.data "$pid"
	"$BATS_TEST_DIRNAME/text_of" "$pid"
	for _ in 1 2 3; do
		"$CPROF" attach -q -c --count -d 60s -o x.data "$pid" 2>/dev/null &
		attached=$!
		until [ "$("$BATS_TEST_DIRNAME/text_of" "$pid" | wc -l)" -gt 9 ]; do kill -0 "$attached"; done
		# shellcheck disable=SC2046 # words
		kill -KILL "$attached" $(pgrep -P "$attached")
		wait "$attached" || true
	done
	"$CPROF" attach -q -s 99 -d 50ms -o x.data "$pid"
	"$BATS_TEST_DIRNAME/text_of" "$pid"
	touch stop
	wait "$pid"
	assert_equal "$(<out)" '0 0'
}
