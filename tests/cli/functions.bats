#!/usr/bin/env bats
# cprof functions: judged by nm and objdump.

load helpers

# field NAME KEY FILE: what functions.json says of a function.
field() { jq -r --arg name "$1" ".[] | select(.function == \$name) | .$2" functions.json; }

@test "each function that nm has with a size is listed once" {
	needs jq nm
	for program in known_stack known_stack_O0 sample_cpp exceptions deep; do
		"$CPROF" functions --json "$TRACEES/$program" all >functions.json
		nm -S --defined-only "$TRACEES/$program" |
			awk 'NF == 4 && $3 ~ /[tTwWi]/ && $4 !~ /\.cold/ && $4 !~ /@plt/ { sub(/^0*/, "", $1); print "0x" $1 }' |
			sort -u >from_nm
		jq -r '.[] | .address' functions.json | sort >ours
		assert_equal "$(sort -u ours | wc -l)" "$(wc -l <ours)"
		assert_equal "$program: $(comm -23 from_nm ours)" "$program: "
		[ "$(wc -l <from_nm)" -gt 5 ]
	done
}

@test "each function is traceable or has a reason" {
	needs jq
	for program in "$TRACEES"/known_stack* "$TRACEES/sample_cpp" "$CPROF"; do
		[[ $program != *.p && -f $program ]] || continue
		"$CPROF" functions --json "$program" >functions.json
		run jq -c '.[] | select((.returns + .tail_calls + .indirect == 0 and .why == "") or
			(.entry == false and .why == ""))' functions.json
		assert_output ""
	done
}

