#!/usr/bin/env bats
# Calls that are open when a process is forked: the child returns from them, too.

load helpers

traced='base,outer,middle,split,leaf,in_clone,in_thread,on_the_side'

# told FILE: what the events of a recording say, as the program writes it down.
told() {
	"$CPROF" replay --json "$1" | jq -r 'select(.event == "enter" or .event == "leave") |
		"\(.pid) \(if .event == "enter" then "+" else "-" end)\(.function) \(.depth)"'
}

# one_by_one FILE: line by line, process by process.
one_by_one() {
	sort -s -n -k1,1 "$1"
}

# record MODE OPTION...: x.data, and what the program says in ./said.
record() {
	local mode=$1
	shift
	"$CPROF" run -q -o x.data -t "$traced" --max-rate=0 "$@" -- "$TRACEES/inherit" --mode="$mode" >said
}

# of_child EVENT: the functions of the events of that kind in forked processes.
of_child() {
	"$CPROF" replay --json x.data | jq -r --arg event "$1" --argjson parent "$(head -1 said | cut -d' ' -f1)" \
		'select(.event == $event and .pid != $parent) | "\(.function) \(.depth) \(.inherited) \(.ended)"'
}

# has EVENT LINE...: the calls of forked processes with that event.
has() {
	local event=$1
	shift
	assert_equal "$(of_child "$event")" "$([ $# = 0 ] || printf '%s\n' "$@")"
}

@test "a forked child returns from what its parent had called, at its depth" {
	local mode
	for mode in fork twice exit exec jump vfork clone spawn thread coroutine; do
		echo "$mode"
		record "$mode"
		told x.data >events
		grep -q ' +leaf ' events
		diff <(one_by_one said) <(one_by_one events)
		case $mode in
		fork)
			has inherited 'base 0 null null' 'outer 1 null null' 'middle 2 null null' \
				'split 3 null null'
			assert_equal "$(of_child leave | grep ' true ' | cut -d' ' -f1,2 | tr '\n' ' ')" \
				'split 3 middle 2 outer 1 base 0 '
			by_whom_and_when
			;;
		exit | exec | vfork) has unwind 'split 3 true true' 'middle 2 true true' \
			'outer 1 true true' 'base 0 true true' ;;
		jump) has unwind 'split 3 true null' 'middle 2 true null' ;;
		clone | spawn) has inherited ;; # a stack of its own has nothing of the parent's
		thread) has inherited 'in_thread 0 null null' 'outer 1 null null' \
			'middle 2 null null' 'split 3 null null' ;;
		coroutine) assert_equal "$(of_child inherited | cut -d' ' -f1,2 | sort | tr '\n' ' ')" \
			'base 0 middle 2 on_the_side 0 outer 1 split 3 ' ;;
		esac
	done
}

# It counts from the fork on; before, it was its parent's.
by_whom_and_when() {
	"$CPROF" replay --json x.data | jq -es '([.[] | select(.event == "enter" and .function == "split")] | first) as $enter |
		([.[] | select(.event == "inherited" and .function == "split")] | first) as $it |
		([.[] | select(.event == "leave" and .inherited and .function == "split")] | first) as $left |
		$it.entered_ns == $enter.ts_ns and $it.entered_tid == $enter.tid and
		$it.entered_pid == $enter.pid and $left.ts_ns - $it.ts_ns == $left.duration_ns' >/dev/null
}

# leaf_is_told: the recording that is being written has the child's first call.
leaf_is_told() {
	told x.data 2>err | grep -q ' -leaf '
}

@test "a forked child that is still on its coroutine's stack has its calls at their depth" {
	local mode first
	mkfifo end
	for mode in rests thread_rests; do
		echo "$mode"
		record "$mode" <end 3<&- &
		exec 4>end
		until_true leaf_is_told
		exec 4>&-
		wait $!
		told x.data >events
		diff <(one_by_one said) <(one_by_one events)
		first=base
		[ "$mode" = rests ] || first=in_thread
		assert_equal "$(of_child inherited | cut -d' ' -f1,2 | sort)" \
			"$(printf '%s\n' "$first 0" 'on_the_side 0' 'outer 1' 'middle 2' 'split 3' | sort)"
	done
}

