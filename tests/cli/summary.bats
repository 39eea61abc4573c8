#!/usr/bin/env bats
# --summary: no single calls are kept, and what they add up to is what a recording of
# events says: the same program both ways, and what it counted itself.

load helpers
load recordings

# ends FILE: what of each function ended how.
ends() {
	"$CPROF" report --json --limit=0 "$1" | jq -c \
		'.calls.calls, (.calls.functions | map([.function, .image, .calls, .unwound, .tail_calls, .open, .inherited]) | sort | .[])'
}

# edges FILE: callers and callees of each function, with how often.
edges() {
	local function
	"$CPROF" report --json --limit=0 "$1" | jq -r '.calls.functions[] | .function' | sort | while read -r function; do
		"$CPROF" report --json -F "$function" "$1" | jq -c '.calls.function | .function as $f |
			[$f, (.callers, .callees | map([.function, .calls]) | sort)]'
	done
}

functions='recurse,tail_*,thrower,catcher,jumper,jumped_to,worker,leaf,quitter'

@test "a summary counts what the program counted, and what events say" {
	"$CPROF" run -q -o s.data --summary -t "$functions" --max-rate=0 -- "$TRACEES/counted" >out
	grep -q '^counted: ok' out
	# leave of those that return: calls less the others.
	"$CPROF" report --json --limit=0 s.data | jq -r '.calls.functions[] |
		"\(.function) enter=\(.calls) leave=\(.calls - .tail_calls - .unwound) tail_call=\(.tail_calls) unwind=\(.unwound)"' |
		sort >got
	grep enter= out | sort | diff - got
	"$CPROF" run -q -o e.data -t "$functions" --max-rate=0 -- "$TRACEES/counted" >/dev/null
	diff <(ends e.data) <(ends s.data)
	diff <(edges e.data) <(edges s.data)
	assert_equal "$("$CPROF" report --json e.data | jq .calls.events)" "$("$CPROF" report --json s.data | jq .calls.events)"
}

@test "a summary of sqlite3's library is that of its events" {
	needs sqlite3
	cat >x.sql <<-'END'
		create table t(a integer primary key, b text);
		with recursive n(i) as (select 1 union all select i+1 from n where i < 50) insert into t select i, 'row ' || i from n;
		select count(*), sum(a), max(b) from t where b like '%7%';
		select a, b from t order by b desc limit 5;
	END
	sqlite3 :memory: <x.sql >want
	"$CPROF" run -q -o s.data --summary -t 'lib:libsqlite3*' --max-rate=0 -- sqlite3 :memory: <x.sql >got
	cmp want got
	"$CPROF" run -q -o e.data -t 'lib:libsqlite3*' --max-rate=0 -- sqlite3 :memory: <x.sql >got
	cmp want got
	diff <(ends e.data) <(ends s.data)
	# The busiest: who calls them, and whom they call.
	for function in $("$CPROF" report --json --sort=calls --limit=8 e.data | jq -r '.calls.functions[] | .function'); do
		diff <("$CPROF" report --json -F "$function" e.data | jq -c '.calls.function | [.callers, .callees | map([.function, .calls]) | sort]') \
			<("$CPROF" report --json -F "$function" s.data | jq -c '.calls.function | [.callers, .callees | map([.function, .calls]) | sort]')
	done
}

@test "a summary of forked processes, by process, and merged" {
	"$CPROF" run -q -o s.data --summary -t recurse,leaf,worker --max-rate=0 -- \
		"$TRACEES/counted" --mode=fork --rounds=3 --depth=100 >/dev/null
	"$CPROF" run -q -o e.data -t recurse,leaf,worker --max-rate=0 -- \
		"$TRACEES/counted" --mode=fork --rounds=3 --depth=100 >/dev/null
	diff <(ends e.data) <(ends s.data)
	local all one sum=0
	all=$("$CPROF" report --json s.data | jq .calls.calls)
	for pid in $("$CPROF" report --json s.data | jq -r '[.processes[]?.pid, .lives.processes[]?.pid] | unique | .[]'); do
		one=$("$CPROF" report --json --pid="$pid" s.data | jq .calls.calls)
		sum=$((sum + one))
	done
	assert_equal "$sum" "$all"
	"$CPROF" merge -o both.data s.data e.data 2>/dev/null
	assert_equal "$("$CPROF" report --json both.data | jq .calls.calls)" $((2 * all))
	"$CPROF" merge -o again.data both.data s.data 2>/dev/null
	cmp both.data again.data
}

