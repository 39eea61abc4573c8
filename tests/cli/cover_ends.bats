#!/usr/bin/env bats
# cprof cover of processes that end in unusual ways, at unusual times, or not at
# all. The program says itself what it did.

load helpers

# reached FILE: the functions that were entered, of an lcov file.
reached() { sed -n 's/^FNDA:[1-9][0-9]*,//p' "$1" | sort; }

# Runs itself once for each of its functions; each run forks a child that calls
# its function, and ends at once.
ORPHANS='#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile int sum;
#define ONE(n) static void f##n(void) { sum += n; dprintf(1, "f%d\n", n); }
#define TEN(n) ONE(n##0) ONE(n##1) ONE(n##2) ONE(n##3) ONE(n##4) \
	ONE(n##5) ONE(n##6) ONE(n##7) ONE(n##8) ONE(n##9)
TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) TEN(6) TEN(7) TEN(8)
#undef ONE
#define ONE(n) f##n,
static void (*const all[])(void) = { TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) TEN(6) TEN(7) TEN(8) };
int main(int argc, char **argv)
{
	char c, number[8];
	int ends[2];
	if (argc > 1) {
		if (!fork())
			all[atoi(argv[1])]();
		return 0;
	}
	if (pipe(ends))
		return 1;
	for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (fork())
			continue;
		close(ends[0]);
		snprintf(number, sizeof(number), "%u", i);
		execl(argv[0], argv[0], number, (char *)0);
		_exit(127);
	}
	close(ends[1]);
	while (read(ends[0], &c, 1) > 0)
		;
	while (wait(NULL) > 0)
		;
	return 0;
}
'

@test "cover: children that outlive their parents" {
	printf '%s' "$ORPHANS" >orphans.c
	gcc -O0 -g -o orphans orphans.c
	for _ in $(seq "$(long_or 200 3)"); do
		"$CPROF" cover -q --branches=none --lcov=x -- ./orphans >said
		[ "$(wc -l <said)" = 80 ]
		diff <(sort said) <(reached x | grep -x 'f[0-9]*')
	done
}

# A child waits until it is told to go on, which is after CMD has ended.
OUTLIVES='#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
static void later(void)
{
	printf("later\n");
}
int main(void)
{
	char c;
	if (fork())
		return 7;
	while (read(open("go", O_RDONLY), &c, 1) < 0)
		;
	later();
	return 0;
}
'

outlives() {
	mkfifo go
	printf '%s' "$OUTLIVES" >outlives.c
	gcc -O0 -g -o outlives outlives.c
}

# Who is left has the output of CMD open, so none of it goes through a pipe.
ended_with() {
	local status=0
	wait "$pid" || status=$?
	[ "$status" = "$1" ]
}

@test "cover waits for who lives on when CMD has ended, and says for whom" {
	outlives
	start "$CPROF" cover --lcov=x --html=h -- ./outlives
	until_true grep -qE "^cprof: './outlives' has ended; waiting for 1 process that lives on: outlives \([0-9]+\) \(10 s at most; Ctrl-C" err
	echo >go
	ended_with 7
	[ "$(reached x)" = $'later\nmain' ]
	[ "$(<out)" = later ]
	[ "$(cat err h/*.html | grep -c 'lived on')" = 0 ]
}

