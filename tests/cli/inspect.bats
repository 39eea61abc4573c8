#!/usr/bin/env bats
# cprof inspect: judged by gdb of the same process, and by what programs were written to
# hold.

load helpers
load inspected

# build_c FLAGS...: ./statics
build_c() {
	"$@" -pthread -o statics "$SOURCES/tests/cli/inspect_statics.c" "$SOURCES/tests/cli/inspect_other.c"
}

# judge COUNT: the expressions on standard input are gdb's, in at least COUNT numbers.
judge() {
	cat >expressions
	CPROF=$CPROF python3 "$SOURCES/tests/cli/inspect_judge.py" "$pid" expressions >judged
	! grep -e apart -e gdb: judged || { echo "$compiler:"; cat judged; return 1; } >&2
	[ "$(sed -n 's/^same //p' judged)" -ge "$1" ] || { cat judged; return 1; } >&2
}

@test "static variables, and expressions over them, are gdb's" {
	needs gdb python3 gcc
	for compiler in "gcc -g -O0" "gcc -gdwarf-4 -O2 -no-pie" "clang -g -O1" "clang -gdwarf-4 -O0" \
		"gcc -g -fdebug-types-section" "gcc -gdwarf-4 -O2 -fdebug-types-section" "clang -gdwarf-4 -fdebug-types-section"; do
		command -v "${compiler%% *}" >/dev/null || continue
		# shellcheck disable=SC2086
		build_c $compiler
		begin statics
		# gdb 13 finds the other file's where types are in units of their own.
		strange='^$'
		[[ $compiler != *types-section* ]] || strange="^'inspect_statics.c'::counter"
		sed -e 's/ *|| */\t/' -e "/$strange/d" <<-'END' | judge 120
			server
			server.clients
			server.clients->head
			*server.clients->head
			server.clients->head->next->n
			(*server.clients).head->b
			server.clients->head->c
			server.clients->head[1]
			server.clients->head[1].prev->value
			(char *)server.clients->head->value
			server.at.y
			server.f
			server.text
			server.text[1]
			buffer
			buffer[2..6] || buffer[2]@5
			buffer[0]@12
			marks
			*marks@2
			sizeof(marks) / sizeof(marks[0])
			sizeof(spelt[0])
			sizeof(struct node[3])
			server.color
			server.ports[1..4] || server.ports[1]@4
			server.ports[2]@3
			&server.at
			&server.at.y
			&matrix[1][2]
			*pointer
			pointer[1]
			pointer - &matrix[0][0]
			pointer + 2
			*(pointer - 2)
			matrix
			matrix[1]
			matrix[2][3] * 2 + 1
			commands
			commands + 1
			commands % 1000
			-commands
			~commands
			commands > 5 && server.load < 3
			largest
			huge
			single
			single * 2
			0.3f == 0.3
			0.1L == 0.1
			(double)0.3f
			server.load / 4
			truth
			letter
			small
			byte
			byte << 3
			byte & 0x0f | 0x100
			numbers
			words[1]
			function
			*fixed
			nothing
			'inspect_other.c'::counter
			'inspect_statics.c'::counter
			main()::calls || main::calls
			of_other()::calls || of_other::calls
			sizeof(struct node)
			sizeof(server)
			sizeof server.ports
			offsetof(struct server, at.y) || (unsigned long)&((struct server *)0)->at.y
			(unsigned char)small
			(int)server.load
			(double)byte
			(struct node *)server.clients
			{struct node}server.clients->head || *(struct node *)server.clients->head
			{int}pointer
			(int (*)[4])pointer
			((int (*)[4])matrix)[1]
			*(int (*)[4])&matrix[0][0] + 1
			**(int(*)[3][4])matrix
			sizeof(int[3][4])
			{int[2][3]}pointer || *(int (*)[2][3])pointer
			(int (*)(int))function
			*(int *(*)[2])pointer
			(short)commands
			server.color == GREEN
			server.color == 6
			each
			own
			-7 / 2
			-7 % 4
		END
		# What begins with a number is no option.
		[ "$("$CPROF" inspect "$pid" '-7 / 2')" = '-7 / 2 = -3' ]
		inspect marks spelt
		[ "$(jq -r '.[].type' json | tr -d ' ')" = "$(gdb -q -nx -batch -ex 'whatis marks' -ex 'whatis spelt' statics |
			sed -n 's/^type = //p' | tr -d ' ')" ]
		finish
	done
}

