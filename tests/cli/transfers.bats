#!/usr/bin/env bats
# Transfers that a stop cuts short are finished. The stress program checks each
# byte and counts what came back short.

load helpers
load tracees

# of N: the row of what was finished and what was not, in $finished_ones and $short_ones.
row_of() {
	local row
	row=$("$CPROF" report "$1" | grep -E '^ *transfers +[0-9]') || row=
	finished_ones=$(sed -En 's/.* ([0-9,]+) interrupted transfers? finished.*/\1/p' <<<"$row" | tr -d ,)
	short_ones=$(sed -En 's/.* ([0-9,]+) transfers? came back short because of profiling.*/\1/p' <<<"$row" | tr -d ,)
	: "${finished_ones:=0}" "${short_ones:=0}"
}

# nameless FILE: functions of no image.
nameless() {
	"$CPROF" report --json "$1" |
		jq -c '[.samples.functions[] | select(.image == "[anon]" or .image == "" or .image == null)]'
}

# whole OPTION... -- ARG...: nothing may be short, natively or under cprof run.
whole() {
	under "$@"
	assert_equal "$under" "status 0, transfers: ok every byte is there"
	row_of run.data
	assert_equal "$short_ones" 0
}

@test "no transfer is short because of samples, and each byte is there" {
	local ms
	ms=$(long_or 20000 700)
	whole -s 99 -- transfers --ms="$ms"
	whole -s 999 -- transfers --ms="$ms"
	whole -s 999 --clock=wall -- transfers --ms="$ms"
	[ "$finished_ones" -gt 10 ]
	assert_equal "$("$CPROF" report --json run.data | jq -c '.overhead | [.finished, .cut_short]')" \
		"[$finished_ones,0]"
	# Who waits in the code that does the rest is seen in the call itself.
	assert_equal "$(nameless run.data)" "[]"
}

@test "signals that are ignored shorten nothing either" {
	whole -s 999 -- transfers --mode=ignored --ms="$(long_or 20000 700)"
	whole -s 99 --clock=wall -- transfers --mode=ignored --ms=300
}

@test "a signal with a handler ends a transfer, with the true count, and sees the program's code" {
	native transfers --mode=signals
	under -s 999 --clock=wall -- transfers --mode=signals --ms="$(long_or 20000 1000)"
	assert_equal "$under" "$native"
	row_of run.data
	[ "$finished_ones" -gt 0 ]
}

@test "a forked child finishes its own" {
	whole -s 999 -- transfers --mode=fork --ms="$(long_or 5000 300)"
}

@test "breakpoints, coverage and snapshots leave transfers whole" {
	whole -s 999 -t 'push_*,pull_*' --stack -- transfers --ms=300
	whole -s 999 --coverage -- transfers --ms=300
	begin transfers
	for _ in 1 2 3 4 5; do
		"$CPROF" stack "$tracee" >/dev/null
		"$CPROF" stack --args "$tracee" >/dev/null
	done
	finish
	assert_equal "$finished" "status 0, transfers: ok every byte is there"
}

@test "a program that takes a short write for a whole one loses nothing" {
	needs /usr/bin/python3
	local round # bats has an i of its own
	for ((round = 0; round < 3; round++)); do
		run env PYTHONUNBUFFERED=1 "$CPROF" run -q -o x.data -s 99 -- \
			sh -c '/usr/bin/python3 -c "for i in range(20): print(\"x\" * 999999)" | wc -c'
		assert_success
		assert_output 20000000
	done
}

# The threads of $tracee that wait in memory that may be executed and is of no file.
in_our_code() {
	/usr/bin/python3 - "$tracee" <<-'END'
		import os, sys
		pid, ours = sys.argv[1], []
		for line in open(f"/proc/{pid}/maps"):
		    where, perms, _, _, inode = line.split()[:5]
		    if perms == "r-xp" and inode == "0" and "[" not in line:
		        ours.append([int(n, 16) for n in where.split("-")])
		for tid in os.listdir(f"/proc/{pid}/task"):
		    text = open(f"/proc/{pid}/task/{tid}/syscall").read().split()
		    if any(a <= int(text[-1], 16) < b for a, b in ours if text[0] != "running"):
		        print(tid)
	END
}

# Somebody waits there: while nobody takes anything.
somebody_waits() {
	kill -USR2 "$tracee" # go on
	sleep 0.1
	kill -USR2 "$tracee"
	sleep 0.1
	tids=$(in_our_code)
	[ -n "$tids" ]
}

@test "a thread that waits for the rest is in its call for everybody, and left so" {
	needs /usr/bin/python3
	local tid
	begin transfers
	attach -s 999 --clock=wall
	kill -USR2 "$tracee"
	until_true somebody_waits
	# While it is attached,
	kill -INT "$controller"
	ended "$controller"
	assert_equal "$(nameless attach.data)" "[]"
	# and for the next one.
	take
	for tid in $tids; do
		run jq -r --argjson tid "$tid" '.threads[] | select(.tid == $tid).frames[] |
			"\(.image) \(.function)"' stack.json
		assert_success
		assert_line --index 0 --partial 'libc.so.6 '
		assert_line --regexp '^transfers (pusher|puller|drain|trickle)$'
	done
	# It does the rest with nobody there.
	kill -USR2 "$tracee"
	finish
	assert_equal "$finished" "status 0, transfers: ok every byte is there"
}

