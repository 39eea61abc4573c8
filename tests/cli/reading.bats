#!/usr/bin/env bats
# What reports are read for: whose a wait and an inlined call is, what stands there
# once, what a filter leaves, and what a terminal can show.

load helpers
load tracees

CC=${CC:-cc}
CXX=${CXX:-c++}

# waiting_program: 20 threads that wait, ten in each of two functions, and main().
waiting_program() {
	cat >waits.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t all;
static void *wait_for_work(void *arg)
{
	pthread_mutex_lock(&mutex);
	pthread_barrier_wait(arg);
	pthread_cond_wait(&never, &mutex);
	return NULL;
}
static void *sleeper(void *arg)
{
	pthread_barrier_wait(arg);
	for (;;)
		pause();
	return NULL;
}
int main(void)
{
	pthread_t t;
	pthread_barrier_init(&all, NULL, 2);
	for (int i = 0; i < 20; i++) {
		pthread_create(&t, NULL, i % 2 ? wait_for_work : sleeper, &all);
		pthread_barrier_wait(&all);
	}
	puts("ready");
	fflush(stdout);
	if (read(0, &t, 1))
		_exit(1);
	_exit(0);
}
END
	$CC -O1 -g -o waits waits.c -pthread
}

# all_wait: each thread is where it waits.
all_wait() {
	local task
	for task in "/proc/$pid/task/"*; do
		grep -q '^State:.S' "$task/status" || return 1
	done
}

begin_waiting() {
	mkfifo in
	exec {hold}<>in # so that it does not end
	: "$hold"
	./waits <in >out 2>err 3>&- &
	pid=$!
	started+=("$pid")
	until_true grep -q ready out
	until_true all_wait
}

@test "a wait is its function's that called the C library, and says what it waits in" {
	waiting_program
	begin_waiting
	"$CPROF" attach -q --clock=wall -s 99 -d 300ms -o x.data "$pid"
	"$CPROF" report --json x.data >x.json
	assert_equal "$(jq -r '[.samples.functions[] | select(.self_ns > 0)] | sort_by(.function)[] |
		"\(.function) \(.waits_in)"' x.json)" $'main read\nsleeper pause\nwait_for_work pthread_cond_wait'
	run "$CPROF" report --functions x.data
	assert_line --regexp ' 47\.[0-9]%.* wait_for_work  \(waits in pthread_cond_wait\)'
	# Who does nothing himself is in no row, or in one without numbers of his own.
	refute_line --regexp ' 0 ns '
	assert_output --partial start_thread
	run "$CPROF" report --limit=0 x.data
	refute_output --partial start_thread
}

# The kernel says how long it waited; so does the program, of its end.
@test "a wait for a CPU is no wait in the function that was to run" {
	cat >shares.c <<-'END'
		#define _GNU_SOURCE
		#include <sched.h>
		#include <signal.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <unistd.h>
		static long long said(int number)
		{
			long long ns[2] = { 0 };
			FILE *f = fopen("/proc/self/schedstat", "r");
			if (fscanf(f, "%lld %lld", &ns[0], &ns[1]) != 2)
				abort();
			fclose(f);
			return ns[number];
		}
		__attribute__((noinline)) static void works(void)
		{
			void *volatile p[64];
			for (int i = 0; i < 64; i++)
				p[i] = malloc(1000 + i);
			for (int i = 0; i < 64; i++)
				free(p[i]);
		}
		int main(void)
		{
			cpu_set_t one;
			pid_t other;
			CPU_ZERO(&one);
			CPU_SET(sched_getcpu(), &one);
			sched_setaffinity(0, sizeof(one), &one);
			other = fork();
			while (!other)
				;
			while (said(0) < 400000000)
				for (int i = 0; i < 1000; i++)
					works();
			printf("%lld\n", said(1));
			kill(other, SIGKILL);
			return 0;
		}
	END
	"${CC:-cc}" -O1 -fno-builtin -o shares shares.c
	"$CPROF" run -q --no-follow --clock=wall -s 499 -o x.data -- ./shares >said
	"$CPROF" report --json x.data >x.json
	jq -e --argjson said "$(<said)" '.samples | .ready_ns / $said | . > 0.5 and . < 2' x.json
	jq -e '.samples | .total_ns as $all | [.functions[] | select(.waits_in and .self_ns > $all / 10)] == []' x.json
	# Who asks for what waited gets it, too.
	jq -e --argjson all "$("$CPROF" report --json --state=waiting x.data | jq .samples.total_ns)" \
		'.samples.waiting_ns == $all' x.json
	"$CPROF" report x.data >x.text
	grep -Eq ' of it waiting, [0-9.]+ m?s for a CPU' x.text
	grep -Eq '^  time stopped +[0-9.]+ .?s, [0-9.]+% of the [0-9.]+ m?s that its threads were there' x.text
}

