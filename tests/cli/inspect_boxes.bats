#!/usr/bin/env bats
# cprof inspect of what libraries hold things in: judged by libstdc++'s own printers for
# gdb, and by what programs say of themselves.

load helpers
load inspected

# The packages of libc++ for developers and of libunwind exclude each other in Debian 12:
# scripts/deps unpacks the former; $LIBCXX is another place. $libcxx: clang++ with it.
libcxx() {
	local tree=${LIBCXX:-/usr/local/lib/cprof-tests/libc++-14-dev}/usr/lib/llvm-14

	[ -d "$tree/include/c++/v1" ] || skip "libc++ is not there"
	libcxx="clang++ -nostdinc++ -isystem $tree/include/c++/v1 -nostdlib++ -L$tree/lib -l:libc++.so.1 -l:libc++abi.so.1"
}

# judge_boxes COUNT: as judge(), by libstdc++'s printers for gdb.
judge_boxes() {
	cat >expressions
	CPROF=$CPROF python3 "$SOURCES/tests/cli/inspect_boxes_judge.py" "$pid" expressions >judged
	! grep -e apart -e gdb: judged || { echo "$compiler:"; cat judged; return 1; } >&2
	[ "$(sed -n 's/^same //p' judged)" -ge "$1" ] || { cat judged; return 1; } >&2
}

@test "what libstdc++ holds things in reads as its own printers for gdb have it" {
	needs gdb python3 g++
	[ -d /usr/share/gcc/python/libstdcxx ] || skip "libstdc++'s printers are not installed"
	for compiler in "g++ -g" "g++ -gdwarf-4 -fdebug-types-section" "clang++ -g -fstandalone-debug"; do
		command -v "${compiler%% *}" >/dev/null || continue
		# shellcheck disable=SC2086
		$compiler -std=c++20 -o boxes "$SOURCES/tests/cli/inspect_boxes.cpp"
		begin boxes
		sed 's/ *|| */\t/' <<-'END' | judge_boxes 500
			short_text
			long_text
			no_text
			with_nul
			view
			wide
			sixteen
			thirty_two
			numbers
			none
			texts
			nested
			flags
			colors
			row
			pair_of_texts
			unique
			no_unique
			with_deleter
			with_function
			shared
			no_shared
			weak
			by_number
			by_name
			by_point
			by_letter
			many
			chosen
			words
			hashed
			hashed_wide
			hashed_set
			hashed_many
			hashed_words
			chain
			no_chain
			forward
			ring
			ring_of_points
			ring_of_large
			stacked
			queued
			first_of_all
			couple
			three
			with_empty
			maybe
			not_at_all
			maybe_text
			either
			either_point
			all_of || *all_of._M_ptr@3
			four_of || *four_of._M_ptr@4
			bits
			many_bits
			counter || counter._M_i
			done || done._M_base._M_i
			at || at._M_b._M_p
			wait_for || wait_for.__r
			when || when.__d.__r
			path || path._M_pathname
			deep
			by_name["two"] || by_name._M_t._M_impl._M_node_count - 1
		END
		finish
	done
}

# says: what ./times says of its variables is what is shown
says() {
	local name
	[ "$(grep -c ' = ' said)" -ge 25 ]
	grep ' = ' said >expected
	: >shown
	while read -r name _; do
		"$CPROF" inspect "$pid" "$name" >>shown
	done <expected
	diff expected shown || { echo "$compiler"; return 1; } >&2
}

@test "durations have their units, points in time their dates" {
	needs g++ clang++ jq
	libcxx
	for compiler in "g++ -g -O0" "g++ -gdwarf-4 -O2" "clang++ -g -O0" "$libcxx -g -O0"; do
		command -v "${compiler%% *}" >/dev/null || continue
		# shellcheck disable=SC2086
		$compiler -std=c++17 -o times "$SOURCES/tests/cli/inspect_times.cpp"
		begin times
		says
		# Ticks stay numbers for those who count with them.
		"$CPROF" inspect --json "$pid" milli leap 'milli + 1' real >json
		jq -c '[.[].value]' json | diff - <(echo '[1500,951782400,1501,2.5]')
		finish
		"$CPROF" run -q -o x.data -t wait_for -a -r -- ./times at_a_call
		"$CPROF" replay x.data >calls
		grep -Eq 'wait_for\(1500ms, 2000-02-29T00:00:00.0{6,9}Z, &2.5s\) = 3000ms' calls || {
			echo "$compiler"
			cat calls
			return 1
		} >&2
	done
}

@test "times of a user's own are declared as such" {
	needs gcc
	cat >own.c <<-'END'
		struct timer { long ticks; } timer = { 42 };
		struct stamp { int seconds; } stamp = { 951782400 };
		int main(void) { return 0; }
	END
	gcc -g -o own own.c
	cat >shapes <<-'END'
		timer: duration
		    value  ticks
		    unit   1/1000
		stamp: date
		    value  seconds
	END
	"$CPROF" inspect --shapes=shapes own timer stamp >said
	diff said - <<-'END'
		timer = 42ms
		stamp = 2000-02-29T00:00:00Z
	END
}