@test "attached again and again: nothing is short, and the program does not grow" {
	local i
	begin transfers
	for ((i = 0; i < $(long_or 100 8); i++)); do
		attach -d 150ms -s 999 --clock=wall
		ended "$controller"
	done
	# Each holds 12 threads, of which there are 28.
	assert_regex "$(grep -c 'r-xp 00000000 00:00 0 *$' "/proc/$tracee/maps")" '^[1-3]$'
	finish
	assert_equal "$finished" "status 0, transfers: ok every byte is there"
}

@test "what a foreign filter forbids to finish is counted as the program counts it" {
	needs setpriv
	# Without privileges a filter can't be suspended.
	local drop=(setpriv --bounding-set -sys_admin --inh-caps -sys_admin)
	"${drop[@]}" true 2>/dev/null || drop=() # there are none to drop
	run "${drop[@]}" "$CPROF" run -q -o x.data -s 999 --clock=wall -- "$TRACEES/transfers" --mode=filter
	assert_success
	[[ $output =~ "ok "([0-9]+)" of" ]]
	row_of x.data
	assert_equal "$finished_ones $short_ones" "0 ${BASH_REMATCH[1]}"
	[ "$short_ones" -gt 0 ]
}

# killed WHO: cprof at any moment; each byte is there all the same.
killed() {
	local t
	begin transfers --mode=rest
	attach -s 999 --clock=wall
	sleep "0.$((RANDOM % 200 + 100))"
	any_traced "$tracee"
	t=$tracer_of
	case $1 in
	tracer) kill -KILL "$t" ;;
	controller) kill -KILL "$controller" ;;
	both) kill -KILL "$controller" "$t" ;;
	esac
	soon_left_alone "$tracee" "$1"
	finish
	[[ $finished == "status 0, transfers: ok "* ]] || complain "$1: $finished"
	# An interrupt that was on its way at that moment, for each of 14 threads.
	[[ $(tail -n 1 "$tracee_output") =~ "ok "([0-9]+)" of" ]]
	[ "${BASH_REMATCH[1]}" -le 14 ] || complain "$1: ${BASH_REMATCH[1]} were short"
	kill -KILL "$controller" 2>/dev/null || :
}

@test "SIGKILL of cprof leaves no wrong count and no wrong byte" {
	local i
	for ((i = 0; i < $(long_or 100 3); i++)); do
		killed tracer
		killed controller
		killed both
	done
	no_complaints
}

@test "a time limit is reached though signals that are ignored come all the time" {
	native time_limits
	assert_equal "$native" "status 0, time_limits: ok each limit was kept"
	under -s 99 -- time_limits --limit=60
	assert_equal "$under" "$native"
	under -s 999 --clock=wall -- time_limits --limit=60
	assert_equal "$under" "$native"
}

@test "a call waits on where another thread takes the ignored signal that woke it" {
	native taken_signals
	assert_equal "$native" "status 0, taken_signals: ok no call saw what woke it"
	under -s 999 -- taken_signals --ms="$(long_or 5000 200)"
	assert_equal "$under" "$native"
	under -s 999 --clock=wall -- taken_signals
	assert_equal "$under" "$native"
}

@test "a call that cprof does not know of waits on, beside threads that hit breakpoints" {
	native taken_signals --mode=unknown --size=60
	assert_equal "$native" "status 0, taken_signals: ok calls are as long as they are to be"
	under -t step --traps --max-rate=0 -- taken_signals --mode=unknown --size=60
	assert_equal "$under" "$native"
}

@test "signals to a process that another thread handled than its first one are counted" {
	under -t step --traps --max-rate=0 -- taken_signals --mode=strayed --size=40
	"$CPROF" report --json run.data >json
	assert_equal "$(tail -n 1 run.out)" \
		"taken_signals: ok others had $(jq '.overhead.strayed // 0' json)"
}

@test "a signal with a handler ends such a call, with cprof and after its SIGKILL" {
	local first controller
	native taken_signals --mode=handled
	under -s 999 -- taken_signals --mode=handled
	assert_equal "$under" "$native"
	for first in 0 1 2 3 4; do
		rm -f ready stop
		start "$CPROF" run -q -s 999 -o x.data -- "$TRACEES/taken_signals" --mode=handled \
			--size="$first" --ready=ready --until=stop
		controller=$pid
		until_true [ -s ready ]
		any_traced "$(cat ready)"
		kill -KILL "$controller" "$tracer_of"
		: >stop
		until_true grep -q 'taken_signals: ' out
		assert_equal "$(verdict out)" "taken_signals: ok no call saw what woke it"
	done
}