@test "threads with the same stack are shown once, as wide as the terminal" {
	waiting_program
	begin_waiting
	run "$CPROF" stack "$pid"
	assert_line 'process '"$pid"', 21 threads'
	assert_equal "$(grep -c '^10 threads "waits", sleeping: [0-9 ]*$' <<<"$output")" 2
	assert_equal "$(grep -c '^thread ' <<<"$output")" 1
	refute_output --partial './'
	# All of them are named: those that the kernel has.
	assert_equal "$(grep -E '^(10 threads|thread)' <<<"$output" | grep -oE '\<[0-9]{3,}\>' | sort -n)" \
		"$(find "/proc/$pid/task" -mindepth 1 -maxdepth 1 -printf '%f\n' | sort -n)"
	run "$CPROF" stack --no-group "$pid"
	assert_equal "$(grep -c '^thread [0-9]* "waits", sleeping$' <<<"$output")" 21
	assert_equal "$("$CPROF" stack --json "$pid" | jq '.threads | length')" 21
	COLUMNS=60 run "$CPROF" stack "$pid"
	[ "$(wc -L <<<"$output")" -le 60 ]
	assert_line --regexp '^ +at .*waits\.c:[0-9]+ in waits$'
}

@test "what Rust's library has inlined is its caller's" {
	cat >inlined.rs <<'END'
#[inline(never)]
fn folded(v: &[u64]) -> u64 {
    v.iter().map(|x| x.rotate_left(3)).fold(1u64, |a, b| a.wrapping_mul(31).wrapping_add(b))
}
fn main() {
    let v: Vec<u64> = (0..100000).collect();
    let mut sum = 0u64;
    let at: *const Vec<u64> = &v;
    for _ in 0..2000 { sum = sum.wrapping_add(folded(unsafe { &*std::ptr::read_volatile(&at) })); }
    println!("{sum}");
}
END
	rustc -O -g -o inlined inlined.rs 2>/dev/null
	"$CPROF" run -q -s 499 -o x.data -- ./inlined
	"$CPROF" report --json x.data >x.json
	# All but the start is in code of this file.
	jq -e '.samples.functions | (map(select(.file and (.file | endswith("inlined.rs"))) | .self_ns) | add) >
		0.9 * (map(.self_ns) | add)' x.json
	jq -e '[.samples.functions[] | select((.function | startswith("core::num")) and .self_ns > 0)] == []' x.json
}

@test "threads that no sample hit are counted, too" {
	cat >short.c <<'END'
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
static void *nothing(void *arg) { return arg; }
int main(void)
{
	pthread_t t;
	for (int i = 0; i < 30; i++) {
		pthread_create(&t, NULL, nothing, NULL);
		pthread_join(t, NULL);
	}
	for (int i = 0; i < 3; i++)
		if (!fork())
			_exit(0);
	while (wait(NULL) > 0)
		;
	for (volatile long i = 0; i < 100000000; i++)
		;
	return 0;
}
END
	$CC -O1 -g -o short short.c -pthread
	run --separate-stderr "$CPROF" run -s 99 -- ./short
	[[ $stderr == *' 34 threads'*' 4 processes'* ]]
}

@test "a filter that nothing passes is said to be one; --time cuts at both ends" {
	"$CPROF" run -q -o x.data -t leaf,recurse -- "$TRACEES/counted" --depth=5
	run "$CPROF" replay -F laef x.data
	assert_failure 1
	assert_line "cprof: no function of the recording matches 'laef'"
	assert_line --regexp "did you mean 'leaf.*'"
	run "$CPROF" replay --thread=nosuch x.data
	assert_failure 1
	assert_line "cprof: no thread of the recording is 'nosuch'"
	# From a moment after the first event to one in the middle of them.
	"$CPROF" replay --json x.data >all
	from=$(jq -s '.[10].ts_ns' all) to=$(jq -s 'map(.ts_ns) | sort | .[length / 2 | floor]' all)
	"$CPROF" replay --json --time="${from}ns-${to}ns" x.data >some
	[ "$(wc -l <some)" -gt 0 ]
	jq -se --argjson from "$from" --argjson to "$to" \
		'map(select(.ts_ns < $from or .ts_ns > $to)) == []' some
}

