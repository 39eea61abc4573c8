#!/usr/bin/env bats
# Code made at run time and registered for debuggers; gdb is the judge.
load helpers
load tracees

# functions REC: names of the functions in code of no file, with time of their own.
functions() {
	"$CPROF" report --json "$1" |
		jq -r '.samples.functions[] | select(.image == "[jit]" and .self > 0) | .function'
}

@test "run: samples in registered code have its names, however symbols are written" {
	for mode in spin object; do
		"$CPROF" run -q -s 500 -o rec."$mode" -- "$TRACEES/gdbjit" --mode=$mode --rounds=1000
		run -0 functions rec.$mode
		assert_output made_loop
	done
}

# attached: samples of the program, of which some are in code of no file, in ./rec.
attached() {
	"$CPROF" attach -q -s 500 -d 200ms -o rec "$tracee"
	functions rec | grep -q -x made_loop
}

@test "attach: what was registered before has its names" {
	begin gdbjit --mode=object
	until_true attached
	run -0 functions rec
	assert_output made_loop
	finish
	assert_equal "$finished" 'status 0, gdbjit: ok generated code, every result'
}

# in_code: a stack of the program while it is in code made at run time, in ./stack.
in_code() {
	"$CPROF" stack --json "$tracee" >stack
	jq -e '.threads[0].frames[0].image == "[jit]"' stack >one
}

@test "gdb has the same name for the same address" {
	needs gdb
	for mode in spin object; do
		begin gdbjit --mode=$mode
		until_true in_code
		gdb -q -batch -nx -p "$tracee" \
			-ex "info symbol $(jq -r '.threads[0].frames[0].ip' stack)" >gdb.out 2>&1 </dev/null
		assert_equal "$(sed -n 's/^\(made_[a-z_0-9]*\).* in section .*/\1/p' gdb.out)" \
			"$(jq -r '.threads[0].frames[0].function' stack)"
		finish
	done
}

# replaced: samples of code that replaces other code; more than one has a name.
replaced() {
	"$CPROF" run -q -s 2000 -o rec -- "$TRACEES/gdbjit" --rounds=1000 >out
	functions rec >names
	[ "$(grep -c '^made_loop_' names)" -gt 1 ]
}

@test "code that replaces other code has names of its own, or none" {
	until_true replaced
	assert_equal "$(cat out)" 'gdbjit: ok generated code, every result'
	run -1 grep -v -E '^(made_(add|loop)_[0-9]+|\[jit\])$' names
}

@test "lists and files that make no sense do no harm, and are counted" {
	for mode in circle wild many huge garbage foreign; do
		separately -0 "$CPROF" run -s 500 -o rec.$mode -- "$TRACEES/gdbjit" --mode=$mode --rounds=1000
		assert_output 'gdbjit: ok generated code, every result'
		run -0 functions rec.$mode
		assert_output made_loop
		case $mode in
		huge | garbage | foreign)
			run -0 grep -c '1 symbol file that the program registered for its run-time code makes no sense' <<<"$stderr"
			;;
		*)
			run -1 grep 'symbol file' <<<"$stderr"
			;;
		esac
	done
}

# happened ARGS...: events of ./gdbjit ARGS, in ./events.
happened() {
	"$CPROF" run -q --plugin-dir="$BUILD/tests/modules" --profile=events:events -- \
		"$TRACEES/gdbjit" "$@" >out
	[ "$(cat out)" = 'gdbjit: ok generated code, every result' ]
}

# told: what was made and freed, in order: EVENT NAME.
told() { awk '$3 ~ /^(jit_(begin|code_buffer|done|failed)|method_free)$/ { print $3, $4 }' events; }

# made NAME: the events of one function.
made() { printf '%s\n' "jit_begin $1" "jit_code_buffer $1" "jit_done $1"; }

@test "events: each function is told before it runs, and when it is unregistered" {
	happened --rounds=3
	for round in 0 1 2; do
		for i in {0..15}; do made "made_add_$((16 * round + i))"; done
		made "made_loop_$round"
		for i in {0..15}; do echo "method_free made_add_$((16 * round + i))"; done
		echo "method_free made_loop_$round"
	done >expected
	told | diff expected -
}