both_said() { [ "$(grep -c thread said)" = 2 ]; }

@test "threads have their own, and nobody is stopped for it" {
	needs gcc jq
	local how
	for how in -static-pie -static -pie; do
		build_c gcc -g -O0 $how
		begin statics
		until_true both_said
		"$CPROF" inspect --json --thread=all "$pid" own each >json
		jq -c '.[] | [.expression, .value]' json | sort >got
		diff got - <<-'END'
			["each",20]
			["each",30]
			["each",5]
			["own",1]
			["own",2]
			["own",3]
		END
		[ $how = -pie ] || finish
	done
	inspect --thread=third own
	[ "$(jq -c '.[0].value' json)" = 3 ]
	[ "$("$CPROF" inspect --thread="$pid" "$pid" own)" = "own = 1" ]
	# Nobody was attached to it, or interrupted.
	[ "$(sed -n 's/^TracerPid:[[:space:]]*//p' "/proc/$pid/status")" = 0 ]
	[ "$(cat "/proc/$pid/task/$pid/wchan")" != ptrace_stop ]
	separately "$CPROF" inspect --thread=fourth "$pid" own
	assert_failure 1
	[ "$stderr" = "cprof: process $pid has no thread fourth" ]
	finish
}

# The macro makes two of each, in blocks of blocks; the linker leaves one out, and lets debug
# information say of it that it is where another one is.
@test "what thread_local! declares is found by its name, and once" {
	needs rustc
	cat >own.rs <<-'END'
		use std::cell::{Cell, RefCell};
		use std::io::Read;
		mod deep {
			use std::cell::Cell;
			thread_local! { pub static COUNT: Cell<u32> = const { Cell::new(70) }; }
		}
		thread_local! {
			static COUNT: Cell<u32> = const { Cell::new(7) };
			static LIST: RefCell<Vec<i32>> = RefCell::new(vec![1, 2]);
			static UNUSED: Cell<u64> = const { Cell::new(5) };
		}
		fn main() {
			COUNT.with(|c| c.set(c.get() + 2));
			deep::COUNT.with(|c| c.set(c.get() + 1));
			LIST.with(|l| l.borrow_mut().push(3));
			println!("ready");
			let read = std::io::stdin().read(&mut [0]).unwrap() as u32;
			let sum = COUNT.with(|c| c.get()) + deep::COUNT.with(|c| c.get()) + read;
			std::process::exit((sum == 0) as i32);
		}
	END
	for options in "" "-C symbol-mangling-version=v0" "-O"; do
		# shellcheck disable=SC2086
		rustc -g $options -A warnings -o own own.rs
		begin own
		# What libraries of before 2024 and of today hold it in.
		"$CPROF" inspect --depth=5 "$pid" own::COUNT deep::COUNT LIST | grep -v '^    also' |
			sed 's/{value=\(.*\), state=Alive}/\1/; s/{inner={inner=Some(\(.*\))}, dtor_state=Registered}/\1/' |
			diff - <(printf '%s\n' 'own::COUNT = 9' 'deep::COUNT = 71' 'LIST = {1, 2, 3}') || { echo "$options"; return 1; } >&2
		"$CPROF" inspect "$pid" COUNT >shown
		grep -q '^    also: .*own::deep::COUNT' shown || grep -q '^    also: .*own::COUNT' shown
		"$CPROF" inspect --globals='own::*' "$pid" | sed -n 's/^\([^ ]*\) = .*/\1/p' | grep -v '::__getit::STATE$' | sort |
			diff - <(printf '%s\n' own::COUNT own::LIST own::deep::COUNT)
		run "$CPROF" inspect "$pid" UNUSED
		assert_failure
		finish
	done
}

