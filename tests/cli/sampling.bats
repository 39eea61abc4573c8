#!/usr/bin/env bats
# Are the numbers right? The judge is what the profiled program says of itself.

load helpers
load tracees

# share FUNCTION: its part of the total time, its callees included, in percent.
share() {
	"$CPROF" report --json --limit=0 cprof.data | jq -r --arg f "$1" '
		([.threads[].total_ns] | add) as $all |
		([.samples.functions[] | select(.function == $f) | .total_ns] | add // 0) * 100 / $all'
}

# within LOW HIGH NUMBER
within() {
	jq -ne --argjson lo "$1" --argjson hi "$2" --argjson n "$3" '$n >= $lo and $n <= $hi' \
		>/dev/null || { echo "$3 is not within $1 and $2" >&2; return 1; }
}

@test "the weights of each thread's samples are its CPU time" {
	run "$CPROF" run -q --capture=ptrace -s 997 -- "$TRACEES/busy_threads" --ms=600
	assert_success
	# busy_threads: ok cpu_ms TOTAL threads MS...
	read -r -a said <<<"$output"
	want=$(printf '%s\n' "${said[@]:5}" | sort -n | jq -cs .)
	got=$("$CPROF" report --json cprof.data | jq -c '
		[.threads[].total_ns / 1e6] | sort | .[-8:]')
	# Never more; less only by what a thread used after its last sample.
	jq -ne --argjson want "$want" --argjson got "$got" '
		[$want, $got] | transpose | all(.[1] <= .[0] * 1.01 + 1)' ||
		{ echo "want $want, got $got" >&2; false; }
	# With that, the sum is what the program used.
	total=$("$CPROF" report --json cprof.data | jq '
		([.threads[].total_ns] | add) / 1e6 + .samples.unsampled_ns / 1e6')
	# What it used before and after it looked at its own clock it can't say: 6 to 8 ms by
	# the kernel's account, without us, where pages cost most.
	within "$(jq -n "${said[3]} * 0.99")" "$(jq -n "${said[3]} * 1.01 + 10")" "$total"
}

@test "a program in step with the clock is seen in all its parts" {
	run "$CPROF" run -q --capture=ptrace -s 200 -- "$TRACEES/alternating" --size=5000 --ms=3000
	assert_success
	# alternating: ok phase_a MS phase_b MS
	read -r -a said <<<"$output"
	want=$(jq -n "${said[3]} * 100 / (${said[3]} + ${said[5]})")
	# Samples that count differently are worth fewer that count alike; four times the
	# standard error of as many: on a busy machine 50 of 100, where 600 are taken alone.
	rm -f db
	"$CPROF" export -f sqlite -o db cprof.data
	error=$(sqlite3 -separator ' ' db \
		'SELECT sum(weight_ns / 1e6), sum(weight_ns / 1e6 * weight_ns / 1e6) FROM samples' |
		jq -s '50 * (.[1] | sqrt) / .[0]')
	within "$(jq -n "$want - 4 * $error")" "$(jq -n "$want + 4 * $error")" "$(share phase_a)"
}

@test "who makes many system calls is found in them as often as it is, on whichever CPU" {
	run "$CPROF" run -q --capture=ptrace -s 997 -- "$TRACEES/in_calls" --ms=1000
	assert_success
	# in_calls: ok user MS kernel MS. Stops are time in the kernel, too; and the kernel looks
	# 100 to 250 times a second.
	read -r -a said <<<"$output"
	want=$(jq -n "${said[5]} * 100 / (${said[3]} + ${said[5]})")
	within "$(jq -n "$want - 12")" "$(jq -n "$want + 12")" "$(share syscall)"
}

@test "short threads are represented by those that were hit" {
	# Nearly all of the time goes into tracee_mix, in threads of 0.7 ms each.
	run "$CPROF" run -q --capture=ptrace -s 499 -- "$TRACEES/deep" --depth=200 --rounds=1500
	assert_success
	within 80 100 "$(share tracee_mix)"
}

@test "the wall clock counts a sleeper at every tick, without a stop" {
	run "$CPROF" run -q --capture=ptrace -s 100 --clock=wall -- sleep 2
	assert_success
	run "$CPROF" report --json cprof.data
	# It sleeps for 200 ticks, and was there for no more than the recording.
	# Of them only those at its start, while it is linked and runs, may stop it.
	jq -e '.samples.total <= .duration_ns / 1e7 + 1 and .samples.total >= 200 * 0.97 - 2' \
		<<<"$output"
	jq -e '.overhead.stops <= 10' <<<"$output"
}

# spent STATE FUNCTION: its time in a state, its callees included, in ms.
spent() {
	"$CPROF" report --json --limit=0 --state="$1" cprof.data | jq -r --arg f "$2" '
		[.samples.functions[] | select(.function == $f) | .total_ns] | add // 0 | . / 1e6'
}

# The program measures each of its functions by both clocks.
@test "by the wall clock, time on a CPU and time without are each what they were" {
	for hz in 99 997; do
		run "$CPROF" run -q -s $hz --clock=wall -- "$TRACEES/wall_time"
		assert_success
		# wall_time: ok before CPU all WALL CPU FUNCTION WALL CPU...
		read -r -a said <<<"$output"
		# A tick that comes late, on a busy machine, tells of all the time since the last one
		# what it sees at the end of it: each is wrong by anything from nothing to how late
		# it is, and they are independent.
		rm -f db
		"$CPROF" export -f sqlite -o db cprof.data
		late=$(sqlite3 db "
			SELECT 4 * sqrt(sum(late * late)) / 2
			FROM (SELECT max(0, weight_ns / 1e6 - (ticks + 1) * 1e3 / $hz) late FROM samples)")
		period=$(jq -n "1000 / $hz + 1")
		total=$("$CPROF" report --json cprof.data | jq '
			(.samples | .total_ns - .waiting_ns + .unsampled_ns) / 1e6')
		# What was used before main() was used by us, too, until the program was executed.
		within "$(jq -n "${said[6]} * 0.99 - 1")" \
			"$(jq -n "${said[6]} * 1.01 + ${said[3]} + 10")" "$total"
		for ((i = 7; i < ${#said[@]}; i += 3)); do
			f=${said[i]} wall=${said[i + 1]} cpu=${said[i + 2]}
			# What is in doubt is where a stint ends, half a period to one and a half: there
			# are 5 of each, 10 of one; those of less than a period are samples among
			# others, as many as there are periods in their time.
			state=running want=$cpu
			[[ $f != sleep* ]] || state=waiting want=$(jq -n "$wall - $cpu")
			doubt=$(jq -n "4 * $period * (10 | sqrt) + $late")
			[[ $f != *short ]] || doubt=$(jq -n "4 * ($want * $period | sqrt) + $late")
			got=$(spent $state "$f")
			within "$(jq -n "$want - $doubt")" "$(jq -n "$want + $doubt")" "$got" ||
				complain "$hz Hz: $f $got ms $state, by its own clocks $want: $output"
		done
	done
	no_complaints
}

@test "the CPU clock leaves a sleeper alone" {
	run "$CPROF" run -q --capture=ptrace -s 100 -- sleep 1
	assert_success
	run "$CPROF" report --json cprof.data
	# At its start it runs, and may be hit then.
	jq -e '.samples.total <= .samples.cpu_ns / 1e7 + 3 and .overhead.stops <= 10' <<<"$output"
}

@test "stacks of 200 and of 10,000 frames reach main" {
	for depth in 200 10000; do
		run "$CPROF" run -q --capture=ptrace -s 999 -- "$TRACEES/deep" --depth=$depth --rounds=100
		assert_success
		"$CPROF" export -f folded -o folded cprof.data
		# From the bottom of the recursion back to where the thread began.
		awk -v n="$depth" -F'[; ]' '/;descend;/ {
			all += $NF
			if ($1 == "_start" || $1 == "clone3") whole += $NF
			if (NF > most) most = NF
		} END { print whole, all, most; exit !(most > n && whole >= all * 0.95) }' folded
	done
}

# The first samples only tell where to look for the stack below the handler's.
@test "handlers on an alternate stack: the frames below are sampled, too" {
	local clock kind want
	for clock in cpu wall; do
		kind=alternate
		[ "$clock" = wall ] || kind=alternate_spin
		begin known_stack --mode=$kind
		"$CPROF" attach -q --clock=$clock --capture=ptrace -s 200 -d 3s -o rec "$tracee"
		finish
		want=$(sed -n 's/^stack [0-9]* [a-z]* //p' "$tracee_output" | tr ' ' '\n' | tac | tr '\n' ' ')
		"$CPROF" export -f folded rec | jq -Rs --arg want "${want% }" '
			[split("\n")[] | select(contains("alternate_handler")) |
				capture("^(?<stack>.*) (?<ns>[0-9]+)$") |
				.whole = (.stack | [scan("[^;]+") | select(IN($want | split(" ")[]))] |
					join(" ") == $want)] |
			([.[] | select(.whole) | .ns | tonumber] | add // 0) * 100 /
				([.[].ns | tonumber] | add)' >share
		within 50 100 "$(cat share)" || complain "$clock: $("$CPROF" export -f folded rec)"
	done
	no_complaints
}
