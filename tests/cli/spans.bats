#!/usr/bin/env bats
# What programs announce with cprof/trace.h, in all that is made of recordings.
# Numbers follow from the text that recordings are made from (annotated.bash).

load helpers
load recordings
load annotated
load tracees

# events FILTER: what jq makes of the chrome export, as lines.
events() {
	"$CPROF" export -f chrome -o - >trace.json
	jq -c ".traceEvents[] | $1" trace.json
}

# Each track of a trace, as in the trace model: all slices lie within each other.
# shellcheck disable=SC2016
nested='[.traceEvents[] | select(.ph == "X") | {k: [.pid, .tid], s: (.ts * 1000 | round), d: (.dur * 1000 | round)}]
	| group_by(.k) | map(sort_by([.s, -.d]) | reduce .[] as $e ({open: [], ok: true};
		.open |= map(select(. > $e.s)) | .ok = (.ok and all(.open[]; . >= $e.s + $e.d))
		| .open += [$e.s + $e.d]) | .ok) | all'

@test "report tells ends of what did not begin" {
	studio | made cprof.data
	run "$CPROF" report --annotations
	assert_line --regexp '^Unmatched.* 1 end of spans that did not begin here, or were over'
}

@test "report sums spans, counters and instants up" {
	studio | made cprof.data
	run "$CPROF" report --annotations
	assert_success
	assert_line --regexp '^ +2 +70\.0 µs +70\.0 µs +10\.0 µs +10\.0 µs +60\.0 µs +60\.0 µs .* parse$'
	assert_line --regexp '^ +1 +90\.0 µs +20\.0 µs .* load$'
	assert_line --regexp '^ +2 +1\.51 ms +- .* async .* job$'
	assert_line --regexp '^ +3 +-2 +9 +-2 +300 +main\.c +queued$'
	assert_line --regexp '^ +1 +main\.c +hit the cache$'
	# "second" begins in "first", and outlasts it by half.
	assert_line --regexp '^ +1 +20\.0 µs +10\.0 µs .* first$'
	# The busiest first; threads by number, too, for many have one name.
	run bash -c '"$CPROF" report --annotations | sed "1,/^Spans by thread/d"'
	assert_line --index 1 --regexp '^ +1 +1\.33 ms .* fiber 2$'
	assert_line --index 2 --regexp '^ +6 +170 µs .* studio \(300\)$'
	assert_line --index 3 --regexp ' the helper \(301\)$'
	assert_line --index 4 --regexp ' chef$'
	run "$CPROF" report --json
	jq -e '.annotations | .lost == 7 and .unmatched == 1 and .events == 31 and
		(.counters == [{"name": "queued", "category": "main.c", "count": 3, "pid": 300,
			"min": -2, "max": 9, "last": -2}]) and
		([.spans[] | select(.open > 0) | .name] == ["bake"]) and
		([.tracks[] | select(.fiber) | [.fiber, .name, .spans]] == [[1, "chef", 1], [2, "fiber 2", 1]])' \
		<<<"$output"
}

@test "chrome: slices of calls and spans lie within each other on every track" {
	studio | made cprof.data
	events '.' >/dev/null
	jq -e "$nested" trace.json
	# On the thread's own track, but for those two that can't be.
	run events 'select(.ph == "X" and .tid == 300) | [.name, .ts, .dur]'
	assert_output - <<-'END'
		["frame",100,200]
		["late",350,50]
		["load",110,90]
		["parse",120,60]
		["parse",185,10]
		["first",500,20]
	END
	run events 'select(.ph == "X" and (.name == "crosses" or .name == "second")) | .tid > 1000000'
	assert_output $'true\ntrue'
	run events 'select(.ph == "M" and .args.name == "studio (2)") | .pid'
	assert_output 300
}