@test "a static of C++ that begins the block of thread-locals is there" {
	needs g++
	cat >first.cpp <<-'END'
		#include <cstdio>
		#include <unistd.h>
		static thread_local volatile char first = 'f';
		static thread_local volatile long second = 7;
		namespace inner { static thread_local volatile int third = 3; }
		int main() { static thread_local volatile short fourth = 4; char c; puts("ready"); fflush(stdout); return (int)(read(0, &c, 1) + first + second + inner::third + fourth) == 0; }
	END
	for options in -O0 "-O2 -gdwarf-4" "-O1 -flto"; do
		# shellcheck disable=SC2086
		g++ -g $options -o first first.cpp
		begin first
		"$CPROF" inspect "$pid" first second third fourth | diff - <(printf '%s\n' "first = 'f'" 'second = 7' 'third = 3' 'fourth = 4') ||
			{ echo "$options"; return 1; } >&2
		finish
	done
}

@test "a file has the values that its program begins with" {
	needs gcc jq
	local how
	for how in -pie -no-pie; do
		build_c gcc -g -O0 $how
		"$CPROF" inspect statics 'server.name' 'counter' 'words[2]' 'main()::calls' 'each' 'own' 'server.pid' \
			'*pointer' 'function' >said
		diff said - <<-'END'
			server.name = "a \"server\""
			counter = 7
			    also: 'inspect_other.c'::counter (line 2)
			words[2] = "two"
			main()::calls = 42
			each = 5
			own = 0
			server.pid = 0
			*pointer = 7
			function = NULL
		END
	done
}

# gdb 13 dies of them.
@test "floats of two bytes are what their name says, not one like the other" {
	needs gcc
	cat >halves.c <<-'END'
		#include <string.h>
		_Float16 half = 1.5f16, sixteen;
		int main(void) { return half == sixteen; }
	END
	gcc -g -O0 halves.c -o halves || skip "this gcc has no _Float16"
	run "$CPROF" inspect halves half
	assert_output 'half = 1.5'
	# Compilers that have it call the upper half of a float __bf16: 0x3e00 is 0.125 then.
	LC_ALL=C sed 's/_Float16/__bf16\x00\x00/' halves >brains
	run "$CPROF" inspect brains half
	assert_output 'half = 0.125'
}

@test "types in units of their own, in .dwo files" {
	needs gcc
	local how
	for how in -gdwarf-5 -gdwarf-4; do
		build_c gcc -gsplit-dwarf $how -fdebug-types-section
		"$CPROF" inspect statics server.name server.at server.color 'server.ports[1..2]' 'sizeof(struct list)' \
			'offsetof(struct server, ports)' >said
		gcc -g -pthread -o whole "$SOURCES/tests/cli/inspect_statics.c" "$SOURCES/tests/cli/inspect_other.c"
		"$CPROF" inspect whole server.name server.at server.color 'server.ports[1..2]' 'sizeof(struct list)' \
			'offsetof(struct server, ports)' | diff said -
	done
	grep -q 'server.at = {x=3, y=4}' said
}