@test "events: code lies in chunks that were told before, and gdb has the same names" {
	needs python3 gdb
	happened --rounds=1
	run -0 python3 - <<-'END'
		chunks, code = {}, 0
		for line in open("events"):
		    words = line.split()
		    if words[2] == "jit_chunk_created":
		        chunks[int(words[4], 16)] = int(words[5])
		    elif words[2] == "jit_chunk_destroyed":
		        del chunks[int(words[4], 16)]
		    elif words[2] in ("jit_code_buffer", "jit_done"):
		        at, size = int(words[4], 16), int(words[5])
		        assert any(c <= at and at + size <= c + n for c, n in chunks.items()), line
		        code += 1
		print(code)
	END
	assert_output 34
	gdb -q -batch -nx -ex 'set breakpoint pending on' -ex 'break withdraw' -ex 'run --rounds=1' \
		-ex 'info functions made_' "$TRACEES/gdbjit" >gdb.out 2>&1 </dev/null
	diff <(sed -n 's/^0x[0-9a-f]* *\(made_[a-z_0-9]*\)$/\1/p' gdb.out | sort) \
		<(awk '$3 == "jit_done" { print $4 }' events | sort)
}

@test "events: files that make no sense fail; what is the same is told once" {
	for mode in garbage foreign; do
		happened --mode=$mode --rounds=3
		{ made made_loop && printf 'jit_begin -\njit_failed -\n'; } | diff - <(told)
	done
	happened --mode=huge --rounds=3
	{
		made made_loop
		made made_loop
		printf 'method_free made_loop\njit_begin -\njit_failed -\n'
	} | diff - <(told)
}

@test "events: what was registered before attaching is told when it begins" {
	begin gdbjit --mode=object
	"$CPROF" attach -q -d 100ms --plugin-dir="$BUILD/tests/modules" --profile=events:events "$tracee"
	finish
	assert_equal "$finished" 'status 0, gdbjit: ok generated code, every result'
	made made_loop | diff - <(told)
	# shellcheck disable=SC2016 # for awk
	run -0 awk '$3 == "jit_done" { done = 1 } $3 == "runtime_initialized" { print done }' events
	assert_output 1
}

@test "events: each line of a perf map is told" {
	"$CPROF" run -q --plugin-dir="$BUILD/tests/modules" --profile=events:events -- \
		"$TRACEES/jit" --mode=spin --until=stop >out 2>err 3>&- </dev/null &
	pid=$!
	started+=("$pid")
	until_true grep -q 'jit_done jit_framed_0' events
	cp "/tmp/perf-$(awk '$3 == "jit_done" { print $1; exit }' events).map" map
	touch stop
	wait "$pid"
	assert_equal "$(cat out)" 'jit: ok generated code, every result'
	run -0 grep -c . map
	assert_output 18
	run -1 grep 'jit_chunk_created - 0xf' events # not [vsyscall]
	awk '$3 == "jit_done" { print $4, $5, $6 }' events |
		diff <(while read -r at size name; do echo "$name 0x$at $((16#$size))"; done <map) -
}

# walked NAME: the module has met a function of that name in a walk.
walked() { grep -q " $1 " walks; }

# walks PID: starts cprof, whose module walks the stacks of samples of the process,
# as ./walks says.
walks() {
	rm -f walks
	"$CPROF" attach -q --plugin-dir="$BUILD/tests/modules" --profile=walks "$1" >out 2>err 3>&- \
		</dev/null &
	walker=$!
	started+=("$walker")
}

# Starts the program that stays in generated code; its map is whole.
spin() {
	begin jit --mode=spin
	until_true grep -qs jit_framed "/tmp/perf-$tracee.map"
}

@test "walks: code that a perf map names has functions, the same ones each time" {
	spin
	walks "$tracee"
	until_true walked jit_spin_0
	cp "/tmp/perf-$tracee.map" map
	finish
	wait "$walker"
	assert_equal "$finished" 'status 0, jit: ok generated code, every result'
	run -1 grep -v ' jit agreed$' walks
	# One handle, and what the program wrote of them.
	# shellcheck disable=SC2016 # for awk
	awk '$4 == "jit_spin_0" { print $3, $5, $6, $4 }' walks | sort -u >functions
	assert_equal "$(cut -d ' ' -f 2- functions)" "$(grep jit_spin_0 map)"
	while read -r _ ip _ _ start size _; do
		((16#$ip >= 16#$start && 16#$ip <= 16#$start + 16#$size)) || complain "$ip: $start $size"
	done <walks
	no_complaints
}

@test "a perf map that is written long after its code is found" {
	spin
	mv "/tmp/perf-$tracee.map" map
	walks "$tracee"
	until_true grep -q '^- ' walks
	mv map "/tmp/perf-$tracee.map"
	until_true walked jit_spin_0
	finish
	wait "$walker"
	assert_equal "$finished" 'status 0, jit: ok generated code, every result'
}

shown() {
	"$CPROF" stack "$tracee" >shown
	grep -q -F "$1" shown
}

@test "stack: names of a perf map" {
	spin
	# It looks now and then whether it shall stop.
	until_true shown 'jit_spin_0+'
	finish
}
