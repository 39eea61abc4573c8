#!/usr/bin/env bats
# Tables of recordings. What is expected was added up by hand from the text
# that the recordings are made of.

load helpers
load recordings

report() { run "$CPROF" report "$@"; }

@test "report says what was recorded, what is missing and what it cost" {
	workshop | made cprof.data
	report
	assert_success
	assert_line ./workshop\ --rounds=3
	assert_line --partial "900 ms of CPU time in 1.00 s · 90 samples at 100 Hz · 3 threads"
	assert_line --partial "exit status 0"
	assert_line "  ! 2 samples were lost"
	assert_line --partial "11.1% of the time is in stacks that don't reach the root"
	assert_line --partial "33.3% of the time is in stacks with a guessed frame"
	assert_line --partial "90, a thread held 9.00 µs (median), 40.0 µs (p99)"
	assert_line --partial "1.80 ms, 0.2% of the program's CPU time"
	assert_line --partial "12.0 ms of CPU, 1.3% of the program's"
	assert_line --regexp '^ +33\.3% +█+ +300 ms +33\.3% +libfast\.so +libfast\.so\+0x[0-9a-f]+$'
	assert_line --regexp '^ +22\.2% +█+.? +200 ms +22\.2% +libc\.so\.6 +malloc$'
	assert_line --regexp '^ +50\.0% +█+ +450 ms +45 +worker-1 \(101\)$'
}

@test "report --json keeps its keys, and its sums agree" {
	workshop | made cprof.data
	"$CPROF" report --json >json
	run jq -c '[.command, .duration_ns, .exit_status, .samples.total, .samples.lost,
		.overhead.stopped_ns, .overhead.stops, .overhead.stops_per_event,
		.overhead.rejected, .overhead.restarted]' json
	assert_output '[["./workshop","--rounds=3"],1000000000,0,90,2,1800000,90,1,{},1]'
	run jq -c '[(.samples.functions | map(.self) | add), (.samples.functions | map(.self_ns) | add),
		(.threads | map(.total_ns) | add), (.processes | map(.total_ns) | add),
		(.samples.images | map(.self_ns) | add)]' json
	assert_output '[90,900000000,900000000,900000000,900000000]'
	run jq -c '.samples.functions[] | select(.function == "parse(int)") | [.image, .self, .total]' json
	assert_output '["workshop",0,30]'
}

@test "report fits the width, whatever it shows" {
	workshop | made cprof.data
	for columns in 60 80 200; do
		for how in '' --tree --lines '-F parse' '-F scan --lines' --threads; do
			# shellcheck disable=SC2086 # words
			COLUMNS=$columns "$CPROF" report $how >out
			(($(wc -L <out) <= columns)) || fail "$how is wider than $columns: $(cat out)"
		done
	done
}

@test "report lets nothing through that steers a terminal" {
	workshop | made cprof.data
	for how in '' --tree --lines --threads --json '-F owned'; do
		# shellcheck disable=SC2086 # words
		"$CPROF" report $how >out
		run grep -c -P '[\x00-\x08\x0b-\x1f\x7f]' out
		assert_output 0
	done
	run "$CPROF" report --threads
	assert_line --partial 'evil\x1b[31m\x0a</text>'
}

@test "report has colors on a terminal only, and not with NO_COLOR" {
	workshop | made cprof.data
	"$CPROF" report --functions | assert_not_colored
	CPROF_PAGER='' script -qec "'$CPROF' report --functions" /dev/null >colored
	grep -q $'\e\\[' colored
	NO_COLOR=1 CPROF_PAGER='' script -qec "'$CPROF' report --functions" /dev/null | assert_not_colored
}

assert_not_colored() { ! grep $'\e\\['; }

@test "report of a part: thread, process, image, time" {
	workshop | made cprof.data
	total() { "$CPROF" report --json "$@" | jq .samples.total_ns; }
	assert_equal "$(total --thread=101)" 450000000
	assert_equal "$(total --thread='work*')" 750000000
	assert_equal "$(total --pid=100)" 900000000
	assert_equal "$(total --pid=7)" 0
	assert_equal "$(total --image='libc*')" 200000000
	assert_equal "$(total --time=0s-0.1s)" 200000000
	assert_equal "$(total --time=-300ms --thread=101)" 300000000
	assert_equal "$(total --time=300ms- --thread=100)" 200000000
	report --time=3
	assert_failure 2
	assert_output --partial "1.5s-3s"
}

@test "report of elapsed time tells running from waiting" {
	made cprof.data <<-'END'
		clock wall
		process 1 p /p
		thread 1 1 p
		totals unsampled_ns=1000000000
		s 1 100000 10 main;work
		w 1 900000 90 main;sleep
	END
	report
	assert_line --partial "1.00 s of elapsed time"
	assert_line --partial "900 ms of it waiting"
	refute_output --partial "before their next sample"
	report --state=running
	assert_line --partial "100 ms of elapsed time"
	assert_line "  only running"
	refute_output --partial sleep
	report --state=waiting --json
	assert_equal "$(jq -c '.samples | [.total_ns, .waiting_ns]' <<<"$output")" '[900000000,900000000]'
}

@test "report --function: callers and callees add up to the function" {
	workshop | made cprof.data
	report -F parse
	assert_success
	assert_line 'parse(int)  workshop'
	assert_line --partial "total 33.3%, 300 ms · self 0.0%"
	assert_line --partial "recursive: 33.3% of it with more than one on the stack, up to 2 deep"
	assert_line --regexp '100\.0% .* 300 ms  workshop +main$'
	assert_line --regexp '66\.7% .* 200 ms  libc\.so\.6 +malloc$'
	assert_line --regexp '33\.3% .* 100 ms  workshop +scan<char>$'
	run bash -c "'$CPROF' report --json -F parse | jq -c '.function | [.function, .total_ns,
		(.callers | map([.function, .ns])), (.callees | map([.function, .ns])), (.lines | length)]'"
	assert_output '["parse(int)",300000000,[["main",300000000]],[["malloc",200000000],["scan<char>",100000000]],2]'
	report --callers=malloc
	assert_line --regexp 'parse\(int\)$'
	refute_line --regexp '^Callees'
	report -F nothing_of_that_name
	assert_failure 1
	assert_output --partial "no sample has a function named 'nothing_of_that_name'"
	report -F s
	assert_failure 2
	assert_output --partial "more than one function is meant"
}

