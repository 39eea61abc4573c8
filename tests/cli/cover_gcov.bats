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

# clang lays landing pads behind each other, where no jump leads.
@test "catch clauses in what clang built ran where gcov counted them" {
	needs clang++ g++ gcov
	local source="$SOURCES/tests/cli/cover_clauses.cpp"
	g++ -O0 -g --coverage -o counted "$source"
	./counted x
	gcov -t counted-cover_clauses.gcda |
		sed -n 's/^ *\([0-9#=*]*\): *\([0-9]*\):.*; \/\/ clause$/\2,\1/p' |
		sed 's/,[1-9].*/,1/; s/,[#=].*/,0/' >want
	grep -c ,1 want
	grep -c ,0 want
	clang++ -O0 -g -o plain "$source"
	separately "$CPROF" cover -q --lcov=info -- ./plain x
	assert_equal "$status" 0
	sed -n 's/^DA://p' info | grep -x -f <(sed 's/,.*/,./' want) | diff want -
}

# scripts/judge-lines does the same with programs of others.
@test "optimised, no line is called reached, and certain, of which no statement ran" {
	needs valgrind llvm-dwarfdump
	local level
	for level in 1 2 3; do
		gcc -O$level -g -no-pie -o p "$SOURCES/tests/cli/cover_moved.c"
		separately env "CPROF=$CPROF" "$SOURCES/scripts/judge-lines" p
		assert_equal "$status" 0
		# It has something to judge, and code that was moved up.
		[[ ${lines[0]} =~ ^lines:\ ([0-9]+),\ reached\ ([0-9]+)\;\ uncertain\ ([0-9]+)$ ]]
		[ "${BASH_REMATCH[1]}" -ge 45 ] && [ "${BASH_REMATCH[2]}" -ge 25 ]
		[ $((BASH_REMATCH[1] - BASH_REMATCH[3])) -ge 25 ]
	done
}