@test "what holds a value of any type reads as the type and the value" {
	needs g++ clang++ jq
	local name
	libcxx
	for compiler in "g++ -g -O0 -std=c++2b" "g++ -gdwarf-4 -O2 -std=c++2b" "clang++ -g -O0 -std=c++17" \
		"g++ -g -O1 -std=c++17 -fdebug-types-section" "$libcxx -g -O0 -std=c++20" "$libcxx -g -O2 -std=c++17"; do
		command -v "${compiler%% *}" >/dev/null || continue
		# shellcheck disable=SC2086
		$compiler -o holders "$SOURCES/tests/cli/inspect_holders.cpp"
		begin holders
		grep ' = ' said >expected
		[ "$(wc -l <expected)" -ge 17 ]
		: >shown
		while read -r name _; do
			"$CPROF" inspect "$pid" "$name" >>shown
		done <expected
		# gcc and clang call lambdas differently, and what they hold; pointers have addresses.
		# shellcheck disable=SC2016 # no variables
		sed -E 's/\{main::(\{lambda\([^)]*\)#[0-9]+\}|\$_[0-9]+)=/{LAMBDA=/; s/__([a-z]+)=/\1=/g; s/0x[0-9a-f]+ -> //g' shown |
			diff expected - || { echo "$compiler"; return 1; } >&2
		"$CPROF" inspect "$pid" 'number + 1' 'point.y' 'functor.base' >shown
		diff shown - <<-'END'
			number + 1 = 43
			point.y = 4
			functor.base = 5
		END
		"$CPROF" inspect --json "$pid" number | jq -e '.[0].value == {"int": 42}'
		finish
	done
}

@test "of an expected value what it holds is shown, and nothing else" {
	needs g++
	local name how
	for compiler in "g++ -O0" "g++ -O2 -gdwarf-4"; do
		# shellcheck disable=SC2086
		$compiler -std=c++23 -g -o expected "$SOURCES/tests/cli/inspect_expected.cpp"
		begin expected
		grep ' = ' said >wanted
		[ "$(wc -l <wanted)" = 7 ]
		: >shown
		while read -r name _; do
			"$CPROF" inspect "$pid" "$name" >>shown
		done <wanted
		diff wanted shown || complain "$compiler"
		"$CPROF" inspect "$pid" 'number + 1' '*number' 'list[1]' 'point.y' 'other.y' >shown
		diff shown - <<-'END'
			number + 1 = 6
			*number = 5
			list[1] = 2
			point.y = 2
			other.y = <not constructed>
		END
		finish
		for how in '' --traps; do
			# shellcheck disable=SC2086
			"$CPROF" run -q $how -o x.data -t take -a -- ./expected </dev/null >/dev/null
			"$CPROF" replay x.data | grep -o 'take(.*)' >shown
			grep '^take' said | diff - shown || complain "$compiler $how"
		done
	done
}

# of PROGRAM: everything that it holds, into ./PROGRAM.json
of() {
	begin "$1"
	"$CPROF" inspect --json "$pid" short_text long_text no_text with_nul view wide sixteen thirty_two numbers none \
		texts nested flags colors row pair_of_texts unique no_unique with_deleter with_function shared no_shared weak by_number \
		by_name by_point by_letter many chosen words hashed_wide hashed_set hashed_words chain no_chain \
		forward ring ring_of_points ring_of_large stacked queued first_of_all couple three maybe not_at_all \
		maybe_text either either_point all_of four_of bits many_bits counter 'done' at wait_for no_function \
		nothing_at_all path deep 'by_name["two"]' 'ring[2]' '*unique' >"$1.json"
	finish
}

@test "what libc++ holds things in reads as the same in libstdc++ does" {
	needs g++ clang++ python3
	libcxx
	g++ -g -std=c++20 -o boxes "$SOURCES/tests/cli/inspect_boxes.cpp"
	of boxes
	for more in '' '-gdwarf-4 -O1'; do
		# shellcheck disable=SC2086 # words
		$libcxx -g -fstandalone-debug -std=c++20 $more -o others "$SOURCES/tests/cli/inspect_boxes.cpp"
		of others
		python3 "$SOURCES/tests/cli/inspect_libcxx_judge.py" boxes.json others.json >judged
		assert_equal "$(cat judged)" 'same 64'
	done
}

