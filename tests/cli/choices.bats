#!/usr/bin/env bats
# --under, --not-under, --paths-to, --levels, --min-duration: what is left of all the
# calls is found out by choices_judge.py, in a tree that it builds from the events.

load helpers
load recordings

# chooses RECORDING OPTION...: replay, report and two exports show what the judge leaves.
chooses() {
	local data=$1 o options=()
	shift
	"$CPROF" replay --json "$data" >events
	"$CPROF" report --json "$data" >all
	"$CPROF" replay --json "$@" "$data" >filtered
	"$CPROF" report --json "$@" "$data" >report
	"$CPROF" export -f chrome -o trace "$@" "$data"
	for o; do
		case $o in
		--min-duration=*) options+=("${o%ns}") ;;
		*) options+=("$o") ;;
		esac
	done
	run python3 "$SOURCES/tests/cli/choices_judge.py" events all --filtered=filtered --report=report \
		--slices=trace "${options[@]}"
	echo "# $* of $data"
	assert_success
}

@test "choices of calls: recursion, threads, tail calls, unwound and open calls made from text" {
	desk | made desk.data
	chooses desk.data --under=a
	assert_output '3 of 14 calls'
	chooses desk.data --not-under=a
	assert_output '11 of 14 calls'
	chooses desk.data --paths-to=clamp
	assert_output '6 of 14 calls'
	chooses desk.data --paths-to=b --levels=2
	chooses desk.data --under=fact --levels=2
	assert_output '2 of 14 calls'
	chooses desk.data --min-duration=20000ns
	chooses desk.data '--not-under=geo*' --min-duration=2000ns
	busy_desk 6000 | made busy.data
	for options in --under=f1 --not-under=f1 --paths-to=f3 --levels=2 --min-duration=100000ns \
		'--under=f1 --levels=2' '--under=f1 --not-under=f[23]' \
		'--paths-to=f1 --min-duration=50000ns --not-under=f2' \
		'--under=f0 --paths-to=f4 --levels=3' '--paths-to=f1 --levels=2 --min-duration=80000ns'; do
		# shellcheck disable=SC2086 # words
		chooses busy.data $options
	done
}

@test "choices of calls in replay, as a person reads them" {
	desk | made cprof.data
	run "$CPROF" replay --paths-to=clamp
	assert_output - <<-'END'
	    0.000010  desk             200  main(2, 0x7ffe1234) {
	    0.000055  desk             200    geo::move({x=3, y=4}, 1) {
	    0.000062  desk             200      clamp(-7) = 0  12.0 µs
	    0.000112  desk             200    } = {x=3, y=5}  [i=9, j=<optimized out>]  37.0 µs
	    0.000127  desk             200    a(1) ⇒ b(2) {
	    0.000151  desk             200      clamp(9) = 9  10.0 µs
	    0.000190  desk             200    } ⇒ gone  42.0 µs
	    0.003000  desk             200  } … not over at the end  2.90 ms
	END
	run "$CPROF" replay --under=a
	assert_output - <<-'END'
	    0.000127  desk             200  a(1) ⇒ b(2) {
	    0.000151  desk             200    clamp(9) = 9  10.0 µs
	    0.000190  desk             200  } ⇒ gone  42.0 µs
	END
}

# called REPORT: what each function's calls came to.
called() { jq -c '[.calls.functions[]? | {key: .function, value: [.calls, .total_ns]}] | from_entries' "$1"; }

@test "diff takes the same choices: of each recording what a report of it has" {
	busy_desk 3000 | made old.data
	busy_desk 5000 | made new.data
	for options in --under=f1 --not-under=f1 --paths-to=f3 --levels=2 --min-duration=100000ns '--under=f1 --levels=2'; do
		# shellcheck disable=SC2086 # words
		for side in old new; do "$CPROF" report --json $options $side.data >$side.json; done
		# shellcheck disable=SC2086 # words
		"$CPROF" diff --json $options old.data new.data >difference
		for side in old new; do
			jq -c --arg side $side '[.calls.functions[] | {key: .function, value: [.[$side + "_calls"], .[$side + "_total_ns"]]}] |
				map(select(.value[0] != null)) | from_entries' difference | jq -S . >got
			called $side.json | jq -S 'with_entries(select(.value[0] != 0))' >want
			diff want got || fail "$options, $side"
			[ "$(jq length want)" -gt 0 ]
		done
	done
	# What one of them has no call of is new, or gone; what neither has is a mistake.
	desk | made old.data
	desk | grep -v fact | made new.data
	run -0 "$CPROF" diff --under=fact old.data new.data
	assert_line --regexp '^ +3 +- .* fact$'
	run -1 "$CPROF" diff --under=facd old.data new.data
	assert_line --partial "no function of the recording matches 'facd'"
	run -1 "$CPROF" diff --under=fact new.data new.data
	run -2 "$CPROF" diff --under='/[/' old.data new.data
}

