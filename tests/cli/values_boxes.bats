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
