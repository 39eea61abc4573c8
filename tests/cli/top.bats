#!/usr/bin/env bats
# The live view. What it has to show is what the programs say of themselves.

load helpers

# until_told PROGRAM ARG...: starts it, to end when ./stop exists; waits until it is ready.
until_told() {
	start "$TRACEES/$1" --until=stop --ready=ready "${@:2}"
	until_true test -s ready
}

# block N FILE: the Nth of the blocks that lines come in; -1: the last.
block() { awk -v RS= -v want="$1" '{ b[NR] = $0 } END { print b[want < 0 ? NR + 1 + want : want] }' "$2"; }

# total_of FUNCTION: of standard input, its share with what it calls, since the start.
total_of() { awk -v f="$1" 'NF == 6 && $5 == f { sub(/%/, "", $4); print $4 }'; }

# within LOW HIGH NUMBER
within() {
	jq -ne --argjson lo "$1" --argjson hi "$2" --argjson n "$3" '$n >= $lo and $n <= $hi' \
		>/dev/null || { echo "$3 is not within $1 and $2" >&2; return 1; }
}

# Three times as long in one function as in another, by the thread's CPU time, which is
# their own but for a read of the clock now and then: the hottest by far.
own_shares() {
	cat >own.c <<-'END'
		#include <stdio.h>
		#include <time.h>
		static double used[2];
		static volatile unsigned long sink;
		static double now(void)
		{
			struct timespec t;
			clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
			return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
		}
		#define SPEND(ms, sum) do { \
			double start = now(), end; \
			do { \
				for (int i = 0; i < 20000; i++) sink = sink * 7 + 1; \
				end = now(); \
			} while (end - start < (ms)); \
			(sum) += end - start; \
		} while (0)
		__attribute__((noinline)) static void three_quarters(void) { SPEND(3, used[0]); }
		__attribute__((noinline)) static void a_quarter(void) { SPEND(1, used[1]); }
		int main(void)
		{
			for (int i = 0; i < 400; i++) { three_quarters(); a_quarter(); }
			printf("own: %.1f %.1f\n", used[0], used[1]);
		}
	END
	gcc -O1 -g -o own own.c
}