@test "chrome: a fiber is a track, its open spans go with it" {
	studio | made cprof.data
	run events 'select(.ph == "X" and .name == "cook") | [.ts, .dur, .tid > 1000000]'
	assert_output '[661,29,true]'
	run events 'select(.ph == "X" and .name == "work") | [.ts, .dur, .tid]'
	assert_output '[650,60,301]'
	run events 'select(.ph == "X" and .name == "bake") | [.ts, .dur, .args.open]'
	assert_output '[671,1329,true]'
	chef=$(jq '.traceEvents[] | select(.ph == "M" and .args.name == "chef") | .tid' trace.json)
	run events "select(.ph == \"X\" and .tid == $chef) | .name"
	assert_output '"cook"'
	run events 'select(.ph == "M" and .name == "thread_name" and (.args.name | test("fibers"))) | .args.name'
	assert_output '"the helper (fibers)"'
	run events 'select(.cat == "fiber") | [.name, .ts, .dur]'
	assert_output $'["chef",660,10]\n["fiber 2",670,10]\n["chef",680,20]'
}

@test "chrome: async spans by id across threads, instants, counters, names" {
	studio | made cprof.data
	run events 'select(.ph == "b") | [.name, .args.object, .args.open]'
	assert_output $'["job","1",null]\n["job","2",true]'
	run events '[.ph, .ts, .tid, .id] | select(.[0] == "b" or .[0] == "e") | [.[0:3][]]'
	assert_output $'["b",540,300]\n["e",600,301]\n["b",545,300]\n["e",2000,300]'
	jq -e '[.traceEvents[] | select(.ph == "b" or .ph == "e")] | group_by(.id)
		| length == 2 and all(.[]; map(.ph) == ["b", "e"])' trace.json
	run events 'select(.ph == "i") | [.name, .s, .ts]'
	assert_output $'["hit the cache","t",190]\n["annotations lost","p",800]'
	run events 'select(.ph == "C") | [.name, .ts, .args.value]'
	assert_output $'["queued",550,3]\n["queued",555,9]\n["queued",560,-2]'
	run events 'select(.ph == "M" and .tid == 301 and .name == "thread_name") | .args.name'
	assert_output '"the helper"'
}

@test "chrome: counters of one name in two files are two" {
	made cprof.data <<-'END'
		command ./two
		length 1000
		totals status=0
		process 300 two /usr/bin/two
		thread 300 300 two
		a 300 100 counter 1 queued a.c
		a 300 200 counter 9 queued b.c
		a 300 300 counter 2 queued a.c
		a 300 400 counter 5 alone a.c
	END
	# As viewers do, by name and id.
	run events 'select(.ph == "C") | [.name, .id, .args.value]'
	assert_output $'["queued","a.c",1]\n["queued","b.c",9]\n["queued","a.c",2]\n["alone",null,5]'
}

@test "a format of stacks is refused where there are annotations alone" {
	printf '%s\n' 'command ./it' 'length 1000' 'totals status=0' 'process 300 it /usr/bin/it' \
		'thread 300 300 it' 'a 300 100 instant one a.c' | made cprof.data
	run "$CPROF" export -f speedscope
	assert_failure 2
	assert_line 'cprof: speedscope is of samples and calls, and cprof.data holds annotations alone'
	assert_line 'cprof: for annotations there are: chrome|perfetto|sqlite'
	for format in chrome perfetto sqlite; do
		"$CPROF" export -f $format -o $format
	done
	studio | made cprof.data
	"$CPROF" export -f speedscope | jq -e '.profiles | length > 0'
}

