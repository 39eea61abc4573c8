#!/usr/bin/env bats
# Types in the API (cprof/type.h), beside gdb's; and the types of what is allocated, beside
# what the program says.

load helpers

setup_file() {
	export MODULES=$BATS_FILE_TMPDIR CC=${CC:-cc} CXX=${CXX:-c++}
	$CC -std=c99 -D_GNU_SOURCE -Wall -Wextra -Werror -fPIC -shared -O1 -I "$SOURCES/include" \
		-o "$MODULES/libcprof-profiler-typeprobe.so" "$SOURCES/tests/modules/typeprobe.c"
}

names='ns::Base;ns::Named;ns::Named::Inner;ns::Box<ns::Named*, 3>;ns::Color;plain'

# probed CXXFLAG...: ./out is what typeprobe prints of the program.
probed() {
	$CXX -g "$@" -o typed "$SOURCES/tests/modules/typed.cpp"
	"$CPROF" run --plugin-dir="$MODULES" --max-rate=0 --profile="typeprobe:$names" -- ./typed >out
}

@test "sizes, members, bits, bases, enumerators, template arguments are gdb's" {
	needs gdb
	for flags in '-O0' '-O2' '-O2 -gdwarf-4' '-O1 -fdebug-types-section'; do
		# shellcheck disable=SC2086 # words
		probed $flags
		assert_equal "$(tail -n 1 out)" 'wrong 0'
		gdb -nx -batch -x "$SOURCES/tests/cli/types_gdb.py" -ex "python show('$names')" typed >want
		[ "$(wc -l <want)" -gt 25 ]
		sed -n '/^made/d;/^result/q;p' out | diff - want
	done
}

@test "types of a function's arguments and result; objects read by their type" {
	probed -O1
	assert_equal "$(grep -A 1 ^result out)" 'result plain *
argument const ns::Named * of kind 8 to const ns::Named'
	assert_equal "$(grep ^taken out)" \
		'taken {Base={s=7}, name="a longer name than fits in place", low=5, high=1025, inner={c='\''x'\'', d={1.5, -2}}, last=true}'
}

@test "allocations have the type that they are for, where names tell it" {
	for flags in -O0 -O2; do
		probed "$flags"
		assert_equal "$(grep '^allocated ns::Named ' out)" "allocated $(sed -n 's/^made //p' out)"
		assert_equal "$(grep -c '^allocated std::.*_Rb_tree_node<std::.*pair<.*ns::Color' out)" 1
		assert_equal "$(awk '/_Rb_tree_node/ { print $(NF - 1) }' out)" 10
		assert_equal "$(awk '/^allocated ns::Box/ { print $(NF - 1) }' out)" 1
	done
	# Without debug information there is none.
	$CXX -O1 -o typed "$SOURCES/tests/modules/typed.cpp"
	"$CPROF" run --plugin-dir="$MODULES" --max-rate=0 --profile=typeprobe -- ./typed >out
	assert_equal "$(grep ^allocated out)" ''
	assert_equal "$(tail -n 1 out)" 'wrong 0'
}
