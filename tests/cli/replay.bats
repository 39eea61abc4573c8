#!/usr/bin/env bats
# The calls of recordings made from text: what is expected follows from that
# text, and sums are made again by replay_judge.py from the events.

load helpers
load recordings

replay() { run "$CPROF" replay "$@"; }

@test "replay shows calls in order, indented, with values and times" {
	desk | made cprof.data
	replay --thread=200
	assert_success
	assert_output - <<-'END'
	    0.000010  main(2, 0x7ffe1234) {
	    0.000020    lookup("db;1\n", 4) = "10.0.0.7"  20.0 µs
	    0.000055    geo::move({x=3, y=4}, 1) {
	    0.000062      clamp(-7) = 0  12.0 µs
	    0.000112    } = {x=3, y=5}  [i=9, j=<optimized out>]  37.0 µs
	    0.000127    a(1) ⇒ b(2) {
	    0.000151      clamp(9) = 9  10.0 µs
	    0.000190    } ⇒ gone  42.0 µs
	    0.000195    thrower(<optimized out>) {
	    0.000200      deeper() ✗ unwound  1.00 µs
	    0.000215    } ✗ unwound  2.00 µs
	    0.000215  ! clamp is no longer traced: 12,000 calls in a second
	    0.000220    fact(3) {
	    0.000225      fact(2) {
	    0.000230        fact(1) = 1  11.0 µs
	    0.000262      } = 2  19.0 µs
	    0.000274    } = 6  27.0 µs
	    0.003000  } … not over at the end  2.90 ms
	END
}

@test "replay of several threads names them, in the order of time" {
	desk | made cprof.data
	replay
	assert_success
	assert_line '    0.000058  helper           201  work(1.5)  54.0 µs'
	assert_line '    0.000277  helper           201  work(2.5) ✗ its thread ended  21.0 µs'
	assert_line '    0.000020  desk             200    lookup("db;1\n", 4) = "10.0.0.7"  20.0 µs'
	run sort -c -s -k1,1n <(replay --thread='*'; echo "$output" | grep -v '[!}]')
	assert_success
}

