#!/usr/bin/env bats
# Arguments that no calling convention promises: right, or said to be unknown.

load helpers
load tracees

# Each function is called in one way alone, so that the compiler may pass what it
# likes; the last ones in two.
RUST='
fn sink<T>(value: T) -> T {
    unsafe { std::ptr::read_volatile(&std::mem::ManuallyDrop::new(value) as *const _ as *const T) }
}
pub struct Point { x: u8, y: u16, z: f32 }
#[inline(never)]
fn pair(p: (i32, f64)) -> f64 { sink(p.0 as f64 + p.1) }
#[inline(never)]
fn texts(s: &str, t: &str, n: u8) -> usize { sink(s.len() + t.len() + n as usize) }
#[inline(never)]
fn point(p: Point, q: (u8, f64, u8)) -> f64 {
    sink((p.x as u16 + p.y) as f64 + p.z as f64 + q.0 as f64 + q.1 + q.2 as f64)
}
#[inline(never)]
fn option(o: Option<u32>, w: (u64, u64), b: bool) -> u64 {
    sink(o.unwrap_or(7) as u64 + w.0 + w.1 + b as u64)
}
fn main() {
    let n = std::env::args().count();
    pair((1, 1.5));
    texts("abc", "hello", 3);
    point(Point { x: 1, y: 2, z: 3.5 }, (4, 5.5, 6));
    if n > 1 { option(None, (10, 20), true); } else { option(Some(5), (10, 20), true); }
    option(Some(5), (10, 20), true);
}
'

# What is shown of an argument is that, or that it is not known; of a text, perhaps its length.
unless_unknown() {
	local known=${1//'<optimized out>'/*}
	case $1 in
	"$2") right=$((right + 1)) ;;
	'<optimized out>' | '<unavailable>') ;;
	"{data_ptr=<optimized out>, length=$((${#2} - 2))}") ;;
	*'<optimized out>'*)
		# shellcheck disable=SC2053
		[[ $2 == $known ]] || complain "$level: $3 is $1, not $2"
		;;
	*) complain "$level: $3 is $1, not $2" ;;
	esac
}

@test "Rust: arguments are those in the source or unknown, however much is optimised" {
	needs rustc jq
	local level right
	printf '%s' "$RUST" >p.rs
	for level in 0 1 2 3 s; do
		rustc -g -C opt-level=$level -o p p.rs
		"$CPROF" run -q -o d -t 'p::*' -a -r -- ./p
		right=0
		while IFS=$'\t' read -r function position text; do
			case $function.$position in
			pair.0) unless_unknown "$text" '(1, 1.5)' pair ;;
			texts.0) unless_unknown "$text" '"abc"' s ;;
			texts.1) unless_unknown "$text" '"hello"' t ;;
			texts.2) unless_unknown "$text" 3 n ;;
			point.0) unless_unknown "$text" '{x=1, y=2, z=3.5}' p ;;
			point.1) unless_unknown "$text" '(4, 5.5, 6)' q ;;
			option.0) unless_unknown "$text" 'Some(5)' o ;;
			option.1) unless_unknown "$text" '(10, 20)' w ;;
			option.2) unless_unknown "$text" true b ;;
			esac
		done < <("$CPROF" replay --json d | jq -r 'select(.event == "enter") |
			(.function | sub("^p::"; "") | sub("[(:].*"; "")) as $f |
			.args // [] | to_entries[] | "\($f)\t\(.key)\t\(.value.text)"')
		[ "$right" -ge 5 ] || complain "$level: only $right are known"
		while read -r text; do
			unless_unknown "$text" "$text" result
			[ "$text" = '<unavailable>' ] || grep -x "$text" <<<$'2.5\n11\n22\n36' ||
				complain "$level: result $text"
		done < <("$CPROF" replay --json d | jq -r 'select(.event == "leave" and
			(.function | test("pair|texts|point|option"))) | .result.text')
	done
	no_complaints
}

# Each rustc that there is: what they pass differs.
@test "Rust: values of all kinds, of functions of its own and of C's, are right or unknown" {
	needs rustc python3
	local rustc level right seen=' '
	for rustc in $(type -ap rustc); do
		[[ $seen != *" $("$rustc" --version) "* ]] || continue
		seen+="$("$rustc" --version) "
		for level in 0 2; do
			"$rustc" -g --crate-name p -C opt-level=$level -o p "$SOURCES/tests/cli/values_rust.rs" 2>/dev/null
			"$CPROF" run -q -o d -t '/(::t_|p::)/' -a -r -- ./p >said
			"$CPROF" replay --json d >replay
			python3 "$SOURCES/tests/cli/values_judge.py" said replay >judged
			sed '$d' judged >wrong
			[ ! -s wrong ] || complain "$rustc $level: $(head -20 wrong)"
			read -r right _ < <(tail -n 1 judged)
			[ "$right" -ge 1300 ] || complain "$rustc $level: $(tail -n 1 judged)"
		done
	done
	no_complaints
}