@test "replay: annotations among calls, nested, by thread" {
	studio | made cprof.data
	run "$CPROF" replay --thread=300 --time=-300us
	assert_success
	assert_output - <<-'END'
	    0.000100  frame() {
	    0.000110    ▶ load main.c level-1
	    0.000120      ▶ parse main.c
	    0.000180      ◀ parse  60.0 µs
	    0.000185      ▶ parse main.c
	    0.000190        ● hit the cache main.c key\x1b[31m
	    0.000195      ◀ parse  10.0 µs
	    0.000200    ◀ load  90.0 µs
	    0.000300  }  200 µs
	  ! 7 annotations were lost: they came faster than they were read (CPROF_TRACE_EVENTS in the program's environment makes its ring larger)
	END
	run "$CPROF" replay --thread=301
	assert_line '    0.000660    ⇄ the helper → chef'
	assert_line '    0.000690  ◀ cook  29.0 µs'
	assert_line '    0.002000  ◀ bake … not over at the end  1.33 ms'
	run "$CPROF" replay --min-duration=65us --thread=300
	refute_line --partial parse
	assert_line --partial '◀ load'
}

@test "replay --json: an object an event, in the order of time" {
	studio | made cprof.data
	"$CPROF" replay --json >lines
	jq -se 'map(.ts_ns) | . == sort' lines
	jq -se '[.[] | select(.event == "begin") | .name] == ["load", "parse", "parse", "crosses",
		"first", "second", "work", "cook", "bake"]' lines
	# Every end names what it ends; one has no beginning.
	jq -se '[.[] | select(.event == "end")] | map(select(.duration_ns)) as $ends
		| length == 9 and ($ends | length == 8 and all(.name))' lines
	jq -se '[.[] | select(.event == "finish") | [.tid, .duration_ns, .id]] == [[301, 60000, 7]]' lines
	jq -se '[.[] | select(.event == "fiber_switch") | [.from_fiber, .to_fiber]]
		== [[0, 1], [1, 2], [2, 1], [1, 0]]' lines
	jq -se '[.[] | select(.event == "counter") | .value] == [3, 9, -2]' lines
	jq -se '[.[] | select(.fiber == 1 and .event == "begin") | .name] == ["cook"]' lines
}

@test "perfetto: protoc decodes it; slices begin and end in turn on every track" {
	needs protoc
	studio | made cprof.data
	"$CPROF" export -f perfetto -o out.pftrace
	protoc --decode=cprof.perfetto.Trace -I "$SOURCES/src/report/export" perfetto.proto <out.pftrace >out
	refute grep -q -E '^ *[0-9]+:' out # no unknown field
	# 9 spans, 2 async ones, 2 calls.
	assert_equal "$(grep -c TYPE_SLICE_BEGIN out)" 13
	assert_equal "$(grep -c TYPE_SLICE_END out)" 13
	assert_equal "$(grep -c 'type: TYPE_INSTANT' out)" 2
	run awk '/counter_value:/ { print $2 }' out
	assert_output $'3\n9\n-2'
	grep -qF 'name: "chef"' out
	grep -qF 'thread_name: "the helper"' out
	grep -qF 'string_value: "level-1"' out
	# As a reader sorts them: what ends is what began last, on each track.
	awk '/^packet/ { at = name = type = track = "" } /^  timestamp:/ { at = $2 }
		/^    track_uuid/ { track = $2 } /TYPE_SLICE_/ { type = /BEGIN/ ? 1 : -1 }
		/^}/ && type { print at, NR, track, type }' out | sort -n -k1,1 -k2,2 >order
	run awk '{ open[$3] += $4; if (open[$3] < 0) print "bad" } END { for (t in open) if (open[t]) print "open" }' order
	assert_output ''
	# Each track that is used was described, but for those of calls and samples.
	run awk '/^  track_descriptor/ { given = 1 } /^  track_event/ { given = 0 }
		/^    uuid:/ { known[$2] = 1 } /^    track_uuid:/ { if (!known[$2]) print "unknown", $2 }' out
	assert_output ''
}

@test "sqlite: spans, instants, counters and switches are tables" {
	needs sqlite3
	studio | made cprof.data
	"$CPROF" export -f sqlite -o x.db
	assert_equal "$(sqlite3 x.db 'PRAGMA integrity_check; PRAGMA foreign_key_check')" ok
	assert_equal "$(sqlite3 x.db "SELECT count, ns, self_ns FROM span_sums WHERE name = 'parse'")" '2|70000|70000'
	assert_equal "$(sqlite3 x.db "SELECT p.name, s.name FROM spans s JOIN spans p ON p.id = s.parent")" \
		$'load|parse\nload|parse\nfirst|second'
	assert_equal "$(sqlite3 x.db "SELECT track, fiber, end_thread IS NULL FROM spans WHERE name = 'bake'")" 'fiber 2|2|1'
	assert_equal "$(sqlite3 x.db "SELECT value FROM counters WHERE name = 'queued' ORDER BY ts_ns")" $'3\n9\n-2'
	assert_equal "$(sqlite3 x.db "SELECT count(*) FROM fiber_switches")" 4
	assert_equal "$(sqlite3 x.db "SELECT name FROM instants")" 'hit the cache'
}

# The program's own counts, "what N", from its line.
said() { sed -n "s/.* $1 \([0-9]*\).*/\1/p" out; }

