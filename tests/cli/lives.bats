#!/usr/bin/env bats
# Processes and threads from beginning to end, as reports have them. The programs
# say themselves who there was and how they ended.

load helpers
load tracees

# lives FILE [OPTION...]: "PID PARENT BEGAN ENDED STATUS" of each life of a process.
lives() {
	"$CPROF" report --json "$@" | jq -r '.lives.processes[] | "\(.pid) \(.ppid // "-") \(.began_by)" +
		" \(.ended_by // "-") \(.exit_status // .signal // "-")"'
}

@test "processes: how each of them began and ended" {
	cat >family <<-'END'
		echo "$$ - start exit 5"
		(exit 3) &
		one=$!
		wait $one
		echo "$one $$ fork exit $?"
		(kill -KILL $BASHPID) &
		two=$!
		wait $two
		echo "$two $$ fork signal $(($? - 128))"
		(exec true) &
		three=$!
		wait $three
		printf "$three $$ %s\n" "fork exec -" "exec exit $?"
		exit 5
	END
	run -5 --separate-stderr "$CPROF" run -q -o rec -- bash family
	# shellcheck disable=SC2154 # set by run
	sort <<<"$output" >want
	lives rec | sort | diff want -
	run -0 "$CPROF" report --processes rec
	assert_line --regexp '^ +[0-9]+ +- +0 ns  start .* exit status 5 +bash$'
	assert_line --regexp '^ +[0-9]+ +[0-9]+ .* fork .* signal 9 \(Killed\) +bash$'
	assert_line --regexp ' exec .* exit status 0 '
	assert_equal "$("$CPROF" report rec | grep -c '^Lives of processes')" 1
	for columns in 60 80; do
		(($(COLUMNS=$columns "$CPROF" report rec | wc -L) <= columns)) || fail "wider than $columns"
	done
}

@test "threads: when each of them began and ended, their CPU time is that of the program" {
	"$CPROF" run -q -s 100 -o rec -- "$TRACEES/many_threads" --mode=spin --threads=4 --rounds=3 >out
	"$CPROF" report --json rec >json
	assert_equal "$(jq '.lives.threads | length' json)" 5
	jq -e '[.duration_ns as $all | .lives.threads[] |
		.start_ns <= .end_ns and .end_ns <= $all and .ended_by == "exit"] | all' json
	jq -e '.lives.threads | map(.tid) | unique | length == 5' json
	jq -e '.lives.processes[0].pid as $pid | .lives.threads | map(.pid == $pid) | all' json
	# The kernel's account of the whole process.
	jq -e '(.lives.threads | map(.cpu_ns) | add) == .samples.cpu_ns' json
	run -0 "$CPROF" report --threads rec
	assert_line 'Lives of threads  since the start of the recording'
	run -0 "$CPROF" report --threads --thread="$(jq '.lives.threads[1].tid' json)" rec
	assert_equal "$(grep -v '^  ! ' <<<"$output" | grep -c ' ended ')" 1
}

@test "threads: one of which nothing is recorded but that it lived is found" {
	cat >idle.c <<-'END'
		#include <pthread.h>
		static void *nothing(void *p) { return p; }
		int main(void)
		{
			pthread_t t;
			for (int i = 0; i < 3; i++) {
				pthread_create(&t, NULL, nothing, NULL);
				pthread_join(t, NULL);
			}
		}
	END
	gcc -O1 -o idle idle.c -pthread
	"$CPROF" run -q -s 1 -o rec -- ./idle
	"$CPROF" report --json rec >json
	assert_equal "$(jq -c '[.samples.total, (.lives.threads | length)]' json)" '[0,4]'
	run -0 "$CPROF" report --threads --thread="$(jq '.lives.threads[2].tid' json)" rec
	assert_equal "$(grep -c ' ended ' <<<"$output")" 1
	run -1 "$CPROF" report --threads --thread=1 rec
	assert_output --partial "no thread of the recording is '1'"
}

@test "names of threads: the last that each had, however short it lived" {
	cat >named.c <<-'END'
		#define _GNU_SOURCE
		#include <pthread.h>
		#include <stdio.h>
		static void *work(void *number)
		{
			char name[16];
			snprintf(name, sizeof(name), "worker-%ld", (long)number);
			pthread_setname_np(pthread_self(), name);
			return 0;
		}
		int main(void)
		{
			pthread_t t[20];
			for (long i = 0; i < 20; i++)
				pthread_create(&t[i], 0, work, (void *)i);
			for (int i = 0; i < 20; i++)
				pthread_join(t[i], 0);
		}
	END
	gcc -O1 -w -o named named.c -pthread
	"$CPROF" run -q -t work -o rec -- ./named
	"$CPROF" report --json rec >json
	{ seq -f 'worker-%.0f' 0 19; echo named; } | sort >want
	jq -r '.lives.threads[].name' json | sort | diff want -
	run -0 "$CPROF" report --threads --thread=worker-7 rec
	assert_output --partial worker-7
}

@test "attach: the CPU time of threads that are let go is the program's" {
	begin many_threads --mode=spin --threads=3
	"$CPROF" attach -q -d 200ms -o rec "$tracee"
	"$CPROF" report --json rec >json
	jq -e '[.lives.threads[].cpu_ns | numbers] | length >= 3' json
	# The total was read a moment before.
	jq -e '(.lives.threads | map(.cpu_ns) | add) as $sum |
		$sum >= .samples.cpu_ns and $sum < 2 * .samples.cpu_ns' json
	finish
}

@test "attach: processes that were there before, and go on" {
	begin pipes
	"$CPROF" attach -q -d 100ms -o rec "$tracee"
	run -0 lives rec --pid="$tracee"
	assert_output "$tracee - attach let go -"
	"$CPROF" report --json --pid="$tracee" rec >json
	jq -e '.lives.threads | length > 0 and all(.ended_by == "let go")' json
	finish
}

@test "calls and coverage are recorded with lives, merging keeps all" {
	cat >main.c <<-'END'
		#include <unistd.h>
		#include <sys/wait.h>
		int main(void)
		{
			int status;
			if (!fork())
				return 4;
			wait(&status);
			return status != 4 << 8;
		}
	END
	${CC:-cc} -g -o forking main.c
	"$CPROF" run -q -t main -o one -- ./forking
	"$CPROF" run -q --coverage -o two -- ./forking
	"$CPROF" merge -o both one two
	for rec in one two; do
		run -0 lives "$rec"
		assert_output --regexp '^([0-9]+) - start exit 0
[0-9]+ [0-9]+ fork exit 4$'
	done
	diff <(lives one && lives two) <(lives both)
}

@test "a recording that was cut short has who lived then" {
	start "$CPROF" run -q -s 200 -o rec -- "$TRACEES/pipes" --until=stop
	until_true eval 'lives rec 2>/dev/null | grep -q " start - -"'
	kill -KILL "$pid"
	touch stop
	run -0 "$CPROF" report --processes rec
	assert_line --regexp ' start .* not seen +pipes$'
}