# gcc declares them with a number and a table that only those of bases get.
@test "C++: constructors and destructors of virtual bases have what they are passed" {
	needs g++ jq
	cat >p.cpp <<-'END'
		#include <cstdio>
		struct Base {
			int n;
			__attribute__((noinline)) Base(int n) : n(n) { puts("base"); }
			virtual __attribute__((noinline)) ~Base() { puts("~base"); }
		};
		struct Middle : virtual Base {
			__attribute__((noinline)) Middle(int n, double d);
			__attribute__((noinline)) ~Middle();
		};
		struct Last : Middle {
			__attribute__((noinline)) Last(short s);
			__attribute__((noinline)) ~Last();
		};
		Middle::Middle(int n, double d) : Base(n) { printf("%d %g\n", n, d); }
		Middle::~Middle() { puts("~middle"); }
		Last::Last(short s) : Base(s + 1), Middle(s + 2, 2.5) { printf("%d\n", s); }
		Last::~Last() { puts("~last"); }
		int main()
		{
			Last last(7);
			Middle middle(11, 1.5);
		}
	END
	local compiler level wanted
	wanted=$(printf '%s\n' 'Base 8' 'Middle 9 2.5' 'Last 7' 'Base 11' 'Middle 11 1.5' \
		'~Middle' '~Base' '~Last' | sort)
	for compiler in g++ clang++; do
		for level in 0 2; do
			$compiler -g -O$level -o p p.cpp
			"$CPROF" run -q -o d -t 'Base::*,Middle::*,Last::*' -a -- ./p >/dev/null
			"$CPROF" replay --json d | jq -r 'select(.event == "enter") | [
				(.function | sub("[(].*"; "") | sub(".*::"; "")),
				(.args[] | select(.name != "this" and .name != "__vtt_parm" and
					.name != "vtt") | .text)] | join(" ")' | sort -u >got
			# Optimised, some are inlined all the same.
			[ "$level" != 0 ] || diff got - <<<"$wanted"
			comm -23 got - <<<"$wanted" >wrong
			[ ! -s wrong ] || complain "$compiler -O$level: $(cat wrong)"
			[ "$(wc -l <got)" -ge 4 ] || complain "$compiler -O$level: $(cat got)"
		done
	done
	no_complaints
}

@test "what clang's callers do not pass, for it is not used, is not made up" {
	needs clang
	clang -g -O1 -o unused -x c - <<-'END'
		__attribute__((noinline)) int f(int a, long l, const char *s) { __asm__ volatile("" ::: "memory"); return a; }
		int main(void)
		{
			long i, n = 0;
			for (i = 0; i < 100; i++)
				n += f((int)i, 1000 + i, "hello");
			return n != 4950;
		}
	END
	"$CPROF" run -q -t f -a -o unused.data -- ./unused
	run "$CPROF" replay unused.data
	assert_line --index 0 --regexp ' f\(0, <optimized out>, <optimized out>\) '
	run --separate-stderr "$CPROF" run -q -t f -a --when='l > 1050' -o unused.data -- ./unused
	[[ $stderr == *'could be told of none of 100 calls'* ]]
}

FIELDS='
#include <memory>
enum color { RED, GREEN, BLUE };
struct base { long first; };
struct node : base {
	node *next;
	const char *name;
	double weight;
	color shade;
	unsigned flag : 3, other : 5;
	struct { short x, y; } at[2];
	char label[8];
};
struct pair { int a; short b, c; };
struct big { long words[5]; node *to; };
struct boxed {
	int before, count;
	std::unique_ptr<node> inside;
	__attribute__((noinline)) int method(int by) { __asm__ volatile("" ::: "memory"); return count + by; }
};
__attribute__((noinline)) long follow(node *p, node &r, node **pp, int)
{
	__asm__ volatile("" ::: "memory");
	return p->first + r.first + (*pp)->first;
}
__attribute__((noinline)) long values(pair by, big large, long, long, long, long, long, node *pushed)
{
	__asm__ volatile("" ::: "memory");
	return by.a + large.words[1] + pushed->first;
}
int main()
{
	node n = { { 11 }, nullptr, "eleven", 1.5, BLUE, 5, 17, { { 1, 2 }, { 3, -4 } }, "label" };
	node m = { { -22 }, &n, "twenty two", -2.25, GREEN, 2, 30, { { 5, 6 }, { 7, 8 } }, "other" };
	node *to = &m;
	boxed b = { 1, 33, std::make_unique<node>(m) };
	long sum = 0;
	for (int i = 0; i < 3; i++) {
		n.first += i;
		sum += follow(&m, n, &to, 0);
		sum += values({ i, -7, 9 }, { { 1, 2, 3, 4, 5 }, &n }, 1, 2, 3, 4, 5, &m);
		sum += b.method(4);
	}
	return sum == 0;
}
'