@test "lines tell the hottest functions as the program does" {
	own_shares
	"$CPROF" top -q -s 997 -o cprof.data -- ./own >lines
	got=$(block -1 lines | total_of three_quarters)
	# By the same samples the report says the same.
	report=$("$CPROF" report --json --limit=0 cprof.data | jq '([.threads[].total_ns] | add) as $all |
		[.samples.functions[] | select(.function == "three_quarters").total_ns * 100 / $all] | add')
	within "$(jq -n "$report - 0.1")" "$(jq -n "$report + 0.1")" "$got"
	# own: MS of three_quarters, MS of a_quarter
	read -r -a said <<<"$(grep "^own: " lines)"
	want=$(jq -n "100 * ${said[1]} / (${said[1]} + ${said[2]})")
	# Four standard errors: samples that count differently are worth fewer that count alike.
	"$CPROF" export -f sqlite -o db cprof.data
	error=$(sqlite3 -separator ' ' db \
		'SELECT sum(weight_ns / 1e6), sum(weight_ns / 1e6 * weight_ns / 1e6) FROM samples' |
		jq -s '50 * (.[1] | sqrt) / .[0]')
	within "$(jq -n "$want - 4 * $error")" "$(jq -n "$want + 4 * $error")" "$got"
	got=$(block -1 lines | total_of a_quarter)
	within "$(jq -n "100 - $want - 4 * $error")" "$(jq -n "100 - $want + 4 * $error")" "$got"
	# One block a second, and one at the end.
	[ "$(grep -c '^own (' lines)" -ge 2 ]
}

@test "threads are told with their state and share" {
	until_told shares
	"$CPROF" top -d 3s "$pid" >lines
	block -1 lines >last
	grep -qE " idler \\([0-9]+\\) sleeping$" last
	# The other one does all that is done; it may wait for a CPU.
	read -r cpu _ <<<"$(grep -E " shares \\($pid\\) (runnable|sleeping)$" last)"
	whole=$(sed -n '1s/.*CPU \([0-9.]*\)%.*/\1/p' last)
	assert_equal "$cpu" "$whole%"
	touch stop
	wait "$pid"
	assert_equal "$(cut -d' ' -f1,2 out)" 'shares: ok'
}

@test "by the wall clock who sleeps is told of in the seconds in which it did" {
	until_told shares
	"$CPROF" top --clock=wall -d 2500ms "$pid" >lines
	# What the sleeper did in the last second or two used to count a second too late.
	read -r last _ <<<"$(block -1 lines | grep -E " idler \([0-9]+\) sleeping$")"
	within 60 110 "${last%\%}"
	assert_equal "$(block -1 lines | grep -cE " shares \($pid\) (runnable|sleeping)$")" 1
	touch stop
	wait "$pid"
}

@test "traced calls are told with their rate, allocations by who makes them" {
	"$CPROF" top -q -t three_quarters,a_quarter --allocs -- "$TRACEES/shares" --rounds=400 >lines
	assert_equal "$(sed -n 's/^shares: ok .* rounds //p' lines)" 400
	block -1 lines >last
	for function in three_quarters a_quarter; do
		# In a second, average, self; since the start: how many, average.
		grep -qE "^ +[0-9.]+ +([0-9.]+ m?s|-) +[0-9.]+% +400 +[0-9.]+ m?s  $function  shares\$" last
	done
	# In a second: bytes in itself, in all, blocks; since the start: 400 of 3,000 and of 1,000.
	grep -qE " 1\.14 MiB +1\.14 MiB  three_quarters  shares\$" last
	grep -qE " 391 KiB +391 KiB  a_quarter  shares\$" last
	grep -qE " 0 B +1\.53 MiB  main  shares\$" last
}

@test "the cost of profiling is told, and what is recorded meanwhile is a recording like any other" {
	until_told shares
	"$CPROF" top -q -s 499 -d 2s -o kept.data "$pid" >lines
	touch stop
	block -1 lines | grep -qE '^profiling: CPU [0-9.]+%, stopped [0-9.]+%, [0-9]+ samples/s'
	"$CPROF" report --json kept.data >report
	jq -e '[.samples.functions[] | select(.function == "three_quarters")] | length == 1' report
	assert_not_exist cprof.data
}

@test "names of the program reach nobody's terminal as they are" {
	"$CPROF" top -q -s 997 -- "$TRACEES/hostile_names" >lines
	LC_ALL=C run ! grep -q '[^ -~]' <(grep -v '^hostile_names: ok' lines | tr -d 'µ')
}

@test "without --output nothing is recorded" {
	until_told shares
	"$CPROF" top -d 1s "$pid" >lines
	assert_not_exist cprof.data
	for option in -c --locks '-t main -a'; do
		# shellcheck disable=SC2086 # words
		run -2 "$CPROF" top $option "$pid"
	done
	assert_line --partial 'name one with --output'
	run -2 "$CPROF" top -o - "$pid"
	run -125 "$CPROF" top -o - -- true
}

@test "who goes away ends the view, and not the program" {
	until_told shares
	"$CPROF" top "$pid" | head -n 1 >line
	grep -q "^shares ($pid), " line
	kill -0 "$pid"
	touch stop
	wait "$pid"
}

@test "Ctrl-C, SIGTERM and SIGHUP end the view, and not the program" {
	for signal in INT TERM HUP; do
		rm -f ready
		until_told shares
		# bash has its background jobs ignore Ctrl-C.
		env --default-signal=INT "$CPROF" top "$pid" >lines &
		top=$!
		until_true grep -q "^shares ($pid), " lines
		kill -"$signal" "$top"
		wait "$top"
		kill -0 "$pid"
		touch stop
		wait "$pid"
		rm stop lines
	done
}

@test "a program that ends, ends the view" {
	until_told shares
	"$CPROF" top "$pid" >lines &
	top=$!
	until_true grep -q "^shares ($pid), " lines
	touch stop
	wait "$top"
	wait "$pid"
}

@test "of CMD the status is top's, and its descriptors are its own" {
	run -7 "$CPROF" top -- sh -c 'exit 7'
	run -143 "$CPROF" top -- sh -c 'kill -TERM $$'
	run -127 "$CPROF" top -- no-such-program-at-all
	run -125 "$CPROF" top --no-such-option -- true
	run -2 "$CPROF" top --no-such-option 1
	run -2 "$CPROF" top true
	assert_line --partial 'cprof top -- true'
	run -2 "$CPROF" top
	echo in | "$CPROF" top -- sh -c 'cat >copy; echo said; echo complained >&2' >out 2>err
	assert_equal "$(cat copy)" in
	grep -qx said out
	grep -qx complained err
}
