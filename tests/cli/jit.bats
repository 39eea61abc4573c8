#!/usr/bin/env bats
# Code made at run time and registered for debuggers; gdb is the judge.
load helpers
load tracees
bats_require_minimum_version 1.5.0

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

@test "attach: what was registered before has its names" {
	begin gdbjit --mode=object
	"$CPROF" attach -q -s 500 -d 200ms -o rec "$tracee"
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

@test "code that replaces other code has names of its own, or none" {
	"$CPROF" run -q -s 2000 -o rec -- "$TRACEES/gdbjit" --rounds=1000 >out
	assert_equal "$(cat out)" 'gdbjit: ok generated code, every result'
	functions rec >names
	run -1 grep -v -E '^(made_(add|loop)_[0-9]+|\[jit\])$' names
	grep -q '^made_loop_' names
	# Of all that there was, none has the time of many.
	run -0 bash -c 'grep -c "^made_loop_" names'
	[ "$output" -gt 5 ]
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