@test "what makes no sense is said to" {
	needs gcc
	build_c gcc -g -O0
	begin statics
	while IFS='|' read -r expression wanted; do
		separately "$CPROF" inspect "$pid" -- "$expression"
		[ "$status" -gt 0 ] || complain "$expression: status 0: $output"
		[ "${stderr%%$'\n'*}" = "cprof: $wanted" ] || { echo "$expression: $stderr" >&2; return 1; }
	done <<-'END'
		server.colour|server.colour: struct server has no member colour
		servar|servar: there is no variable servar
		1 +|expression '1 +': a value is missing at character 4
		counter.x|counter.x: what x is looked for in is of type int, which has no members
		*counter|*counter: no pointer and no array: it is of type int
		commands / 0|commands / 0: division by 0
		(struct nix *)0|(struct nix *)0: there is no type struct nix
		matrix[3..1]|matrix[3..1]: [3..1] ends before it begins
		'none.c'::counter|'none.c'::counter: there is no variable counter in none.c
		&1|&1: what is in no memory has no address
		server@-1|server@-1: -1 elements are no row of them
		single & 1|single & 1: that can't be done with a float
		(int|expression '(int': ')' is missing at character 5
		{|expression '{': a type is missing at character 2
	END
	separately "$CPROF" inspect "$pid" 'server.colour' commands
	assert_failure 1
	assert_output 'commands = 1234567890123'
	separately "$CPROF" inspect --json "$pid" 'server.colour' commands '1 +'
	assert_failure 2
	jq -e 'map([.expression, .error]) == [["server.colour", "unavailable"], ["commands", null], ["1 +", "unavailable"]]
		and .[1].value == 1234567890123 and (.[0].why | test("no member colour"))' <<<"$output"
	separately "$CPROF" inspect 999999999 x
	assert_failure 1
	separately "$CPROF" inspect "$pid"
	assert_failure 2
	finish
}

@test "what can't be had says why" {
	needs gcc jq
	build_c gcc -g -O2 -fdata-sections -Wl,--gc-sections
	begin statics
	inspect '*(struct node *)0x1234' '((struct node *)0x1234)->next->n' '*server.opaque' 'server.opaque' "'inspect_other.c'::counter" matrix
	jq -c '.[] | [.value, .error // "none"]' json >got
	diff got - <<-'END'
		[null,"unreadable"]
		[null,"unreadable"]
		[null,"incomplete"]
		["0x0","none"]
		[null,"optimized_out"]
		[null,"optimized_out"]
	END
	finish
}

@test "all static variables by their names" {
	needs gcc jq
	build_c gcc -g -O0
	begin statics
	"$CPROF" inspect --json --globals "$pid" >json
	jq -r '.[].expression' json | sort | tr '\n' ' ' >got
	diff -w got - <<<"buffer byte commands counter counter each fixed function huge keep largest letter main()::calls marks matrix nothing numbers of_other()::calls own pointer server single small spelt truth turned words"
	[ "$("$CPROF" inspect --globals='ma*x' "$pid")" = "matrix = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}}" ]
	separately "$CPROF" inspect --globals='no_such*' "$pid"
	assert_failure 1
	finish
}

@test "what changes is shown when it does, until the process ends" {
	needs gcc jq
	gcc -g -pthread -o counts "$SOURCES/tests/cli/inspect_counts.c"
	begin counts
	"$CPROF" inspect --watch=10ms "$pid" counter 'name' steady >text 3>&- {hold}>&- &
	local watching=$!
	"$CPROF" inspect --watch=10ms --json "$pid" counter steady >lines 3>&- {hold}>&- &
	local others=$! n
	started+=("$watching" "$others")
	for n in 1 2 3; do
		until_true grep -q "counter = $((n * 10 - 10))\$" text
		until_true grep -q "\"value\":$((n * 10 - 10))," lines
		echo >&"$hold"
	done
	until_true grep -q 'counter = 30' text
	until_true grep -q '"value":30,' lines
	echo x >&"$hold"
	wait "$watching"
	wait "$others"
	wait "$pid"
	exec {hold}>&-
	grep -c -E '^[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3} [a-z]+ = ' text
	sed 's/^[0-9:.]* //' text | sort >said
	diff said - <<-'END'
		counter = 0
		counter = 10
		counter = 20
		counter = 30
		name = "after 0"
		name = "after 10"
		name = "after 20"
		name = "after 30"
		steady = 5
	END
	[ "$(jq -c '[.expression, .value]' lines | tr '\n' ' ')" = '["counter",0] ["steady",5] ["counter",10] ["counter",20] ["counter",30] ' ]
	jq -e -s 'map(.time_ns) | . == sort and .[0] > 1600000000000000000' lines
	separately "$CPROF" inspect --watch=1s ./counts counter
	assert_failure 2
	separately "$CPROF" inspect --watch=1s --globals $$
	assert_failure 2
}

@test "a core file has what its process had" {
	needs gcc gdb jq
	build_c gcc -g -O0
	begin statics
	until_true both_said
	"$CPROF" inspect --globals "$pid" >before
	"$CPROF" inspect --json --thread=all "$pid" own each >threads
	# As the kernel makes them: without what was mapped and not written to.
	gdb -q -nx -batch -iex 'set debuginfod enabled off' -p "$pid" -ex 'generate-core-file core' >log 2>&1 </dev/null || {
		cat log >&2
		return 1
	}
	finish
	"$CPROF" inspect --globals core >after
	diff before after
	"$CPROF" inspect --json --thread=all core own each >json
	diff <(jq -c '.[] | [.expression, .value]' threads | sort) <(jq -c '.[] | [.expression, .value]' json | sort)
	"$CPROF" inspect --thread="$pid" core own 'words[1]' function
	[ "$("$CPROF" inspect core '*(struct node *)0x1234')" = '*(struct node *)0x1234 = <unreadable 0x1234>' ]
	head -c 5000 core >short
	separately "$CPROF" inspect short own
	[ "$status" -gt 0 ] || complain "short: $output"
	separately "$CPROF" inspect --watch=1s core own
	assert_failure 2
}

@test "enumerators stand on either side; what are no flags is none, by gdb" {
	needs gdb
	cat >enums.c <<'END'
enum color { RED, GREEN, BLUE } col = GREEN;
enum flags { F1 = 1, F2 = 2, F8 = 8 } some = F1 | F8;
enum level { low, mid = 5, high = 200 } level = 7;
struct { int a; enum flags e : 4; enum color c : 2; unsigned x : 3; } bits = { 1, F1 | F8, BLUE, 5 };
int main(void) { return col + some + level + bits.a; }
END
	gcc -g -o enums enums.c
	for of in 'col == GREEN' 'GREEN == col' 'col != GREEN' 'bits.c == BLUE' 'RED == bits.c'; do
		run "$CPROF" inspect ./enums "$of"
		assert_output "$of = $(gdb -batch -ex "p $of" ./enums | sed 's/.* = 1/true/; s/.* = 0/false/')"
	done
	for of in col some level bits; do
		run "$CPROF" inspect ./enums "$of"
		assert_equal "${output//[ ()]/}" "$of=$(gdb -batch -ex "p $of" ./enums | sed 's/^[^=]*= //' | tr -d ' ()')"
	done
	run "$CPROF" inspect ./enums 'col == NONE'
	assert_failure
	assert_output --partial 'there is no variable NONE'
}

# A library has variables of the same names, which are not what the program means.
@test "enumerators stand for themselves, whatever has their name elsewhere, by gdb" {
	needs gdb python3 g++
	printf '%s\n' 'double P2 = 104.5;' 'static const float RED = 3; extern const float *red; const float *red = &RED;' >other.cpp
	cat >enums.cpp <<'END'
#include <cstdio>
#include <map>
enum { ANON = 7, NEXT } volatile anon = NEXT;
enum Plain { P0, P1, P2 = 40, MINUS = -3 };
namespace ns {
enum Color { RED, GREEN, BLUE = 9 };
enum class Mode : unsigned char { off, on = 200 };
struct S { enum Kind { KA = 3, KB }; Kind kind = KB; int data[12] = { 1, 2, 3, 4, 5 }; };
inline namespace v1 { enum Inner { IA = 5 }; }
namespace { enum Hidden { HA = 77 }; }
}
template <class T> struct Box { enum { size = sizeof(T) }; T held; };
extern const float *red;
int arr[50];
Plain plain = P2;
ns::Color color = ns::BLUE;
ns::Mode mode = ns::Mode::on;
ns::S s;
ns::Inner inner = ns::IA;
ns::Hidden hidden = ns::HA;
int main()
{
	arr[P2] = 1234;
	arr[ns::RED] = 17;
	arr[ns::BLUE] = 99;
	std::printf("ready %f\n", *red);
	std::fflush(stdout);
	return std::getchar() + inner + hidden + anon;
}
END
	export GDB_LANGUAGE=c++
	for compiler in "g++ -g -O0" "g++ -gdwarf-4 -O2" "clang++ -g -O1" "g++ -g -fdebug-types-section"; do
		command -v "${compiler%% *}" >/dev/null || continue
		# shellcheck disable=SC2086
		$compiler -shared -fPIC -o libother.so other.cpp
		# shellcheck disable=SC2086
		$compiler -o enums enums.cpp ./libother.so
		begin enums
		# In units of their own, types are in namespaces that don't say that they are inline.
		strange='^$'
		[[ $compiler != *types-section* ]] || strange='^(int)ns::IA'
		sed -e 's/ *|| */\t/' -e "/$strange/d" <<-'END' | judge 30
			(int)ns::RED
			ns::RED + 5
			(int)P2
			P2 + 1
			P1 - MINUS
			(int)ANON
			color == ns::BLUE
			color == BLUE || color == ns::BLUE
			BLUE == color || ns::BLUE == color
			ns::Color::BLUE == color || ns::BLUE == color
			plain == P2
			P2 == plain
			plain != P2
			anon == NEXT
			arr[P2]
			arr[ns::RED]
			arr[RED] || arr[ns::RED]
			arr[ns::Color::BLUE] || arr[ns::BLUE]
			*arr@P1
			arr[P0..P1] || arr[0]@2
			sizeof(P2)
			sizeof P2
			sizeof(ns::RED)
			sizeof(ns::Mode::on)
			(int)ns::Mode::on
			mode == ns::Mode::on
			s.kind == ns::S::KB
			s.data[ns::S::KA]
			s.data[ns::S::Kind::KA] || s.data[ns::S::KA]
			(int)ns::v1::IA
			(int)ns::IA || (int)ns::v1::IA
			(int)ns::HA || 77
			inner == IA || inner == ns::v1::IA
			P2 ? 3 : 4
			P2 > 3 && color != ns::GREEN
			(ns::Color)9 == ns::BLUE
		END
		# What a class of enumerators has, and a namespace that has none of the name, is named so.
		for of in ns::on RED::RED 'color == ns::Mode::BLUE'; do
			separately "$CPROF" inspect "$pid" "$of"
			[ "$status" -gt 0 ] || complain "$compiler: $output"
			[[ $stderr == *'there is no variable'* ]] || complain "$compiler: $of: $stderr"
		done
		finish
	done
}

# gdb 13 has one variable for all functions of a name.
@test "static variables of functions of one name are told by what they take" {
	needs g++ jq
	cat >within.cpp <<'END'
#include <cstdio>
#include <string>
#define NOINLINE __attribute__((noinline))
namespace ns {
struct C {
	NOINLINE int step(int n) const { static int calls = 20; return calls += n; }
	NOINLINE static int f(int a) { static int x = 1; return x += a; }
	NOINLINE int f(const char *a) { static int x = 2; return x += *a; }
};
NOINLINE static int f(int a) { static int x = 3; return x += a; }
NOINLINE static int f(double a) { static int x = 4; return x += (int)a; }
NOINLINE static int f(unsigned a, const C *c) { static int x = 5; return x += (int)a + (c != nullptr); }
NOINLINE static int f(std::string a) { static int x = 6; return x += (int)a.size(); }
namespace { NOINLINE int g(long a) { static int x = 7; { static int inner = 70; inner++; } return x += (int)a; } }
}
NOINLINE static int f(int a) { static int x = 8; return x += a; }
int main()
{
	static int calls = 30;
	ns::C c;
	int sum = c.step(calls) + ns::C::f(1) + c.f("") + ns::f(1) + ns::f(1.0) + ns::f(1u, &c) + ns::f(std::string("a")) +
		  ns::g(1) + f(1);
	std::puts("ready");
	std::fflush(stdout);
	return sum + std::getchar();
}
END
	for compiler in "g++ -g -O0" "g++ -gdwarf-4 -O1" "clang++ -g -O0"; do
		command -v "${compiler%% *}" >/dev/null || continue
		# shellcheck disable=SC2086
		$compiler -o within within.cpp
		begin within
		while IFS='|' read -r wanted of; do
			inspect "$of"
			assert_equal "$compiler: $of: $(jq -c '.[0] | [.value, (.notes // [] | length)]' json)" "$compiler: $of: $wanted"
		done <<-'END'
			[2,0]|ns::C::f(int)::x
			[2,0]|C::f(int)::x
			[2,0]|ns::C::f(char const *)::x
			[2,0]|ns::C::f(const char*)::x
			[4,0]|ns::f(int)::x
			[5,0]|ns::f(double)::x
			[7,0]|ns::f(unsigned, const C *)::x
			[7,0]|ns::f(unsigned int, ns::C const*)::x
			[8,0]|ns::g(long)::x
			[8,0]|ns::g::x
			[8,0]|g(long int)::x
			[71,0]|ns::g(long)::inner
			[71,0]|g::inner
			[9,0]|::f(int)::x
			[50,0]|step::calls
			[50,0]|ns::C::step(int)::calls
			[50,0]|C::step::calls
			[30,0]|main::calls
			[30,0]|main()::calls
		END
		for of in 'f(char)::x' 'ns::f(float)::x' 'ns::nothing(int)::x' 'nothing::x'; do
			separately "$CPROF" inspect "$pid" "$of"
			[[ $stderr == *"there is no variable $of"* ]] || complain "$compiler: $of: $stderr $output"
		done
		finish
	done
}

# To give its memory back takes it some milliseconds, in which nothing of it can be read.
@test "a large program that ends is watched up to then, and not unreadable" {
	needs gcc
	gcc -g -o large -x c - <<-'END'
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		int steady = 5;
		int main(void)
		{
			volatile char *all = memset(malloc(150 << 20), 1, 150 << 20);
			puts("ready");
			fflush(stdout);
			getchar();
			return all[7] != 1;
		}
	END
	mkfifo goes
	./large <goes >said &
	local pid=$! go
	started+=("$pid")
	exec {go}>goes
	until_true grep -q ready said
	"$CPROF" inspect --watch=1ms "$pid" steady >text 2>errors {go}>&- &
	local watching=$!
	started+=("$watching")
	until_true grep -q 'steady = 5' text
	echo >&"$go"
	exec {go}>&-
	wait "$watching"
	wait "$pid"
	assert_equal "$(sed 's/^[0-9:.]* //' text)$(<errors)" 'steady = 5'
}

@test "what only a library has is said to be its, a static of a file of its comes last" {
	needs gcc jq
	cat >held.c <<-'END'
		static int inner = 5, both = 6;
		int outer = 7;
		int held(void)
		{
			return inner++ + outer + both++;
		}
	END
	gcc -g -shared -fPIC -o libheld.so held.c
	gcc -g -o holds -x c - -L. -lheld -Wl,-rpath,"$PWD" <<-'END'
		#include <stdio.h>
		int held(void);
		int own = 4;
		static int both(void) { return own; }
		int main(void)
		{
			char c;
			setvbuf(stdout, NULL, _IONBF, 0);
			puts("ready");
			return held() + both() + (getchar() == c);
		}
	END
	begin holds
	inspect own inner outer 'inner + inner' "'held.c'::inner"
	jq -c '.[] | [.expression, .value, (.image // "" | split("/")[-1]), (.file // "" | split("/")[-1]), .notes]' json >got
	diff - got <<-'END'
		["own",4,null,null,null]
		["inner",6,"libheld.so","held.c",["inner is of libheld.so, held.c"]]
		["outer",7,"libheld.so","held.c",["outer is of libheld.so, held.c"]]
		["inner + inner",12,"libheld.so","held.c",["inner is of libheld.so, held.c"]]
		["'held.c'::inner",6,"libheld.so","held.c",["inner is of libheld.so, held.c"]]
	END
	# The function is the program's; who names the file means the other one.
	inspect both "'held.c'::both"
	jq -c '.[] | [.type, (.image // "" | split("/")[-1])]' json | diff - <(
		echo '["? (*)(...)",null]'
		echo '["int","libheld.so"]'
	)
	finish
}

@test "what may have been meant is near to what was typed" {
	needs gcc
	gcc -g -o near -x c - <<<'int nosev, tpi, counter; int main(void) { return nosev + tpi + counter; }'
	for name in nosuch this; do
		separately "$CPROF" inspect near "$name"
		[[ $stderr != *"did you mean"* ]] || complain "$stderr"
	done
	separately "$CPROF" inspect near countr
	[[ $stderr == *"did you mean counter?"* ]] || complain "$stderr"
}

# A program has copies of what it uses of its libraries' variables, and these use the copy.
@test "variables of libraries that the program has a copy of are read there" {
	needs gcc gdb
	printf '%s\n' 'int counter = 7; extern int other __attribute__((alias("counter")));' \
		'struct pair { int a, b[3]; } pair = { 1, { 2, 3, 4 } }; int apart = 9;' \
		'void count(void) { counter++; pair.b[1] = counter; apart++; }' >shared.c
	printf '%s\n' '#include <getopt.h>' '#include <stdio.h>' '#include <unistd.h>' \
		'extern int counter; extern struct pair { int a, b[3]; } pair; void count(void);' \
		'int main(int argc, char **argv) {' 'while (getopt(argc, argv, "ab:") != -1) ;' \
		'counter = 41; count();' \
		'printf("%d %d {a=%d, b={%d, %d, %d}} 10\n", optind, counter, pair.a, pair.b[0], pair.b[1], pair.b[2]);' \
		'fflush(stdout); return (int)read(0, &argc, 1); }' >copies.c
	gcc -g -shared -fPIC -o libshared.so shared.c
	mkfifo hold
	for how in "-g" "-g -no-pie" "-s"; do
		# shellcheck disable=SC2086
		gcc $how -o copies copies.c -L. -lshared -Wl,-rpath,"$PWD"
		./copies -a -b 1 x <hold >out 3>&- &
		exec {end}>hold
		until_true grep -q 10 out
		"$CPROF" inspect $! optind counter pair apart | grep ' = ' | sed 's/.* = //' | tr '\n' ' ' >values
		assert_equal "$how: $(sed 's/ $//' values)" "$how: $(cat out)"
		"$CPROF" inspect $! other '&counter' | grep ' = ' >values
		gdb -q -nx -batch -iex 'set debuginfod enabled off' -p $! -ex 'print &counter' -ex 'generate-core-file core' 2>/dev/null >said
		assert_equal "$(sed -n 's/^&counter = \(0x[0-9a-f]*\).*/\1/p' values)" "$(sed -n 's/.* \(0x[0-9a-f]*\) <counter.*/\1/p' said)"
		grep -qx 'other = 42' values
		[ "$("$CPROF" inspect core counter 2>/dev/null | head -n 1)" = 'counter = 42' ]
		exec {end}>&-
		wait $!
	done
}

@test "static variables in pieces, also of bits, are gdb's and the program's" {
	needs gcc clang gdb
	printf '#include <stdio.h>\nint main(void) { puts("ready"); fflush(stdout); return getchar(); }\n' >main.c
	gcc -o pieces main.c "$SOURCES/tests/cli/inspect_pieces.S"
	begin pieces
	local names=(of_memory of_both fields partly nibbles far partly.y fields.z)
	gdb -q -nx -batch -p "$pid" -ex 'set language c' "${names[@]/#/-ex=print }" 2>errors |
		sed -n 's/^\$[0-9]* = //p' | tr -d ' ' >judged
	[ "$(wc -l <judged)" = "${#names[@]}" ] || complain "$(cat errors judged)"
	"$CPROF" inspect "$pid" "${names[@]}" | sed 's/^[a-z_.]* = //' | tr -d ' ' | diff judged -
	finish
	# As clang takes a structure apart, of which a member is not kept.
	cat >apart.c <<-'END'
		#include <stdio.h>
		static struct { int a; long b; short c, never; } apart;
		__attribute__((noinline)) static void change(int n) { apart.a += n; apart.b -= n; apart.c = n; }
		int main(int argc, char **argv)
		{
			(void)argv;
			change(argc + 4);
			change(argc);
			printf("apart = {a=%d, b=%ld, c=%d, never=<optimized out>}\nready\n", apart.a, apart.b, apart.c);
			fflush(stdout);
			change(getchar());
			return apart.a + apart.b + apart.c;
		}
	END
	clang -O2 -g -o apart apart.c
	readelf --debug-dump=info apart 2>/dev/null | grep -A8 'name.*: apart$' | grep -q DW_OP_piece
	begin apart
	"$CPROF" inspect "$pid" apart | diff <(grep -v ready said) -
	finish
}