# The same numbers from events and from what they add up to.
numbers() {
	"$CPROF" report --json --limit=0 "$1" | jq -c '.calls | del(.functions[] | .average_ns, .deviation_ns, .median_ns, .p90_ns, .p95_ns, .p99_ns, .p999_ns, .tail_called_ns)'
}

@test "a summary has the times of events, and percentiles to 3 %" {
	local recording
	# A function has one place in its file, as in recordings of programs.
	busy() { busy_desk 3000 | sed -E 's/f\.c\|[0-9]+/f.c|1/'; }
	for recording in desk busy; do
		$recording | made e.data
		{ echo summary && $recording; } | made s.data
		{ echo summary open && $recording; } | made killed.data
		diff <(numbers e.data) <(numbers s.data)
		diff <(numbers e.data) <(numbers killed.data)
		# shellcheck disable=SC2016
		jq -e -n --slurpfile e <("$CPROF" report --json --limit=0 e.data) --slurpfile s <("$CPROF" report --json --limit=0 s.data) '
			[$e[0].calls.functions, $s[0].calls.functions] | transpose | all(.[]; . as [$e, $s] |
				["median_ns", "p90_ns", "p95_ns", "p99_ns", "p999_ns"] | all(.[];
					. as $k | ($e[$k] - $s[$k] | fabs) <= $e[$k] * 0.0313 + 1) and
				(["average_ns", "deviation_ns"] | all(.[]; . as $k |
					($e[$k] - $s[$k] | fabs) <= ($e.average_ns + $e.deviation_ns) * 0.0157 + 1)))'
	done
	COLUMNS=200 run "$CPROF" report --calls s.data
	assert_success
	assert_line --partial 'percentiles to 3 %'
	assert_line --regexp ' p95 +p99 +p99\.9 +max '
	# Where events were lost each count is the least that it was.
	{ echo summary && desk | sed 's/^totals /&calls_lost=5 /'; } | made lost.data
	"$CPROF" report --calls lost.data | grep -Eq '^ +>= [0-9]+ .* main$'
	"$CPROF" report lost.data | grep -Eq ' >= [0-9]+ calls '
	"$CPROF" report --json lost.data | jq -e '[.calls.lower_bound, .calls.functions[].lower_bound] | all'
	"$CPROF" report --json s.data | jq -e '[.calls.lower_bound, .calls.functions[].lower_bound] | any | not'
	COLUMNS=80 run "$CPROF" report s.data
	assert_line --regexp '^ +calls +total +self +median .* max +image +function$'
	run wc -L <<<"$output"
	((output <= 80))
}