@test "report --lines: cost by source line, with the text where there is a file" {
	printf 'one\n\ttwo();\nthree\n' >here.c
	{
		echo "process 1 p /p"
		echo "thread 1 1 p"
		echo "s 1 10000 1 main|p|$PWD/here.c|2"
	} | made cprof.data
	report --lines
	assert_line --regexp 'here\.c:2 +two\(\);$'
	# One place is one line, whoever has it.
	{
		echo "process 1 p /p"
		echo "thread 1 1 p"
		echo "s 1 1000 1 main|p|m.c|1;less<int>|p|less.h|5"
		echo "s 1 3000 3 main|p|m.c|1;less<long>|p|less.h|5"
	} | made cprof.data
	report --lines
	assert_line --regexp '^ +100\.0% .* 100\.0%  less\.h:5 +less<long>$'
	report --lines -F 'less<int>'
	assert_line --regexp '^ +25\.0% .* 25\.0%  less\.h:5 +less<int>$'
	workshop | made cprof.data
	report --lines -F work
	assert_line --regexp '16\.7% .* 16\.7%  work\.c:8'
	assert_line --regexp ' 0\.0% .* 33\.3%  work\.c:7'
}

@test "report: samples that all came by stops are not said to be none without one" {
	for made in 'perf_samples=90|perf: 90 samples without a stop' \
		'perf_samples=0|perf: 90 samples by stops' \
		'perf_samples=2|perf: 2 samples without a stop, 88 by stops'; do
		{ workshop; echo 'capture perf'; echo "totals ${made%|*}"; } | made cprof.data
		report
		assert_line --regexp "^  capture  *${made#*|}\$"
	done
}

@test "report --tree: only children stand below, branches to the right" {
	workshop | made cprof.data
	report --tree --min=1
	assert_line --regexp '^ +50\.0% +0\.0%  ├─ start_thread$'
	assert_line --regexp '^ +50\.0% +16\.7%  │  work$'
	assert_line --regexp '^ +33\.3% +33\.3%  │  libfast\.so\+0x[0-9a-f]+ \(guessed\)$'
	assert_line --regexp '^ +33\.3% +0\.0%  │  parse\(int\) \(recursive, up to 2 deep\)$'
	assert_line --regexp '^ +22\.2% +22\.2%  │  ├─ malloc$'
	assert_line --regexp '^ +11\.1% +11\.1%  │  └─ scan<char> \(inlined\)$'
	assert_line --regexp '├─ \[truncated\]$'
	report --tree --min=40
	assert_line --partial "smaller branches are not shown"
}

@test "report of several processes: each has its row, its threads and its stacks" {
	made cprof.data <<-'END'
		process 1 sh /bin/sh
		thread 1 1 sh
		process 2 sort /bin/sort
		thread 2 2 sort
		s 1 100000 10 main;fork
		s 2 300000 30 main;compare
	END
	report
	assert_line --partial "2 threads · 2 processes"
	assert_line --regexp '^ +75\.0% +█+ +300 ms +30 +sort \(2\)  /bin/sort$'
	assert_line --regexp '^ +25\.0% +█+.? +100 ms +10 +sh \(1\) of sh \(1\)$'
	report --tree
	assert_line --regexp '^ +75\.0% +0\.0%  ├─ sort \(2\)$'
	report --tree --roots=none
	assert_line --regexp '^ +100\.0% +0\.0%  main$'
	report --pid=1 --tree
	assert_line --regexp '^ +100\.0% +0\.0%  main$'
}

@test "report reads standard input" {
	workshop | made cprof.data
	run bash -c "'$CPROF' report - <cprof.data"
	assert_success
	assert_line ./workshop\ --rounds=3
}

@test "report says what is missing of a recording that was cut" {
	workshop | made whole.data
	for percent in 95 60; do
		head -c $(($(stat -c %s whole.data) * percent / 100)) whole.data >cut.data
		report cut.data
		assert_line --partial "the recording was not closed"
	done
	report nowhere.data
	assert_failure 1
	assert_output --partial "nowhere.data"
	echo no recording >text.data
	report text.data
	assert_failure 1
}

@test "report of no samples is no failure" {
	echo "command true" | made cprof.data
	report
	assert_success
	assert_line --partial "No samples: the program used 0 ns of CPU time"
}

@test "diff says what became hotter and cooler, and by which measure" {
	head='process 1 p /p
thread 1 1 p'
	printf '%s\ns 1 600000 60 main;slow\ns 1 400000 40 main;gone\n' "$head" | made old.data
	printf '%s\ns 1 100000 10 main;slow\ns 1 100000 10 main;new\n' "$head" | made new.data
	run "$CPROF" diff old.data new.data
	assert_success
	assert_line --partial "by share of each recording's total, in percentage points"
	assert_line --regexp '^ +\+50\.00 +- +50\.0% .* new$'
	assert_line --regexp '^ +-40\.00 +40\.0% +- .* gone$'
	assert_line --regexp '^ +~-10\.00 +60\.0% +50\.0% .* slow$'
	run bash -c "'$CPROF' diff --json old.data new.data | jq -c '.functions[] | [.function, .self_points, .old_self_ns, .new_self_ns]'"
	assert_line '["new",50,0,100000000]'
	assert_line '["gone",-40,400000000,0]'
	run "$CPROF" diff --by=time old.data new.data
	assert_line --regexp '^ +-500 ms +600 ms +100 ms .* slow$'
	run "$CPROF" diff old.data
	assert_failure 2
}

