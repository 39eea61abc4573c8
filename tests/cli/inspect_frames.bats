#!/usr/bin/env bats
# cprof inspect --frame: variables and registers of frames, judged by gdb and by what the
# program was written to hold.

# Registers have a '$' before their names.
# shellcheck disable=SC2016

load helpers
load inspected

# build FLAGS...: ./frames
build() {
	"$@" -std=c++17 -pthread -o frames "$SOURCES/tests/cli/inspect_frames.cpp"
}

# judge FUNCTION COUNT [PROGRAM]: the expressions on standard input are gdb's in that frame
# of $target, in at least COUNT numbers.
judge() {
	cat >expressions
	CPROF=$CPROF python3 "$SOURCES/tests/cli/inspect_judge.py" "$target" expressions "$1" ${3:+"$3"} >judged
	! grep -e apart -e gdb: judged || { echo "$compiler, $1:"; cat judged; return 1; } >&2
	[ "$(sed -n 's/^same //p' judged)" -ge "$2" ] || { echo "$compiler, $1:"; cat judged; return 1; } >&2
}

in_serve() {
	cat <<-'END'
		this->count
		this->at
		count
		at.y
		name.size()	name._M_string_length
		id
		*this
		fd
		*who
		load
		by_value
		by_reference.y
		(int)hue
		numbers
		numbers[2] + fd
		there->x
		*there
		hidden
		ratio
		calls
		total	server::total
		&numbers[1]
		sizeof(numbers)
		$sp	(unsigned long)$sp
	END
}

in_nested() {
	cat <<-'END'
		n
		text
		local
		local.y
		s->count
		*s
		&local
	END
}

in_wait() {
	cat <<-'END'
		depth
		at
		twice
		moved
		moved.y
	END
}

@test "arguments, locals and inlined scopes of who sleeps are gdb's" {
	needs gdb python3 g++
	for compiler in "g++ -g -O0" "g++ -g -O2" "clang++ -g -O0" "clang++ -g -O1"; do
		command -v "${compiler%% *}" >/dev/null || continue
		# shellcheck disable=SC2086
		build $compiler
		begin frames
		target=$pid
		in_serve | sed -e '/name.size/d' | judge serve 20
		in_nested | judge nested 5
		in_wait | judge wait_inside 3
		[ "$(sed -n 's/^TracerPid:[[:space:]]*//p' "/proc/$pid/status")" = 0 ]
		finish
	done
}

@test "a core file has the frames of its threads" {
	needs gdb python3 g++ jq
	for compiler in "g++ -g -O2" "clang++ -gdwarf-4 -O0"; do
		command -v "${compiler%% *}" >/dev/null || continue
		# shellcheck disable=SC2086
		build $compiler
		begin frames
		gdb -q -nx -batch -iex 'set debuginfod enabled off' -p "$pid" -ex 'generate-core-file core' >log 2>&1 </dev/null || {
			cat log >&2
			return 1
		}
		finish
		target=core
		{
			in_serve | sed -e '/name.size/d'
			printf '%s\n' '$rbx' '$rbp	(long)$rbp' '$r12' '$r13' '$r14' '$r15' '$pc	(unsigned long)$pc'
		} | sed -e '/\$pc/d' | judge serve 25 ./frames
		in_nested | judge nested 6 ./frames
		in_wait | judge wait_inside 4 ./frames
		printf '%s\n' steady text id '$rax' '$rdi' '$xmm0.v2_int64' '$xmm5.v4_int32' '$xmm15.uint128' |
			judge run_on 10 ./frames
	done
}

