#!/usr/bin/env bats
# cprof inspect of programs that run on: what changed meanwhile, and --stop.

# Registers have a '$' before their names.
# shellcheck disable=SC2016

load helpers
load inspected

# fits: every pair in ./json that is not torn is one that the program had.
fits() {
	jq -e 'map(select(.expression == "pair" and (.torn | not)) | .value.a - .value.b) | all(. == 0 or . == 1)' json
}

@test "what changed while it was read is marked, and what is held is of one moment" {
	needs gcc jq
	gcc -g -O1 -pthread -o torn "$SOURCES/tests/cli/inspect_torn.c"
	begin torn
	look() {
		"$CPROF" inspect --json "$pid" pair one >json
		fits
		# One word that changes is that of a moment.
		jq -e 'map(select(.expression == "one")) | .[0].torn | not' json
		jq -e '.[0].torn' json
	}
	until_true look
	torn() { "$CPROF" inspect "$pid" pair | grep '^    torn: '; }
	until_true torn
	for _ in 1 2 3 4 5 6 7 8; do
		"$CPROF" inspect --stop --json "$pid" pair pair.a one.n pair.b >json
		jq -e 'any(.torn) | not' json
		fits
		jq -e '.[0].value.a == .[1].value and .[0].value.b == .[3].value' json
		# Nothing has moved from the first to the last.
		jq -e '.[1].value - .[2].value | . == 0 or . == 1' json
		# It was let go.
		"$CPROF" inspect --json "$pid" pair.a >later
		until_true moves "$(jq '.[0].value' later)"
	done
	separately "$CPROF" inspect --stop ./torn pair
	assert_failure 2
	separately "$CPROF" inspect --stop --watch=1s --frame=main "$pid"
	assert_failure 2
	# Each round is of one moment, too.
	"$CPROF" inspect --stop --watch=10ms --json "$pid" pair.a pair.b >lines 3>&- {hold}>&- &
	local watching=$!
	started+=("$watching")
	rounds() { [ "$(wc -l <lines)" -ge 12 ]; }
	until_true rounds
	echo >&"$hold"
	wait "$pid"
	wait "$watching"
	exec {hold}>&-
	# What is as it was is not told again; that the thread has ended is, by itself.
	jq -e -s 'map(select(.expression)) | group_by(.time_ns) |
		[foreach .[] as $round ({}; . + ($round | map({(.expression): .value}) | add);
			."pair.a" - ."pair.b")] |
		length >= 6 and all(. == 0 or . == 1)' lines
}

# told COUNT TEXT: ./text has it so often.
told() {
	[ "$(grep -c "$2\$" text)" = "$1" ]
}

@test "what a frame holds is shown as it changes, and when there is none" {
	needs gcc jq
	gcc -g -O0 -o rounds "$SOURCES/tests/cli/inspect_rounds.c"
	local n options
	for options in '' --stop --json; do
		begin rounds
		# shellcheck disable=SC2086 # words
		"$CPROF" inspect --watch=10ms --frame=serve $options "$pid" 'done' 'steps * 10' \
			>text 3>&- {hold}>&- &
		local watching=$! none="the stack of thread $pid has no frame serve"
		started+=("$watching")
		for n in 1 2; do
			until_true told $n 'done[" ].*[ :]0\(,.*\)\?'
			echo >&"$hold"
			until_true told $n 'done[" ].*[ :]1\(,.*\)\?'
			echo >&"$hold"
			until_true told $n 'no frame serve\("}\)\?'
			echo >&"$hold"
		done
		until_true told 3 'done[" ].*[ :]0\(,.*\)\?'
		echo x >&"$hold"
		wait "$watching"
		wait "$pid"
		exec {hold}>&-
		if [ "$options" = --json ]; then
			assert_equal "$(jq -r '.value // .error' text | tr '\n' ' ')" \
				"0 20 1 $none 0 20 1 $none 0 20 "
			jq -e -s 'map(.time_ns) | . == sort' text
		else
			assert_equal "$(sed 's/^[0-9:.]* //' text | tr '\n' ' ')" \
				"done = 0 steps * 10 = 20 done = 1 $none done = 0 steps * 10 = 20 done = 1 $none done = 0 steps * 10 = 20 "
		fi
	done
}

moves() {
	[ "$("$CPROF" inspect "$pid" pair.a)" != "pair.a = $1" ]
}

@test "registers that nobody saved are known of who is stopped" {
	needs g++ gdb jq
	g++ -g -O2 -std=c++17 -pthread -o frames "$SOURCES/tests/cli/inspect_frames.cpp"
	begin frames
	"$CPROF" inspect --frame=serve "$pid" '$rax' | grep 'the thread sleeps'
	"$CPROF" inspect --json --stop --thread="$pid" --frame=serve "$pid" fd '$rbx' '$rbp' '$r12' '$r13' '$r14' '$r15' >json
	jq -e 'all(.error == null) and .[0].value == 7' json
	gdb -q -nx -batch -iex 'set debuginfod enabled off' -p "$pid" -ex 'frame function server::serve' \
		-ex 'printf "said %ld %ld %ld %ld %ld %ld\n", $rbx, (long)$rbp, $r12, $r13, $r14, $r15' </dev/null 2>log |
		sed -n 's/^said //p' | tr ' ' '\n' >gdbs
	# A number of more than 53 bits is text, an address in hex.
	jq -r '.[1:][] | .value' json | while read -r word; do echo $((word)); done | diff - gdbs
	finish
}