@test "a summary shows no single calls, and says so" {
	desk >text
	{ echo summary && cat text; } | made s.data
	local how
	for how in replay 'replay --json' 'report --tree' 'report --lines' 'export -f chrome -o x' 'export -f perfetto -o x' \
		'export -f sqlite -o x' 'export -f flamegraph -o x' 'export -f folded -o x' 'export -f html -o x'; do
		# shellcheck disable=SC2086 # words
		run "$CPROF" $how s.data
		assert_failure
		assert_output --partial 'what calls add up to, and none by itself: it was made with --summary'
		[ ! -e x ]
	done
	run "$CPROF" report --thread=200 s.data
	assert_failure
	assert_output --partial "can't be chosen by thread"
	run "$CPROF" report --time=1ms- s.data
	assert_failure
	assert_output --partial "can't be chosen by time"
	run "$CPROF" report -F fact s.data
	assert_success
	assert_line --regexp '^ +3 calls · total 27\.0 µs'
	# What else there is stays there.
	{ echo summary && cat text && echo 's 200 30 1 main;work'; } | made both.data
	run "$CPROF" export -f folded -o - both.data
	assert_output 'main;work 30000'
	run "$CPROF" report --thread=200 both.data
	assert_success
	assert_line --partial "No calls: calls that were recorded with --summary can't be chosen by thread"
	for how in args result locals changes stack; do
		run "$CPROF" run --summary -t main "--$how" -- true
		assert_failure 125
		assert_output --partial "--summary keeps nothing of a single call, as --$how would have to"
	done
	run "$CPROF" run --summary -- true
	assert_failure 125
	assert_output --partial 'say which with --trace'
}

@test "a summary is written while the program runs: a SIGKILL of cprof loses the last of it" {
	cat >two.c <<-'END'
		#include <unistd.h>
		__attribute__((noinline)) int first(int n) { __asm__(""); return n + 1; }
		__attribute__((noinline)) int second(int n) { __asm__(""); return n + 2; }
		__attribute__((noinline)) int waits(int n)
		{
			while (access("stop", F_OK))
				n = second(n);
			return n;
		}
		int main(void)
		{
			int n = 0, i;
			for (i = 0; i < 100; i++)
				n = first(n);
			return waits(n) < 0;
		}
	END
	gcc -O1 -g -o two two.c
	calls_of() { "$CPROF" report --json two.data 2>/dev/null | jq ".calls.functions[] | select(.function == \"$1\") | .calls"; }
	start "$CPROF" run -q -o two.data --summary -t first,second,waits -- ./two
	# shellcheck disable=SC2016 # until_true evaluates it
	until_true eval '[ "$(calls_of first)" = 100 ] && [ "$(calls_of second)" -gt 100 ]'
	kill -KILL "$pid"
	wait "$pid" || :
	assert_equal "$(calls_of first)" 100
	# The call that had not ended is told as such.
	run jq -c '.calls.functions[] | select(.function == "waits") | [.calls, .open, .total_ns > 0]' \
		<<<"$("$CPROF" report --json two.data)"
	assert_output '[1,1,true]'
	run "$CPROF" report --calls two.data
	assert_output --partial 'the recording was not closed'
	touch stop
}

@test "a summary with --when, --cpu-time and --max-rate" {
	cat >work.c <<-'END'
		__attribute__((noinline)) int half(int n) { __asm__(""); return n / 2; }
		__attribute__((noinline)) int hot(int n) { __asm__(""); return n + 1; }
		int main(void)
		{
			int n = 0, i;
			for (i = 0; i < 200; i++)
				n += half(i);
			for (i = 0; i < 200000; i++)
				n = hot(n);
			return n < 0;
		}
	END
	gcc -O1 -g -o work work.c
	"$CPROF" run -q -o s.data --summary --cpu-time -t 'half' --when='n >= 150' -- ./work
	run jq -c '.calls.functions[] | [.function, .calls, .cpu_ns > 0]' <<<"$("$CPROF" report --json s.data)"
	assert_output '["half",50,true]'
	"$CPROF" run -q -o s.data --summary -t 'half,hot' --max-rate=500 -- ./work
	run "$CPROF" report --calls s.data
	assert_success
	assert_output --partial 'hot was called'
	assert_output --partial 'no longer traced from then on (--max-rate)'
	assert_output --partial '; >=: at least that, then no longer traced'
	assert_line --regexp '^ +>= [0-9,]+ .* hot$'
	assert_line --regexp '^ +200 .* half$'
	assert_equal "$("$CPROF" report --json s.data | jq -c '[.calls.functions[] | [.function, .lower_bound]] | sort')" \
		'[["half",null],["hot",true]]'
	run "$CPROF" replay s.data
	assert_failure
}
