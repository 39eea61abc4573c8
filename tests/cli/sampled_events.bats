#!/usr/bin/env bats
# --event: samples of an event in the place of time. What there is of it says the program,
# which makes as many as its source has, and getrusage().

# shellcheck disable=SC2153 # the build sets what is in capitals
load helpers
load tracees

needs_perf() {
	"$CPROF" run -q --event=page-faults -o probe -- true 2>why ||
		skip "the kernel's events are not permitted here: $(head -1 why)"
}

# total FUNCTION [FILE]: how often the event was there, callees included.
total() {
	"$CPROF" report --json --limit=0 "${2-cprof.data}" | jq -r --arg f "$1" '
		[.samples.functions[] | select(.function == $f) | .total_count] | add // 0'
}

# near WANT GOT DIFFERENCE
near() {
	local off=$(($1 - $2))

	[ "${off#-}" -le "$3" ] || { echo "$2 is not $1, nor within $3 of it" >&2; return 1; }
}

@test "page faults are where they happen, each as often as it was" {
	needs_perf
	# The kernel's ring has room for as many samples as there are, whoever is late.
	run "$CPROF" run -q --event=page-faults -- "$TRACEES/faults"
	assert_success
	read -r _ _ faults _ <<<"$output"
	"$CPROF" report --json cprof.data >json
	# A thread counts on each CPU by itself, so as many samples may be under way as there are.
	cpus=$(nproc)
	near 4000 "$(total touch_many)" $((100 * cpus))
	near 1000 "$(total touch_few)" $((100 * cpus))
	jq -e '.clock == "event" and .event == "page-faults" and .hz == 0 and .overhead.stops == 0 and
		.overhead.perf_lost == 0 and .samples.total * 100 == .samples.total_count and
		.overhead.event_count - .overhead.event_unsampled == .samples.total_count' json ||
		{ jq .overhead json >&2; false; }
	# The kernel's own count of the program, less what it was before it was executed.
	near "$faults" "$(jq .overhead.event_count json)" $((faults / 50))
	jq -e --argjson n $((100 * cpus)) '.overhead.event_unsampled <= $n' json
}

@test "threads and children count, too, and attaching begins in the middle" {
	needs_perf
	cpus=$(nproc)
	# shellcheck disable=SC2016 # the shell that is profiled expands it
	run "$CPROF" run -q --event=page-faults:250 -- sh -c '"$0" --threads=8; "$0"; :' "$TRACEES/faults"
	assert_success
	# Ten times 4,000 and 1,000.
	near 40000 "$(total touch_many)" $((10 * 250 * cpus))
	near 10000 "$(total touch_few)" $((10 * 250 * cpus))
	"$CPROF" report --json cprof.data >json
	# The kernel hands counters from thread to thread where they are alike, with what is left.
	jq -e --argjson n $((5000 - 750 * cpus)) \
		'.overhead.perf_lost == 0 and ([.threads[] | select(.total_count >= $n)] | length) == 10' json ||
		{ jq -c '.overhead, [.threads[].total_count]' json >&2; false; }
}

@test "context switches are told of who waits" {
	needs_perf
	run "$CPROF" run -q --event=context-switches:1 -- "$TRACEES/faults" --size=100
	assert_success
	rests=$(total rest)
	[ "$rests" -ge 100 ] && [ "$rests" -le 130 ] || { echo "$rests" >&2; false; }
}

@test "tables and exports tell of them as what they are" {
	needs_perf
	cpus=$(nproc)
	"$CPROF" run -q --event=page-faults -- "$TRACEES/faults" >/dev/null
	run "$CPROF" report cprof.data
	assert_success
	[[ ${lines[1]} == *" page faults in "*" samples, each of 100 "* ]]
	[[ $output == *"page faults  total  image"* ]]
	[[ $output != *"of CPU time"* ]]
	"$CPROF" report --csv --functions cprof.data | head -1 |
		grep -qx 'function,image,self_count,self_samples,total_count,total_samples,file,line'
	"$CPROF" report --callers=touch_few cprof.data | grep -Eq '^  total [0-9.]+%, (1,[01]|9)00 · self'
	"$CPROF" export -f folded -o folded cprof.data
	near 4000 "$(sed -n 's/.*;touch_many //p' folded)" $((100 * cpus))
	"$CPROF" export -f speedscope -o page cprof.data
	jq -e '[.profiles[].unit] | unique == ["none"]' page
	"$CPROF" export -f html -o page.html cprof.data
	grep -q '"clock":"event","event":"page faults"' page.html
	# Beside time, they are compared by shares, and it is said; together they have no sum.
	"$CPROF" run -q -s 999 -o time -- "$TRACEES/faults" >/dev/null
	"$CPROF" diff time cprof.data | grep -q '! one is of CPU time, the other page faults'
	run "$CPROF" merge -o both time cprof.data
	assert_failure
	[[ $output == *'some of the recordings count '*page-faults* ]]
	"$CPROF" run -q --event=page-faults:50 -o more -- "$TRACEES/faults" >/dev/null
	"$CPROF" merge -o both more cprof.data
	near 8000 "$(total touch_many both)" $((200 * cpus))
}

@test "they pause and go on, and their rate is not to be changed" {
	needs_perf
	start "$TRACEES/faults" --ready=ready --until=stop
	until_true [ -s ready ]
	"$CPROF" attach -q --event=page-faults:10 "$(cat ready)" &
	recorder=$!
	until_true "$CPROF" ctl "$recorder" status
	run "$CPROF" ctl "$recorder" sample 50
	assert_failure
	assert_output --partial 'samples come with page-faults'
	run "$CPROF" ctl "$recorder" pause
	assert_success
	run "$CPROF" ctl "$recorder" resume
	assert_success
	"$CPROF" ctl "$recorder" stop
	wait "$recorder"
	: >stop
	"$CPROF" report --json cprof.data | jq -e '.clock == "event"'
}

@test "what can't be had is refused, and why" {
	needs_perf
	for wrong in nothing page-faults:0 page-faults:x page-faults: :5 ''; do
		separately "$CPROF" run --event="$wrong" -- true
		assert_equal "$status" 125
		[[ $stderr == *"--event takes NAME or NAME:N, not '$wrong'; names: cycles, instructions, "* ]]
	done
	separately "$CPROF" run --event=page-faults -s 99 -- true
	assert_equal "$status" 125
	[[ $stderr == *"not so often a second as --sample says"* ]]
	separately "$CPROF" run --event=page-faults --clock=wall -- true
	assert_equal "$status" 125
	# Counters of the processor: they count, or it is said that there are none.
	if "$CPROF" run -q --event=instructions:100000 -o counted -- "$TRACEES/busy_threads" --ms=50 \
		>/dev/null 2>why; then
		"$CPROF" report --json counted | jq -e '.event == "instructions" and .samples.total > 0'
	else
		grep -q "no samples of instructions: there is no counter of instructions here" why
	fi
}