@test "pprof: the first mapping is that of the program" {
	"$CPROF" run -q -s 99 -o x.data -- "$TRACEES/counted" --depth=5 --rounds=200
	"$CPROF" export -f pprof -o x.pb x.data || skip 'no sample'
	gunzip <x.pb | protoc --decode=cprof.pprof.Profile -I "$SOURCES/src/report/export" pprof.proto >out
	at=$(awk '/^mapping/ { in_it = 1 } in_it && /filename:/ { print $2; exit }' out)
	assert_equal "$(sed -n 's/^string_table: //p' out | sed -n "$((at + 1))p")" "\"$TRACEES/counted\""
}

@test "where the locale has no more than ASCII, neither has a report" {
	waiting_program
	"$CPROF" run -q -s 999 -t leaf -a -o x.data -- "$TRACEES/counted" --depth=5
	"$CPROF" report x.data | LC_ALL=C grep -q $'[\x80-\xff]'
	for command in report replay; do
		LC_ALL=C "$CPROF" "$command" x.data >out
		assert_equal "$(LC_ALL=C grep -c $'[\x80-\xff]' out)" 0
		[ -s out ]
	done
	LC_ALL=C "$CPROF" run -s 99 -o y.data -- true 2>err
	assert_equal "$(LC_ALL=C grep -c $'[\x80-\xff]' err)" 0
	# A locale that is not installed is what its name says; JSON is UTF-8 always.
	LC_ALL=xx_YY.UTF-8 "$CPROF" report x.data | LC_ALL=C grep -q $'[\x80-\xff]'
	LC_ALL=C "$CPROF" report --json x.data >c.json
	"$CPROF" report --json x.data | cmp - c.json
}

@test "stripped programs have a _start and a main" {
	waiting_program
	for how in -pie -no-pie -static; do
		$CC -O1 -o "stripped$how" waits.c -pthread "$how"
		want=$(nm "stripped$how" | awk '$3 == "main" || $3 == "_start" { sub("^0*", "", $1); print $1, $3 }' | sort)
		strip "stripped$how"
		assert_equal "$("$CPROF" functions --json "./stripped$how" '_start,main' |
			jq -r '.[] | "\(.address | ltrimstr("0x")) \(.function)"' | sort)" "$want"
		"$CPROF" run -q -o "x$how.data" -t main -- "./stripped$how" </dev/null >out
		assert_equal "$("$CPROF" replay --json "x$how.data" | jq -r 'select(.event == "enter").function')" main
	done
}

@test "what can't be run or looked at says what it is" {
	printf '#! /no/such/interpreter -x\n' >script
	chmod +x script
	run -127 "$CPROF" run -- ./script
	assert_line "cprof: cannot run './script': there is no '/no/such/interpreter', which its first line names"
	cat >zombie.py <<'END'
import os, sys
pid = os.fork()
if not pid:
    os._exit(0)
os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
print(pid, flush=True)
sys.stdin.read()
END
	mkfifo in
	exec {hold}<>in # so that it does not end
	: "$hold"
	python3 zombie.py <in >out 2>err 3>&- &
	started+=($!)
	until_true test -s out
	run "$CPROF" stack "$(cat out)"
	assert_failure 1
	assert_line "cprof: process $(cat out) is a zombie: it has ended"
	run "$CPROF" run -q -- "$CPROF" run -q -o inner.data -- true
	assert_failure # 125, or what LeakSanitizer makes of it
	assert_line --regexp '^cprof: process [0-9]+ \(cprof-tracer\) traces it already: only one'
}

@test "diff and merge say what they have" {
	"$CPROF" run -q -c -s 999 -o 1.data -- "$TRACEES/counted" --depth=5
	"$CPROF" run -q -s 999 -o 2.data -- "$TRACEES/counted" --depth=5
	run "$CPROF" diff 1.data 2.data
	assert_success
	assert_line --regexp '^old .* samples?, coverage  '
	refute_line --regexp '^new .*coverage'
	assert_line 'Only the old recording has coverage.'
	assert_output --partial 'Samples compared by share'
	run "$CPROF" merge -o m.data 1.data 2.data
	assert_success
	assert_output --partial 'coverage of 1 of 2'
}

@test "of a recording that was cut off, nothing is said not to have been" {
	"$CPROF" run -q -t getsid@libc -o whole.data -- "$TRACEES/counted" --depth=5
	run "$CPROF" report whole.data
	assert_output --partial 'No calls: the function that is traced was not called'
	head -c -30 whole.data >cut.data
	run "$CPROF" report cut.data
	assert_success
	assert_output --partial 'was not closed'
	refute_output --partial 'No calls'
	assert_line 'Nothing is in what there is of the recording.'
}