@test "elements by number and by key, and what stands for something else" {
	needs g++
	g++ -g -std=c++20 -o boxes "$SOURCES/tests/cli/inspect_boxes.cpp"
	begin boxes
	"$CPROF" inspect --limit=3 "$pid" 'by_name["two"]' 'by_number[5]' 'deep["x"][1][0]' 'ring[2]' 'ring[1..2]' 'stacked[1]' \
		'numbers[0..1]' 'texts[1][0..1]' 'unique->x' 'weak->y' '*shared' 'chain[1]' 'three[1]' "by_letter['b']" \
		'either_point.x' 'maybe + 1' 'counter == 42' 'by_name["two"] * 3' 'short_text == "short"' 'no_weak' \
		'not_at_all' 'no_function' by_number flags hashed_many >said
	diff said - <<-'END'
		by_name["two"] = 2
		by_number[5] = "number 44"
		deep["x"][1][0] = "y"
		ring[2] = 141
		ring[1..2] = {140, 141}
		stacked[1] = 2
		numbers[0..1] = {1, 2}
		texts[1][0..1] = "tw"
		unique->x = 7
		weak->y = 12
		*shared = {x=11, y=12}
		chain[1] = 2
		three[1] = "two"
		by_letter['b'] = 2.5
		either_point.x = 1
		maybe + 1 = 6
		counter == 42 = true
		by_name["two"] * 3 = 6
		short_text == "short" = true
		no_weak = NULL
		not_at_all = nullopt
		no_function = empty
		by_number = {[0] = "number 0", [1] = "number 29", [2] = "number 58", ...}
		flags = {true, false, false, ...}
		hashed_many = {[1] = 'b', [1] = 'a'}
	END
	inspect by_name by_point hashed_many deep
	jq -c '.[].value' json >got
	diff got - <<-'END'
		{"one":1,"three":3,"two":2}
		[[{"x":1,"y":2},[3,4]]]
		[[1,98],[1,97]]
		{"x":[[1,["y","z"]],[2,[]]]}
	END
	while IFS='|' read -r expression wanted; do
		separately "$CPROF" inspect "$pid" -- "$expression"
		[ "${stderr%%$'\n'*}" = "cprof: $wanted" ] || { echo "$expression: $stderr" >&2; return 1; }
	done <<-'END'
		by_name["none"]|by_name["none"]: none of its 3 keys is that
		numbers[7]|numbers[7]: there is no element 7 of 3
		numbers[2..3]|numbers[2..3]: [2..3] is not within its 3 elements
		chain[-1]|chain[-1]: there is no element -1 of 3
		short_text[5]|short_text[5]: there is no element 5 of 5
		texts[1][-1]|texts[1][-1]: there is no element -1 of 3
		couple[0]|couple[0]: no pointer and no array: it is of type pair<int, std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > >
	END
	finish
}

@test "what Rust holds things in is what the program says of itself" {
	needs rustc jq
	rustc --edition 2021 -g -o boxes_rs "$SOURCES/tests/cli/inspect_boxes.rs"
	begin boxes_rs
	local name wanted
	while IFS=$'\t' read -r name wanted; do
		"$CPROF" inspect --json --depth=6 "$pid" "HELD.Some.__0.$name" >json
		jq -S -c '.[0].value | if type == "array" and all(type == "number") then sort else . end' json >got
		tr '()' '[]' <<<"$wanted" | jq -S -c 'if type == "array" and all(type == "number") then sort else . end' |
			diff got - >&2 || complain "$name"
	done < <(grep -v ready said)
	[ "$(grep -c "$(printf '\t')" said)" -ge 25 ]
	"$CPROF" inspect --depth=6 "$pid" 'HELD.Some.__0.names["beta"]' 'HELD.Some.__0.tree[3]' 'HELD.Some.__0.big[777]' \
		'HELD.Some.__0.rc->x' 'HELD.Some.__0.refcell[0]' 'HELD.Some.__0.none' 'HELD.Some.__0.no_box' |
		sed 's/HELD.Some.__0.//' >got
	diff got - <<-'END'
		names["beta"] = 2
		tree[3] = "v3"
		big[777] = 1554
		rc->x = 3
		refcell[0] = 6
		none = None
		no_box = None
	END
	finish
}

