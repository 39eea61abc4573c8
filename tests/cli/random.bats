#!/usr/bin/env bats
# Generated programs of small functions side by side, in all shapes (tests/random): what
# they say with jumps and breakpoints in them, and that their code is as it was afterwards.

load helpers

# judged MODE FROM TO HOW
judged() {
	needs gcc python3
	[ "$(uname -m)" = x86_64 ] || skip "x86-64 only"
	run python3 "$SOURCES/tests/random/judge.py" --cprof="$CPROF" --modes="$1" --seeds="$2..$3" "${@:4}"
	echo "$output"
	assert_success
	assert_line --regexp '^[0-9]+ programs, [0-9]+ times traced, 0 faults$'
}

@test "random programs from the beginning: what they say, and which calls there are" {
	judged run 1 "$(long_or 400 6)"
}

@test "random programs that go on: attaches, limits, commands, SIGKILLs, timers and threads" {
	judged attach 1 "$(long_or 400 4)" --rounds=4
}