# of_gdb FUNCTION EXPR...: what gdb prints of each call, a line each
of_gdb() {
	local function=$1 expression
	shift
	{
		echo "set print address off"
		echo "set print null-stop on"
		echo "break $function"
		echo commands
		echo silent
		for expression; do
			printf 'echo >%s=\noutput %s\necho \\n\n' "$expression" "$expression"
		done
		echo continue
		echo end
		echo run
	} >gdb.commands
	gdb -q -nx -batch -iex 'set debuginfod enabled off' -x gdb.commands ./p 2>/dev/null |
		sed -n 's/ = /=/g; s/^>//p'
}

# same_fields FUNCTION EXPR...: told of each call as gdb does, by detours and by breakpoints
same_fields() {
	local function=$1 list how
	shift
	list=$(IFS=,; echo "$*")
	of_gdb "$function" "$@" >want
	[ "$(wc -l <want)" = $((3 * $#)) ] || complain "$compiler: gdb tells $(wc -l <want) of $function"
	for how in --result --traps; do
		"$CPROF" run -q -o d -t "$function" --args="$list" "$how" -- ./p
		"$CPROF" replay --json d | jq -r 'select(.args) | .args[] | .name + "=" + .text' >got
		diff want got >&2 || complain "$compiler $how: $function"
		[ "$how" = --traps ] || "$CPROF" report --json d |
			jq -e '.overhead.call_stops <= 1' >/dev/null || complain "$compiler: $function stops"
	done
}

@test "one field of what a call is given, as gdb has it, without a stop" {
	needs gdb jq
	local compiler
	printf '%s' "$FIELDS" >p.cpp
	for compiler in 'g++ -O2' 'clang++ -O0'; do
		command -v "${compiler%% *}" >/dev/null || continue
		# shellcheck disable=SC2086
		$compiler -g -std=c++17 -o p p.cpp
		same_fields follow 'p->first' 'p->next->name' 'p->weight' 'p->shade' 'p->flag' 'p->other' \
			'p->at[1].y' 'p->label' 'r.first'
		same_fields follow 'r.name' '(*pp)->first' 'pp[0]->next->shade' 'p->next->at'
		same_fields values by.a by.b by.c 'large.words[3]' 'large.to->first' 'pushed->weight' 'pushed->next->first'
		same_fields boxed::method count 'this->before' by
	done
	"$CPROF" run -q -o d -t boxed::method --args='inside->first,inside->next->first' -- ./p
	[ "$("$CPROF" replay --json d | jq -c 'select(.args) | [.args[].value]' | tail -n 1)" = '[-22,14]' ]
	"$CPROF" replay d >text
	grep -q 'method(inside->first=-22, inside->next->first=14)' text
	[ ! -s complaints ] || { cat complaints >&2; false; }
}

@test "a field that can't be read says so, and one that means nothing is refused" {
	printf '%s' "$FIELDS" >p.cpp
	c++ -O1 -g -std=c++17 -o p p.cpp
	"$CPROF" run -q -o d -t follow --args='p->next->next->first,p->first' -- ./p
	[ "$("$CPROF" replay d | grep -cF 'follow(p->next->next->first=<unreadable 0x0>, p->first=-22)')" = 3 ]
	run "$CPROF" run -q -o d -t follow --args='p->first,p->nope' -- ./p
	[ "$status" = 125 ]
	[[ $output == *"'p->nope' means nothing in what matches 'follow': node has no member nope"* ]]
	run "$CPROF" run -q -o d -t follow --args='q' -- ./p
	[[ $status == 125 && $output == *"there is no argument q"* ]]
	run "$CPROF" run -q -o d -t follow --args='p->first + 1' -- ./p
	[[ $status == 125 && $output == *"nothing that is worked out"* ]]
	# Each function tells those that mean something in it.
	"$CPROF" run -q -o d -t follow,boxed::method --args='p->first,by' -- ./p
	[ "$("$CPROF" replay --json d | jq -c 'select(.args) | [.args[].name]' | sort | uniq -c | tr -s ' ')" = \
		$' 3 ["by"]\n 3 ["p->first"]' ]
	# A condition goes by all arguments.
	for how in --quiet --traps; do
		"$CPROF" run -q -o d -t follow --args='p->next->first' --when='r.first > 11 && p->flag == 2' "$how" -- ./p
		[ "$("$CPROF" replay --json d | jq -c 'select(.args) | .args[].value' | tr '\n' ' ')" = '12 14 ' ]
	done
}
