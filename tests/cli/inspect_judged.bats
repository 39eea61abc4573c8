#!/usr/bin/env bats
# cprof inspect beside gdb, over a generated program that holds all kinds of variables,
# static and in frames; with all compilers and optimisations in the long run.

load helpers
load inspected

# judge LANGUAGE LEAST COMPILER...: nothing differs, gdb knows nothing more
judge() {
	CPROF=$CPROF "$SOURCES/scripts/judge-inspect" --stop --least="$2" "$1" "${@:3}" >judged ||
		complain "$(cat judged)"
}

# each OPTIONS COMPILER...: $all, with each optimisation and format
each() {
	local level format compiler
	all=()
	for level in -O0 -Og -O1 -O2 -O3; do
		for format in -gdwarf-5 -gdwarf-4; do
			for compiler in "${@:2}"; do
				! command -v "${compiler%% *}" >/dev/null || all+=("$compiler $1 $format $level")
			done
		done
	done
}

@test "variables of C are gdb's, static and in frames" {
	needs gdb python3 gcc
	all=("gcc -w -g -O0")
	if command -v clang >/dev/null; then all+=("clang -w -g -O2"); else all+=("gcc -w -g -O2"); fi
	[ -z "${CPROF_TEST_LONG:-}" ] || each -w gcc clang
	judge c 600 "${all[@]}"
}

@test "variables of C++ are gdb's, and the libraries' are what its printers have" {
	needs gdb python3 g++
	[ -d /usr/share/gcc/python/libstdcxx ] || skip "libstdc++'s printers are not installed"
	all=("g++ -std=c++20 -w -g -O0" "g++ -std=c++20 -w -g -O2")
	[ -z "${CPROF_TEST_LONG:-}" ] || each "-std=c++20 -w" g++ "clang++ -fstandalone-debug"
	judge cpp 250 "${all[@]}"
}

@test "variables of Rust are gdb's, and the library's are what its printers have" {
	needs gdb python3 rustc
	[ -e "$(rustc --print sysroot)/lib/rustlib/etc/gdb_lookup.py" ] || skip "Rust's printers for gdb are not installed"
	all=("rustc -g" "rustc -g -O")
	[ -z "${CPROF_TEST_LONG:-}" ] || all+=("rustc -g -C opt-level=1" "rustc -g -C opt-level=3 -C dwarf-version=5")
	judge rust 400 "${all[@]}"
}
