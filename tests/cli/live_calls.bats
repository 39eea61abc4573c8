#!/usr/bin/env bats
# --live: calls as they come. The judge is the replay of a recording made at the same time,
# and what the program itself waits for.

load helpers

CC=${CC:-cc}

# same OPTION... -- CMD...: what is shown live, and what a replay shows of it. $shown has
# options of replay, which run takes as well.
same() {
	timeout 200 "$CPROF" run -q --live=live "${shown[@]}" -o all.data "$@" >/dev/null
	"$CPROF" replay "${shown[@]}" all.data >replayed
	diff live replayed | head -20
	cmp live replayed && [ -s live ]
}

@test "the same lines as a replay: arguments, results, tail calls, exceptions, by detours and by breakpoints" {
	shown=()
	same -t program -a -r -- "$TRACEES/tails"
	same --traps -t program -a -r -- "$TRACEES/tails"
	shown=("--fields=time,tid,duration") # by default threads are told from the second one on
	same -t program --exceptions --stack -a -r -- "$TRACEES/throws"
	assert [ "$(grep -c '✗ unwound' live)" -gt 0 ]
	assert [ "$(grep -c '↯' live)" -gt 0 ]
	same -t 'tree*,main' --under=main --allocs -- "$TRACEES/heap"
}

# threads: three of them, and a child, call each other's names; ends by SIGKILL of its own.
threads() {
	cat >threads.c <<'END'
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#define N __attribute__((noinline, noclone))
volatile int sink;
N int leaf(int i) { sink += i; return i + 1; }
N int mid(const char *what) { return leaf(*what) + leaf(2); }
N int tailer(int i) { return leaf(i); }
N void *thread(void *arg) { for (int i = 0; i < 200; i++) { mid(arg); tailer(i); } return arg; }
N void killed(void) { leaf(3); kill(getpid(), SIGKILL); }
int main(void)
{
	pthread_t t[3];
	int i;

	for (i = 0; i < 3; i++)
		pthread_create(&t[i], 0, thread, "abc");
	for (i = 0; i < 3; i++)
		pthread_join(t[i], 0);
	if (!fork()) {
		mid("child");
		_exit(0);
	}
	wait(0);
	killed();
	return 0;
}
END
	"$CC" -g -O2 -pthread -o threads threads.c
}

@test "threads, processes, a SIGKILL; fields, flat, columns" {
	threads
	for how in --stack --traps; do
		shown=("--fields=time,tid,depth,image,source,site,duration")
		same "$how" -t program -a -r -- ./threads || true
		assert [ -s live ]
		assert_equal "$(diff live replayed)" ''
		assert_equal "$(grep -c '} ✗ its thread ended' live)" 2
		shown=(--flat "--fields=pid,thread")
		same "$how" -t program -a -- ./threads || true
		assert_equal "$(diff live replayed)" ''
	done
	shown=(--column-view --fields=none)
	same -t program -- ./threads || true
	assert_equal "$(diff live replayed)" ''
}

# waits: calls asks(N) for N from 0 on, each as soon as the one before was answered through
# the pipe `go`; after the answer q it never returns from last().
waits() {
	cat >waits.c <<'END'
#include <fcntl.h>
#include <unistd.h>
#define N __attribute__((noinline, noclone))
volatile int sink;
N int asks(int n) { sink += n; return n * 2; }
N void last(int fd, const char *why) { char c; sink++; while (read(fd, &c, 1) > 0) sink++; sink += *why; }
int main(int argc, char **argv)
{
	int fd = open("go", O_RDWR), n;
	char c = 0;

	(void)argc;
	for (n = 0; c != 'q'; n++) {
		asks(n);
		if (read(fd, &c, 1) != 1)
			return 1;
	}
	last(fd, argv[0]);
	return 0;
}
END
	"$CC" -g -O2 -o waits waits.c
	mkfifo go
}

