#!/usr/bin/env bats
# The API's rules as modules see them: small ones from tests/modules, built as a
# stranger would, that print what they got of a program that says what it did.

load helpers
load tracees

setup_file() {
	export MODULES=$BATS_FILE_TMPDIR CC=${CC:-cc} CXX=${CXX:-c++}
	local name
	for name in covprobe ctxprobe eltprobe flagprobe lifecycle snapprobe; do
		module "$name" "$name"
	done
	module one filters -DNAME=one -DWANTS=1
	module two filters -DNAME=two -DWANTS=0
	module first sampleprobe -DNAME=first
	module second sampleprobe -DNAME=second
	$CC -O1 -o "$MODULES/program" "$SOURCES/tests/modules/program.c"
	$CXX -g -O2 -o "$MODULES/probed" "$SOURCES/tests/modules/probed.cpp" -pthread
}

# module NAME FILE FLAG...
module() {
	local name=$1 file=$2
	shift 2
	$CC -std=c99 -D_GNU_SOURCE -Wall -Wextra -Werror -fPIC -shared -O1 -I "$SOURCES/include" \
		-o "$MODULES/libcprof-profiler-$name.so" "$SOURCES/tests/modules/$file.c" "$@"
}

# probe PROFILE... [-- CMD...]: standard output of all of it, sorted out by the
# tests; what cprof itself says is an error.
probe() {
	local options=()
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		options+=(--profile="$1")
		shift
	done
	shift || set -- "$MODULES/probed"
	separately timeout 120 "$CPROF" run --plugin-dir="$MODULES" "${options[@]}" -- "$@"
	assert_equal "$status" 0
	assert_equal "$stderr" ""
}

@test "all filters are asked about all functions, whatever the others say" {
	needs nm
	nm --defined-only "$MODULES/probed" | awk '$2 == "T" && $3 ~ /^probed_/ { print $3 }' |
		sort >want
	# The newest is asked first: who wants nothing, then who wants all of it.
	for modules in 'one:one.txt two:two.txt' 'two:two.txt one:one.txt'; do
		rm -f one.txt two.txt
		# shellcheck disable=SC2086 # words
		probe $modules
		cmp one.txt two.txt
		for kind in calls coverage; do
			sed -n "s/^$kind \(probed_.*\)/\1/p" one.txt | sort -u | diff want -
		done
	done
}

@test "coverage data: false of what was not chosen, zeros of what never ran" {
	probe covprobe
	assert_line "probed_add: true, some entries, all executed"
	assert_line "probed_never: true, some entries, none executed"
	assert_line "probed_fib: false, no entries, none executed"
	probe covprobe:off
	assert_equal "$(grep -c ": false, no entries, none executed" <<<"$output")" 3
}

@test "the sampler is its first asker's" {
	probe first:real,50 second:process,100 -- sleep 1
	assert_line "first: enable 1 set 1 get 1 mode 2 50 Hz"
	assert_line "second: enable 1 set 0 get 0 mode 2 50 Hz"
	assert_line "first: hits"
	assert_line "second: hits"
}

@test "no samples in mode NONE; no frequency is refused" {
	probe first:none,100 second:real,100 -- sleep 0.2
	assert_line "first: no hits"
	assert_line "second: no hits"
	probe first:real,0 -- sleep 0.2
	assert_line "first: enable 1 set 0 get 1 mode 0 100 Hz"
	assert_line "first: no hits"
}

# The program says how often fib was called; of the others there are 9 calls, of
# which one is left by a tail call, four by exceptions and longjmp.
@test "each flag brings its events and no others" {
	local flags calls leaves contexts want
	for flags in 0 2 4 8 16 32 64 128 256 512 1024 2048 6 24 10 42 66 72 96 126; do
		probe flagprobe:$flags
		[[ $output =~ fib\ ([0-9]+)\ calls ]]
		calls=$((BASH_REMATCH[1] + 9))
		leaves=$((calls - 5))
		contexts=$(((flags & 6) == 6 ? calls : 0))
		contexts=$((contexts + ((flags & 24) == 24 ? leaves : 0)))
		want="$((flags & 2 ? calls : 0)) enters $((flags & 8 ? leaves : 0)) leaves "
		want+="$((flags & 32 ? 1 : 0)) tail calls $((flags & 64 ? 4 : 0)) unwound $contexts contexts"
		grep -q -x -F "$want" <<<"$output" || complain "$flags: $output; not: $want"
		[ "$((flags & 32))" = 0 ] || grep -q -x "probed_tail => probed_add" <<<"$output" ||
			complain "$flags: no target: $output"
	done
	no_complaints
	# The first call of each function, and no more of it.
	probe flagprobe:$((2048 | 126))
	assert_line "8 enters 0 leaves 0 tail calls 0 unwound 8 contexts"
}

