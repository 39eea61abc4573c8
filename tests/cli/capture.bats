#!/usr/bin/env bats
# --capture: samples by the kernel's own interrupt. The same judges as for stops: what the
# profiled program says of itself, and the kernel's accounts.

# shellcheck disable=SC2153 # the build sets what is in capitals
load helpers
load tracees

# Samples without stops, in the kernel, too, or the test can't be.
needs_perf() {
	[ "$("$CPROF" run -q --capture=auto -o probe -- true && "$CPROF" report --json probe |
		jq -r .capture)" = perf ] || skip "samples without stops are not permitted here"
}

# share FUNCTION [FILE]: its part of the total time, its callees included, in percent.
share() {
	"$CPROF" report --json --limit=0 "${2-cprof.data}" | jq -r --arg f "$1" '
		([.threads[].total_ns] | add) as $all |
		([.samples.functions[] | select(.function == $f) | .total_ns] | add // 0) * 100 / $all'
}

# within LOW HIGH NUMBER
within() {
	jq -ne --argjson lo "$1" --argjson hi "$2" --argjson n "$3" '$n >= $lo and $n <= $hi' \
		>/dev/null || { echo "$3 is not within $1 and $2" >&2; return 1; }
}

@test "threads that compute are sampled without a stop, and weigh their CPU time" {
	needs_perf
	run "$CPROF" run -q --capture=perf -s 997 -- "$TRACEES/busy_threads" --ms=1000
	assert_success
	# busy_threads: ok cpu_ms TOTAL threads MS...
	read -r -a said <<<"$output"
	want=$(printf '%s\n' "${said[@]:5}" | sort -n | jq -cs .)
	"$CPROF" report --json cprof.data >json
	jq -e '.capture == "perf" and .capture_reason == null and .overhead.stops == 0 and
		.overhead.perf_samples == .samples.total and
		.samples.truncated * 100 <= .samples.total' json || { cat json >&2; false; }
	got=$(jq -c '[.threads[].total_ns / 1e6] | sort | .[-8:]' json)
	# Up to two periods are under way at the end, one on each of two CPUs; and what a thread
	# did before and after it looked at its clock is not in its own account.
	jq -ne --argjson want "$want" --argjson got "$got" '
		[$want, $got] | transpose | all((.[0] - .[1]) | fabs <= 0.01 * $want[-1] + 3)' ||
		{ echo "want $want, got $got" >&2; false; }
	total=$(jq '([.threads[].total_ns] | add) / 1e6 + .samples.unsampled_ns / 1e6' json)
	within "$(jq -n "${said[3]} * 0.99")" "$(jq -n "${said[3]} * 1.01 + 10")" "$total"
	# People are told, too.
	"$CPROF" report cprof.data | grep -q '^  capture  *perf: [0-9,]* samples without a stop'
}

@test "by ptrace, threads are stopped; unless told, where it can't be without" {
	run "$CPROF" run -q --capture=ptrace -s 997 -- "$TRACEES/busy_threads" --ms=100
	assert_success
	"$CPROF" report --json cprof.data >json
	jq -e '.capture == "ptrace" and .overhead.stops > 0 and .overhead.perf_samples == 0' json
	run "$CPROF" run -q -s 997 -- "$TRACEES/busy_threads" --ms=100
	assert_success
	want=$("$CPROF" run -q --capture=auto -o auto -- true && "$CPROF" report --json auto | jq -r .capture)
	"$CPROF" report --json cprof.data | jq -e --arg want "$want" '.capture == $want'
	# Who takes no samples has no need of them, and nobody is told why they can't be.
	"$CPROF" run -q -t main -o calls -- "$TRACEES/busy_threads" --ms=10 >/dev/null
	"$CPROF" run -q --clock=wall -o wall -- "$TRACEES/busy_threads" --ms=10 >/dev/null
	"$CPROF" report --json calls | jq -e '.capture_reason == null and .overhead.perf_samples == 0'
	"$CPROF" report --json wall | jq -e '.capture == "ptrace" and .capture_reason == null'
}

@test "stacks are the program's own, at attach" {
	needs_perf
	begin known_stack --mode=spin
	"$CPROF" attach -q --capture=perf -s 499 -d 1s -o rec "$tracee"
	finish
	assert_equal "$finished" "status 0, known_stack: ok N chains of calls"
	want=$(sed -n 's/^stack [0-9]* [a-z]* //p' "$tracee_output" | tr ' ' '\n' | tac | tr '\n' ' ')
	"$CPROF" export -f folded rec >folded
	# Where the machine itself takes a tenth of the processors' time away, interrupts come
	# together, and a thread is left to stops for a while, which is said.
	"$CPROF" report --json rec | jq '{capture} + .overhead' >how
	jq -e '.capture == "perf" and .perf_samples > 0 and (.stops == 0 or .perf_left > 0)' how ||
		{ cat how >&2; false; }
	jq -Rse --arg want "${want% }" '
		[split("\n")[] | select(contains("leaf_spin")) |
			capture("^(?<stack>.*) (?<ns>[0-9]+)$") | .ns |= tonumber | .whole = (.stack | [scan("[^;]+") | select(IN($want | split(" ")[]))] |
				join(" ") == $want)] |
		([.[] | select(.whole) | .ns] | add) / ([.[].ns] | add) > 0.99' folded ||
		{ echo "want $want" >&2; cat folded >&2; false; }
}

@test "two halves of the time are half and half" {
	needs_perf
	run "$CPROF" run -q --capture=perf -s 499 -- "$TRACEES/alternating" --size=5000 --ms=3000
	assert_success
	# alternating: ok phase_a MS phase_b MS
	read -r -a said <<<"$output"
	want=$(jq -n "${said[3]} * 100 / (${said[3]} + ${said[5]})")
	rm -f db
	"$CPROF" export -f sqlite -o db cprof.data
	error=$(sqlite3 -separator ' ' db \
		'SELECT sum(weight_ns / 1e6), sum(weight_ns / 1e6 * weight_ns / 1e6) FROM samples' |
		jq -s '50 * (.[1] | sqrt) / .[0]')
	within "$(jq -n "$want - 4 * $error")" "$(jq -n "$want + 4 * $error")" "$(share phase_a)"
}

@test "time in the kernel is in the samples: as much as the kernel says" {
	needs_perf
	cat >calls.py <<-'END'
		import os, resource, time
		fd = os.open("/dev/zero", os.O_RDONLY)
		end = time.process_time() + 1.5
		while time.process_time() < end:
		    os.pread(fd, 1 << 20, 0)
		use = resource.getrusage(resource.RUSAGE_SELF)
		print("%.0f" % ((use.ru_utime + use.ru_stime) * 1000))
	END
	run "$CPROF" run -q --capture=perf -s 499 -- python3 calls.py
	assert_success
	"$CPROF" report --json cprof.data >json
	jq -e '.overhead.perf_left == 0' json
	within "$(jq -n "$output * 0.98 - 10")" "$(jq -n "$output * 1.02 + 20")" \
		"$(jq '([.threads[].total_ns] | add) / 1e6' json)"
}

@test "stacks of 200 and of 10,000 frames reach main: what is deeper than the copy, by stops" {
	needs_perf
	for depth in 200 10000; do
		run "$CPROF" run -q --capture=perf -s 999 -- "$TRACEES/deep" --depth=$depth --rounds=100
		assert_success
		"$CPROF" export -f folded -o folded cprof.data
		awk -v n="$depth" -F'[; ]' '/;descend;/ && NF > most { most = NF }
			END { exit !(most > n) }' folded
		# Who ends before a stop comes has what the copy had: a few of them, where CPUs are wanted.
		rm -f db
		"$CPROF" export -f sqlite -o db cprof.data
		assert_equal "$(sqlite3 db 'WITH t AS (SELECT sum(weight_ns * (NOT truncated)) AS whole,
			sum(weight_ns) AS ns FROM samples JOIN stacks s ON s.id = stack GROUP BY thread)
			SELECT sum(whole) FILTER (WHERE whole) >= 0.95 * sum(ns) FILTER (WHERE whole),
			sum(NOT whole) <= count(*) / 5 FROM t')" '1|1'
	done
	"$CPROF" report --json cprof.data | jq -e '.overhead.perf_left > 0 and .overhead.stops > 0'
	"$CPROF" report cprof.data | grep -A2 '^  capture' | grep -q 'by stops'
}