answered() { [ "$(grep -c 'asks(' err)" -gt "$1" ]; }
first_answer() { printf x >&9 && answered 0; }

@test "each call is there before the program goes on; an open one with its brace; SIGTERM; no file" {
	waits
	for how in '' --traps; do
		exec 9<>go
		./waits 9>&- 3>&- &
		started+=("$!")
		target=$!
		start "$CPROF" attach --live ${how:+"$how"} -t asks,last -a -r "$target"
		until_true first_answer
		for _ in 1 2 3; do
			seen=$(grep -c 'asks(' err)
			printf x >&9
			until_true answered "$seen"
		done
		printf q >&9
		until_true grep -q 'last([0-9]*, "./waits") {$' err
		grep -o 'asks(.*) = [0-9]*' err | tr -d '()=' | awk '$3 != 2 * substr($1, 5) && $2 != 2 * substr($1, 5)' >wrong
		assert_equal "$(cat wrong)" ''
		kill -TERM "$pid"
		wait "$pid"
		assert_equal "$(tail -1 err | sed 's/.*} … not over at the end.*/open/')" open
		assert_not_exist cprof.data
		kill "$target"
		exec 9>&-
	done
}

@test "who reads nothing, or no more, does not hold the program" {
	cat >many.c <<'END'
#include <stdio.h>
__attribute__((noinline, noclone)) int leaf(int i) { __asm__ volatile(""); return i; }
int main(void) { for (int i = 0; i < 200000; i++) leaf(i); puts("done"); return 7; }
END
	"$CC" -g -O2 -o many many.c
	mkfifo to
	# Nobody reads.
	exec 8<>to
	separately -7 timeout 100 "$CPROF" run --live=to -t leaf -a -- ./many 8>&-
	assert_output 'done'
	[[ $stderr =~ ([0-9,]+)\ lines\ of\ calls\ could\ not\ be\ shown ]]
	exec 8>&-
	assert [ "${BASH_REMATCH[1]//,/}" -gt 100000 ]
	# The reader has gone: without a recording that is the end, with one it is not.
	(head -n 2 to >first &)
	separately -7 timeout 100 "$CPROF" run --live=to -t leaf -a -- ./many
	assert_output 'done'
	assert_regex "$stderr" 'the session ended early: .*Broken pipe'
	assert_equal "$(wc -l <first)" 2
	(head -n 2 to >first &)
	separately -7 timeout 100 "$CPROF" run -q --live=to -t leaf -a -o all.data -- ./many
	assert_equal "$("$CPROF" replay --json all.data | grep -c '"enter"')" 200000
}

@test "on a terminal: cut to its width, in colour" {
	needs script
	threads
	COLUMNS=80 script -qec "$CPROF run --live -t mid,leaf -a -r -- ./threads" /dev/null </dev/null | tr -d '\r' >seen || true
	assert [ "$(grep -c $'\e\\[36mmid' seen)" -ge 600 ]
	sed 's/\x1b\[[0-9;]*m//g' seen | awk 'length($0) > 80 && /mid|leaf/' >wide
	assert_equal "$(cat wide)" ''
}

@test "what makes no sense is refused" {
	run -125 "$CPROF" run --live -- true
	assert_output --partial 'say which with --trace'
	run -125 "$CPROF" run --flat -t main -- true
	assert_output --partial 'say --live'
	run -125 "$CPROF" run --live=- -t main -- true
	assert_output --partial 'standard output belongs to CMD'
	run -125 "$CPROF" run --live --summary -t main -- true
	assert_output --partial '--summary'
	run -125 "$CPROF" run --live --fields=when -t main -- true
	assert_output --partial "there is no field 'when'"
	run -2 "$CPROF" attach --live --rotate=5s -t main 1
	assert_output --partial '--rotate'
	run -125 "$CPROF" run --live=/nowhere/x -t main -- true
	assert_not_exist cprof.data
}