@test "gdb finds a forked child as deep as the events say" {
	needs gdb
	record fork
	gdb -q -batch -ex 'set follow-fork-mode child' -ex 'set startup-with-shell off' \
		-ex 'catch fork' -ex run -ex 'break leaf' -ex continue -ex bt \
		--args "$TRACEES/inherit" --mode=fork >frames 2>&1
	assert_equal "$(grep -oE ' in (base|outer|middle|split) |^#0 +leaf' frames | awk '{ print $NF }' | tac | tr '\n' ' ')" \
		"base outer middle split leaf "
	assert_equal "$("$CPROF" replay --json x.data | jq -r --argjson parent "$(head -1 said | cut -d' ' -f1)" \
		'select(.pid != $parent and .event == "enter") | "\(.function) \(.depth)"' | head -1)" "leaf 4"
}

@test "calls that were inherited count once, wherever they are counted" {
	record fork -a -r
	local calls
	calls=$(grep -oE '\+[a-z]+' said | sort | uniq -c | awk '{ print substr($2, 2), $1 }')
	counted() {
		"$CPROF" report --json "$@" | jq -r '.calls.functions[] | "\(.function) \(.calls)"' | sort
	}
	assert_equal "$(counted x.data)" "$calls"
	assert_equal "$("$CPROF" report --json x.data | jq .calls.calls)" "$(grep -c ' +' said)"
	"$CPROF" merge -o merged.data x.data
	assert_equal "$(counted merged.data)" "$calls"
	assert_equal "$("$CPROF" replay --json merged.data | jq -c '[.event, .tid, .function, .depth, .entered_tid]')" \
		"$("$CPROF" replay --json x.data | jq -c '[.event, .tid, .function, .depth, .entered_tid]')"
	"$CPROF" export -f sqlite -o x.db x.data
	assert_equal "$(sqlite3 -separator ' ' x.db 'SELECT name, calls FROM function_calls ORDER BY name')" "$calls"
	assert_equal "$(sqlite3 x.db 'SELECT count(*) FROM calls WHERE inherited')" 4
	# Results in the child are the child's.
	assert_equal "$("$CPROF" replay --json x.data | jq -r 'select(.event == "leave" and .function == "outer") | .result.value' |
		sort -n | tr '\n' ' ')" "-20 24 "
}

@test "text tells which calls were made before the fork" {
	record fork -r
	"$CPROF" replay x.data >text
	assert_regex "$(grep 'before the fork' text | sed 's/.*  \(}.*\)  [<0-9].*/\1/')" \
		"^} split \(called before the fork\) = -11
} middle \(called before the fork\) = -10
} outer \(called before the fork\) = -20
} base \(called before the fork\) = 5$"
	"$CPROF" run -q --profile=calls:spec=outer,result,output=calls.txt -- "$TRACEES/inherit" >said
	assert_regex "$(cat calls.txt)" "} outer \\(called before the fork\\) = -20 "
}

@test "a process has the time that it used, not what another program left" {
	for how in auto ptrace; do
		# shellcheck disable=SC2016 # the shell that is profiled expands it
		"$CPROF" run -q --capture=$how -s 999 -o rec -- sh -c \
			'"$0" --rounds=8 --threads=4; seq 1 100000; "$0" --rounds=8; seq 1 100000' \
			"$TRACEES/faults" >/dev/null
		# What the kernel says and what samples say of each program: two periods more at most,
		# and where there are many threads, of which each ends within a period, by chance some.
		"$CPROF" report --json rec | jq -c '
			([.processes[] | {key: "\(.pid)", value: .name}] | from_entries) as $name |
			(.processes | group_by(.name) | map({key: .[0].name, value: (map(.total_ns) | add)}) |
				from_entries) as $sampled |
			[.lives.threads | group_by($name["\(.pid)"] // "sh")[] |
				[$sampled[$name["\(.[0].pid)"] // "sh"] // 0, (map(.cpu_ns) | add),
					([2, (length | sqrt)] | max)]] |
			if (length >= 2) and all(.[0] <= .[1] + .[2] * 1.05e6) then empty else . end' >wrong
		[ ! -s wrong ] || { echo "$how"; cat wrong; "$CPROF" report --processes rec; false; }
	done
}