@test "threads too short for a tick are represented all the same" {
	needs_perf
	run "$CPROF" run -q --capture=perf -s 499 -- "$TRACEES/deep" --depth=200 --rounds=1500
	assert_success
	within 80 100 "$(share tracee_mix)"
	"$CPROF" report --json cprof.data | jq -e '.samples.unsampled_ns <= .samples.cpu_ns / 10'
}

@test "handlers on an alternate stack: the frames below are sampled, too" {
	needs_perf
	begin known_stack --mode=alternate_spin
	"$CPROF" attach -q --capture=perf -s 200 -d 3s -o rec "$tracee"
	finish
	want=$(sed -n 's/^stack [0-9]* [a-z]* //p' "$tracee_output" | tr ' ' '\n' | tac | tr '\n' ' ')
	"$CPROF" export -f folded rec | jq -Rs --arg want "${want% }" '
		[split("\n")[] | select(contains("alternate_handler")) |
			capture("^(?<stack>.*) (?<ns>[0-9]+)$") |
			.whole = (.stack | [scan("[^;]+") | select(IN($want | split(" ")[]))] |
				join(" ") == $want)] |
		([.[] | select(.whole) | .ns | tonumber] | add // 0) * 100 /
			([.[].ns | tonumber] | add)' >share
	within 50 100 "$(cat share)"
}

@test "children are followed, through fork and exec, or not" {
	needs_perf
	cat >work.sh <<-END
		"$TRACEES/busy_threads" --ms=200 >/dev/null
		exec "$TRACEES/alternating" --ms=200
	END
	"$CPROF" run -q --capture=perf -s 997 -- sh work.sh | grep -q '^alternating: ok'
	"$CPROF" report --json --limit=0 cprof.data >json
	jq -e '[.images[]?, .samples.images[]? | .image] | contains(["busy_threads", "alternating"])' json
	jq -e '.overhead.stops == 0 or .overhead.perf_samples > .overhead.stops' json
	"$CPROF" run -q --capture=perf --no-follow -s 997 -- sh work.sh >/dev/null
	"$CPROF" report --json --limit=0 cprof.data >json
	jq -e '[.samples.images[] | .image] | contains(["alternating"]) and (index("busy_threads") | not)' json
}

@test "programs say under it what they say alone" {
	needs_perf
	while read -r -a program; do
		native "${program[@]}"
		status=0
		"$CPROF" run -q --capture=perf -s 1999 -o rec -- "$TRACEES/${program[0]}" \
			"${program[@]:1}" >out 2>err </dev/null || status=$?
		[ "status $status, $(verdict out)" = "$native" ] ||
			complain "${program[*]}: status $status, $(cat out err), alone: $native"
	done < <(stress_programs few)
	no_complaints
}

@test "a program that is killed has the samples that it had" {
	needs_perf
	mkfifo ready
	"$CPROF" run -q --capture=perf -s 997 -o rec -- "$TRACEES/known_stack" --mode=spin \
		--ready=ready --until=stop >out 2>err </dev/null 3>&- &
	local run=$! tracee
	started+=("$run")
	read -r tracee <ready
	until_true spent "$tracee" 20
	kill -KILL "$tracee"
	ended "$run"
	assert_equal "$ended" 137
	"$CPROF" report --json rec | jq -e '.overhead.perf_samples > 50 and .samples.truncated * 100 <= .samples.total'
}

# spent PID TICKS: it has used so much CPU time.
spent() { [ "$(awk '{ print $14 + $15 }' "/proc/$1/stat")" -gt "$2" ]; }

@test "cprof that is killed leaves the program alone, and a recording" {
	needs_perf
	begin known_stack --mode=spin
	"$CPROF" attach -q --capture=perf -s 997 -o rec "$tracee" 3>&- &
	local cprof=$!
	started+=("$cprof")
	until_true test -s rec
	until_true spent "$tracee" 30
	children=$(cat "/proc/$cprof/task/$cprof/children")
	# shellcheck disable=SC2086 # a list
	kill -KILL "$cprof" $children
	until_true left_alone "$tracee"
	finish
	assert_equal "$finished" "status 0, known_stack: ok N chains of calls"
	"$CPROF" report --json rec | jq -e '.capture == "perf"'
}

@test "calls are traced beside it, by their stops" {
	needs_perf
	"$CPROF" run -q --capture=perf -s 997 -t 'work_at_the_bottom' -- \
		"$TRACEES/deep" --depth=20 --rounds=200 | grep -q '^deep: ok'
	"$CPROF" report --json cprof.data | jq -e '.capture == "perf" and
		([.calls.functions[]? | select(.function == "work_at_the_bottom") | .calls] | add) == 400'
}

@test "refused by a filter: perf says so before CMD is started, auto takes stops" {
	for how in errno kill; do
		rm -f rec
		separately "$TRACEES/forbid" $how "$CPROF" run --capture=perf -o rec -- touch started
		assert_equal "$status" 125
		assert_not_exist started
		assert_not_exist rec
		case $how in
		errno) [[ $stderr == *"perf_event_open() is forbidden"*"--capture=auto"* ]] ;;
		kill) [[ $stderr == *"kills whoever calls perf_event_open()"*"--capture=auto"* ]] ;;
		esac
		run "$TRACEES/forbid" $how "$CPROF" run -q --capture=auto -s 499 -o rec -- \
			"$TRACEES/busy_threads" --ms=50
		assert_success
		"$CPROF" report --json rec | jq -e '.capture == "ptrace" and .overhead.stops > 0 and
			(.capture_reason | contains("perf_event_open()"))'
		"$CPROF" report rec | grep -q '^  capture  *ptrace: .*perf_event_open()'
	done
	begin known_stack --mode=spin
	separately "$TRACEES/forbid" errno "$CPROF" attach --capture=perf -o rec.no "$tracee"
	assert_equal "$status" 1
	[[ $stderr == *"perf_event_open() is forbidden"* ]]
	assert_not_exist rec.no
	finish
	assert_equal "$finished" "status 0, known_stack: ok N chains of calls"
}

