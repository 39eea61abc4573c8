#!/usr/bin/env bats
# cprof cover beside gcov, line by line and branch by branch: all that both know
# agrees. scripts/judge-coverage does the same with programs of others.

load helpers

# both NAME SOURCE COMPILER: NAME-plain, NAME-gcov.
both() {
	"$3" -O0 -g -o "$1-plain" "$2"
	mkdir gcov
	(cd gcov && "$3" -O0 -g --coverage -o "../$1-gcov" "$2")
}

judge() {
	separately env "CPROF=$CPROF" "$SOURCES/scripts/judge-coverage" "$@" --only=cover_counts
	[ "$status" = 0 ]
}

# agreed LINES DIRECTIONS: at least so many, and all agree.
agreed() {
	local of='^lines of both: ([0-9]+), agree [0-9]+ = 100.000 %$'
	local directions='^directions: ([0-9]+), agree [0-9]+ = 100.000 %; unknown 0;'

	[[ ${lines[0]} =~ $of ]]
	[ "${BASH_REMATCH[1]}" -ge "$1" ]
	[[ ${lines[2]} =~ $directions ]]
	[ "${BASH_REMATCH[1]}" -ge "$2" ]
}

@test "lines, branches and exact counts of a C program are gcov's" {
	both p "$SOURCES/tests/cli/cover_counts.c" gcc
	judge --plain=p-plain --gcov=p-gcov
	agreed 40 36
	judge --plain=p-plain --gcov=p-gcov -- never
	agreed 40 36
	judge --count --plain=p-plain --gcov=p-gcov
	agreed 40 36
}

@test "lines and branches of a C++ program are gcov's: templates, exceptions, lambdas" {
	both p "$SOURCES/tests/cli/cover_counts.cpp" g++
	judge --plain=p-plain --gcov=p-gcov
	agreed 35 10
}