@test "merge adds recordings up, each once" {
	for k in 1 2; do
		printf 'process %d p /p\nthread %d %d p\ns %d 100000 10 main;f%d\n' $k $k $k $k $k | made $k.data
	done
	"$CPROF" merge -o both.data 1.data 2.data
	"$CPROF" merge -o again.data both.data 2.data
	for merged in both.data again.data; do
		run bash -c "'$CPROF' report --json $merged | jq -c '[.samples.total, .samples.total_ns, (.samples.functions | map(.function) | sort)]'"
		assert_output '[20,200000000,["f1","f2","main"]]'
	done
	run "$CPROF" report both.data
	assert_line --partial "merged from 2 recordings"
	run "$CPROF" merge 1.data
	assert_failure 2
}

@test "merge: what is refused leaves the output as it was" {
	"$CPROF" run -q -o cpu.data -s 99 -- true
	"$CPROF" run -q -o wall.data -s 99 --clock=wall -- true
	cp cpu.data before
	run "$CPROF" merge -o cpu.data cpu.data wall.data
	assert_failure 1
	cmp cpu.data before
	[ ! -e cpu.data.old ]
	run "$CPROF" merge -o new.data cpu.data wall.data
	assert_failure 1
	[ ! -e new.data ]
}

@test "report of calls: times less overhead, distribution, what was traced" {
	desk | made cprof.data
	COLUMNS=200 report
	assert_success
	assert_line --partial '2.97 ms in traced calls in 3.00 ms · 14 calls · 2 threads'
	assert_line --partial 'less what tracing added'
	assert_line --regexp '^ +3  27\.0 µs  27\.0 µs +11\.0 µs  19\.0 µs  27\.0 µs  27\.0 µs  27\.0 µs  27\.0 µs  desk   fact$'
	assert_line --regexp '^ +1  11\.0 µs  11\.0 µs +31\.0 µs .* a$'
	assert_line --regexp '^ +1  37\.0 µs  25\.0 µs .* geo::move\(point,dir\)$'
	assert_line --regexp '^ +1  2\.90 ms  2\.77 ms +- .* main$'
	assert_line '  ! clamp was called 12,000 times in a second and is no longer traced from then on (--max-rate)'
	assert_line '  calls         28 events of 40 stops; no event: 3 at jumps inside the function, 5 where the condition did not hold'
	assert_line '  traced        9 functions at 20 places; each stop takes 2.00 µs more to get to cprof and back'
	refute_output --partial 'No sample'
	COLUMNS=80 report --calls --sort=calls -n 2
	assert_line --regexp '^ +3 .* fact$'
	assert_line --partial 'and 8 more'
	assert_line '  no room for min, p95, p99, p99.9: a wider terminal has it, and --json'
	(($(COLUMNS=80 "$CPROF" report | wc -L) <= 80))
	for columns in 200 0; do
		COLUMNS=$columns report --calls
		assert_line --regexp ' p95 +p99 +p99\.9 '
		refute_output --partial 'no room for'
	done
}

@test "times of which only a bound is known are called bounds, in tables and JSON" {
	printf '%s\n' 'command ./desk' 'length 200' 'process 200 desk /usr/bin/desk' 'thread 200 200 desk' \
		'c 200 0 main|desk|main.c|1' 'c 200 10 fact|desk|f.c|1' 'r 200 20 5' \
		'c 200 10 fact|desk|f.c|1' 'r 200 20 12~8' 'c 200 10 fact|desk|f.c|1' \
		'r 200 20 17~6' 'r 200 10 5' | made cprof.data
	"$CPROF" replay | sed -E 's/^ +//' >got
	assert_equal "$(cut -d' ' -f3- got)" "$(printf '%s\n' 'main() {' '  fact()  15.0 µs' \
		'  fact()  <= 8.00 µs' '  fact()  <= 3.00 µs' '}  95.0 µs')"
	run jq -c 'select(.event == "leave") | [.duration_ns, .overhead_ns, .uncertain_ns]' \
		<<<"$("$CPROF" replay --json)"
	assert_output "$(printf '%s\n' '[20000,5000,null]' '[20000,12000,8000]' '[20000,17000,6000]' \
		'[100000,5000,null]')"
	# The sum is that of what is shown, 15 + 8 + 3: it may be 7 less than is likely, or more.
	COLUMNS=200 report
	assert_line --partial '<=: at most that'
	assert_line --regexp '^ +3  <= 26\.0 µs  <= 26\.0 µs  <= 3\.00 µs  <= 8\.00 µs  15\.0 µs '
	run jq -c '.calls | .upper_bound, (.functions[] | select(.function == "fact") |
		[.total_ns, .upper_bounds])' <<<"$("$CPROF" report --json)"
	assert_output "$(printf '%s\n' true \
		'[26000,["total_ns","self_ns","min_ns","average_ns","deviation_ns","median_ns"]]')"
	# One call's time is the sum of one.
	printf '%s\n' 'command ./desk' 'length 200' 'process 200 desk /usr/bin/desk' 'thread 200 200 desk' \
		'c 200 0 main|desk|main.c|1' 'c 200 10 fact|desk|f.c|1' 'r 200 20 12~8' 'r 200 10 5' | made once.data
	run "$CPROF" report --calls --json once.data
	assert_equal "$(jq -c '.calls.functions[] | select(.function == "fact") | .total_ns' <<<"$output")" 8000
}

# bounded: two threads with calls of which little is known but a bound.
bounded() {
	printf '%s\n' 'command ./desk' 'length 300' 'process 200 desk /usr/bin/desk' \
		'thread 200 200 desk' 'thread 200 201 desk'
	for thread in 200 201; do
		printf '%s\n' "c $thread 0 main|desk|main.c|1" "c $thread 10 fact|desk|f.c|1" \
			"r $thread 20 12~8" "c $thread 10 fact|desk|f.c|1" "r $thread 20 16~4" \
			"r $thread 10 5"
	done
}