@test "a call that is left unwound tells by which exception" {
	probe flagprobe:64,why
	assert_equal "$(grep ' left by ' <<<"$output")" "probed_throw left by int
probed_jump left by no exception
probed_throw left by int
probed_through left by int"
	assert_line "0 enters 0 leaves 0 tail calls 4 unwound 0 contexts"
}

@test "contexts: arguments, results, this; NULL where there is nothing, with the reason" {
	probe ctxprobe
	local none='NULL(-21)'
	assert_line "enter probed_add this=$none arg=20/4 arg=22/8 arg=$none local=$none result=$none"
	assert_line "leave probed_add this=$none arg=20/4 arg=22/8 arg=$none local=$none result=42/4"
	# void, and after a tail call
	assert_line "leave probed_void this=$none arg=\"text\"/8 arg=$none arg=$none local=$none result=$none"
	assert_line "enter probed_tail this=$none arg=5/4 arg=$none arg=$none local=$none result=$none"
	refute_line --partial "leave probed_tail"
	assert_line "leave probed_big this=$none arg={a={1, 2, 3, 4, 5}}/40 arg=2.5/8 arg=$none local=$none result={a={3, 2, 3, 4, 5}}/40"
	assert_line "leave shape::area(int) const this=&{width=6}/8 arg=7/4 arg=$none arg=$none local=$none result=42/4"
	refute_line --partial "lives"
}

@test "contexts: nothing without introspection" {
	probe ctxprobe:off
	local none='NULL(-9)'
	assert_line "leave probed_add this=$none arg=$none arg=$none arg=$none local=$none result=$none"
	refute_line --partial "/4"
}

@test "snapshots: whole, with registers, aborted, by seed, refused; frames die" {
	probe snapprobe -- "$MODULES/probed" threads
	assert_line "own: success, main, no contexts"
	assert_line "registers: success, main, all contexts"
	assert_line "aborted: the snapshot was aborted by its callback"
	assert_line "seed: success, main, no contexts"
	assert_line "seed outside of code: the seed does not point into known code"
	assert_line "other: success, probed_spin, no contexts"
	assert_line "gone: no such thread, or it has exited"
	assert_line "no event: no such thread, or it has exited"
	refute_line --partial "undead"
	refute_line --partial "lies"
}

@test "hooks: which statuses the rules give" {
	probe eltprobe:matrix
	local invalid=-2 inconsistent=-8
	assert_line "no hooks: $invalid $invalid"
	assert_line "slow without a slow flag: $inconsistent"
	assert_line "fast with a slow flag: $inconsistent"
	assert_line "slow with one: 0"
	assert_line "then no slow flag: $inconsistent, no ENTERLEAVE: $inconsistent, another slow flag: 0"
	assert_line "fast: 0"
	assert_line "then a slow flag: $inconsistent, no ENTERLEAVE: $inconsistent, the same: 0"
	assert_line "no mapper: $invalid"
}

@test "hooks: as many fast as slow, one stop an event, the mapper's ids" {
	probe eltprobe:fast
	assert_line "late: -7 -7 -7"
	# Four calls are left by an exception or longjmp, of which the CLR tells nothing.
	assert_line "9 enters, 4 leaves, 1 tail calls, 2 by id"
	assert_line "14 stops for 14 events"
	probe eltprobe:slow
	assert_line "9 enters, 4 leaves, 1 tail calls, 2 by id"
	assert_line "14 stops for 14 events"
}

@test "hooks: sizes are asked for, infos belong to their hook" {
	probe eltprobe:slow
	assert_line "probed_add: ask -6, then 0, 2 ranges, 12 bytes, the first 20, flags 1"
	assert_line "probed_add: one byte too few -6, as a leave -9"
	assert_line "probed_big: ask -6, then 0, 2 ranges, 48 bytes, the first 1, flags 1"
	assert_line "leave: 0, 0, 4 bytes: 42"
	assert_line "outside: -9 -9 -9"
	refute_line --partial "lives"
}

@test "the tracer is killed: shutdown, then cleanup, the newest first; the program runs on" {
	start "$MODULES/program" stop
	local program=$pid
	mv out program.out
	start "$CPROF" attach --plugin-dir="$MODULES" --profile=lifecycle:called "$program"
	until_true grep -q "3 calls" out
	task_state "/proc/$program"
	kill -KILL "$tracer_of"
	wait "$pid" || true
	diff <(grep -e shutdown -e cleanup out) - <<-END
		newer runtime_shutdown_begin
		older runtime_shutdown_begin
		newer runtime_shutdown_end
		older runtime_shutdown_end
		newer cleanup
		older cleanup
	END
	touch stop
	wait "$program" || assert_equal "$?" 7
}
