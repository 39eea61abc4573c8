#!/usr/bin/env bats
# Waits for locks, against what the program says: how often it waited, on which
# mutex, and who held it.

load helpers
load tracees
bats_require_minimum_version 1.5.0

# said NAME: what ./out says behind NAME.
said() {
	sed -n "s/^contend: ok.* $1 \([^ ]*\).*/\1/p" out
}

# told: of x.data, as the program says it; ends in the functions that waited.
told() {
	"$CPROF" report --json x.data | jq -r '.locks |
		"\(map(.waits - .timed_out) | add) \(map(.timed_out) | add) \(map(.address) | unique |
		join(",")) \(map(.owners[].tid) | unique | map(tostring) | join(",")) \(map(.waited_in) |
		sort | join(","))"'
}

# as_said: it is that.
as_said() {
	assert_equal "$(told)" "$(said waits) $(said timed_out) $(said lock) $(said holder) gives_up,waits_for_it"
}

@test "each wait is told: how often, on which mutex, who held it, who gave up" {
	"$CPROF" run --locks -q -o x.data -- "$TRACEES/contend" --rounds=20 >out
	[ "$(said waits) $(said timed_out)" = '20 20' ]
	as_said
	run "$CPROF" report --json x.data
	# A variable has its name; 20 ms are waited in vain.
	assert_equal "$(jq -c '[.locks[] | .variable, .type, .unfinished] | unique' <<<"$output")" \
		'[0,"contended","pthread_mutex_t"]'
	[ "$(jq '.locks[] | select(.waited_in == "gives_up").total_ns' <<<"$output")" -ge 390000000 ]
	[ "$(jq '[.locks[] | .longest_ns <= .total_ns and .longest_ns > 0] | all' <<<"$output")" = true ]
	assert_equal "$(jq '.locks == (.locks | sort_by(-.total_ns))' <<<"$output")" true
	assert_equal "$(jq 'has("exceptions")' <<<"$output")" false
	# Two stops a wait.
	assert_equal "$(jq .overhead.call_stops <<<"$output")" 80
}

@test "mutexes on the heap, in a child, in a static program, in a C library without symbols" {
	needs objcopy
	"$CPROF" run --locks -q -o x.data -- "$TRACEES/contend" --mode=heap >out
	as_said
	assert_equal "$("$CPROF" report --json x.data | jq -c '[.locks[].variable] | unique')" '[null]'
	"$CPROF" run --locks -q -o x.data -- "$TRACEES/contend" --mode=fork >out
	as_said
	"$CPROF" run --locks -q -o x.data -- "$TRACEES/contend_static" >out
	as_said
	library=$(ldd "$TRACEES/contend" | awk '/libc\.so/ { print $3 }')
	mkdir stripped
	# Then no debug file belongs to it.
	objcopy --strip-all --remove-section=.note.gnu.build-id --remove-section=.gnu_debuglink \
		--remove-section=.gnu_debugdata "$library" "stripped/${library##*/}"
	"$CPROF" run --locks -q -o x.data -- env LD_LIBRARY_PATH="$PWD/stripped" \
		"$TRACEES/contend" >out
	as_said
}

@test "locks that are free, recursive ones, trylock: nothing is told, and nothing stops" {
	run --separate-stderr "$CPROF" run --locks -o x.data -- "$TRACEES/contend" --mode=free
	assert_success
	assert_output 'contend: ok waits 0'
	assert_regex "$stderr" 'Locks  no lock was waited for'
	run "$CPROF" report --json x.data
	assert_equal "$(jq -c '[.locks, .overhead.call_stops]' <<<"$output")" '[[],0]'
	[ "$(jq .overhead.call_sites <<<"$output")" -ge 4 ]
	"$CPROF" run -q -o x.data -- true
	assert_equal "$("$CPROF" report --json x.data | jq 'has("locks")')" false
}

@test "the table says it: waits, times, the variable, who waited, who held it" {
	run --separate-stderr "$CPROF" run --locks -o x.data -- "$TRACEES/contend" --rounds=3
	assert_success
	holder=$(sed -n 's/.*holder \([0-9]*\).*/\1/p' <<<"$output")
	run "$CPROF" report x.data
	assert_regex "$output" 'Locks  6 waits of together .*, 3 timed out'
	assert_regex "$output" " 3 +[0-9.]+ ms +[0-9.]+ ms +3  contended +gives_up +contend \($holder\)"
	assert_regex "$output" " 3 +[0-9.]+ .s +[0-9.]+ .s +contended +waits_for_it +contend \($holder\)"
}

@test "a running program's, from outside, and it is left as it was" {
	begin contend
	"$CPROF" attach -q -o x.data --locks -d 1s "$tracee"
	left_alone "$tracee"
	finish
	[[ $finished == "status 0, contend: ok"* ]]
	cp "$tracee_output" out
	# Where attaching and leaving cut a wait, its beginning or its end is missing.
	run "$CPROF" report --json x.data
	[ "$(jq '[.locks[].waits] | add' <<<"$output")" -gt 5 ]
	[ "$(jq '[.locks[].timed_out] | add' <<<"$output")" -gt 2 ]
	[ "$(jq '[.locks[].unfinished] | add' <<<"$output")" -le 1 ]
	assert_equal "$(jq -r '[.locks[].address] | unique | .[]' <<<"$output")" "$(said lock)"
	assert_equal "$(jq '[.locks[].owners[].tid] | unique | .[]' <<<"$output")" "$(said holder)"
}

@test "too many are told as long as --max-rate allows, and that it was so" {
	run --separate-stderr "$CPROF" run --locks --max-rate=5 -o x.data -- "$TRACEES/contend" --rounds=20
	assert_success
	assert_regex "$stderr" 'none is told after'
	run "$CPROF" report --json x.data
	[ "$(jq '[.locks[].waits] | add' <<<"$output")" -lt 40 ]
	[ "$(jq .no_locks_after_ns <<<"$output")" -gt 0 ]
}

@test "beside calls, and merged" {
	"$CPROF" run --locks -t waits_for_it -q -o 1.data -- "$TRACEES/contend" >out
	"$CPROF" run --locks -q -o 2.data -- "$TRACEES/contend" >out
	"$CPROF" merge -o x.data 1.data 2.data
	run "$CPROF" report --json x.data
	assert_equal "$(jq -c '[([.locks[].waits] | add), .calls.events]' <<<"$output")" '[20,10]'
}