@test "a recording has one sum of a function's calls, whoever shows it, and says where it is a bound" {
	needs sqlite3
	bounded c | made cprof.data
	"$CPROF" report --json >report.json
	jq -r '.calls.functions[] | . as $f | [.function, .total_ns, .self_ns] +
		(["total_ns", "self_ns"] | map(. as $k | ($f.upper_bounds // []) | index($k) != null)) |
		join(" ")' report.json | sort >want
	grep -q 'fact .* true true' want # or nothing is tested
	"$CPROF" export -f sqlite -o x.db
	sqlite3 -separator ' ' x.db "select name, total_ns, self_ns, iif(total_at_most, 'true', 'false'),
		iif(self_at_most, 'true', 'false') from function_calls" | sort >got
	diff want got
	"$CPROF" export -f html -o x.html
	# Rows of the table: <td ... data-v="NS">[&lt;= ]words</td>; self's time comes before total's.
	sed -n '/id="functions"/,/<\/table>/p' x.html | grep '<tr data-image' | python3 -c '
import re, sys
for row in sys.stdin:
    cells = re.findall(r"<td class=\"n\" data-v=\"(\d+)\">([^<]*)</td>", row)
    name = re.search(r"<td class=\"name\"[^>]*>([^<]*)", row).group(1)
    bound = lambda cell: "true" if cell[1].startswith("&lt;= ") else "false"
    print(name, cells[3][0], cells[1][0], bound(cells[3]), bound(cells[1]))' | sort >got
	diff want got
	"$CPROF" diff --json cprof.data cprof.data | jq -r '.calls.functions[] | . as $f |
		[.function, .new_total_ns, .new_self_ns] + (["new_total_ns", "new_self_ns"] |
		map(. as $k | $f.upper_bounds | index($k) != null)) | join(" ")' | sort >got
	diff want got
	# The tree has words: those of the table.
	COLUMNS=200 "$CPROF" report --calls >table; cat table
	words=$(awk '$NF == "fact" { print $2, $3, $4 }' table)
	COLUMNS=200 "$CPROF" report --tree >tree
	grep -F "$words" tree | grep -q 'fact$'
	# Threads are a section of their own and of the calls.
	assert_equal "$(jq -c '[.threads[] | .total_ns] | sort' report.json)" \
		"$(jq -c '[.calls.threads[] | .total_ns] | sort' report.json)"
}

@test "what a stop takes is told as it was measured: by how many, from what to what" {
	desk | made cprof.data
	report
	assert_line --partial 'each stop takes 2.00 µs more to get to cprof and back'
	refute_output --partial 'measured'
	desk | sed 's/trap_ns=2000/trap_ns=2000 trap_low_ns=1900 trap_high_ns=8800000 traps=63/' | made cprof.data
	COLUMNS=200 report
	assert_line --partial 'takes 2.00 µs more to get to cprof and back (median; a tenth less than 1.90 µs, a tenth more than 8.80 ms)'
	desk | sed 's/trap_ns=2000/trap_ns=8800000 trap_low_ns=1900 trap_high_ns=8800000 traps=2/' | made cprof.data
	COLUMNS=200 report
	assert_line --partial 'takes 1.90 µs to 8.80 ms more to get to cprof and back (only 2 were measured)'
	run jq -c '.overhead | [.trap_ns, .trap_low_ns, .trap_high_ns, .traps]' <<<"$("$CPROF" report --json)"
	assert_output '[8800000,1900,8800000,2]'
}

@test "CPU time after the last samples is only put down to threads that ended where they have" {
	workshop | sed 's/ status=0/ unsampled_ns=100000000&/; s/^totals /&cpu_ns=1000000000 /' | made cprof.data
	COLUMNS=200 report
	assert_line --partial 'is missing above: it was used by threads that ended before their next sample'
	workshop | sed 's/ status=0/ unsampled_ns=100000000&/; s/^totals /&cpu_ns=1000000000 threads=1 /' | made cprof.data
	COLUMNS=200 report
	assert_line --partial "of the program's CPU time is not above: it came after its last sample"
	workshop | sed 's/ status=0/ unsampled_ns=100000000/; s/^totals /&cpu_ns=1000000000 /' | made cprof.data
	COLUMNS=200 report
	assert_line --partial 'it was used after the last sample of a thread: before that ended, or before cprof left'
}

@test "report --function: who was not traced is a caller by the stacks of --stack" {
	cat >callers.c <<-'END'
		__attribute__((noinline)) void wanted(int n) { __asm__ volatile("" : : "r"(n) : "memory"); }
		__attribute__((noinline)) void one(int n)
		{
			for (int i = 0; i < 3; i++)
				wanted(n);
			__asm__ volatile("");
		}
		__attribute__((noinline)) void two(int n) { wanted(n); __asm__ volatile(""); }
		int main(int argc, char **) { one(argc); two(argc); return 0; }
	END
	cc -std=gnu2x -O1 -g -o callers callers.c
	"$CPROF" run -q -t wanted --stack -o x.data -- ./callers
	run jq -c '[.calls.function.callers[] | [.function, .calls]] | sort' \
		<<<"$("$CPROF" report --json -F wanted x.data)"
	assert_output '[["one",3],["two",1]]'
	report -F wanted x.data
	refute_output --partial 'nobody that was traced'
	"$CPROF" run -q -t wanted -o x.data -- ./callers
	report -F wanted x.data
	assert_line --partial '(nobody that was traced)'
}

@test "report --tree: who calls itself stands on one line" {
	{
		printf '%s\n' 'command ./desk' 'length 900' 'process 200 desk /usr/bin/desk' 'thread 200 200 desk' \
			'c 200 0 main|desk|main.c|1'
		yes 'c 200 1 down|desk|f.c|1' | head -n 60
		yes 'r 200 1 0' | head -n 60
		echo 'r 200 10 0'
	} | made cprof.data
	"$CPROF" report --tree >out
	assert_equal "$(grep -c down out)" 1
	total=$("$CPROF" report --calls | awk '$NF == "down" { print $2, $3 }')
	grep -qE " $total +(<= )?[0-9.]+ .?s +60  down \(recursive, up to 60 deep\)$" out
}

@test "report --tree: functions that call each other in a circle stand on a line each" {
	{
		printf '%s\n' 'command ./desk' 'length 900' 'process 200 desk /usr/bin/desk' 'thread 200 200 desk' \
			'c 200 0 main|desk|main.c|1'
		for _ in {1..20}; do
			printf '%s\n' 'c 200 1 value|desk|f.c|1' 'c 200 1 list|desk|f.c|9' 'c 200 1 item|desk|f.c|20'
		done
		printf '%s\n' 'c 200 1 value|desk|f.c|1' 'c 200 1 number|desk|f.c|30' 'r 200 5 0'
		yes 'r 200 1 0' | head -n 61
		echo 'r 200 10 0'
	} | made cprof.data
	"$CPROF" report --tree >out
	# And what was left of the last time round.
	assert_equal "$(grep -oE '(main|value|list|item|number)( \(recursive.*)?$' out)" "main
value (recursive, up to 20 deep)
list (recursive, up to 20 deep)
item (recursive, up to 20 deep)
value
list
number"
}

@test "replay fits the width with bounds, too; what no filter lets through is said" {
	{
		printf '%s\n' 'command ./desk' 'length 200' 'process 200 desk /usr/bin/desk' 'thread 200 200 desk'
		for n in 1 12 123 1234; do
			printf '%s\n' "c 200 0 takes_many_arguments|desk|f.c|1 text:\"$(printf 'x%.0s' {1..90})\"" \
				"r 200 $((n * 20)) 12~8 \"$(printf 'y%.0s' {1..90})\""
		done
	} | made cprof.data
	for columns in 80 100 120; do
		COLUMNS=$columns "$CPROF" replay >out
		grep -q ' <= 8' out
		(($(wc -L <out) <= columns))
	done
	assert_equal "$("$CPROF" replay --time=10s-)" 'Nothing passes the filter.'
}

@test "report --json of calls agrees with the events of replay" {
	for recording in desk 'busy_desk 5000'; do
		$recording | made cprof.data
		"$CPROF" replay --json >events
		"$CPROF" report --json >report
		run python3 "$SOURCES/tests/cli/replay_judge.py" events report
		assert_success
		assert_output --partial ' agree'
	done
	desk | made cprof.data
	run jq -c '[.samples.total, .calls.events, .calls.lost, .calls.upper_bound, .overhead.stops_per_event,
		.overhead.rejected]' <<<"$("$CPROF" report --json)"
	assert_output '[0,28,0,false,1.428571429,{"inside":3,"unsampled":0,"condition":5,"condition_unknown":0,"late":0,"unmatched":0}]'
	run jq -c '.calls.functions[] | select(.function == "fact")' <<<"$("$CPROF" report --json)"
	assert_output '{"function":"fact","image":"desk","calls":3,"total_ns":27000,"self_ns":27000,"min_ns":11000,"average_ns":19000,"deviation_ns":6532,"median_ns":19000,"p90_ns":27000,"p95_ns":27000,"p99_ns":27000,"p999_ns":27000,"max_ns":27000,"overhead_ns":54000,"unwound":0,"tail_calls":0,"open":0}'
}

@test "report of calls: callers and callees among what was traced" {
	desk | made cprof.data
	report -F fact
	assert_success
	assert_line --regexp '^ +3 calls · total 27\.0 µs'
	assert_line --regexp '^ +1  27\.0 µs  100\.0% .* main$'
	assert_line --regexp '^ +2  19\.0 µs   70\.4% .* fact$'
	report --callers=lookup
	assert_line --regexp '^ +1  20\.0 µs  100\.0% .* main$'
	refute_line --partial Callees
	run jq -c '.calls.function.callers | map([.function, .image, .calls, .ns, .self_ns, .min_ns, .p999_ns, .max_ns])' \
		<<<"$("$CPROF" report --json -F clamp)"
	assert_output '[["geo::move(point,dir)","desk",1,12000,12000,12000,12000,12000],["b","desk",1,10000,10000,10000,10000,10000]]'
	# The middle of a bucket of 3 %; the ends are exact.
	run jq -c '.calls.function.callers[] | select(.function == "fact") | [.min_ns, .median_ns, .max_ns]' \
		<<<"$("$CPROF" report --json -F fact)"
	assert_output '[11000,11000,19000]'
	report -F nosuch
	assert_failure
	assert_output --partial "no call has a function named 'nosuch'"
}

@test "report of samples and calls shows both" {
	{ workshop; echo 'c 100 5 traced|workshop|t.c|1'; echo 'r 100 20 0'; } | made cprof.data
	report
	assert_line --partial '90 samples at 100 Hz'
	assert_line --regexp '^ +1  20\.0 µs .* traced$'
	assert_line --partial 'Hot functions'
	report -F traced
	assert_success
	assert_line --partial '1 call · total 20.0 µs'
	run jq -c '[.samples.total, .calls.calls]' <<<"$("$CPROF" report --json)"
	assert_output '[90,1]'
}

@test "diff of calls: called more and less, slower and faster" {
	desk | made old.data
	desk | sed -e 's/^r 200 30 10 "10/r 200 90 10 "10/' -e '/fact/d' -e '/^r 200 12 /d' -e '/^r 200 20 9 1/d' \
		-e 's/^d .*/c 200 1 clamp|desk|move.c|2 1\nr 200 2 1 1/' | made new.data
	run "$CPROF" diff old.data new.data
	assert_success
	assert_line --regexp '^ +2 +3 +10\.0 µs +10\.0 µs .* clamp$'
	assert_line --regexp '^ +3 +- +19\.0 µs +- .* fact$'
	assert_line --regexp '^ +1 +1 +20\.0 µs +80\.0 µs .* lookup'
	refute_line --partial Hotter
	run jq -c '.calls.functions[] | select(.function == "clamp") | [.old_calls, .new_calls, .old_median_ns]' \
		<<<"$("$CPROF" diff --json old.data new.data)"
	assert_output '[2,3,10000]'
}

@test "coverage: table and JSON of a recording, files of the system left out" {
	made cases.cprof <"$SOURCES/tests/unit/coverage/cases.txt"
	run "$CPROF" report cases.cprof
	[[ $output == *"Coverage  the worst files first"*"68.2%"*"15/22"*"/src/demo/main.c"*total* ]]
	[[ $output != *"No sample"* && $output != *stdio.h* ]]
	run "$CPROF" report --coverage cases.cprof
	[[ $output == *"/src/demo/main.c"* && $output != *"Cost of profiling"* ]]
	"$CPROF" report --json cases.cprof >out.json
	# What the parts say adds up to the whole.
	for what in lines functions branches; do
		jq -e ".coverage | .$what.total == ([.files[], .binaries[]] | map(.$what.total) | add)
			and .$what.covered == ([.files[], .binaries[]] | map(.$what.covered) | add)" out.json
	done
	jq -e '.coverage.files[] | select(.file == "/src/demo/main.c") | .lines.total == 22
		and .uncovered == [[7, 7], [20, 20], [23, 23], [33, 36]]' out.json
	made plain.cprof <<<"s 1 1 1 main"
	run "$CPROF" report --coverage plain.cprof
	[[ $output == *"No coverage was recorded."* ]]
}

@test "diff: less and more covered files and lines" {
	made old.cprof <<-'END'
		image prog
		fn f /src/a.c 1
		b 1 2 3
		b 0 4
		fn g /src/b.c 1
		b 1 2 3
		b 1 5
		fn h /src/same.c 1
		b 1 2
	END
	made new.cprof <<-'END'
		image prog
		fn f /src/a.c 1
		b 1 2 3
		b 1 4
		fn g /src/b.c 1
		b 0 2 3
		b 1 5 7
		fn h /src/same.c 1
		b 1 2
	END
	run "$CPROF" diff old.cprof new.cprof
	[[ $output == *"lines 85.7% to 75.0%"*"Less covered"*-50.0*"~2-3"*b.c*"More covered"*+33.3*4*a.c* ]]
	[[ $output != *same.c* && $output != *Hotter* ]]
	"$CPROF" diff --json old.cprof new.cprof >out.json
	jq -e '.coverage.files | map([.file, .less, .more, .changed]) ==
		[["/src/a.c", [], [[4, 4]], false], ["/src/b.c", [[2, 3]], [], true]]' out.json
	jq -e '.coverage.old.lines == {covered: 6, total: 7}' out.json
	# Merged, each line is covered that is in one of them.
	"$CPROF" merge -o both.cprof old.cprof new.cprof
	jq -e '.coverage.lines == {covered: 8, total: 8}' <<<"$("$CPROF" report --json both.cprof)"
	made other.cprof <<<$'image prog\nfn f /src/a.c 1\nb 1 2'
	run "$CPROF" merge -o both.cprof old.cprof other.cprof
	assert_failure 1
	assert_output --partial "different code of f"
}

@test "what was too short to be sampled used CPU time in a thread all the same" {
	"$CPROF" run -q -s 1 -o x.data -- true
	run "$CPROF" report x.data
	assert_line --regexp '^  [1-9][0-9.]* (µs|ms) of CPU time in .* · 0 samples at 1 Hz · 1 thread$'
}

@test "exceptions, locks and counters alone" {
	"$CPROF" run -q -o x.data --exceptions -- "$TRACEES/throws" >out
	run "$CPROF" report x.data
	assert_line --regexp '^Exceptions '
	sed -n '/^Exceptions /,/^$/p' <<<"$output" >all
	for option in --exceptions --reports=exception; do
		run "$CPROF" report "$option" x.data
		assert_success
		sed -n '/^Exceptions /,/^$/p' <<<"$output" | diff -B all -
		refute_line --regexp '^(Cost|Lives|Calls)'
	done
	run "$CPROF" report --locks x.data
	assert_line 'No locks were recorded.'
	run "$CPROF" report --reports=monitor,counter x.data
	assert_success
	assert_line 'No locks were recorded.'
	assert_line 'No counters were recorded.'
}

@test "calls are the same by themselves and beside what they cost" {
	"$CPROF" run -q -o x.data -t 'recurse,tail_*,thrower,catcher,worker,leaf' --max-rate=0 -- "$TRACEES/counted" >out
	# The table is made in the walk that makes stacks of calls, or in one of its own.
	for how in '' --under=recurse '--thread=counted --limit=2' --time=0-0.01; do
		read -ra options <<<"$how"
		"$CPROF" report --calls "${options[@]}" x.data >with
		"$CPROF" report --reports=header,call "${options[@]}" x.data >without
		diff -B with without
	done
	# The program has counted them, too.
	"$CPROF" report --json x.data | jq -r '.calls.functions[] | "\(.function) enter=\(.calls)"' | sort >with
	grep -ohE '^(recurse|tail_[a-z]*|thrower|catcher|worker|leaf) enter=[0-9]+' out | sort | diff - with
}

@test "a call that takes less than nothing, as a broken recording says, takes none" {
	made cprof.data <<-'END'
		command ./desk
		length 3000
		process 200 desk /usr/bin/desk
		thread 200 200 desk
		c 200 10 main|desk|main.c|10
		c 200 100 f|desk|look.c|5
		r 200 -5 0
		r 200 300 0~9999999999
	END
	"$CPROF" report --json | jq -e '.calls.functions | map({ (.function): . }) | add |
		.f.max_ns == 0 and .f.total_ns == 0 and .main.total_ns < 1000000'
	"$CPROF" replay >text
	run grep -E '[0-9]{4,} s' text
	assert_failure
}

# desks NAME=TIME[~UNCERTAIN]...: a recording of one call of each, of so many microseconds.
desks() {
	local one
	printf '%s\n' 'command ./desk' 'length 3000' 'process 200 desk /usr/bin/desk' 'thread 200 200 desk'
	for one; do
		printf 'c 200 10 %s|desk|main.c|10\n' "${one%%=*}"
		one=${one#*=}
		[[ $one == *~* ]] || one+='~0'
		printf 'r 200 %s 0~%s\n' "${one%%~*}" "${one#*~}"
	done
}

@test "diff: what is known to be at most so long is slower or faster only where that follows" {
	desks known_slower=100 bound_then_slower=100~90 maybe_slower=100 maybe_faster=300~280 \
		bound_then_faster=300 both_bounds=100~90 | made old.data
	desks known_slower=300 bound_then_slower=300 maybe_slower=300~280 maybe_faster=100 \
		bound_then_faster=100~90 both_bounds=300~280 | made new.data
	"$CPROF" diff old.data new.data >compared
	assert_equal "$(sed -n '/^Slower/,/^$/p' compared | grep -oE '[a-z]+_[a-z_]+$' | sort | xargs)" \
		'bound_then_slower known_slower'
	assert_equal "$(sed -n '/^Faster/,/^$/p' compared | grep -oE '[a-z]+_[a-z_]+$' | xargs)" bound_then_faster
	grep -F 'of 3 functions a call takes at most so long (<=)' compared
}

# Judged by the recording's own whole names.
@test "long names of C++ are short where there is no room, and different ones stay different" {
	needs g++ jq
	cat >long.cpp <<-END
		#include <algorithm>
		#include <map>
		#include <string>
		#include <vector>
		namespace { struct Hidden { std::string pick(const std::map<std::string, int> &m, int i) { return m.begin()->first + std::to_string(i); } }; }
		__attribute__((noinline)) long use(const std::vector<std::string> &v) { return (long)v.size(); }
		__attribute__((noinline)) long use(const std::vector<int> &v) { return (long)v.size(); }
		template <class T, class U> __attribute__((noinline)) long mix(T t, U u) { return (long)t + (long)u; }
		int main()
		{
			std::map<std::string, int> m;
			std::vector<std::string> v;
			std::vector<int> w;
			long n = 0;
			for (int i = 0; i < 9; i++) {
				m[std::to_string(i % 3)]++;
				n += (long)Hidden().pick(m, i).size();
			}
			for (auto &e : m) {
				v.push_back(e.first);
				w.push_back(e.second);
			}
			std::sort(v.begin(), v.end());
			std::sort(w.begin(), w.end(), [](int a, int b) { return a > b; });
			return n + use(v) + use(w) + mix(1, 2L) + mix('a', 2.0) + mix(3u, 'c') < 0;
		}
	END
	g++ -g -O0 -o long long.cpp
	"$CPROF" run -q -o rec -t program -- ./long
	whole=$("$CPROF" report --json rec | jq -r '.calls.functions[].function' | sort -u | wc -l)
	[ "$whole" -gt 100 ]
	for columns in 80 100 200; do
		COLUMNS=$columns "$CPROF" report -n 0 rec >shown
		(($(wc -L <shown) <= columns)) || fail "wider than $columns"
		# What is behind the last time; below may stand for which columns there is no room.
		awk '/^$|^  no room for / { on = 0 } on; /^ *calls .* function$/ { on = 1 }' shown | sed -E 's/.*[0-9] (ns|µs|ms|s)  //' >names
		assert_equal "$columns $(wc -l <names)" "$columns $whole"
		assert_equal "$columns $(sort names | uniq -d)" "$columns "
		[ $columns -ne 80 ] || cp names short
	done
	grep -qx 'Hidden::pick' short
	grep -qx 'std::operator+' short
	grep -qx 'std::map::operator\[\]' short
	# What machines read, and what is as wide as it likes, has all of each name.
	run "$CPROF" report -n 0 rec
	assert_line --regexp ' std::map<std::.*>::operator\[\]\(.*\)$'
	# Rows of the page are a line, with the whole name as the title.
	"$CPROF" export -f html -o page.html rec
	assert_equal "$(grep -c '^<tr data-image=' page.html)" "$whole"
	assert_equal "$(sed -nE 's/.*<td class="name" title="([^"]*)">.*/\1/p' page.html | sort -u | wc -l)" "$whole"
	sed -nE 's/.*<td class="name" title="[^"]*">([^<]*)<.*/\1/p' page.html | sort >cells
	assert_equal "$(uniq -d cells)" ''
	(($(sed 's/&[a-z]*;/x/g' cells | wc -L) <= 72)) || fail "a cell is wider than 72"
}

@test "functions that were called, in every order, and as comma-separated values" {
	busy_desk 2000 | made cprof.data
	for order in self total calls min max average deviation; do
		key=${order}_ns
		[ "$order" != calls ] || key=calls
		"$CPROF" report --json --calls --sort="$order" >json
		run jq -e --arg k "$key" '.calls.functions | map(.[$k]) | . == (sort | reverse)' json
		assert_output true
		"$CPROF" report --csv --sort="$order" >csv
		python3 - csv json <<-'END'
			import csv, json, sys
			rows = list(csv.DictReader(open(sys.argv[1], newline="")))
			functions = json.load(open(sys.argv[2]))["calls"]["functions"]
			assert len(rows) == len(functions) == 5
			for row, f in zip(rows, functions):
			    for key, value in row.items():
			        assert value == str(f.get(key, 0 if key == "cpu_ns" else "")), (key, value, f)
		END
	done
	"$CPROF" report --calls --sort=average >out
	grep -qE '^ *calls  +total  +self  +min  +average  +deviation  +median' out
	"$CPROF" report --calls >out
	run grep deviation out
	assert_failure 1
	workshop | made w.data
	"$CPROF" report --csv w.data | python3 -c '
import csv, json, sys
f = json.load(open(sys.argv[1]))["samples"]["functions"]
rows = list(csv.DictReader(sys.stdin))
assert [int(r["self_ns"]) for r in rows] == [g["self_ns"] for g in f], rows
assert [int(r["total_ns"]) for r in rows] == [g["total_ns"] for g in f], rows
assert any(r["function"].endswith("&\"\x27]]>") for r in rows)
' <("$CPROF" report --json w.data)
	run "$CPROF" report --csv --coverage
	assert_failure 2
	assert_output --partial 'it is of --functions, --calls, --tree,'
	run "$CPROF" report --csv --json
	assert_failure 2
	run "$CPROF" report --csv -n 2
	assert_equal "${#lines[@]}" 3
}

@test "the call tree of traced calls has their number and times: as the events add up" {
	"$CPROF" run -q -o x.data -t 'worker,leaf,tail_first,tail_middle,tail_last,catcher' --max-rate=0 \
		-- "$TRACEES/counted" --depth=20 >out
	"$CPROF" replay --json x.data >events
	"$CPROF" report --tree --csv x.data >tree
	run python3 - events tree <<-'END'
		import collections, csv, json, sys
		stacks, paths = collections.defaultdict(list), collections.Counter()
		for e in map(json.loads, open(sys.argv[1])):
		    stack = stacks[e["tid"]]
		    if e["event"] == "enter":
		        stack.append(e["function"])
		        paths[tuple(stack)] += 1
		    elif e["event"] in ("leave", "tail_call", "unwind"):
		        stack.pop()
		got, path = {}, []
		for row in csv.DictReader(open(sys.argv[2], newline="")):
		    path[int(row["depth"]) - 1:] = [row["function"]]
		    got[tuple(path)] = int(row["calls"])
		    assert int(row["self_ns"]) <= int(row["total_ns"]) or row["upper_bounds"], row
		assert got == dict(paths), (got, paths)
		print(len(got), "paths")
	END
	assert_success
	assert_output --regexp '^[1-9][0-9]* paths$'
	"$CPROF" report --tree --min=0 x.data >out
	leaves=$("$CPROF" report --tree --csv x.data | sed -n 's/^2,leaf,counted,\([0-9]*\),.*/\1/p')
	sed 's/[│├└─,]//g' out | awk -v n="$leaves" '$NF == "leaf" && $(NF - 1) == n { found = 1 } END { exit !found }' ||
		fail "$leaves: $(cat out)"
	COLUMNS=80 "$CPROF" report --tree x.data >out
	(($(wc -L <out) <= 80))
}

# same TABLE KEY: the table as comma-separated values is what KEY, a filter of jq, makes of
# the JSON; its columns are named as there.
same() {
	"$CPROF" report --csv "--$1" >table.csv
	"$CPROF" report --json ${3:+"$3"} | jq -c "$2" >table.json
	python3 - <<-'END' || fail "$1"
		import csv, json
		rows = list(csv.DictReader(open("table.csv", newline="")))
		want = json.load(open("table.json"))
		def text(v):
		    return "" if v is None else str(v)
		assert rows and len(rows) == len(want), (len(rows), len(want))
		for row, w in zip(rows, want):
		    assert set(w) <= set(row), (w, row)
		    assert {k: row[k] for k in w} == {k: text(v) for k, v in w.items()}, (row, w)
	END
	run -0 "$CPROF" report --csv -n 1 "--$1"
	assert_equal "${#lines[@]}" 2
}

@test "report --csv of other tables: what the JSON has" {
	"$CPROF" run -q -s 999 --clock=wall --allocs --locks --maps --exceptions -- "$TRACEES/contend" >out
	same allocs '[.allocations.functions[] | {function, moved, resized, allocated_blocks: .allocated.blocks,
		allocated_bytes: .allocated.bytes, freed_blocks: .freed.blocks, freed_bytes: .freed.bytes,
		replaced_blocks: .replaced.blocks, left_blocks: .left.blocks, left_bytes: .left.bytes}]'
	same locks '[.locks[] | {address, type, variable, pid, waited_in, waits, timed_out, unfinished, total_ns, longest_ns}]'
	same maps '[.mappings.functions[] | {function, mapped, longest_ns, created_mappings: .created.mappings,
		created_bytes: .created.bytes, removed_mappings: .removed.mappings, left_bytes: .left.bytes}]'
	"$CPROF" report --json >whole.json
	"$CPROF" report --csv --threads >threads.csv
	"$CPROF" report --csv --processes >processes.csv
	"$CPROF" report --csv --images >images.csv
	python3 - <<-'END'
		import csv, json
		whole = json.load(open("whole.json"))
		total = whole["samples"]["total_ns"]
		for name in "threads", "processes", "images":
		    rows = list(csv.DictReader(open(name + ".csv", newline="")))
		    times = [int(r["time_ns"]) for r in rows]
		    assert rows and times == sorted(times, reverse=True), name
		    assert sum(times) == total, (name, sum(times), total)
		    assert sum(int(r["samples"]) for r in rows) == whole["samples"]["total"], name
		by = {t["tid"]: t["name"] for t in whole["threads"]}
		for r in csv.DictReader(open("threads.csv", newline="")):
		    assert by[int(r["tid"])] == r["name"], r
	END
	"$CPROF" run -q --exceptions -- "$TRACEES/exceptions" >out
	same exceptions '[.exceptions.kinds[] | {type, count, rethrown, thrown_in, caught_in}]'
}
