#!/usr/bin/env bats
# What programs hold, by name, in the API (cprof/inspect.h), beside what the program says.

load helpers

setup_file() {
	export MODULES=$BATS_FILE_TMPDIR CC=${CC:-cc} CXX=${CXX:-c++}
	$CC -std=c99 -D_GNU_SOURCE -Wall -Wextra -Werror -fPIC -shared -O1 -I "$SOURCES/include" \
		-o "$MODULES/libcprof-profiler-inspectprobe.so" "$SOURCES/tests/modules/inspectprobe.c"
}

@test "places of static variables of all kinds, of whole objects, elements, and what is held are the program's" {
	local flags
	for flags in '-O0' '-O0 -gdwarf-4' '-O1 -fdebug-types-section'; do
		# shellcheck disable=SC2086 # words
		$CXX -g -std=c++17 $flags -o inspected "$SOURCES/tests/modules/inspected.cpp"
		"$CPROF" run --plugin-dir="$MODULES" --max-rate=0 --profile=inspectprobe -- ./inspected >out
		assert_equal "$(tail -n 1 out)" 'wrong 0'
		# The program says them first, then the module.
		sed 's/long int/long/' out | grep -E '^(at|whole|elements|held) ' >places
		[ "$(wc -l <places)" = 36 ]
		head -n 18 places | diff - <(tail -n 18 places)
		"$CPROF" inspect --globals --json inspected | jq -r '.[].expression' | sort >names
		sed -n 's/^static //p' out | sort | diff names -
	done
}

@test "expressions: in a call, in a frame, and of static variables" {
	$CXX -g -std=c++17 -O0 -o inspected "$SOURCES/tests/modules/inspected.cpp"
	"$CPROF" run --plugin-dir="$MODULES" --max-rate=0 --profile=inspectprobe -- ./inspected | grep ' = ' >out
	diff out - <<-'END'
		list->next->value = 2
		n + global = 11
		main == &main = true
		own = 21
		this->own = 21
		numbers[1] = 2
		numbers[0..1] = {1, 2}
		text == "a text" = true
		"x" = "x"
		sizeof(struct node) = 16
		Counter::literal = 13
		late()::one = <not constructed>
		*(int *)8 = <unreadable 0x8>
		list = there is no variable list
		1 + = expression '1 +': a value is missing at character 4
		c.own = 21
		*number = 16
		$rip != 0 = true
	END
}
