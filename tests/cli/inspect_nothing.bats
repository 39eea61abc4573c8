#!/usr/bin/env bats
# cprof inspect: what could hold something and does not, and integers at the end of what
# there is. Judged by the program itself and by Python.

load helpers
load inspected

@test "an Option of Rust is true where there is something" {
	needs rustc
	rustc -g -o options "$SOURCES/tests/cli/inspect_options.rs" 2>warnings
	begin options
	while read -r name has; do
		[ "$name" != ready ] || continue
		run "$CPROF" inspect "$pid" "!$name" "$name && 1" "$name ? 1 : 2"
		expected="!$name = $([ "$has" = true ] && echo false || echo true)
$name && 1 = $has
$name ? 1 : 2 = $([ "$has" = true ] && echo 1 || echo 2)"
		assert_output "$expected"
	done <said
	assert_equal "$(grep -c -e true -e false said)" 8
	# In JSON it is null, and a form of another enum its name.
	inspect NONE NO_TEXT NO_BOX FIVE NESTED UNIT
	assert_equal "$(jq -c '[.[].value]' json)" '[null,null,null,{"Some":{"__0":5}},{"Some":{"__0":null}},"Unit"]'
	assert_equal "$(jq -c '[.[].text]' json)" '["None","None","None","Some(5)","Some(None)","Unit"]'
	finish
	assert_equal "$(called options given '!number')" 5
	assert_equal "$(called options given number)" 5
	assert_equal "$(called options given 'number && *number > 4')" 2
	assert_equal "$(called options given '!reference')" 7
}

@test "in JSON, an empty optional is null, and one that holds that word is text" {
	needs g++
	cat >optional.cpp <<-'END'
		#include <cstdio>
		#include <functional>
		#include <memory>
		#include <optional>
		#include <string>
		std::optional<std::string> none, word = "nullopt", one = "x";
		std::optional<std::optional<int>> nested = std::optional<int>();
		std::function<int(int)> function;
		enum class Color { nullopt, red } color;
		int main()
		{
			std::puts("ready");
			std::fflush(stdout);
			return std::getchar();
		}
	END
	g++ -g -std=c++17 -o optional optional.cpp
	begin optional
	inspect none word nested function color 'none == "x"' 'one == "x"' 'none == one'
	jq -c '.[] | [.value, .text, .error]' json | diff - <(cat <<-'END'
		[null,"nullopt",null]
		["nullopt","\"nullopt\"",null]
		[{"value":null},"{value=nullopt}",null]
		[null,"empty",null]
		["nullopt","nullopt",null]
		[false,"false",null]
		[true,"true",null]
		[false,"false",null]
	END
	)
	finish
}

@test "integers are Python's as far as 128 bits go, and an error beyond" {
	needs gcc python3
	judge=$SOURCES/tests/cli/inspect_wide_judge.py
	python3 "$judge" values >wide.c
	cat >>wide.c <<-'END'
		#include <stdio.h>
		__attribute__((noipa)) int wide(unsigned __int128 x) { return (int)x + 1; }
		int main(void)
		{
			int sum = 0;

			puts("ready");
			fflush(stdout);
			getchar();
			for (unsigned i = 0; i < 10; i++)
				sum += wide((unsigned __int128)i * 2 << 123 | 5);
			return sum == 0;
		}
	END
	gcc -g -w -o wide wide.c
	begin wide
	CPROF=$CPROF python3 "$judge" "$pid" >judged
	finish
	assert_equal "$(cat judged)" "same 1680"
	# Of 0 to 9 times 2^124, 8 and 9 have no sign that fits.
	assert_equal "$(called wide wide 'x > 5')" 9
	assert_equal "$(called wide wide 'x > 0 && x <= 7 * (1 << 124) + 5')" 8
	assert_equal "$(called wide wide 'x == x')" 10
}