@test "the returns of a function are those of objdump" {
	needs jq objdump
	"$CPROF" functions --json "$TRACEES/known_stack" >functions.json
	objdump -d --no-show-raw-insn "$TRACEES/known_stack" >listing
	checked=0
	while read -r name; do
		want=$(awk -v name="<$name>:" '/>:$/ { on = $2 == name } on' listing |
			grep -c -P '^ *[0-9a-f]+:\t((bnd|repz|rep) )?ret' || true)
		assert_equal "$name $(field "$name" returns)" "$name $want"
		checked=$((checked + 1))
	done < <(jq -r '.[] | select(.why == "" and (.linkage_name | contains(".") | not)) |
		.linkage_name' functions.json | head -30)
	[ "$checked" -gt 5 ]
}

@test "the table ends with a summary; --partly shows only what is not traced in full" {
	run "$CPROF" functions "$TRACEES/known_stack"
	assert_success
	assert_line --regexp '^ +address +size +entry +fast +returns +tail calls +indirect +(inlined +)?function'
	assert_line --regexp '^ +[0-9a-f]+ +[0-9]+ +yes +[a-z]+ +[0-9]+ +[0-9]+ +[0-9]+ +([0-9]+ +)?main'
	assert_line --regexp '^[0-9]+ functions: [0-9]+ fully traceable,.* [0-9]+ by return address, [0-9]+ refused$'
	run "$CPROF" functions --partly "$TRACEES/known_stack"
	assert_success
	refute_line --regexp ' main( |$)'
}

@test "a name stands for its overloads, a glob passes over ::" {
	needs jq
	count() { "$CPROF" functions --json "$TRACEES/sample_cpp" "$1" | jq length; }
	all=$(count '*')
	assert_equal "$(count all)" "$all"
	assert_equal "$(count main)" 1
	assert_equal "$(count 'all,-main')" $((all - 1))
	assert_equal "$(count '/^main$/')" 1
	assert_equal "$(count '_start,main')" 2
}

@test "nothing that matches is a failure, with names that are near" {
	run "$CPROF" functions "$TRACEES/known_stack" mian
	assert_failure 1
	assert_line "cprof: no function of $TRACEES/known_stack matches 'mian'"
	assert_line "cprof: did you mean 'main'?"
	run "$CPROF" functions "$TRACEES/known_stack" 'no_such_name_anywhere'
	assert_failure 1
	refute_line --partial "did you mean"
}

@test "C++: globs are about demangled names, tags of the ABI and scopes may be forgotten" {
	needs jq g++ nm
	cat >named.cpp <<-END
		#include <string>
		namespace app {
		__attribute__((noinline)) std::string give(int n) { return std::string(n, 'x'); }
		__attribute__((noinline)) int digest_line(int n) { return n + 1; }
		}
		int main(int argc, char **) { return app::give(argc).size() == app::digest_line(argc); }
	END
	g++ -O1 -o named named.cpp
	names() { "$CPROF" functions --json ./named "$1" | jq -r '.[].function'; }
	assert_equal "$(names app::give)" 'app::give[abi:cxx11](int)'
	assert_equal "$(names 'app::give(int)')" 'app::give[abi:cxx11](int)'
	assert_equal "$(names "$(nm named | awk '$3 ~ /digest_line/ { print $3 }')")" 'app::digest_line(int)'
	# What begins with an underscore is C's; all of C++ stays.
	names 'all,-_*' | sort >left
	nm -C --defined-only named | awk '$2 ~ /[tTwW]/ && $3 ~ /^[^_]/' | sed 's/^[0-9a-f]* . //' | sort >judge
	comm -13 left judge >missing
	assert_equal "$(grep app:: missing)" ''
	assert_equal "$(grep -c app:: left)" 2
	run names '_Z*'
	assert_output "cprof: no function of ./named matches '_Z*'"
	for separator in '' @named; do
		run "$CPROF" functions ./named "digest_*$separator"
		assert_failure 1
		assert_line "cprof: did you mean '*::digest_*'?"
	done
	run "$CPROF" run -t 'digest_*' -- ./named
	assert_failure 125
	assert_output --partial "did you mean '*::digest_*'?"
	assert_equal "$(names 'app::*@named,-*@other')" "$(names 'app::*')"
}

@test "C++: what is returned is no part of what a glob means, and gives way to the name in a table" {
	needs jq g++
	cat >returned.cpp <<-END
		#include <utility>
		namespace app {
		struct point { int x; };
		template <class T> __attribute__((noinline)) T twice(T n, std::pair<point, point>) { return n + n; }
		}
		namespace other {
		template <class T> __attribute__((noinline)) app::point with_a_long_name_of_its_own(T n) { return { n }; }
		}
		int main(int argc, char **) { return app::twice<int>(argc, {}) + other::with_a_long_name_of_its_own<int>(1).x; }
	END
	g++ -O0 -o returned returned.cpp
	names() { "$CPROF" functions --json ./returned "$1" | jq -r '.[].function'; }
	assert_equal "$(names 'app::*' | grep -v pair)" ''
	assert_equal "$(names 'app::tw*')" 'int app::twice<int>(int, std::pair<app::point, app::point>)'
	assert_equal "$(names 'int app::tw*')" "$(names 'app::tw*')"
	assert_equal "$(names 'app::point other::*')" "$(names 'other::*')"
	COLUMNS=80 run "$CPROF" functions ./returned 'app::*,other::*'
	assert_line --regexp '  (app::)?twice(<int>)?$'
	assert_line --regexp '  (other::)?with_a_long_name_of_its_own(<int>)?$'
}

@test "near names are the program's own, if it has some" {
	needs gcc
	echo 'int fre(int n) { return n; } int main(int c, char **v) { (void)v; return fre(c) - 1; }' >own.c
	gcc -o own own.c
	run "$CPROF" run -t freee -- ./own
	assert_failure 125
	assert_line "cprof: did you mean 'fre'?"
	run "$CPROF" run -t fre@libc -- ./own # which has none but free and others
	assert_failure 125
	run "$CPROF" run -t mallco -- ./own
	assert_failure 125
	assert_line --regexp "did you mean '(.*, )?'?malloc'"
}

# Judged by gdb, which counts the places of a function with its own code.
@test "a function that is inlined everywhere is said to be; of others, in how many places" {
	needs jq gcc gdb
	cat >work.c <<-END
		#include <stdio.h>
		static inline __attribute__((always_inline)) int work(int n)
		{
			volatile int s = 0;
			for (int i = 0; i < n; i++)
				s += i;
			return s;
		}
		int both(int n) { volatile int x = n; return x * 7; }
		static int (*volatile keep)(int) = both;
		int main(int argc, char **argv)
		{
			(void)argv;
			printf("%d\n", work(argc) + work(argc + 1) + work(argc + 2) + both(argc) + keep(3));
			return 0;
		}
	END
	gcc -O2 -g -o inlined work.c
	places() { gdb -batch -ex "break $1" ./inlined | sed -nE 's/.*\(([0-9]+) locations\)/\1/p'; }
	assert_equal "$(places work)" 3
	said="cprof: work is inlined everywhere (3 places): there is no call to trace"
	for spec in work 'wo*' /^work$/ work@inlined src:work.c,-main,-both; do
		run "$CPROF" functions ./inlined "$spec"
		assert_failure 1
		assert_line "$said"
		refute_line --partial 'did you mean'
	done
	run "$CPROF" run -t work -- ./inlined
	assert_failure 125
	assert_line "$said"
	# Beside something that is there, the run goes on.
	run "$CPROF" run -q -o run.cprof -t main,work,mian -- ./inlined
	assert_success
	assert_line --regexp "warning: .*'work': work is inlined everywhere \(3 places\): there is no call"
	assert_line --regexp "warning: .*'mian': did you mean"
	# What has code of its own as well.
	"$CPROF" functions --json ./inlined >functions.json
	assert_equal "$(places both) $(field both inlined) $(field main inlined)" '2 1 0'
	run "$CPROF" functions ./inlined both
	assert_line --regexp '^ +address .* inlined +function$'
	assert_line '1 of them is inlined, too, in 1 place: such calls are not seen'
	run "$CPROF" functions ./inlined main
	refute_line --partial inlined,
	# Nobody knows without debug information.
	strip -g -o stripped inlined
	run "$CPROF" functions ./stripped work
	assert_failure 1
	refute_line --partial inlined
}

@test "a SPEC that can't be read is bad usage, and says where" {
	run "$CPROF" functions "$TRACEES/known_stack" 'main,/x('
	assert_failure 2
	assert_line --partial "at character 6"
	run "$CPROF" functions -- "$TRACEES/known_stack" -main
	assert_failure 2
	assert_line --partial "program,-main"
}

@test "a process: the program unless told, libraries by lib:" {
	needs jq
	start sleep 1000
	until_true grep -q "/sleep\$" "/proc/$pid/maps" # no longer the shell
	until_true grep -q libc.so "/proc/$pid/maps"
	"$CPROF" functions --json "$pid" >functions.json
	assert_equal "$(jq -r '[.[].image] | unique | .[]' functions.json)" "$(basename "$(readlink "/proc/$pid/exe")")"
	"$CPROF" functions --json "$pid" 'lib:libc.so*,-*,malloc' >functions.json
	assert_equal "$(jq -r '.[0].image' functions.json)" libc.so.6
	# Where it is now, as the process's own map has it.
	at=$(($(field malloc address)))
	inside=$(while read -r range perms _ _ _ path; do
		[[ $path == */libc.so.6 && $perms == r-x* ]] || continue
		((at >= 0x${range%-*} && at < 0x${range#*-})) && echo yes
	done <"/proc/$pid/maps")
	assert_equal "$inside" yes
}

@test "PLT stubs only when asked for" {
	needs jq
	"$CPROF" functions --json "$TRACEES/known_stack" all >functions.json
	assert_equal "$(jq '[.[] | select(.kind == "plt")] | length' functions.json)" 0
	"$CPROF" functions --json "$TRACEES/known_stack" 'plt:*' >functions.json
	assert_equal "$(jq '[.[] | select(.kind != "plt")] | length' functions.json)" 0
	[ "$(jq length functions.json)" -gt 0 ]
}

@test "source files by debug information" {
	needs jq
	"$CPROF" functions --json "$TRACEES/known_stack" 'src:known_stack.c' >functions.json
	[ "$(jq length functions.json)" -gt 3 ]
	assert_equal "$(field main file | sed 's|.*/||')" known_stack.c
	line=$(field main line)
	run sed -n "${line}p" "$SOURCES/tests/tracees/known_stack.c"
	assert_output --partial "main("
}

@test "names of a hostile file can't reach the terminal" {
	run "$CPROF" functions "$TRACEES/hostile_names"
	assert_success
	refute_output --partial $'\e'
}

@test "what is no program, and what is not there" {
	run "$CPROF" functions "$SOURCES/README.md"
	assert_failure 1
	run "$CPROF" functions ./nothing
	assert_failure 1
	run "$CPROF" functions 999999999
	assert_failure 1
	run "$CPROF" functions
	assert_failure 2
}

@test "a program by its name in PATH" {
	run "$CPROF" functions true
	assert_success
	assert_line --partial "fully traceable"
}

@test "what a signal handler returns to has the name that everybody gives it" {
	local libc
	needs gdb
	libc=$(ldd "$TRACEES/known_stack" | awk '/libc\.so/ { print $3 }')
	gdb -nx -batch -ex 'info address __restore_rt' "$libc" >theirs 2>&1
	grep -q 'is at 0x' theirs || skip "gdb does not know it: $(tail -1 theirs)"
	run "$CPROF" functions "$libc" all
	assert_equal "$(awk '/ __restore_rt / { print "0x" $1 }' <<<"$output")" \
		"$(sed -n 's/.* is at \(0x[0-9a-f]*\).*/\1/p' theirs)"
}

# make_shapes: ./shapes, functions of each of which it is known what a jump can be put in.
make_shapes() {
	needs gcc
	gcc -shared -nostdlib -Wl,-Bsymbolic -o shapes "$SOURCES/tests/unit/detour/shapes_x86_64.S"
}

@test "each function is fast, or has a reason; the summary counts them" {
	needs jq
	make_shapes
	"$CPROF" functions --json ./shapes all >functions.json
	for name in plain tiny just_ret tails leads_in hosted; do
		assert_equal "$name $(field $name fast) $(field $name why)" "$name true "
	done
	assert_equal "$(field begins_with_one fast)" false
	assert_equal "$(field begins_with_one why)" "its first instructions can't be moved"
	assert_equal "$(field computed fast) $(field computed full)" "false true"
	assert_equal "$(field computed why)" "it has a jump that is computed and may lead anywhere in it"
	for program in ./shapes "$TRACEES/known_stack_O0" "$TRACEES/sample_cpp" "$CPROF"; do
		"$CPROF" functions --json "$program" all >functions.json
		run jq -c '.[] | select(.fast == false and .why == "")' functions.json
		assert_output ""
		fast=$(jq '[.[] | select(.fast)] | length' functions.json)
		slow=$(jq '[.[] | select(.fast | not)] | length' functions.json)
		"$CPROF" functions "$program" all | tr -d , >table
		grep -q "^$fast of them fast (" table
		# The reasons stand behind the empty line.
		assert_equal "$(awk '!NF { n = 0 } /^ +[0-9]+  [a-z]+ +/ { n += $1 } END { print n + 0 }' table)" "$slow"
	done
}

@test "what is fast can be read in 80 columns and in 200" {
	make_shapes
	for columns in 80 200; do
		COLUMNS=$columns run "$CPROF" functions ./shapes all
		assert_success
		assert_line --regexp '^ +[0-9a-f]+ +[0-9]+ +yes +yes .* plain'
		assert_line --regexp '^ +[0-9a-f]+ +[0-9]+ +yes +jump .* computed'
		assert_line --regexp '^ +1  fixed +its first instructions can.t be moved$'
		assert_equal "$(awk -v most="$columns" 'length($0) > most' <<<"$output")" ''
	done
}

@test "calls of library functions, and what is chosen at the start, are not fast" {
	needs jq
	"$CPROF" functions --json "$TRACEES/known_stack" 'plt:*' >functions.json
	assert_equal "$(jq -r '.[] | (.fast | tostring) + " " + .why' functions.json | sort -u)" \
		"false what it leads to returns to its caller; calls of library functions are seen where they are made"
	"$CPROF" functions --json "$(ldd "$TRACEES/known_stack" | awk '/libc\.so/ { print $3 }')" strlen >functions.json
	assert_equal "$(jq -r '.[] | select(.kind == "ifunc") | .fast' functions.json | sort -u)" false
}