@test "run --annotations: all that the program announced, in the recording and in what is made of it" {
	"$CPROF" run --annotations -- "$TRACEES/timeline" --rounds=30 >out 2>summary
	grep -q 'Hottest spans' summary
	grep -q 'cprof export -f chrome' summary
	"$CPROF" report --json | jq -e --argjson spans "$(said spans)" --argjson jobs "$(said jobs)" \
		--argjson instants "$(said instants)" --argjson counters "$(said counters)" '.annotations |
		.lost == 0 and .unmatched == 0 and ([.spans[].count] | add) == $spans and
		([.spans[], .async[] | .open] | add) == 0 and .async[0].count == $jobs and
		.instants[0].count == $instants and .counters[0].count == $counters and
		.counters[0].last == 0'
	"$CPROF" replay --json >lines
	jq -se --argjson n "$(said switches)" '[.[] | select(.event == "fiber_switch" and (.noticed | not))]
		| length == $n' lines
	events '.' >/dev/null
	jq -e "$nested" trace.json
	jq -e --argjson spans "$(said spans)" '[.traceEvents[] | select(.ph == "X" and .cat != "fiber")] | length == $spans' trace.json
	# Jobs are finished by workers, meals eaten on the fibers' own tracks.
	jq -e '[.traceEvents[] | select(.ph == "e") | .tid] - [.traceEvents[] | select(.ph == "b") | .tid] | length > 0' trace.json
	jq -e '[.traceEvents[] | select(.ph == "M" and .name == "thread_name") | {key: (.tid | tostring), value: .args.name}]
		| from_entries as $names | [input.traceEvents[] | select(.name == "cook" or .name == "bake" or .name == "prepare")
		| select(.ph == "X" and .cat == "kitchen") | $names[.tid | tostring]] | unique == ["baker", "cook"]' \
		trace.json trace.json
}

@test "a span that is never ended ends with its thread, an async one with the program" {
	cat >open.c <<-'END'
		#include <cprof/trace.h>
		#include <pthread.h>
		static void *leave_open(void *unused)
		{
			cprof_trace_begin("outer", "c", NULL);
			cprof_trace_begin("inner", "c", NULL);
			cprof_trace_start("job", "c", NULL);
			return unused;
		}
		int main(void)
		{
			pthread_t t;

			pthread_create(&t, NULL, leave_open, NULL);
			pthread_join(t, NULL);
			return 0;
		}
	END
	"${CC:-cc}" -I "$SOURCES/include" -o open open.c -pthread
	"$CPROF" run -q --annotations -- ./open
	events '.' >/dev/null
	"$CPROF" report --json >report.json
	jq -e --slurpfile report report.json '$report[0].lives as $lives
		| ($lives.threads | map(select(.tid != .pid)) | .[0].end_ns) as $thread
		| $lives.processes[0].end_ns as $process | $thread < $process and (.traceEvents
		| (map(select(.ph == "X")) | length == 2 and
			all(.args.open and ((.ts + .dur) * 1000 | round) == $thread))
		and (map(select(.ph == "e") | .ts * 1000 | round) == [$process]))' trace.json
	run bash -c '"$CPROF" replay | grep -o "[▶◀⇉⇇●] [a-z]*"'
	assert_output $'▶ outer\n▶ inner\n⇉ job\n◀ inner\n◀ outer\n⇇ job'
}

@test "spans that longjmp() leaves open end with the span around them" {
	cat >jump.c <<-'END'
		#include <cprof/trace.h>
		#include <setjmp.h>
		static jmp_buf out;
		static void deep(int n)
		{
			CPROF_TRACE_SCOPE("deep");
			if (!n)
				longjmp(out, 1);
			deep(n - 1);
		}
		int main(void)
		{
			for (volatile int i = 0; i < 2; i++) {
				CPROF_TRACE_SCOPE("round");
				if (!setjmp(out))
					deep(1);
			}
			return 0;
		}
	END
	"${CC:-cc}" -I "$SOURCES/include" -o jump jump.c
	"$CPROF" run -q --annotations -- ./jump
	run bash -c '"$CPROF" replay | grep -o " *[▶◀] [a-z]*"'
	assert_output - <<-'END'
		  ▶ round
		    ▶ deep
		      ▶ deep
		      ◀ deep
		    ◀ deep
		  ◀ round
		  ▶ round
		    ▶ deep
		      ▶ deep
		      ◀ deep
		    ◀ deep
		  ◀ round
	END
	# All on the thread's own row.
	run events 'select(.ph == "X") | .tid == .pid'
	assert_output $'true\ntrue\ntrue\ntrue\ntrue\ntrue'
	jq -e "$nested" trace.json
}