# As lld links, and Rust by it: code begins within a page, that its mapping has more of the
# file in than the segment. GNU ld does so where it is told to.
@test "frames of a core file where code begins within a page are gdb's" {
	needs gdb python3 gcc readelf
	cat >within.c <<-'END'
		#include <stdio.h>
		struct box { int a; const char *name; } box = { 7, "boxed" };
		static __attribute__((noinline)) int inner(int depth, const char *text)
		{
			int twice = depth * 2;
			puts("ready");
			fflush(stdout);
			return getchar() + twice + text[0];
		}
		static __attribute__((noinline)) int outer(struct box *b)
		{
			int sum = b->a + 1;
			return inner(sum, b->name) + sum;
		}
		int main(void)
		{
			int result = 3;
			result += outer(&box);
			return result;
		}
	END
	bounds=('*(unsigned *)((long)&main & ~4095l)' '*(unsigned *)((long)&main | 4092l)') # of its page
	for linked in -Wl,--section-start=.init=0x2340 -fuse-ld=lld; do
		[ "$linked" != -fuse-ld=lld ] || command -v ld.lld >/dev/null || { echo "# ld.lld is not installed" >&3; continue; }
		compiler="gcc -g $linked"
		gcc -g -O0 "$linked" -o within within.c
		readelf -lW within | grep 'LOAD .* R E ' | grep -v 'LOAD *0x[0-9a-f]* 0x[0-9a-f]*000 '
		begin within
		"$CPROF" inspect "$pid" "${bounds[@]}" >before
		gdb -q -nx -batch -iex 'set debuginfod enabled off' -p "$pid" -ex 'generate-core-file core' >log 2>&1 </dev/null || {
			cat log >&2
			return 1
		}
		finish
		"$CPROF" inspect core "${bounds[@]}" | diff before -
		target=core
		printf '%s\n' depth twice '*text' '$rbp	(long)$rbp' | judge inner 4 ./within
		printf '%s\n' sum '*b' 'b->a' | judge outer 3 ./within
		printf '%s\n' result 'box.a' | judge main 2 ./within
	done
}

@test "who runs is held for it, and goes on" {
	needs g++ jq
	build g++ -g -O0
	begin frames
	"$CPROF" inspect --json --thread=runner --frame=run_on "$pid" steady text held id what '$rip' >json
	jq -c '.[] | [.expression, if .expression == "$rip" then .text else .value end, .function]' json |
		sed 's/+[0-9]*"/"/' >got
	diff got - <<-'END'
		["steady",300,"run_on(int, char const*)"]
		["text","running","run_on(int, char const*)"]
		["held",[1,2,3],"run_on(int, char const*)"]
		["id",3,"run_on(int, char const*)"]
		["what","what runs","run_on(int, char const*)"]
		["$rip","run_on(int, char const*)","run_on(int, char const*)"]
	END
	"$CPROF" inspect --json --thread=all --frame=run_on "$pid" id >json
	[ "$(jq -c '.[] | [.expression, .frame, .value]' json)" = '["id",0,3]' ]
	# It goes on when its input ends.
	echo >&"$hold"
	wait "$pid"
	exec {hold}>&-
	grep 'what runs' said
}