@test "cover: who is left is named wherever lines are called missed" {
	outlives
	for wait in none 1ms; do
		start "$CPROF" cover --wait=$wait --lcov=x --html=h -- ./outlives
		ended_with 7
		[ "$(reached x)" = main ]
		left=$(sed -n 's/^  ! 1 process lived on when the recording ended: outlives (\([0-9]*\)); what.*/\1/p' err)
		[ "$(readlink "/proc/$left/exe")" = "$PWD/outlives" ]
		for page in h/*.html; do
			grep -q "1 process lived on when the recording ended: outlives ($left)" "$page"
		done
		"$CPROF" report --coverage | grep "lived on when the recording ended: outlives ($left)"
		[ "$("$CPROF" report --json | jq -c .coverage.left)" = "[{\"pid\":$left,\"name\":\"outlives\"}]" ]
		echo >go
		start "$CPROF" cover -q --wait=$wait --lcov=x -- ./outlives
		ended_with 7
		grep -q '^cprof: warning: 1 process lived on when the recording ended: outlives' err
		echo >go
	done
}

@test "cover --wait=all: Ctrl-C and SIGTERM end the waiting, not who is waited for" {
	outlives
	for signal in INT TERM HUP; do
		rm -f out err
		start env --default-signal=INT "$CPROF" cover --wait=all --lcov=x -- ./outlives
		until_true grep -q 'waiting for 1 process' err
		kill -$signal "$pid"
		ended_with 7
		[ "$(reached x)" = main ]
		grep -q '1 process lived on when the recording ended: outlives' err
		echo >go
		until_true grep -q later out
	done
}

@test "run waits only if it is told, and names who is left" {
	outlives
	start "$CPROF" run -- ./outlives
	ended_with 7
	grep -qE '^  ! 1 process lived on when the recording ended: outlives \([0-9]+\)$' err
	[ "$(grep -c 'waiting for' err)" = 0 ]
	echo >go
	start "$CPROF" run --wait=all -- ./outlives
	until_true grep -qE 'waiting for 1 process that lives on: outlives \([0-9]+\) \(Ctrl-C ends it\)' err
	echo >go
	ended_with 7
	[ "$(grep -c 'lived on' err)" = 0 ]
	[ "$("$CPROF" report --json | jq '[.lives.processes[] | select(.ended_by == "exit")] | length')" = 2 ]
}

@test "cover: nobody is waited for when nobody is left" {
	separately "$CPROF" cover --wait=all --image=true --fail-under-functions=0 -- sh -c 'true & wait; exit 5'
	[ "$status" = 5 ]
	[[ $stderr != *"waiting for"* ]]
	for wrong in x -1 0s1 10x; do
		separately "$CPROF" cover --wait=$wrong -- true
		[ "$status" = 125 ]
		[[ $stderr = *"--wait takes all, none, or a time such as 10s or 2m, not '$wrong'"* ]]
	done
}

@test "LeakSanitizer does not work where cprof traces: said when it happens" {
	echo 'int main(int argc, char **argv) { (void)argv; return argc - 1; }' >p.c
	gcc -O0 -g -fsanitize=address -o checked p.c
	gcc -O0 -g -o plain p.c
	separately "$CPROF" run -q -- env ASAN_OPTIONS=detect_leaks=1 ./checked
	[ "$status" = 1 ]
	[[ $stderr = *"LeakSanitizer does not work under ptrace"* ]] # says that itself
	[[ $stderr = *"cprof: warning: checked ended with status 1, as LeakSanitizer ends every program that is traced"*"ASAN_OPTIONS=detect_leaks=0"* ]]
	separately "$CPROF" cover --lcov=x -- env ASAN_OPTIONS=detect_leaks=1 sh -c './checked; exit 4'
	[ "$status" = 4 ]
	[[ $stderr = *"warning: checked ended with status 1, as LeakSanitizer"* ]]
	separately "$CPROF" run -q -- env ASAN_OPTIONS=detect_leaks=0 ./checked
	[ "$status" = 0 ]
	[[ $stderr != *LeakSanitizer* ]]
	separately "$CPROF" run -q -- env ASAN_OPTIONS=detect_leaks=0 ./checked 1
	[ "$status" = 1 ]
	[[ $stderr != *LeakSanitizer* ]]
	separately "$CPROF" run -q -- env ASAN_OPTIONS=detect_leaks=1 ./plain 1
	[ "$status" = 1 ]
	[[ $stderr != *LeakSanitizer* ]]
}
