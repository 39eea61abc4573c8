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
	refute_output --partial "is carried by no sample"
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
	workshop | made cprof.data
	report --lines -F work
	assert_line --regexp '16\.7% .* 16\.7%  work\.c:8'
	assert_line --regexp ' 0\.0% .* 33\.3%  work\.c:7'
}

@test "report --tree: only children stand below, branches to the right" {
	workshop | made cprof.data
	report --tree --min=1
	assert_line --regexp '^ +50\.0% +0\.0%  ├─ start_thread$'
	assert_line --regexp '^ +50\.0% +16\.7%  │  work$'
	assert_line --regexp '^ +33\.3% +33\.3%  │  libfast\.so\+0x[0-9a-f]+ \(guessed\)$'
	assert_line --regexp '^ +11\.1% +11\.1%  │  ├─ parse\(int\)$|^ +11\.1% +0\.0%  │  .─ parse\(int\)$'
	assert_line --regexp 'scan<char> \(inlined\)$'
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
	assert_line "No sample was taken."
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