@test "calls that are left out are their callers' own time" {
	busy_desk 3000 | made cprof.data
	sum() { "$CPROF" export -f folded "$@" | awk '{ all += $NF } END { print all }'; }
	all=$(sum)
	assert_equal "$(sum --levels=1)" "$all"
	assert_equal "$(sum --levels=3)" "$all"
	assert_equal "$("$CPROF" export -f folded --levels=2 | awk -F';' '{ print NF }' | sort -un | tail -1)" 2
	"$CPROF" export -f folded --under=f2 >chosen
	run grep -v '^f2' chosen
	refute_output
}

@test "choices of calls of real programs: exceptions, recursion, threads, tail calls, forks, waits" {
	"$CPROF" run -q -o x.data -s 99 -t 'recurse,tail_*,thrower,catcher,jumper,jumped_to,worker,leaf,quitter' \
		--exceptions --max-rate=0 -- "$TRACEES/counted" --depth=200 >out
	grep -q 'counted: ok' out
	for options in --under=worker --not-under=worker --paths-to=leaf --levels=3 --min-duration=20000ns \
		--under=catcher --paths-to=thrower --under=tail_first --paths-to=tail_last \
		'--not-under=tail_middle' '--under=recurse --levels=7'; do
		# shellcheck disable=SC2086 # words
		chooses x.data $options
		[[ $output != 0\ * ]]
	done
	"$CPROF" run -q -o y.data -t 'program' --max-rate=0 -- "$TRACEES/inherit" >out
	outer=$("$CPROF" replay --json y.data | jq -rs 'map(select(.event == "inherited"))[0].function')
	chooses y.data --under="$outer"
	chooses y.data --not-under="$outer"
	chooses y.data --levels=2
	"$CPROF" run -q -o z.data --locks -t program -- "$TRACEES/contend" >out
	waiting=$("$CPROF" replay --json z.data | jq -rs 'map(select(.event == "wait"))[0].function')
	chooses z.data --levels=1
	chooses z.data --min-duration=1000000ns
	[ "$waiting" = null ] || "$CPROF" replay --json --levels=1 z.data >out
}

@test "choices of calls with nothing to choose from are refused" {
	"$CPROF" run -q -o s.data -t 'worker,leaf' --summary -- "$TRACEES/counted" >out
	workshop | made samples.data
	desk | made desk.data
	for command in report 'export -f folded'; do
		for option in --under=leaf --not-under=leaf --paths-to=leaf --levels=2; do
			# shellcheck disable=SC2086 # words
			run "$CPROF" $command $option s.data
			assert_failure 1
			assert_output --partial "recorded with --summary can't be chosen by the calls around them"
			# shellcheck disable=SC2086 # words
			run "$CPROF" $command $option samples.data
			assert_failure 1
			assert_output --partial 'no traced calls that could be chosen'
		done
		# shellcheck disable=SC2086 # words
		run "$CPROF" $command --min-duration=1us s.data
		assert_failure 1
		assert_output --partial "can't be chosen by duration"
	done
	run "$CPROF" replay --levels=2 s.data
	assert_failure 1
	run "$CPROF" replay --under=clmap desk.data
	assert_failure 1
	assert_output --partial "no function of the recording matches 'clmap'"
	assert_output --partial "clamp"
	run "$CPROF" report --paths-to=gone desk.data
	assert_failure 1
	assert_output --partial "no call of a function that matches 'gone' was recorded"
	run "$CPROF" export -f folded --under='/[/' desk.data
	assert_failure 2
	run "$CPROF" replay --levels=0 desk.data
	assert_failure 2
}