@test "user code alone: who is in the kernel is sampled by stops, and that is said" {
	needs setpriv
	[ "$(id -u)" = 0 ] || skip "only root can become somebody else"
	local paranoid nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set=-all)
	paranoid=$(cat /proc/sys/kernel/perf_event_paranoid)
	[ "$paranoid" = 2 ] || skip "perf_event_paranoid is $paranoid"
	needs_perf
	chmod 777 .
	"${nobody[@]}" "$CPROF" run -q --capture=auto -s 499 -o rec -- true
	"$CPROF" report --json rec | jq -e '.capture == "ptrace" and
		(.capture_reason | contains("perf_event_paranoid is 2"))'
	# A switch happens in the kernel: 0 would be wrong. A page fault is the user's code's.
	separately "${nobody[@]}" "$CPROF" run -q --event=context-switches -o none -- true
	assert_equal "$status" 125
	[[ $stderr == *"no samples of context-switches: perf_event_open() is not permitted"* ]]
	"${nobody[@]}" "$CPROF" run -q --event=page-faults -o rec -- "$TRACEES/faults"
	"$CPROF" report --json rec | jq -e '.samples.total_count >= 4500'
	"${nobody[@]}" "$CPROF" run -q --capture=perf -s 499 -o rec -- \
		"$TRACEES/busy_threads" --ms=200
	"$CPROF" report --json rec | jq -e '.capture == "perf, user code alone" and
		.overhead.perf_samples > 0'
	# Half of its time and more is in the kernel.
	"${nobody[@]}" "$CPROF" run -q --capture=perf -s 499 -o rec -- \
		dd if=/dev/zero of=/dev/null bs=64k count=200k 2>err
	"$CPROF" report --json rec >json
	jq -e '.overhead.perf_left > 0 and .overhead.stops > 10' json
	"$CPROF" report rec | grep -q '^  capture  *perf, user code alone: '
}

@test "what can't be asked for together is refused" {
	separately "$CPROF" run --capture=perf --clock=wall -- true
	assert_equal "$status" 125
	[[ $stderr == *"--capture=perf is about CPU time"* ]]
	separately "$CPROF" run --capture=auto -t main -- true
	assert_equal "$status" 125
	[[ $stderr == *"--capture is about samples"* ]]
	run "$CPROF" run -q --capture=auto --clock=wall -o rec -- true
	assert_success
	"$CPROF" report --json rec | jq -e '.capture == "ptrace" and
		(.capture_reason | contains("elapsed time"))'
}