@test "submitted events: of threads that are none, named or not, at the times given" {
	cat >gpu.c <<-'END'
		#include <cprof/trace.h>
		static void queue(uint32_t thread, uint64_t at)
		{
			cprof_trace_event e[2] = { 0 };

			e[0].thread_id = e[1].thread_id = thread;
			e[0].timestamp = at;
			e[1].timestamp = at + 5000;
			e[0].type = CPROF_TRACE_EVENT_BEGIN;
			e[1].type = CPROF_TRACE_EVENT_END;
			e[0].u.span.id = e[1].u.span.id = 1;
			e[0].u.span.name = "draw";
			cprof_trace_submit(e, 2);
		}
		int main(void)
		{
			cprof_trace_event name = { .type = CPROF_TRACE_EVENT_THREAD_NAME, .thread_id = 2000000001 };

			queue(2000000001, cprof_trace_now_());
			queue(2000000002, cprof_trace_now_());
			name.u.span.name = "gpu";
			cprof_trace_submit(&name, 1);
			return 0;
		}
	END
	"${CC:-cc}" -I "$SOURCES/include" -o gpu gpu.c
	"$CPROF" run -q --annotations -- ./gpu
	run "$CPROF" report --annotations
	assert_line --regexp '^ +2 +10\.0 µs .* draw$'
	assert_line --regexp '^ +1 +5\.00 µs .* gpu \(2000000001\)$'
	assert_line --regexp '^ +1 +5\.00 µs .* thread \(2000000002\)$'
}

@test "run --annotations -t -s: calls, samples and annotations on one time line" {
	"$CPROF" run -q --annotations -t 'update,draw,compute' -s 1000 -- "$TRACEES/timeline" --rounds=40 >out
	events '.' >/dev/null
	jq -e "$nested" trace.json
	# Each call of update() begins within the span "frame" of its thread, some ns behind its
	# beginning; times of calls without a stop are rounded to 8 ns. (A sample may show the
	# function, too: it has no net_ns.)
	jq -e '[.traceEvents[] | select(.ph == "X" and .name == "frame") | [.ts, .ts + .dur]] as $frames
		| [.traceEvents[] | select(.ph == "X" and .name == "update" and .cat == "timeline" and .args.net_ns) | .ts]
		| length == 40 and all(. as $t | any($frames[]; .[0] - 0.05 <= $t and $t <= .[1]))' trace.json
	"$CPROF" replay --json | jq -se 'map(.ts_ns) | . == sort'
}

@test "attach --annotations: what is announced from then on, as often as one attaches" {
	begin timeline
	for file in x.data y.data; do
		"$CPROF" attach -q -o $file --annotations -d 1s "$tracee"
		left_alone "$tracee"
		"$CPROF" replay --json $file | jq -r '.name // empty' | sort -u >names
		[ "$(wc -l <names)" -gt 3 ]
		"$CPROF" report --annotations $file | grep -q " $(head -n 1 names)\$"
		"$CPROF" replay --json $file | jq -r 'select(.event | IN("begin", "start", "instant", "counter")).name' |
			sort -u >names
		"$CPROF" export -f chrome $file | jq -r '.traceEvents[] | select(.ph | IN("X", "b", "i", "C")).name' |
			sort -u >shown
		assert_equal "$(comm -23 names shown)" ""
	done
	finish
	[[ $finished == "status 0, timeline: ok"* ]]
}

@test "merge: annotations of two runs, each process with its own tracks" {
	"$CPROF" run -q -o a.data --annotations -- "$TRACEES/timeline" >a
	"$CPROF" run -q -o b.data --annotations -- "$TRACEES/timeline" >out
	"$CPROF" merge -o ab.data a.data b.data
	"$CPROF" report --json ab.data | jq -e --argjson spans "$(said spans)" '.annotations |
		([.spans[].count] | add) == 2 * $spans and .unmatched == 0 and (.counters | length) == 2 and
		([.tracks[] | select(.fiber)] | length) == 4'
}
