#!/usr/bin/env bats
# Every stress program while cprof attaches to it and leaves it again, politely
# and not: it goes on as if nothing had been, nobody stays stopped or traced.

load helpers
load tracees

# everywhere_attached WAY: begins each program, does WAY to it (a function that
# attaches and leaves), and compares what it says in the end.
everywhere_attached() {
	local line name
	while read -r line; do
		read -r -a name <<<"$line"
		native "${name[@]}"
		begin "${name[@]}" || { complain "$line: not begun"; continue; }
		"$1" "$line"
		# Programs that stop themselves are judged by their verdict.
		[ "${name[0]}" = job_control ] || soon_left_alone "$tracee" "$line"
		finish
		[ "$finished" = "$native" ] ||
			complain "$line: $finished; alone: $native; cprof: $(head -c 500 attach.err)"
		rm -f attach.data*
	done < <(stress_programs "$(long_or attached "${which-attached}")")
	no_complaints
}

# expect_end STATUS LINE
expect_end() {
	ended "$controller"
	[ "$ended" = "$1" ] || complain "$2: cprof attach ended with $ended: $(head -c 500 attach.err)"
	[ -s attach.data ] || complain "$2: no recording"
}

for_a_duration() {
	attach -d 100ms --capture=ptrace -s 999
	expect_end 0 "$1"
}

for_a_duration_wall() {
	attach -d 100ms --capture=ptrace -s 999 --clock=wall
	expect_end 0 "$1"
}

without_children() {
	attach -d 100ms --capture=ptrace -s 999 --no-follow
	expect_end 0 "$1"
}

until_interrupted() {
	attach
	kill -INT "$controller" || complain "$1: cprof ended by itself: $(cat attach.err)"
	expect_end 0 "$1"
}

controller_killed() {
	attach --capture=ptrace -s 999
	kill -KILL "$controller" || complain "$1: cprof ended by itself: $(cat attach.err)"
	ended "$controller"
}

tracer_killed() {
	attach --capture=ptrace -s 999
	# In a storm of short threads a look may find nobody: look again.
	until any_traced "$tracee" && kill -KILL "$tracer_of"; do
		kill -0 "$controller" 2>/dev/null || break
	done
	ended "$controller"
	[ "$ended" -lt 128 ] || complain "$1: the controller died too: $ended"
}

all_killed() {
	attach --capture=ptrace -s 999
	# One command: as close to "at once" as a shell gets.
	# shellcheck disable=SC2046
	kill -KILL $(cprof_pids) 2>/dev/null || :
	ended "$controller"
	[ "$ended" = 137 ] || complain "$1: cprof ended by itself: $ended, $(cat attach.err)"
}

@test "attach for a duration, and leave" {
	everywhere_attached for_a_duration
}

@test "attach for a duration by the wall clock, and leave" {
	which=few everywhere_attached for_a_duration_wall
}

@test "attach without children, and leave" {
	which=few everywhere_attached without_children
}

@test "attach until Ctrl-C" {
	which=few everywhere_attached until_interrupted
}

@test "SIGKILL of the controller" {
	which=few everywhere_attached controller_killed
}

@test "SIGKILL of the tracer" {
	which=few everywhere_attached tracer_killed
}

@test "SIGKILL of all of cprof at once" {
	everywhere_attached all_killed
}

@test "attach and leave again and again" {
	local rounds
	rounds=$(long_or 20 3)
	again_and_again() {
		for ((i = 0; i < rounds; i++)); do
			attach --capture=ptrace -s 999 -d 10ms
			ended "$controller"
			[ "$ended" = 0 ] || complain "$1: round $i ended with $ended: $(cat attach.err)"
		done
	}
	which=few everywhere_attached again_and_again
}

# Of each kind of breakpoint one time after the other, for as long as placing
# them takes and a little more.
@test "attach with breakpoints and leave again and again" {
	local rounds kinds=(
		"-t program --max-rate=0" "--exceptions --locks --allocs" "-c"
		"-t program,pthread_* -a -r" "--annotations --stack -t program" "-t program --cpu-time --no-follow"
		"--capture=ptrace -s 999 -t program -l"
	)
	rounds=$(long_or 70 7)
	with_breakpoints() {
		[ "$1" != self_check ] || return 0
		for ((i = 0; i < rounds; i++)); do
			# shellcheck disable=SC2086
			attach ${kinds[i % ${#kinds[@]}]} -d $((1 + i % 5 * 9))ms
			ended "$controller"
			[ "$ended" = 0 ] ||
				complain "$1: ${kinds[i % ${#kinds[@]}]}: ended with $ended: $(cat attach.err)"
		done
	}
	which=few everywhere_attached with_breakpoints
}

# Processes that share the program's memory and that cprof did not see born would run into
# breakpoints: none is placed, and the program says that nothing happened to any of them.
@test "processes that share memory and were there before are not broken" {
	local kinds=("-t program" "-t program --traps" "-c" "--allocs") kind children
	native shared_memory
	begin shared_memory
	read -r -a children <"/proc/$tracee/task/$tracee/children" || : # no newline
	for tracee in "$tracee" "${children[1]}"; do
		for kind in "${kinds[@]}"; do
			# shellcheck disable=SC2086
			attach $kind -d 50ms
			ended "$controller"
			[ "$ended" = 1 ] && grep -q "process $tracee (shared_memory) shares its memory with" attach.err ||
				complain "$kind: $ended: $(cat attach.err)"
		done
		attach -s 999 -d 20ms
		expect_end 0 "samples alone"
	done
	# Nor are they later on.
	attach -s 99
	until_true "$CPROF" ctl "$controller" status >/dev/null
	run "$CPROF" ctl "$controller" trace shared_work
	assert_failure
	assert_output --partial "share the program's memory"
	kill -INT "$controller"
	ended "$controller"
	finish
	assert_equal "$finished" "$native"
	no_complaints
}
