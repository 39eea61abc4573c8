#!/usr/bin/env bats
# Split DWARF, in packages beside the program: judged by gdb and by what the program says
# of itself, with the .dwo files gone.

# Registers have a '$' before their names.
# shellcheck disable=SC2016

load helpers
load inspected

# ways N: ways to compile, and who packs it: binutils 2.40 dies of DWARF 5.
ways() {
	some "$1" <<-'END'
		dwp g++ -gdwarf-4
		llvm-dwp clang++ -gdwarf-5 -fdebug-types-section
		llvm-dwp g++ -gdwarf-5
		dwp g++ -gdwarf-4 -fdebug-types-section
		llvm-dwp g++ -gdwarf-5 -fdebug-types-section
		llvm-dwp clang++ -gdwarf-5
		llvm-dwp clang++ -gdwarf-4
	END
}

# pack PROGRAM SOURCE FLAGS...: ./PROGRAM and ./PROGRAM.dwp by `way`; the .dwo files are
# beside, in ./kept.
pack() {
	local program=$1 packer compiler how
	shift
	read -r packer compiler how <<<"$way"
	rm -rf "./$program.dwp" units kept
	mkdir units
	# What comes first in the package, so that nothing else begins at 0. Not optimised:
	# there is one that llvm-dwp 14 goes round in for ever.
	cat >units/aa_first.cpp <<-'END2'
		#include <string>
		namespace first { struct thing { std::string text; int at; }; thing it = { "first", 7 }; }
		int first_of_all(int n) { int twice = n * 2; return twice; }
	END2
	# shellcheck disable=SC2086
	(cd units && "$compiler" -gsplit-dwarf $how -std=c++17 -c aa_first.cpp &&
		"$compiler" -gsplit-dwarf $how -std=c++17 -pthread -c "$@" &&
		"$compiler" -pthread -o "../$program" ./*.o &&
		"$packer" -e "../$program" -o "../$program.dwp") || return 1
	[ -s "$program.dwp" ] && mv units kept
}

in_serve() {
	cat <<-'END'
		this->count
		this->at
		count
		at.y
		id
		fd
		load
		by_value
		(int)hue
		numbers
		numbers[2] + fd
		there->x
		*there
		hidden
		calls
		total	server::total
		sizeof(numbers)
	END
}

in_nested() {
	cat <<-'END'
		n
		text
		local
		local.y
		s->count
	END
}

# judge FUNCTION COUNT: the expressions on standard input are gdb's in that frame, in at
# least COUNT numbers.
judge() {
	cat >expressions
	CPROF=$CPROF python3 "$SOURCES/tests/cli/inspect_judge.py" "$pid" expressions "$1" >judged
	! grep -e apart -e gdb: judged || { echo "$way, $1:"; cat judged; return 1; } >&2
	[ "$(sed -n 's/^same //p' judged)" -ge "$2" ] || { echo "$way, $1:"; cat judged; return 1; } >&2
}

# everything PROGRAM: what is shown of all these expressions in it
everything() {
	begin "$1"
	{
	in_serve | cut -f1 | xargs -d '\n' "$CPROF" inspect --frame=serve "$pid" '*this' '*who' --
	in_nested | xargs -d '\n' "$CPROF" inspect --frame=nested "$pid" --
	"$CPROF" inspect "$pid" 'server::total' 'first::it.at' end_of_input
	} | grep -v '^thread '
	finish
}

@test "variables of a program whose debug information is packed are gdb's" {
	needs gdb python3 g++ dwp
	local way level levels='' compiler how
	while read -r way; do
		command -v "${way%% *}" >/dev/null || { echo "# no ${way%% *}" >&3; continue; }
		# -O0 the first time alone, unless there is time.
		levels=$(long_or "-O0 -O1" "${levels:+-O1}")
		for level in ${levels:=-O0 -O1}; do
			pack frames "$SOURCES/tests/cli/inspect_frames.cpp" "$level"
			# gdb 13 dies of what gcc and clang split in DWARF 5: of that, all is as
			# where it was not split, which it judges elsewhere.
			if [[ $way != *-gdwarf-5* ]]; then
				begin frames
				in_serve | judge serve 20
				in_nested | judge nested 5
				finish
			fi
			everything frames >packed
			read -r _ compiler how <<<"$way"
			# shellcheck disable=SC2086
			(cd kept && $compiler ${how/-gdwarf/-g -gdwarf} $level -std=c++17 -pthread -o ../whole \
				"$SOURCES/tests/cli/inspect_frames.cpp" aa_first.cpp)
			everything whole >expected
			[ "$(grep -c ' = ' packed)" -ge 25 ]
			diff expected packed || { echo "$way $level"; return 1; } >&2
		done
	done < <(ways 4)
}

@test "lines, functions and inlined calls of a packed program are those of a whole one" {
	needs g++ dwp jq
	local way
	while read -r way; do
		command -v "${way%% *}" >/dev/null || continue
		pack frames "$SOURCES/tests/cli/inspect_frames.cpp" -O1
		echo x >input
		"$CPROF" run -q -o x.data -t 'nested,server::serve' -a -- ./frames <input >/dev/null
		"$CPROF" replay x.data >calls
		grep -o '[a-z:]*(&{.*)' calls >said
		diff said - <<-'END' || { echo "$way"; return 1; } >&2
			nested(&{base={id=77}, name="the server", count=5, at={x=3, y=4}}, 2)
			nested(&{base={id=77}, name="the server", count=5, at={x=3, y=4}}, 1)
			nested(&{base={id=77}, name="the server", count=5, at={x=3, y=4}}, 0)
			server::serve(&{base={id=77}, name="the server", count=5, at={x=3, y=4}}, 7, "me", 2.5, {x=0, y=0}, &{x=0, y=0}, green)
		END
		begin frames
		"$CPROF" stack "$pid" >stack
		grep -q 'inspect_frames.cpp:' stack || { echo "$way"; cat stack; return 1; } >&2
		for name in wait_inside serve nested; do
			grep -q "$name.*inspect_frames.cpp:[0-9]" stack || { echo "$way: $name"; cat stack; return 1; } >&2
		done
		finish
	done < <(ways 3)
}

@test "layouts of a packed program are what it says of itself" {
	needs g++ dwp jq
	local way type name offset size
	while read -r way; do
		command -v "${way%% *}" >/dev/null || continue
		pack types "$SOURCES/tests/cli/layout_types.cpp" -Wno-invalid-offsetof
		./types >said
		while read -r _ type; do
			size=${type% *} type=${size% *} size=${size##* }
			[[ $type != *' '* && $type != box && $type != hidden ]] || continue
			"$CPROF" layout --json types "$type" >"$type.json" || { echo "$way: $type" >&2; return 1; }
			jq -e --argjson n "$size" '[.] | flatten[0] | .declared or .size == $n' "$type.json" >/dev/null || { echo "$way: $type"; cat "$type.json"; return 1; } >&2
		done < <(grep '^type ' said)
		while read -r _ type name offset size; do
			[[ $type != box && $type != hidden ]] || continue
			[ -e "$type.json" ] || "$CPROF" layout --json types "$type" >"$type.json"
			[ "$(jq -r --arg n "$name" '[.] | flatten[0] | if .declared then "left out" else .fields[] | select(.name == $n) | "\(.offset) \(.size)" end' "$type.json")" = "$offset $size" ] ||
				grep -q '"declared":true' "$type.json" || { echo "$way: $type.$name"; cat "$type.json"; return 1; } >&2
		done < <(grep '^field ' said)
		rm -f ./*.json
	done < <(ways 4)
}

@test "what one unit declares and another one defines is found in packages and beside them" {
	needs gcc dwp
	local how n
	cat >one.c <<-'END'
		struct hidden;
		extern struct hidden *made(void);
		struct hidden *kept;
		int main(void) { kept = made(); return 0; }
	END
	cat >two.c <<-'END'
		struct hidden { int a, b; } it = { 1, 2 };
		struct hidden *made(void) { return &it; }
	END
	for how in -gdwarf-5 -gdwarf-4; do
		gcc -gsplit-dwarf "$how" -c one.c two.c
		gcc -o apart one.o two.o
		"$CPROF" inspect apart 'sizeof(*kept)' >said
		[ "$(<said)" = 'sizeof(*kept) = 8' ] || { cat said >&2; return 1; }
		[ "$how" = -gdwarf-4 ] && dwp -e apart -o apart.dwp || llvm-dwp -e apart -o apart.dwp
		rm ./*.dwo
		"$CPROF" inspect apart 'sizeof(*kept)' 'it.b' >said
		[ "$(<said)" = $'sizeof(*kept) = 8\nit.b = 2' ] || { cat said >&2; return 1; }
		# Cut short or of another program, it is of no use, and no harm.
		for n in 10 64 200 500 900 1500; do
			head -c "$n" apart.dwp >short
			cp short apart.dwp.tmp && mv apart.dwp kept.dwp && mv apart.dwp.tmp apart.dwp
			separately "$CPROF" inspect apart 'it.b'
			[ "$status" -le 2 ] || { echo "$n: $status" >&2; return 1; }
			mv kept.dwp apart.dwp
		done
		rm apart.dwp
		separately "$CPROF" inspect apart 'it.b'
		[ "$status" -gt 0 ]
	done
}

@test "thread-local variables of what is split are what the program says" {
	needs gcc
	cat >each.h <<-'END'
		extern __thread long of_library;
		long *bump(void);
	END
	cat >library.c <<-'END'
		#include "each.h"
		static __thread int before = 3;
		__thread long of_library = 500;
		long *bump(void) { of_library += before; return &of_library; }
	END
	cat >each.c <<-'END'
		#include <pthread.h>
		#include <stdio.h>
		#include "each.h"
		__thread char area[AREA] = "area";
		__thread int first = 11;
		static __thread int second = 22;
		__thread long third;
		static void *tell(void *by)
		{
			first += *(int *)by; second -= *(int *)by; third = 7l * *(int *)by;
			printf("area \"%s\"\nfirst %d\nsecond %d\nthird %ld\nof_library %ld\n", area, first,
				second, third, *bump());
			puts("ready");
			fflush(stdout);
			getchar();
			return NULL;
		}
		int main(void) { int by = 5; tell(&by); return 0; }
	END
	local way linker area name value failed=0
	for way in "gcc -gdwarf-5" "gcc -gdwarf-4" "gcc -gdwarf-5 -no-pie" "clang -gdwarf-5" "clang -gdwarf-4"; do
		command -v "${way%% *}" >/dev/null || continue
		for linker in bfd gold lld; do
			command -v "ld.$linker" >/dev/null || continue
			for area in 5 200000; do # offsets that may be addresses, too
				case $area-$way in
				5-gcc\ -gdwarf-? | 5-clang\ -gdwarf-5 | 200000-gcc\ -gdwarf-5) ;;
				*) [ -n "$(long_or long '')" ] || continue ;;
				esac
				rm -f ./*.dwo
				# shellcheck disable=SC2086
				$way -gsplit-dwarf -DAREA=$area -fuse-ld=$linker -fPIC -c library.c each.c
				# shellcheck disable=SC2086
				${way%% *} -fuse-ld=$linker -shared -o libeach.so library.o
				# shellcheck disable=SC2086
				${way/-gdwarf-?} -fuse-ld=$linker -pthread -o each each.o -L. -leach -Wl,-rpath,"$PWD"
				begin each
				grep -v ready said | while read -r name value; do
					echo "$name = $value"
				done >expected
				"$CPROF" inspect "$pid" area first second third of_library | grep " = " >shown
				finish
				diff expected shown || { echo "$way $linker $area"; failed=1; } >&2
			done
		done
	done
	[ $failed = 0 ]
}