@test "a frame by its number, and all that it has" {
	needs g++ jq
	build g++ -g -O0
	begin frames
	"$CPROF" stack --json "$pid" >stack
	for function in serve nested; do
		n=$(jq --arg f "$function(" --argjson pid "$pid" \
			'[.threads[] | select(.tid == $pid) | .frames[].function // "" | contains($f)] | index(true)' stack)
		"$CPROF" inspect --frame="$n" "$pid" >by_number
		"$CPROF" inspect --thread="$pid" --frame="$function" "$pid" >by_name
		diff by_number by_name
		grep "^#$n .*$function" by_number
	done
	"$CPROF" inspect --frame=server::serve "$pid" | sed -e 1,2d -e '/^this/,/^}/d' -e '/^there/d' -e 's/0x[0-9a-f]* -> //' >got
	diff got - <<-'END'
		fd = 7
		who = "me"
		load = 2.5
		by_value = {x=0, y=0}
		by_reference = {x=0, y=0}
		hue = green
		numbers = {7, 8, 9, 10}
		hidden = 10
		    hidden by that of line 66
		ratio = 1.5
		result = 0
		hidden = 20
		calls = 41
	END
	[ "$("$CPROF" inspect --thread="$pid" --frame='nested(server*, int)' "$pid" n text | tail -n +2)" = 'n = 0
text = "depth 0"' ]
	"$CPROF" inspect --thread="$pid" --frame=serve "$pid" hidden | tail -n 2 | diff - <(printf 'hidden = 20\n    also: hidden (line 57)\n')
	finish
}

@test "frames that are not there are told from those that are" {
	needs g++
	build g++ -g -O0
	begin frames
	separately "$CPROF" inspect --thread="$pid" --frame=serv "$pid" fd
	assert_failure 1
	[ "${lines[0]:-}" = "" ]
	[[ $stderr = "cprof: the stack of thread $pid has no frame serv"*"it has "*"server::serve"* ]]
	separately "$CPROF" inspect --frame=9999 "$pid" fd
	assert_failure 1
	separately "$CPROF" inspect --frame=none "$pid" fd
	assert_failure 1
	[ "$stderr" = "cprof: no thread's stack has a frame none" ]
	separately "$CPROF" inspect "$pid" '$rip'
	assert_failure 1
	[[ $stderr = *"--frame=0"* ]]
	separately "$CPROF" inspect --frame=serve ./frames fd
	assert_failure 2
	"$CPROF" inspect --frame=_start "$pid" | grep -x '    no debug information tells of its variables'
	separately "$CPROF" inspect --frame=serve "$pid" fd nothing
	assert_failure 1
	assert_output --partial 'fd = 7'
	finish
}

@test "arrays have the sizes that the frame tells" {
	needs gdb python3 gcc
	for compiler in "gcc -g -O0" "gcc -gdwarf-4 -O0" "clang -g -O0"; do
		command -v "${compiler%% *}" >/dev/null || continue
		$compiler -o vla "$SOURCES/tests/cli/inspect_vla.c"
		begin vla
		target=$pid
		judge work 13 <<-'END'
			row[1]
			row[0]@3
			sizeof(row)
			sizeof(grid)
			sizeof(text)
			grid[1]
			grid[2][1]
			*last
			later[1][2]
			things[2]
			&later[1]
		END
		"$CPROF" inspect --frame=work "$pid" row text grid later things >got
		tail -n +2 got | diff - <(printf '%s\n' 'row = {0, 10, 20}' 'text = "ab3"' 'grid = {{0, 1}, {100, 101}, {200, 201}}' \
			'later = {{0.5, 1.5, 2.5}, {0, -1, -2}}' 'things = {{a=0}, {a=1}, {a=2}}')
		# clang does not tell it of what a parameter points to.
		[[ $compiler = clang* ]] || "$CPROF" inspect --frame=work "$pid" 'given[1][1]' | grep -x 'given\[1\]\[1\] = 4'
		"$CPROF" stack -l "$pid" | grep -x ' *row={0, 10, 20}'
		! "$CPROF" inspect --frame=work "$pid" | grep vla_expr
		finish
	done
}

@test "a local that is known to point at a static variable" {
	needs gcc
	cat >points.c <<-'END'
		#include <stdio.h>
		#include <unistd.h>
		static int counter = 15;
		__attribute__((noinline)) long wait_here(void)
		{
			char c;

			puts("ready");
			fflush(stdout);
			return read(0, &c, 1);
		}
		int main(void)
		{
			int *number = &counter;
			struct { int *first; long count; } span = { number, 3 };

			*number += 1;
			printf("number = %p\n*number = %d\nspan.first = %p\nspan.count = %ld\n",
			       (void *)number, *number, (void *)span.first, span.count);
			return (int)wait_here() + *number == 0;
		}
	END
	for compiler in "gcc -g -O1" "gcc -gdwarf-4 -O2"; do
		$compiler -o points points.c
		begin points
		"$CPROF" inspect --frame=main "$pid" number '*number' span.first span.count | sed 's/ -> .*//' |
			grep -e number -e span >shown
		grep -e number -e span said | diff - shown || { echo "$compiler"; return 1; } >&2
		finish
	done
}

# rustc has the names of a pattern twice, as the guard and as the arm has them.
@test "of two variables of one name in one block that is meant of which something is told" {
	needs rustc gdb
	cat - "$SOURCES/tests/cli/black_box.rs" >guard.rs <<-'END'
		use std::io::Read;
		struct Point { x: i32, y: i32 }
		#[inline(never)]
		fn wait_here(x: i32) -> i32 {
			println!("ready");
			std::io::stdin().read(&mut [0]).unwrap() as i32 + x
		}
		#[inline(never)]
		fn work(point: Option<Point>) -> i32 {
			match black_box(point) {
				Some(Point { x: seen, y }) if y > 5 => wait_here(black_box(seen)) ^ 1,
				_ => 0,
			}
		}
		fn main() { std::process::exit(work(Some(Point { x: 41, y: 6 })) & 1); }
	END
	for level in 1 2; do
		rustc -g -C opt-level=$level -o guard guard.rs
		begin guard
		"$CPROF" inspect --frame=work "$pid" >shown
		gdb -nx -batch -p "$pid" -ex 'frame function guard::work' -ex 'info locals' >locals 2>errors
		# Old compilers keep neither.
		wanted=$(grep -q '^seen = [^<]' locals && echo 41 || echo 'optimized out>')
		"$CPROF" inspect --frame=work "$pid" seen | grep -q "^seen = .*\b$wanted\$" || { cat shown; return 1; } >&2
		finish
	done
}

@test "what a thread that wakes up has not is told once" {
	needs gcc
	cat >naps.c <<-'END'
		#include <poll.h>
		#include <stdio.h>
		#include <time.h>
		int naps = 1;
		void nap(int n) { nanosleep(&(struct timespec){ .tv_nsec = n }, NULL); }
		int main(void)
		{
			puts("ready");
			fflush(stdout);
			while (!poll(&(struct pollfd){ .fd = 0, .events = POLLIN }, 1, 0))
				nap(20000);
			return 0;
		}
	END
	gcc -g -O0 -o naps naps.c
	begin naps
	for _ in $(seq 30); do
		separately "$CPROF" inspect "$pid" --frame=main nosuch naps nosuch2
		assert_failure 1
		[ "$(grep -c '^cprof: nosuch: ' <<<"$stderr")" = 1 ]
		[ "$(grep -c '^cprof: nosuch2: ' <<<"$stderr")" = 1 ]
		[ "$(tail -n1 <<<"$output")" = 'naps = 1' ]
	done
	finish
}

@test "a static of the frame's function, not of another of its name" {
	needs g++ gdb
	cat >statics.cpp <<-'END'
		#include <stdio.h>
		#include <unistd.h>
		#define SAY(what, value) printf("%s %d\n", what, (int)(value))
		static int calls = 7;
		template <class T> struct Box {
			__attribute__((noinline)) void hold(void (*next)())
			{
				static int held = sizeof(T);
				held += 1000;
				SAY(sizeof(T) == 1 ? "Box<char>::hold held" : "Box<long>::hold held", held);
				next();
				held++;
			}
		};
		__attribute__((noinline)) void wait_here()
		{
			char c;
			puts("ready");
			fflush(stdout);
			if (read(0, &c, 1) < 0)
				calls++;
		}
		__attribute__((noinline)) void in_char() { Box<char>().hold(wait_here); calls++; }
		__attribute__((noinline)) void in_long() { Box<long>().hold(in_char); calls++; }
		__attribute__((noinline)) void count(double k, void (*next)())
		{
			static int calls = 500;
			static thread_local int own = 30;
			calls += (int)k;
			own++;
			SAY("count(double,·void·(*)()) own", own);
			{
				static int calls = 600;
				calls += (int)k;
				SAY("count(double,·void·(*)()) calls", calls);
				SAY("count(double,·void·(*)()) ::calls", ::calls);
				next();
				calls += (int)k;
			}
			calls++;
		}
		__attribute__((noinline)) void inner() { count(2.0, in_long); calls++; }
		__attribute__((noinline)) void count(int k, void (*next)())
		{
			static int calls = 100;
			static thread_local int own = 20;
			calls += k;
			own++;
			SAY("count(int,·void·(*)()) calls", calls);
			SAY("count(int,·void·(*)()) own", own);
			next();
			calls++;
		}
		int main() { count(1, inner); return calls == 0; }
	END
	for compiler in "g++ -O0" "g++ -gdwarf-4 -O2" "clang++ -O0" "clang++ -O2"; do
		command -v "${compiler%% *}" >/dev/null || continue
		# shellcheck disable=SC2086
		$compiler -g -o statics statics.cpp
		begin statics
		while read -r frame name value; do
			[ "$frame" != ready ] || continue
			"$CPROF" inspect --frame="${frame//·/ }" "$pid" "$name" >got
			sed -n 2p got | diff - <(echo "$name = $value") || { echo "$compiler: $frame"; return 1; } >&2
		done <said
		# All of them, without an expression.
		for frame in 'count(double, void (*)())' 'Box<char>::hold'; do
			gdb -q -nx -batch -p "$pid" -ex "frame function $frame" -ex 'info locals' 2>errors |
				sed -n '/^#/,$p' | sed -En '/^(calls|own|held) = /p' | sort >judged
			[ -s judged ] || complain "$(cat errors)"
			"$CPROF" inspect --frame="$frame" "$pid" | sed -En '/^(calls|own|held) = /p' | sort | diff judged -
		done
		finish
	done
}

@test "a member is no variable of its name where the object is not known" {
	needs g++ gdb
	cat >hidden.cpp <<-'END'
		#include <stdio.h>
		#include <unistd.h>
		int total = 111;
		struct Account {
			int total = 5;
			__attribute__((noinline)) int run(int n)
			{
				int r = total * n;
				char c;
				puts("ready");
				fflush(stdout);
				return read(0, &c, 1) ? r : 0;
			}
		};
		int main(int count, char **) { return (new Account)->run(count) + total == 0; }
	END
	g++ -g -O2 -o hidden hidden.cpp
	begin hidden
	gdb -q -nx -batch -p "$pid" -ex 'frame apply all -q -c print total' >by_gdb 2>&1
	grep -q 'value has been optimized out' by_gdb
	"$CPROF" inspect --frame=Account::run "$pid" total ::total >got
	tail -n +2 got | diff - <(printf '%s\n' 'total = <optimized out>' '::total = 111')
	finish
}

@test "a type's name means that of what the frame's function is in" {
	needs g++
	cat >tags.cpp <<-'END'
		#include <stdio.h>
		#include <unistd.h>
		namespace first { struct Tag { char c[3]; }; Tag tag; }
		namespace second {
			struct Tag { char c[5]; };
			struct Only { char c[9]; };
			struct Holder {
				struct Tag { char c[7]; } tag;
				__attribute__((noinline)) void hold()
				{
					char c;
					printf("Holder::hold %zu\nready\n", sizeof(Tag));
					fflush(stdout);
					if (read(0, &c, 1) < 0)
						tag.c[0]++;
				}
			};
			Tag tag;
			Only only;
			__attribute__((noinline)) void inner()
			{
				printf("second::inner %zu\n", sizeof(Tag));
				Holder().hold();
				tag.c[0]++;
			}
		}
		namespace first {
			__attribute__((noinline)) void outer()
			{
				printf("first::outer %zu\n", sizeof(Tag));
				second::inner();
				tag.c[0]++;
			}
		}
		int main() { first::outer(); return second::only.c[0]; }
	END
	g++ -g -O0 -o tags tags.cpp
	begin tags
	while read -r frame size; do
		[ "$frame" != ready ] || continue
		"$CPROF" inspect --frame="$frame" "$pid" 'sizeof(Tag)' >got
		tail -n +2 got | diff - <(echo "sizeof(Tag) = $size")
	done <said
	"$CPROF" inspect --frame=first::outer "$pid" 'sizeof(Only)' 'sizeof(second::Tag)' >got
	tail -n +2 got | diff - <(printf '%s\n' 'sizeof(Only) = 9' '    Only is second::Only' 'sizeof(second::Tag) = 5')
	finish
}

@test "what the class of a method and its namespaces have comes before what others have" {
	needs gdb python3 g++
	cat >around.cpp <<-'END2'
		#include <cstdio>
		#include <unistd.h>
		int count = 1, limit = 2, level = 3, other = 4;
		namespace outer {
		int level = 31;
		struct worker {
			static int count;
			static constexpr int limit = 100;
			__attribute__((noinline)) int work(int n)
			{
				char c;
				puts("ready");
				fflush(stdout);
				return n + (int)read(0, &c, 1) + count + *&limit + ::limit;
			}
		};
		int worker::count = 88;
		}
		int main() { return outer::worker().work(4) == level + other; }
	END2
	for compiler in "g++ -g -O0" "g++ -gdwarf-4 -O0"; do
		$compiler -std=c++17 -o around around.cpp
		begin around
		target=$pid
		printf '%s\n' count 'count + 1' limit level '&level' other worker::count | judge work 7
		# gdb looks for what is in nothing from within, too
		"$CPROF" inspect --json --frame=work "$pid" ::count ::level | jq -c '[.[].value]' >nothing
		assert_equal "$(cat nothing)" '[1,3]'
		finish
	done
	assert_equal "$(called around outer::worker::work 'count == 88 && limit == 100 && level == 31')" 1
	assert_equal "$(called around outer::worker::work '::count == 1 && other == 4')" 1
}

@test "what debug information knows a part of is shown as far as it does" {
	needs gdb python3 gcc
	cat >parts.c <<-'END'
		#include <stdio.h>
		struct view { const char *text; long count; };
		struct inner { int a, b; };
		struct outer { struct inner in; struct view view; };
		__attribute__((noinline)) void wait_here(const char *text, long lost)
		{
			asm volatile("" :: "r"(text), "r"(lost));
			puts("ready");
			fflush(stdout);
			getchar();
		}
		/* Something that nobody can work out again. */
		#define MADE(type, from) ({ type made = (type)(from); asm volatile("" : "+r"(made)); made; })
		__attribute__((noinline)) int half(void)
		{
			const char *text = MADE(const char *, "only this");
			long lost = MADE(long, 5), kept = MADE(long, 7);
			struct view v = { text, lost };
			struct outer o = { { (int)kept, (int)lost }, v };
			wait_here(v.text, v.count + o.in.b);
			return o.view.text[0] + o.in.a + v.text[1];
		}
		int main(void) { return half() == 1; }
	END
	gcc -g -O2 -o parts parts.c
	begin parts
	printf '%s\n' v.text o.in.a o.view.text '*v.text' '(long)o.in.a + 1' >expressions
	CPROF=$CPROF python3 "$SOURCES/tests/cli/inspect_judge.py" "$pid" expressions half >judged
	! grep -e apart -e gdb: judged || { cat judged; return 1; } >&2
	grep '^same [3-9]' judged || { cat judged; return 1; } >&2
	"$CPROF" inspect --frame=half "$pid" v v.count o.in o.in.b o.view >shown
	diff - <(sed 1d shown) <<-'END'
		v = {text="only this", count=<optimized out>}
		v.count = <optimized out>
		o.in = {a=7, b=<optimized out>}
		o.in.b = <optimized out>
		o.view = {text="only this", count=<optimized out>}
	END
	inspect --frame=half v
	[ "$(jq -c '.[0] | [.value, .lacks]' json)" = \
		'[{"text":"only this","count":null},[{"at":"count","error":"optimized_out"}]]' ]
	"$CPROF" stack -l "$pid" >stack
	grep 'v={text="only this", count=<optimized out>}' stack || { cat stack; return 1; } >&2
	finish
}

@test "a pointer that was optimised out leads to what debug information says" {
	needs gdb python3 gcc
	cat >implied.c <<-'END'
		#include <stdio.h>
		struct point { int x, y; long z; };
		static inline __attribute__((always_inline)) void use(struct point *p, const int *q)
		{
			printf("%d\n", p->x + *q);
			puts("ready");
			fflush(stdout);
			getchar();
			printf("%d %d %ld %d\n", p->x, p->y, p->z, *q);
		}
		__attribute__((noinline)) int around(int a, int b)
		{
			struct point here = { a, b, a * 10L };
			int k = b + 1;
			use(&here, &k);
			return here.y + k;
		}
		int main(int count, char **arguments)
		{
			(void)arguments;
			return around(count + 2, count + 3) == 1;
		}
	END
	local way
	for way in "-gdwarf-5" "-gdwarf-4"; do
		# shellcheck disable=SC2086
		gcc -O2 $way -o implied implied.c
		begin implied
		printf '%s\n' '*p' 'p->x' 'p[0].z' '*q' '*q + 1' >expressions
		CPROF=$CPROF python3 "$SOURCES/tests/cli/inspect_judge.py" "$pid" expressions use >judged
		! grep -e apart -e gdb: judged || { cat judged; return 1; } >&2
		grep '^same [6-9]' judged || { cat judged; return 1; } >&2
		xargs -d '\n' "$CPROF" inspect --stop --frame=use "$pid" p q 'p[1]' 'p == 0' <expressions >shown
		diff - <(sed 1d shown) <<-'END' || { echo "$way"; return 1; } >&2
			p = <optimized out> -> {x=3, y=4, z=30}
			q = <optimized out> -> 5
			p[1] = <optimized out>
			p == 0 = <optimized out>
			*p = {x=3, y=4, z=30}
			p->x = 3
			p[0].z = 30
			*q = 5
			*q + 1 = 6
		END
		finish
	done
}
