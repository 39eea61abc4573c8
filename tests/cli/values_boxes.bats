#!/usr/bin/env bats
# What libraries hold things in, at calls: as programs say themselves that it is to be shown.

load helpers

# shows OPTION...: each call of ./boxes is shown as it says.
shows() {
	"$CPROF" run -q -o d -t '/^(take|give)_/' -a -r "$@" -- ./boxes >expected
	"$CPROF" replay d >calls
	# gcc and clang call lambdas differently, and what they hold.
	# shellcheck disable=SC2016 # no variables
	sed -E 's/^ *[0-9.]+ +//; s/  +.*//; s/\{(main|call_holders)[^={]*::(\{lambda\([^)]*\)#[0-9]+\}|\$_[0-9]+)=/{LAMBDA=/; s/__(seven|words)=/\1=/g; s/\[abi:cxx11\]//' calls |
		grep -E '^(take|give)_' >shown
	[ "$(wc -l <expected)" -ge 20 ]
	diff expected shown || { echo "$compiler $*"; return 1; } >&2
}

@test "C++: what holds things is shown as what it holds, by breakpoints and by detours" {
	needs g++
	local compiler
	for compiler in "g++ -g -O0" "g++ -gdwarf-4 -O2" "clang++ -g -O0 -fstandalone-debug" "clang++ -g -O1 -fstandalone-debug"; do
		command -v "${compiler%% *}" >/dev/null || continue
		# shellcheck disable=SC2086
		$compiler -std=c++20 -o boxes "$SOURCES/tests/cli/values_boxes.cpp"
		shows
		shows --traps
	done
}

@test "Rust: what holds things is shown as what it holds" {
	needs rustc
	local compiler
	for compiler in "rustc -g" "rustc -g -C opt-level=2"; do
		# shellcheck disable=SC2086
		$compiler --edition 2021 -o boxes "$SOURCES/tests/cli/values_boxes.rs"
		shows
		shows --traps
	done
}

@test "C++: what all containers of a signature hold is told, not just the first ones'" {
	needs g++
	cat >several.cpp <<'END'
#include <cstdio>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>
using strings = std::vector<std::string>;
struct big { strings a, b; std::string c; std::vector<int> d; };
extern "C" __attribute__((noinline)) std::size_t many(const strings &a, const strings &b, const std::string &c, const std::vector<int> &d,
	const std::deque<int> &e, const std::optional<std::string> &f, const std::unique_ptr<std::string> &g,
	const std::tuple<int, std::string> &h, const big &i, const std::vector<strings> &j)
{
	asm volatile("" ::: "memory");
	return a.size() + b.size() + c.size() + d.size() + e.size() + f->size() + g->size() + std::get<0>(h) + i.a.size() + j.size();
}
static void show(const strings &v)
{
	for (std::size_t i = 0; i < v.size(); i++)
		std::printf("%s\"%s\"", i ? ", " : "&{", v[i].c_str());
	std::printf("}, ");
}
int main()
{
	strings a{ "a1", "a2", "a3" }, b;
	for (int i = 0; i < 40; i++)
		b.push_back("number " + std::to_string(i) + " of many");
	if (many(a, b, "c", { 1, 2 }, { 3, 4 }, "f", std::make_unique<std::string>("g"), { 5, "h" }, { a, a, "i", { 6 } }, { a, a })) {
		show(a);
		show(b);
		std::puts("&\"c\", &{1, 2}, &{3, 4}, &\"f\", &&\"g\", &{5, \"h\"}, "
			  "&{a={\"a1\", \"a2\", \"a3\"}, b={\"a1\", \"a2\", \"a3\"}, c=\"i\", d={6}}, "
			  "&{{\"a1\", \"a2\", \"a3\"}, {\"a1\", \"a2\", \"a3\"}}");
	}
}
END
	for compiler in "g++ -O0" "g++ -O2"; do
		$compiler -std=c++17 -w -g -o several several.cpp
		for how in "" --traps; do
			"$CPROF" run -q -o x.data $how -t many -a --depth=4 -- ./several >said
			"$CPROF" replay x.data | sed -n 's/.* many(\(.*\)) *[<=0-9].*/\1/p' >told
			diff said told
		done
	done
}
