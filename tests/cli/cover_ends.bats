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