@test "a user declares what types of theirs hold things in" {
	needs gcc
	gcc -g -o queues "$SOURCES/tests/cli/inspect_queues.c"
	begin queues
	cat >shapes <<-'END'
		# Lists as the kernel has them.
		queue: chain
		    first  jobs.next
		    next   next
		    end    &jobs
		    value  *(struct job *)((char *)$node - offsetof(struct job, link))
		# A list is its first node.
		_GList: chain
		    first  $self
		    next   next
		    value  (char *)data

		table: items
		    count   size
		    used    slots[$i].key
		    value   slots[$i]
		    key     key
		    mapped  number
		span: text
		    at      begin
		    length  end - begin
		tree: tree
		    root    root
		    left    less
		    right   more
		    value   key
		either: choice
		    when    is_set
		    value   number
		    none    unset
	END
	"$CPROF" inspect --shapes=shapes --limit=3 "$pid" queue[2].number 'queue[1].link' '*glist' glist table 'table["two"]' span \
		tree 'tree[4]' either neither 'either + 1' '*astray' '*looped' endless 'wide["three"]' wide |
		sed 's/0x[0-9a-f]*\( ->\)/\1/; s/next=0x[0-9a-f]*/next=/' >said
	diff said - <<-'END'
		queue[2].number = 3
		queue[1].link = {next= -> {next=}}
		*glist = {"first", "second", "third"}
		glist =  -> {"first", "second", "third"}
		table = {["one"] = 1, ["two"] = 2, ["three"] = 3}
		table["two"] = 2
		span = "text"
		tree = {-1, 1, 2, ...}
		tree[4] = 5
		either = 7
		neither = unset
		either + 1 = 8
		*astray = {"astray", <unreadable 0x1230>}
		*looped = {"a", "b", "c", ...}
		endless = {<cycle>}
		wide["three"] = 3
		wide = {["one"] = 1, ["two"] = 2, ["three"] = 3, ...}
	END
	[ "$("$CPROF" inspect --shapes=shapes "$pid" '*looped')" = '*looped = {"a", "b", "c", "b", <cycle>}' ]
	# The user's own file is read where it is, and what is named comes first.
	mkdir -p config/cprof
	mv shapes config/cprof/shapes
	[ "$(XDG_CONFIG_HOME=$PWD/config "$CPROF" inspect "$pid" span)" = 'span = "text"' ]
	printf 'span: value\n  value end\n' >shapes
	[[ $(XDG_CONFIG_HOME=$PWD/config "$CPROF" inspect --shapes=shapes "$pid" span) == 'span = "'?* ]]
	while IFS='|' read -r line wanted; do
		printf '# A test.\n%b\n' "$line" >shapes
		separately "$CPROF" inspect --shapes=shapes "$pid" span
		[ "${stderr%%$'\n'*}" = "cprof: shapes:$wanted" ] || { echo "$line: $stderr" >&2; return 1; }
	done <<-'END'
		span|2: a line is 'TYPE: KIND', or an indented 'TERM EXPR'
		span: rows|2: there is no kind rows
		 at begin|2: no type comes before at begin
		span: text\n at begin|2: what is missing is length
		span: row\n at begin|2: one is missing of count, end
		span: text\n where begin|3: there is no term where
		span: text\n at begin +|3: expression 'begin +': a value is missing at character 8
		span: text\n at|3: nothing is said of at
	END
	finish
}

@test "what Rust's references lead to has elements, not they" {
	needs rustc
	cat >references.rs <<'END'
use std::collections::*;
use std::io::Read;
#[inline(never)]
fn hold(v: &Vec<i32>, q: &VecDeque<i32>, m: &HashMap<String, i32>, b: &BTreeMap<i32, String>) -> usize {
    println!("ready");
    std::io::stdin().read(&mut [0]).unwrap() + v.len() + q.len() + m.len() + b.len()
}
fn main() {
    let (v, q) = (vec![10, 20, 30], (0..4).collect());
    let (mut m, mut b) = (HashMap::new(), BTreeMap::new());
    m.insert("k".to_string(), 7);
    b.insert(5, "v5".to_string());
    println!("{}", hold(&v, &q, &m, &b));
}
END
	rustc -g -o references references.rs
	begin references
	run "$CPROF" inspect "$pid" --frame=hold 'v[1]' '(*v)[1]' 'v[0..1]' 'q[2]' 'm["k"]' 'b[5]'
	assert_line 'v[1] = 20'
	assert_line '(*v)[1] = 20'
	assert_line 'v[0..1] = {10, 20}'
	assert_line 'q[2] = 2'
	assert_line 'm["k"] = 7'
	assert_line 'b[5] = "v5"'
	finish
}

@test "a character of text is the one that the program says" {
	needs g++ rustc
	cat >letters.cpp <<-'END'
		#include <cstdio>
		#include <filesystem>
		#include <map>
		#include <string>
		#include <string_view>
		#include <vector>
		std::string text = "hello", longer(100, 'q');
		std::string_view view = "view";
		std::wstring wide = L"wide";
		std::vector<std::string> row{"ab", "cd"};
		std::map<std::string, std::string> map{{"k", "xyz"}};
		int main()
		{
			#define SAY(what) std::printf("%s = %d\n", #what, (int)(what));
			SAY(text[0]) SAY(text[4]) SAY(longer[99]) SAY(view[3]) SAY(wide[1]) SAY(row[1][0])
			SAY(map["k"][2])
			std::puts("ready");
			std::fflush(stdout);
			return std::getchar() > 0;
		}
	END
	cat >letters.rs <<-'END'
		use std::io::Read;
		#[inline(never)]
		fn hold(s: String, r: &str, v: Vec<String>, b: &String) -> usize {
		    println!("s[1] = {}\nr[0] = {}\nv[1][2] = {}\nb[0] = {}\nready", s.as_bytes()[1],
		        r.as_bytes()[0], v[1].as_bytes()[2], b.as_bytes()[0]);
		    std::io::stdin().read(&mut [0]).unwrap() + s.len() + r.len() + v.len() + b.len()
		}
		fn main() {
		    let v = vec!["abc".to_string(), "def".to_string()];
		    println!("{}", hold("text".to_string(), "ref", v, &"borrowed".to_string()));
		}
	END
	g++ -g -std=c++17 -o letters letters.cpp
	rustc -g -o letters_rs letters.rs
	local program frame what
	while read -r program frame; do
		begin "$program"
		while read -r what; do
			"$CPROF" inspect "$pid" ${frame:+"$frame"} "0 + ${what%% = *}"
		done < <(grep ' = ' said) | sed -n 's/^0 + //p' >got
		grep ' = ' said | diff - got
		finish
	done <<-'END'
		letters
		letters_rs --frame=hold
	END
}