@test "replay of a part: functions, durations, threads, time" {
	desk | made cprof.data
	replay -F 'fact,clamp,-clam?' --thread=200
	assert_output - <<-'END'
	    0.000220  fact(3) {
	    0.000225    fact(2) {
	    0.000230      fact(1) = 1  11.0 µs
	    0.000262    } = 2  19.0 µs
	    0.000274  } = 6  27.0 µs
	END
	replay --min-duration=30us --thread='des*'
	assert_line '    0.000055    geo::move({x=3, y=4}, 1) = {x=3, y=5}  [i=9, j=<optimized out>]  37.0 µs'
	refute_output --partial clamp\(
	replay --image='lib*'
	refute_output --partial main
	replay --time=200us-210us
	assert_line --partial 'deeper() ✗ unwound'
	refute_output --partial lookup
	replay --filter='/[/'
	assert_failure 2
	replay --pid=7
	assert_success
	assert_output 'Nothing passes the filter.'
}

@test "replay --json has the keys of the contract" {
	desk | made cprof.data
	"$CPROF" replay --json >json
	run jq -c 'select(.function == "lookup(char const*,int)")' json
	assert_output - <<-'END'
	{"ts_ns":20000,"pid":200,"tid":200,"event":"enter","function":"lookup(char const*,int)","image":"desk","depth":1,"args":[{"name":"host","type":"const char *","value":"db;1\n","text":"\"db;1\\n\"","source":"memory"},{"name":"n","type":"int","value":4,"text":"4","source":"abi"}]}
	{"ts_ns":50000,"pid":200,"tid":200,"event":"leave","function":"lookup(char const*,int)","image":"desk","depth":1,"result":{"type":"const char *","value":"10.0.0.7","text":"\"10.0.0.7\"","source":"memory"},"duration_ns":30000,"overhead_ns":10000}
	END
	run jq -c 'select(.event == "tail_call") | [.function, .target, .duration_ns]' json
	assert_output $'["a","b",20000]\n["b","gone",41000]'
	run jq -c 'select(.event == "unwind") | [.function, .ended]' json
	assert_output $'["deeper",null]\n["thrower",null]\n["work",true]'
	run jq -c 'select(.event == "disarmed") | [.function, .rate]' json
	assert_output '["clamp",12000]'
	run jq -c 'select(.locals) | .locals | map([.name, .value, .error])' json
	assert_output '[["i",9,null],["j",null,"optimized_out"]]'
}

@test "replay fits the width" {
	desk | made cprof.data
	for columns in 80 200; do
		COLUMNS=$columns "$CPROF" replay >out
		(($(wc -L <out) <= columns)) || fail "wider than $columns: $(cat out)"
	done
	# Deep, long names, long values, tail calls one after the other.
	{
		printf 'process 1 p /p\nthread 1 1234567 a_thread_with_a_name\nthread 1 2 other\n'
		name=a_very_long_name_of_a_function_in::some_namespace
		value='"a long text that no line has room for, which is cut"'
		value=${value// /\\_}
		echo 'c 2 1 g'
		for ((i = 0; i < 40; i++)); do
			echo "c 1234567 1 $name|p|f.c|$i $value {x:$value,y:1000000}"
			((i % 5)) || printf '%s\n' "t 1234567 1 0 $name" "c 1234567 1 $name $i $value" \
				"t 1234567 1 0 $name" "c 1234567 1 $name $i $value"
		done
		for ((i = 0; i < 30; i++)); do
			if ((i % 3)); then echo "r 1234567 999 1 $value i:$value"; else echo "x 1234567 1 0"; fi
		done
	} | made cprof.data
	for columns in 80 120 200; do
		COLUMNS=$columns "$CPROF" replay >out
		(($(wc -L <out) <= columns)) || fail "wider than $columns: $(cat out)"
		grep -q '⇒' out
	done
}

@test "replay of deep recursion and of threads that interleave for long" {
	{
		echo 'process 1 p /p'
		echo 'thread 1 1 p'
		echo 'thread 1 2 q'
		echo 'c 2 1 waits'
		for ((i = 0; i < 1000; i++)); do
			printf 'c 1 1 f %d\nr 1 1 0 %d\n' $i $i
		done
		echo 'r 2 1 0 5'
	} | made cprof.data
	replay
	assert_success
	assert_equal "${#lines[@]}" 1002
	assert_line --regexp 'waits\(\) \{$'
	assert_equal "$(grep -c ' f(' <<<"$output")" 1000
	sort -c -s -k1,1n <<<"$output"
	{
		printf 'process 1 p /p\nthread 1 1 p\n'
		for ((i = 0; i < 60; i++)); do echo "c 1 1 f $i"; done
		for ((i = 0; i < 60; i++)); do echo "r 1 1 0 $i"; done
	} | made cprof.data
	COLUMNS=80 replay
	assert_equal "${#lines[@]}" 119
	assert_line --regexp '^    0\.000060 +59 +f\(59\) = 0  1\.00 µs$'
	replay
	assert_line --regexp '^    0\.000060 {120}f\(59\) = 0  1\.00 µs$'
}

@test "replay of a damaged recording shows the rest and says what is missing" {
	{
		printf 'process 1 p /p\nthread 1 1 p\n'
		for ((i = 0; i < 100; i++)); do printf 'c 1 1 f %d\nr 1 1 0 %d\n' $i $i; done
	} | made cprof.data
	head -c -150 cprof.data >cut.data
	replay cut.data
	assert_success
	assert_line --partial '! the recording was not closed'
	separately "$CPROF" replay --json cut.data
	assert_success
	[[ $stderr == *"the recording was not closed"* ]]
	run "$CPROF" replay nowhere.data
	assert_failure 1
}

@test "replay of a recording without calls says so" {
	workshop | made cprof.data
	replay
	assert_success
	assert_line "No call was recorded."
}

@test "replay lets nothing through that steers a terminal" {
	printf '%s\n' 'process 1 p /p' 'thread 1 1 e\e[31m\nx' 'thread 1 2 y' \
		'c 1 1 \e]0;f|p "\e[2J\n"' 'r 1 1 0 "\e[2J"' | made cprof.data
	for how in '' --json; do
		# shellcheck disable=SC2086 # words
		"$CPROF" replay $how >out
		run grep -c -P '[\x00-\x08\x0b-\x1f\x7f]' out
		assert_output 0
	done
}

@test "a real program's calls: the events add up to the report, in few bytes" {
	"$CPROF" run -q -o x.data -t 'recurse,tail_*,thrower,catcher,jumper,jumped_to,worker,leaf,quitter' \
		--max-rate=0 -a -r -- "$TRACEES/counted" --depth=200 >out
	grep -q 'counted: ok' out
	"$CPROF" replay --json x.data >events
	"$CPROF" report --json x.data >report
	run python3 "$SOURCES/tests/cli/replay_judge.py" events report
	assert_success
	assert_output --partial ' agree'
	(($(stat -c %s x.data) < 12 * $(wc -l <events))) || fail "$(stat -c %s x.data) bytes"
	# As the program has it: a call of tail_first is one of three functions.
	"$CPROF" replay --thread="$(jq -s '.[0].tid' events)" x.data >text
	grep -qE '  tail_first\(4\) ⇒ tail_middle\(5\) ⇒ tail_last\(6\) = 7  (<= )?[0-9.]+ .s$' text
	grep -qE '  catcher\(4\) \{$' text
	grep -qE '  thrower\(0\) ✗ unwound  ' text
	"$CPROF" merge -o merged.data x.data x.data
	"$CPROF" replay merged.data | cut -c15- | cmp - <("$CPROF" replay x.data | cut -c15-)
}

@test "a real program's calls in a database and as a trace" {
	needs sqlite3 protoc
	"$CPROF" run -q -o x.data -t 'tail_*,thrower,catcher' --max-rate=0 -a -r -- "$TRACEES/counted" --depth=9 >out
	"$CPROF" export -f sqlite -o x.db x.data
	assert_equal "$(sqlite3 x.db 'PRAGMA integrity_check; PRAGMA foreign_key_check')" ok
	assert_equal "$(sqlite3 x.db "SELECT f.name, count(*) FROM calls c JOIN functions f ON f.id = c.function
		WHERE how = 'unwound' GROUP BY 1")" \
		"$("$CPROF" replay --json x.data | jq -r 'select(.event == "unwind").function' | sort | uniq -c |
			awk '{ print $2 "|" $1 }')"
	"$CPROF" export -f perfetto -o x.pftrace x.data
	protoc --decode=cprof.perfetto.Trace -I "$SOURCES/src/report/export" perfetto.proto <x.pftrace >out
	assert_equal "$(grep -c TYPE_SLICE_BEGIN out)" "$(sqlite3 x.db 'SELECT count(*) FROM calls')"
	assert_equal "$(grep -c TYPE_SLICE_END out)" "$(sqlite3 x.db 'SELECT count(*) FROM calls')"
}

@test "what begins calls: the start, threads, signals, callbacks of libraries" {
	cat >invokes.c <<-'END'
		#include <dlfcn.h>
		#include <pthread.h>
		#include <signal.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		static void say(const char *function, const char *by, void *caller)
		{
			Dl_info info;
			const char *slash = dladdr(caller, &info) ? strrchr(info.dli_fname, '/') : NULL;
			printf("%s %s %s\n", function, by, slash ? slash + 1 : "-");
		}
		#define FROM __builtin_return_address(0)
		int called(int x) { return x + 1; }
		int compare(const void *a, const void *b)
		{
			say("compare", "callback", FROM);
			return called(*(const int *)a) - *(const int *)b;
		}
		void handler(int n)
		{
			char by[32];
			int v[] = { 2, 1 };
			snprintf(by, sizeof(by), "signal %d", n);
			say("handler", by, NULL);
			qsort(v, 2, sizeof(*v), compare);
		}
		void *routine(void *x)
		{
			say("routine", "thread", NULL);
			raise(SIGRTMIN + 3);
			return x;
		}
		__attribute__((constructor)) void before(void) { say("before", "callback", FROM); }
		void after(void) { say("after", "callback", FROM); }
		int main(void)
		{
			pthread_t t;
			say("main", "start", NULL);
			signal(SIGUSR1, handler);
			signal(SIGRTMIN + 3, handler);
			atexit(after);
			raise(SIGUSR1);
			pthread_create(&t, NULL, routine, NULL);
			pthread_join(t, NULL);
			return called(-1);
		}
	END
	${CC:-cc} -D_GNU_SOURCE -g -O0 -o invokes invokes.c -pthread -ldl
	"$CPROF" run -q -o x.data -t 'main,before,after,routine,handler,compare,called' -- ./invokes >want
	"$CPROF" replay --json x.data >events
	jq -r 'select(.event == "enter" and .invoked_by) |
		"\(.function) \(.invoked_by)\(if .signal then " \(.signal)" else "" end) \(.caller_image // "-")"' events |
		diff want -
	assert_equal "$(jq -r 'select(.event == "enter" and (.invoked_by | not)).function' events | sort -u)" called
	"$CPROF" replay x.data >text
	grep -qE '  start: main\(\) \{$' text
	grep -qE '  thread: routine\(\) \{$' text
	grep -qE '  signal SIGUSR1: handler\(\) \{$' text
	grep -qE '  signal 37: handler\(\) \{$' text
	grep -qE '  callback from [^ ]+: compare\(\) \{$' text
	for columns in 80 120; do
		COLUMNS=$columns "$CPROF" replay x.data >out
		(($(wc -L <out) <= columns)) || fail "wider than $columns: $(cat out)"
		grep -q 'signal SIGUSR1:' out
	done
	"$CPROF" merge -o merged.data x.data
	diff <("$CPROF" replay --json merged.data | jq -c 'del(.ts_ns)') <(jq -c 'del(.ts_ns)' events)
}

@test "replay --flat: a line for each event, --fields: what stands before it, as JSON has it" {
	busy_desk 1000 >busy
	desk >desk
	for made in busy desk; do
		made cprof.data <$made
		"$CPROF" replay --json >events
		"$CPROF" replay --flat >flat
		"$CPROF" replay --flat --fields=depth,delta,pid,tid,process,thread,image,source,time,duration >fields
		run python3 - events flat fields <<-'END'
			import json, re, sys
			events = [json.loads(l) for l in open(sys.argv[1])]
			flat = [l for l in open(sys.argv[2], encoding="utf-8").read().split("\n")[:-1] if "! clamp" not in l]
			fields = [l for l in open(sys.argv[3], encoding="utf-8").read().split("\n")[:-1] if "! clamp" not in l]
			events = [e for e in events if e["event"] != "disarmed"]
			over = [l for l in flat if "not over at the end" in l]
			assert len(flat) == len(fields) == len(events) + len(over)
			before = {}
			for e, line, field in zip(events, flat, fields):
			    name = re.match(r"[^(]*", e["function"])[0]
			    arrow = "→" if e["event"] == "enter" else "←"
			    want = "%5d.%06d" % (e["ts_ns"] // 10**9, e["ts_ns"] // 1000 % 10**6)
			    m = re.fullmatch(r"( *\d+\.\d+)  (\S+) +(\d+)  ([→←]) ([^( ]+)(.*)", line)
			    assert m and (m[1], int(m[3]), m[4], m[5]) == (want, e["tid"], arrow, name), (e, line)
			    if e["event"] == "leave" and "result" in e:
			        assert m[6].startswith(" = " + e["result"]["text"]), (e, line)
			    if e["event"] == "tail_call":
			        assert m[6].startswith(" ⇒ " + e["target"]), (e, line)
			    assert ("✗" in m[6]) == (e["event"] == "unwind"), (e, line)
			    f = re.fullmatch(r" *(\d+)  (.{10})  +(\d+)  +(\d+)  (\S+) +(\S+) +(\S+) +(\S+:\d+) + *(\d+\.\d+)  ([→←] .*)", field)
			    assert f, field
			    assert (int(f[1]), int(f[4]), f[6], f[7]) == (e["depth"], e["tid"], m[2], e["image"]), field
			    assert f[9] == want.strip() and f[10] == line[line.index(m[4]):], (line, field)
			    delta = e["ts_ns"] - before[e["tid"]] if e["tid"] in before else None
			    shown = f[2].strip()
			    if delta is None:
			        assert not shown, field
			    else:
			        number, unit = shown.split(" ")
			        factor = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}[unit]
			        assert abs(float(number) * factor - delta) <= 0.006 * delta + 1, (field, delta)
			    before[e["tid"]] = e["ts_ns"]
			print("ok")
		END
		assert_output ok
	done
	run "$CPROF" replay --fields=none --thread=201
	assert_output - <<-'END'
	work(1.5)
	work(2.5) ✗ its thread ended
	END
	run "$CPROF" replay --fields=time,line
	assert_failure 2
	assert_output --partial "there is no field 'line'"
	run "$CPROF" replay --fields=tid,tid
	assert_failure 2
	run "$CPROF" replay --json --flat
	assert_failure 2
	for columns in 80 120; do
		COLUMNS=$columns "$CPROF" replay --flat >out
		(($(wc -L <out) <= columns)) || fail "wider than $columns: $(cat out)"
	done
}

@test "replay --column-view: each thread in its column, as it is alone" {
	busy_desk 1000 | made cprof.data
	"$CPROF" replay --column-view >out
	grep -o '┬ .*' out >threads
	assert_equal "$(sort -u threads | wc -l)" 3
	assert_equal "$(wc -l <threads)" 3
	before=
	while read -r _ _ tid; do
		tid=${tid//[()]/}
		# Its lines: behind as many rails as there are columns before.
		sed -nE "s/^( *[0-9]+\.[0-9]+  )$before([^│ ]| [^│]|  )/\1\2/p" out | grep -v '┬' >column
		"$CPROF" replay --thread="$tid" | diff - column
		before="$before│       "
	done <threads
	COLUMNS=80 "$CPROF" replay --column-view >out
	(($(wc -L <out) <= 80)) || fail "$(cat out)"
}

@test "replay --fields=site: the line that a call was made at, where stacks were recorded" {
	cat >sites.c <<-'END'
		__attribute__((noinline)) int f(int x) { return x * 7 + 1; }
		int main(void)
		{
			int n = f(1);
			n += f(n);
			return n == 8 + 57;
		}
	END
	${CC:-cc} -g -O0 -o sites sites.c
	"$CPROF" run -q -o x.data -t f --stack -- ./sites || :
	run "$CPROF" replay --flat --fields=site,source x.data
	assert_line --index 0 --regexp '^sites\.c:4 +sites\.c:1 +→ '
	assert_line --index 2 --regexp '^sites\.c:5 +sites\.c:1 +→ '
}
