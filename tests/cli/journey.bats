#!/usr/bin/env bats
# The journey of the README: sample the bundled example, read where its time
# went. The example gives each thread a known share of CPU time, by the
# kernel's clock of that thread.

load helpers

@test "run, report, export: the threads have the shares that they gave themselves" {
	run "$CPROF" run -q -s 499 -- "$BUILD/scripts/example/workshop" 2
	assert_success
	assert_line --regexp '^calculator: [0-9]+ pieces of work$'
	assert_line --regexp '^engineer: [0-9]+ pieces of work$'
	assert_exist cprof.data
	assert_equal "$(stat -c %a cprof.data)" 600

	"$CPROF" report --json >report.json
	for thread in calculator:35 librarian:30 packer:20 engineer:15; do
		share=$(jq --arg name "${thread%:*}" '.samples.total_ns as $all |
			[.threads[] | select(.name == $name) | .total_ns] | add * 100 / $all | round' report.json)
		# A thread ends its last piece of work after its time, which may be long.
		assert [ "$share" -ge $((${thread#*:} - 3)) ]
		assert [ "$share" -le $((${thread#*:} + 3)) ]
	done
	for function in multiply common_length find_word parse_sum; do
		assert [ "$(jq --arg name $function '[.samples.functions[] | select(.function == $name)] | length' report.json)" = 1 ]
	done

	run "$CPROF" report
	assert_line --regexp 'workshop +parse_atom|and [0-9]+ more'
	for format in flamegraph folded chrome speedscope pprof callgrind; do
		"$CPROF" export -f $format -o "out.$format"
		assert [ -s "out.$format" ]
	done
	grep -q 'start_thread;work;calculate' out.folded
}

@test "the recording says what profiling cost, and where names came from" {
	"$CPROF" run -q -s 999 -- "$BUILD/scripts/example/workshop" 0.5
	"$CPROF" report --json >report.json
	# Samples without stops, or with them, as the machine permits.
	assert [ "$(jq '.overhead | .tracer_cpu_ns > 0 and .controller_cpu_ns > 0 and
		(.perf_samples > 0 or (.stops > 0 and .hold_median_ns > 0))' report.json)" = true ]
	assert [ "$(jq '.exit_status' report.json)" = 0 ]
	assert [ "$(jq -r '[.samples.functions[] | select(.function == "common_length")][0].file' report.json | xargs basename)" = pack.c ]
}

@test "attach lets go: the example's output is its own, and it ends as ever" {
	start "$BUILD/scripts/example/workshop" 3
	separately "$CPROF" attach -q -s 999 -d 1s "$pid"
	assert_success
	assert_output ""
	wait "$pid"
	assert_equal "$(wc -l <out)" 4
	run "$CPROF" report
	assert_line --partial common_length
}
