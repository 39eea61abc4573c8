#!/usr/bin/env bats
# cprof inspect of a program of many units: a name is found in whichever has it, however
# the unit refers to it, and those that have not are not kept in memory. What the program
# was made with is the judge.

load helpers
load inspected

# build NAME COMPILER...: the program, each unit with names of its own
build() {
	local name=$1 unit
	shift
	for unit in {0..11}; do
		"$@" -g -fno-eliminate-unused-debug-types -DUNIT="$unit" -c -o "$unit.o" \
			"$SOURCES/tests/cli/inspect_large.c"
	done
	"$@" -g -o "$name" "$SOURCES/tests/cli/inspect_large.c" {0..11}.o
	rm {0..11}.o
}

# most_memory EXPR: KiB that inspect had at once. What starts it is small: that counts, too.
most_memory() {
	[ -x peak ] || gcc -D_GNU_SOURCE -o peak -x c - <<-'END'
		#include <stdio.h>
		#include <sys/resource.h>
		#include <sys/wait.h>
		#include <unistd.h>
		int main(int argc, char **argv)
		{
			struct rusage use;
			int status;
			(void)argc;
			if (!fork()) {
				dup2(2, 1);
				execv(argv[1], argv + 1);
				_exit(127);
			}
			wait3(&status, 0, &use);
			printf("%ld\n", use.ru_maxrss);
			return status != 0;
		}
	END
	./peak "$CPROF" inspect ./large "$1" 2>/dev/null
}

@test "a name is found in whichever unit has it" {
	needs gcc
	local n
	for compiler in "gcc -O0" "gcc -O1 -gdwarf-4 -fdebug-types-section" "gcc -O2 -gz" "gcc -O1 -flto" \
		"gcc -O0 -gsplit-dwarf" "clang -O0" "clang -O1 -gdwarf-4"; do
		command -v "${compiler%% *}" >/dev/null || continue
		# shellcheck disable=SC2086
		build large $compiler
		begin large
		for n in 0 7 11; do
			"$CPROF" inspect "$pid" "v$n" "number_$n" "the_end_of_number_$n" "call$n()::inside" \
				"sizeof(struct hidden$n)" "*to_hidden$n" "held$n.twice" >got
			diff got - <<-END || complain "$compiler"
				v$n = $n
				number_$n = $((100 + n))
				the_end_of_number_$n = $((200 + n))
				call$n()::inside = $((300 + n))
				sizeof(struct hidden$n) = 8
				*to_hidden$n = {number=$n, twice=$((2 * n))}
				held$n.twice = $((2 * n))
			END
		done
		[ "$("$CPROF" inspect "$pid" ux uy)" = $'ux = 307\nuy = 407' ] || complain "$compiler"
		finish
	done
}

@test "of units that have not the name nothing is kept in memory" {
	needs gcc readelf
	build large gcc -O0 -DMANY
	local size one all held name
	size=$(readelf -SW large | sed -n 's/.* \.debug_info *PROGBITS *[0-9a-f]* [0-9a-f]* \([0-9a-f]*\) .*/\1/p')
	one=$(most_memory number_7)
	all=$(most_memory everywhere)
	echo "debug information $((0x$size / 1024)) KiB, one unit's name $one KiB, everybody's $all KiB"
	[ $((one + 0x$size / 1024 / 2)) -lt "$all" ]
	for name in ux uy; do
		held=$(most_memory "$name")
		echo "$name, which all units have as something else, $held KiB"
		[ $((held + 0x$size / 1024 / 2)) -lt "$all" ]
	done
	# What functions of all units have is looked for where the function is.
	held=$(most_memory 'call7()::inside')
	echo "a function's static variable $held KiB"
	[ $((held + 0x$size / 1024 / 2)) -lt "$all" ]
}