@test "Rust's enums read as they are written, and expressions see through them" {
	needs rustc gdb
	rustc --edition 2021 -g -o forms "$SOURCES/tests/cli/inspect_forms.rs" 2>warnings
	begin forms
	# An array that is no longer needed older compilers still have.
	"$CPROF" inspect --frame=hold "$pid" | sed '1d; s/0x[0-9a-f]* -> //; /^shapes = {/,/^}/c shapes = <optimized out>' >got
	diff got - <<-'END'
		five = Some(5)
		none = None
		point = Some({x=1, y=2})
		nested = Some(Some(7))
		boxed = Some({x=3, y=4})
		no_box = None
		list = Some({1, 2, 3})
		text = Ok("fine")
		bad = Err(-3)
		shapes = <optimized out>
		referred = Some({x=3, y=4})
	END
	"$CPROF" inspect --frame=hold "$pid" five none nested bad | sed 1d >got
	gdb -q -nx -batch -p "$pid" -ex 'frame function inspect_forms::hold' -ex 'info args' 2>errors |
		sed -nE 's/core::(option::Option|result::Result)<[a-zA-Z0-9:<>, ]*>:://g; /^(five|none|nested|bad) = /p' |
		diff got -
	"$CPROF" inspect --frame=hold "$pid" 'five + 1' '*five' '*none' point.x 'point->y' '*point' '**nested' \
		'nested + 1' boxed.x '*boxed' no_box.x 'list[1]' 'list[0..1]' '*text' 'bad + 1' referred.x 'referred->y' \
		five.Some.__0 'five == 5' | sed 1d >got
	diff got - <<-'END'
		five + 1 = 6
		*five = 5
		*none = <not constructed>
		point.x = 1
		point->y = 2
		*point = {x=1, y=2}
		**nested = 7
		nested + 1 = 8
		boxed.x = 3
		*boxed = {x=3, y=4}
		no_box.x = <not constructed>
		list[1] = 2
		list[0..1] = {1, 2}
		*text = "fine"
		bad + 1 = -2
		referred.x = 3
		referred->y = 4
		five.Some.__0 = 5
		five == 5 = true
	END
	finish
	"$CPROF" run -q -o x.data -t inspect_forms::look -a -- ./forms </dev/null >/dev/null
	"$CPROF" replay x.data | grep -F 'look(Some(5), None, &Some({x=1, y=2}))'
}

