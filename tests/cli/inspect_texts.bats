#!/usr/bin/env bats
# Text in expressions compares by what it says, wherever it is. Judged by the programs
# themselves, which make the same comparisons.

load helpers
load inspected

@test "what Rust's references lead to is text beside text" {
	needs rustc
	cat - "$SOURCES/tests/cli/black_box.rs" >texts.rs <<-'END'
		#[inline(never)]
		fn given(s: &String, t: &&str) -> (bool, bool, bool) {
		    (s == "xx", *t == "xx", s != "xx")
		}
		fn main() {
		    let mut counts = (0, 0, 0);
		    for i in 0..30usize {
		        let s = "x".repeat(i % 10);
		        let said = given(black_box(&s), &black_box(&s[i % 2..]));
		        counts.0 += said.0 as u32;
		        counts.1 += said.1 as u32;
		        counts.2 += said.2 as u32;
		    }
		    println!("{} {} {}", counts.0, counts.1, counts.2);
		}
	END
	rustc -g -o texts texts.rs
	read -r s t other < <(./texts | tail -n 1) || [ "$other" ]
	assert_equal "$(called texts texts::given 's == "xx"')" "$s"
	assert_equal "$(called texts texts::given 't == "xx"')" "$t"
	assert_equal "$(called texts texts::given 's != "xx"')" "$other"
}

@test "pointers to strings and two strings compare as text" {
	needs g++
	cat >texts.cpp <<-'END'
		#include <cstdio>
		#include <memory>
		#include <string>
		#include <string_view>
		std::string a = "hi", b = "hi", c = "ho", *p = &a, *null, longer(3000, 'x'), other = longer + "y";
		std::string_view view = "hi";
		const char *word = "hi";
		std::shared_ptr<int> shared(new int(1));
		std::weak_ptr<int> weak = shared, empty, expired(std::make_shared<int>(2));
		#define SAY(x) printf("%s = %s\n", #x, (x) ? "true" : "false")
		__attribute__((noipa)) bool given(std::string *s, const std::string &r, int n)
		{
			return *s == "xx" && r != "" && n;
		}
		int main()
		{
			SAY(a == b); SAY(a == c); SAY(a != c); SAY(a < c); SAY(c <= a);
			SAY(word == b); SAY(view == b); SAY(longer == other); SAY(longer < other);
			printf("p == \"hi\" = %s\n", *p == "hi" ? "true" : "false");
			printf("null == \"hi\" = false\n");
			printf("!weak = %s\n!empty = %s\n!expired = %s\n", weak.expired() ? "true" : "false",
			       empty.expired() ? "true" : "false", expired.expired() ? "true" : "false");
			puts("ready");
			fflush(stdout);
			getchar();
			for (int i = 0; i < 10; i++) {
				std::string s(i % 5, 'x');
				given(&s, s, i);
			}
		}
	END
	g++ -g -std=c++17 -o texts texts.cpp
	begin texts
	mapfile -t asked < <(grep -v ready said | sed 's/ = [a-z]*$//')
	assert_equal "${#asked[@]}" 14
	"$CPROF" inspect "$pid" "${asked[@]}" | diff <(grep -v ready said) -
	finish
	assert_equal "$(called texts given 's == "xx"')" 2
	assert_equal "$(called texts given 's == r')" 10
	run "$CPROF" run -q -t given --when='n == "xx"' -o rec -- ./texts
	assert_failure
	assert_output --partial "no text: it is of type int"
}