@test "keys that are no whole numbers, rows out of what is in pieces, and bounds" {
	needs g++
	cat >rows.cpp <<'END'
#include <array>
#include <bitset>
#include <cstdio>
#include <deque>
#include <list>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>
std::map<double, int> doubles{ { 1.5, 10 }, { 0.1, 20 }, { 3, 30 } };
std::unordered_map<float, int> floats{ { 0.1f, 5 }, { 2, 6 } };
std::vector<bool> bits{ true, false, true, true, false, true, false };
std::deque<std::string> texts;
std::bitset<70> set{ 0x2d };
std::list<int> list{ 1, 2, 3, 4, 5 };
std::array<int, 4> fixed{ 1, 2, 3, 4 };
template <class T> static void show(const char *text, T from, int first, int last)
{
	std::printf("%s = {", text);
	for (int i = 0; i <= last; i++, ++from)
		if (i >= first)
			std::printf("%s%s", *from ? "true" : "false", i < last ? ", " : "}\n");
}
int main()
{
	for (int i = 0; i < 100; i++)
		texts.push_back("number " + std::to_string(i));
	std::printf("doubles[1.5] = %d\ndoubles[0.1] = %d\ndoubles[3] = %d\n", doubles[1.5], doubles[0.1], doubles[3]);
	std::printf("floats[0.1] = %d\nfloats[2] = %d\n", floats[0.1], floats[2]);
	show("bits[2..5]", bits.begin(), 2, 5);
	std::printf("set[1..3] = {%s, %s, %s}\n", set[1] ? "true" : "false", set[2] ? "true" : "false", set[3] ? "true" : "false");
	std::printf("texts[15..17] = {\"%s\", \"%s\", \"%s\"}\n", texts[15].c_str(), texts[16].c_str(), texts[17].c_str());
	std::printf("texts[15..17][1] = \"%s\"\n", texts[16].c_str());
	std::printf("list[1..2] = {%d, %d}\nfixed[1..3] = {%d, %d, %d}\nfixed[3] = %d\nready\n", *std::next(list.begin()), *std::next(list.begin(), 2),
		fixed[1], fixed[2], fixed[3], fixed[3]);
	std::fflush(stdout);
	std::getchar();
}
END
	for compiler in "g++ -O0" "clang++ -O0 -fstandalone-debug"; do
		command -v "${compiler%% *}" >/dev/null || continue
		# shellcheck disable=SC2086
		$compiler -std=c++17 -g -o rows rows.cpp
		begin rows
		sed -n 's/ = .*//p' said >asked
		mapfile -t asked <asked
		"$CPROF" inspect "$pid" "${asked[@]}" | diff <(grep -v ready said) -
		while IFS='|' read -r expression message; do
			separately "$CPROF" inspect "$pid" "$expression"
			[ "${stderr%%$'\n'*}" = "cprof: $expression: $message" ]
		done <<-'END'
			doubles[9.5]|none of its 3 keys is that
			fixed[4]|there is no element 4 of 4
			fixed[-1]|there is no element -1 of 4
			fixed[3..4]|there is no element 4 of 4
			list[3..7]|[3..7] is not within its 5 elements
			texts[0..2000000]|those are too many elements
		END
		finish
	done
}

@test "what smart pointers and elements lead to is of the class that typeid says" {
	needs g++ jq
	cat >held.cpp <<-'END'
		#include <atomic>
		#include <cstdio>
		#include <cxxabi.h>
		#include <map>
		#include <memory>
		#include <string>
		#include <typeinfo>
		#include <variant>
		#include <vector>
		namespace ns {
		struct shape { virtual ~shape() {} virtual int area() const = 0; };
		struct square : shape { int side = 4; int area() const override { return side * side; } };
		struct unit : square { int more = 9; };
		}
		using namespace ns;
		std::unique_ptr<shape> unique(new square);
		std::shared_ptr<shape> shared(new unit);
		std::weak_ptr<shape> weak = shared;
		std::atomic<shape *> atomic(unique.get());
		std::variant<int, std::unique_ptr<shape>> either = std::unique_ptr<shape>(new unit);
		std::vector<std::unique_ptr<shape>> row;
		std::map<std::string, std::shared_ptr<shape>> named;
		struct holder { int n; square *inside; shape *none; } whole = { 1, new unit, nullptr };
		square plain, *to_plain = &plain;
		static void say(const char *what, const shape &s)
		{
			std::printf("%s %s\n", what, abi::__cxa_demangle(typeid(s).name(), nullptr, nullptr, nullptr));
		}
		int main()
		{
			row.emplace_back(new square);
			row.emplace_back(nullptr);
			row.emplace_back(new unit);
			named["one"] = shared;
			say("unique", *unique);
			say("shared", *shared);
			say("weak", *weak.lock());
			say("atomic", *atomic.load());
			say("either", *std::get<1>(either));
			say("row[0]", *row[0]);
			say("row[2]", *row[2]);
			say("named[\"one\"]", *named["one"]);
			say("whole.inside", *whole.inside);
			std::puts("ready");
			std::fflush(stdout);
			return std::getchar();
		}
	END
	for compiler in "g++ -g" "clang++ -g -fstandalone-debug"; do
		command -v "${compiler%% *}" >/dev/null || continue
		$compiler -std=c++20 -o held held.cpp
		begin held
		inspect unique shared weak atomic either row named whole plain to_plain
		jq -r '.[] | .expression as $e | .notes // [] | .[] | sub("^it is a "; $e + " ") | sub(" is a "; " ")' json >got
		grep -v ready said | diff - got
		# Members of that class are found, too.
		inspect 'unique->side' 'shared->more' 'row[2]->more' 'whole.inside->more' 'unique->side == 4'
		jq -c '[.[].value]' json | diff - <(echo '[4,9,9,9,true]')
		separately "$CPROF" inspect "$pid" 'unique->more'
		[[ $stderr == *"shape has no member more"* ]] || complain "$stderr"
		finish
	done
}

@test "what a trait is of is what the program says that it is, and read as that" {
	needs rustc jq
	cat - "$SOURCES/tests/cli/black_box.rs" >traits.rs <<-'END'
		use std::any::Any;
		trait Speak { fn name(&self) -> &'static str { std::any::type_name::<Self>() } }
		#[derive(Debug)] struct Dog { age: u8, legs: i32 }
		#[derive(Debug)] struct Cat(i32, f64);
		impl Speak for Dog {}
		impl Speak for Cat {}
		impl<T> Speak for Vec<T> {}
		#[inline(never)]
		fn hold(dog: &dyn Speak, cat: Box<dyn Speak>, row: &dyn Speak, any: &dyn Any, some: Option<&dyn Speak>) {
			println!("dog {}\ncat {}\nrow {}\nany i32", dog.name(), cat.name(), row.name());
			println!("some {}\nready", some.unwrap().name());
			let mut s = String::new();
			std::io::stdin().read_line(&mut s).unwrap();
			black_box((&dog, &cat, &row, &any, &some));
		}
		fn main() {
			let dog = Dog { age: 3, legs: 4 };
			println!("{:?}", (&dog, Cat(7, 1.5), dog.age, dog.legs));
			hold(&dog, Box::new(Cat(7, 1.5)), &vec![1u16, 2], &5i32, Some(&dog));
		}
	END
	for mangling in legacy v0; do
		rustc --edition 2021 -g -C symbol-mangling-version=$mangling -o traits traits.rs 2>warnings || {
			grep -q -e nightly -e unstable-options warnings && continue
			cat warnings >&2
			return 1
		}
		begin traits
		"$CPROF" inspect --frame=traits::hold "$pid" dog cat row any some >got
		sed -nE 's/^([a-z]+) = (Some\()?0x[0-9a-f]+ -> (i32|[^ ]*::[^{]+[^ {]) .*/\1 \3/p' got | sed -E 's/, alloc::alloc::Global>/>/' |
			diff <(sed -nE '/^(dog|cat|row|any|some) /p' said) -
		"$CPROF" inspect --frame=traits::hold "$pid" '*dog' 'dog->legs + 1' '*cat' '*any' '*row' '*any == 5' |
			sed 1d >got
		diff got - <<-'END2'
			*dog = {age=3, legs=4}
			dog->legs + 1 = 5
			*cat = {__0=7, __1=1.5}
			*any = 5
			*row = {1, 2}
			*any == 5 = true
		END2
		finish
	done
}

@test "iterators and small classes read as what they hold" {
	needs g++ clang++
	libcxx
	for compiler in "g++ -g -std=c++20" "$libcxx -g -std=c++20"; do
		# shellcheck disable=SC2086
		$compiler -o small "$SOURCES/tests/cli/inspect_small.cpp"
		begin small
		grep ' = ' said >expected
		[ "$(wc -l <expected)" -ge 44 ]
		# shellcheck disable=SC2046 # words
		"$CPROF" inspect "$pid" $(sed 's/ = .*//' expected) >shown
		sed 's/0x[0-9a-f]* -> /\&/' shown | diff expected - || complain "$compiler"
		"$CPROF" inspect "$pid" '*in_tree' 'in_tree->second + 1' 'in_table->second == "y"' '*in_row' 'real == 2.5' \
			'order < 0' >shown
		finish
		diff shown - <<-'END'
			*in_tree = {first="two", second=2}
			in_tree->second + 1 = 3
			in_table->second == "y" = true
			*in_row = 6
			real == 2.5 = true
			order < 0 = true
		END
	done
}

@test "characters read as such, whatever their width" {
	needs g++
	cat >small.cpp <<-'END'
		#include <cstdio>
		wchar_t wide = L'\u00e9', odd = 0x7fffffff;
		char8_t eight = u8'a';
		char16_t sixteen = u'\u0436';
		int main()
		{
			std::puts("ready");
			std::fflush(stdout);
			return std::getchar();
		}
	END
	g++ -g -std=c++20 -o small small.cpp
	begin small
	"$CPROF" inspect "$pid" wide odd eight sixteen >got
	finish
	diff got - <<-'END'
		wide = 'é'
		odd = 2147483647
		eight = 'a'
		sixteen = 'ж'
	END
}

# What a program of Rust says by `{:?}` in the words of `inspect`.
as_debugged() {
	sed -E -e 's/\[(.*)\]/{\1}/' -e 's/[a-z]*Error \{ (.*) \}/{SimpleMessage={\1}}/' \
		-e 's/Os \{ code: ([0-9]+),.*/{Os=\1}/' -e 's/Kind\((.*)\)/{Simple=\1}/' \
		-e 's/Mine \{ code: 7 \}/\&small::Mine {code=7}/' -e 's/Custom \{ (.*) \}/{Custom={\1}}/' \
		-e 's/(ThreadId|OnceLock|LazyLock)\((.*)\)/\2/' -e 's/OnceCell\((.*)\)/Some(\1)/' -e 's/LazyCell/Init/' \
		-e 's/<uninit>/uninit/' -e '/^[^"]*=/s/: /=/g'
}

@test "Rust's times, and what wraps a value, read as what they hold" {
	needs rustc
	cat - "$SOURCES/tests/cli/black_box.rs" >small.rs <<-'END'
		use std::time::{Duration, SystemTime};
		#[inline(never)]
		fn hold(time: Duration, when: SystemTime, text: std::ffi::CString, number: std::num::Wrapping<u8>,
			cell: &std::cell::RefCell<i32>, maybe: std::mem::MaybeUninit<u16>) {
			let lent = cell.borrow_mut();
			println!("ready");
			let mut s = String::new();
			std::io::stdin().read_line(&mut s).unwrap();
			black_box((&time, &when, &text, &number, &lent, &maybe));
		}
		fn main() {
			hold(Duration::from_millis(1500), SystemTime::UNIX_EPOCH + Duration::from_secs(1709209800),
				std::ffi::CString::new("text").unwrap(), std::num::Wrapping(5), &std::cell::RefCell::new(8),
				std::mem::MaybeUninit::new(9));
		}
	END
	rustc --edition 2021 -g -o small_rs small.rs
	begin small_rs
	"$CPROF" inspect --frame=small::hold "$pid" time 'time > 1' when text number 'number + 1' lent maybe | sed 1d >got
	finish
	diff got - <<-'END'
		time = 1.5s
		time > 1 = true
		when = 2024-02-29T12:30:00.000000000Z
		text = "text"
		number = 5
		number + 1 = 6
		lent = 8
		maybe = 9
	END
}

@test "Rust's errors, and what is initialized once, read as what the program says of them" {
	needs rustc jq
	cat >small.rs <<-'END'
		use std::{error::Error, fmt, io, thread::ThreadId};
		#[cfg(new)] use std::{cell::{LazyCell, OnceCell}, sync::{LazyLock, OnceLock}};
		#[cfg(new)] pub static SET: OnceLock<i64> = OnceLock::new();
		#[cfg(new)] pub static NOT_SET: OnceLock<i64> = OnceLock::new();
		#[cfg(new)] pub static LAZY: LazyLock<String> = LazyLock::new(|| "lazy".to_string());
		#[cfg(new)] pub static NOT_YET: LazyLock<String> = LazyLock::new(|| "no".to_string());
		#[derive(Debug)] pub struct Mine { pub code: i32 }
		impl fmt::Display for Mine { fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result { write!(f, "{}", self.code) } }
		impl Error for Mine {}
		#[inline(never)]
		fn hold(units: Vec<()>, slice: &[()], os: io::Error, simple: io::Error, custom: io::Error, message: io::Error,
			error: Box<dyn Error>, id: ThreadId) {
			println!("units = {:?}\nslice = {:?}\nos = {:?}\nsimple = {:?}\ncustom = {:?}\nmessage = {:?}\nerror = {:?}\nid = {:?}",
				units, slice, os, simple, custom, message, error, id);
			#[cfg(new)] once();
			#[cfg(not(new))] wait();
		}
		fn wait() {
			println!("ready");
			let mut s = String::new();
			io::stdin().read_line(&mut s).unwrap();
		}
		#[cfg(new)]
		fn once() {
			SET.set(5).unwrap();
			let (cell, lazy) = (OnceCell::from(6), LazyCell::new(|| 7));
			println!("LAZY = {:?}", (&*LAZY, *lazy).0);
			println!("cell = {:?}\nlazy = {:?}\nSET = {:?}\nNOT_SET = {:?}\nNOT_YET = {:?}", cell, lazy, SET, NOT_SET, NOT_YET);
			wait();
		}
		fn main() {
			let message = std::fs::read("/a\0b").unwrap_err();
			hold(vec![(), (), ()], &[(), ()], io::Error::from_raw_os_error(2), io::ErrorKind::TimedOut.into(),
				io::Error::new(io::ErrorKind::Other, Mine { code: 7 }), message, Box::new(Mine { code: 7 }),
				std::thread::current().id());
		}
	END
	# Those before have not all of these, or tell of them otherwise.
	local minor
	minor=$(rustc --version | sed 's/^rustc 1\.\([0-9]*\).*/\1/')
	# shellcheck disable=SC2046 # none, or two words
	rustc --edition 2021 $([ "$minor" -lt 95 ] || echo --cfg new) -g -o small_rs small.rs 2>warnings
	begin small_rs
	local name frame
	while read -r name; do
		case $name in
		cell | lazy) frame=--frame=small::once ;;
		[A-Z]*) frame= ;;
		*) frame=--frame=small::hold ;;
		esac
		"$CPROF" inspect --json --depth=6 ${frame:+"$frame"} "$pid" "$name" |
			jq -r --arg name "$name" '.[] | "\($name) = \(.text)"'
	done < <(sed -n 's/ = .*//p' said) >got
	grep -v ready said | as_debugged | diff - got
	[ "$(wc -l <got)" -ge 8 ]
	finish
}
