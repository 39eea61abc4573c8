#!/usr/bin/env bats
# cprof inspect of what is told about members: pointers to them, and arrays whose length no
# type tells. gdb is the judge.

load helpers
load inspected

# gdb_says EXPR...: what gdb prints of each, a line each, into ./gdb
gdb_says() {
	local expression
	for expression in "$@"; do
		printf '%s\n' 'echo <\n' "output $expression" 'echo \n'
	done >commands
	gdb -q -nx -batch -iex 'set debuginfod enabled off' -p "$pid" -x commands 2>log |
		sed -n '/^<$/{n;p}' >gdb
}

@test "pointers to members read as the members, virtual ones as gdb names them" {
	needs gdb g++
	local names=(first second no_member own_member of_base of_first_base array nested of_template function
		no_function constant own_function put virtual_function virtual_second virtual_base
		virtual_adjusted virtual_own virtual_template '&S::a' '&S::inner' '&A::b' '&D::c')
	for compiler in "g++ -O0" "g++ -O2 -gdwarf-4 -fdebug-types-section" "clang++ -O0" "clang++ -O2 -fstandalone-debug"; do
		command -v "${compiler%% *}" >/dev/null || continue
		# shellcheck disable=SC2086
		$compiler -g -o members "$SOURCES/tests/cli/inspect_members.cpp"
		begin members
		gdb_says "${names[@]}"
		# A function's name, as the others have it; gdb has its type and address before that.
		sed -i 's/^(.*) 0x[0-9a-f]* <\(.*\)>$/\&\1/' gdb
		[ "$(wc -l <gdb)" = "${#names[@]}" ]
		"$CPROF" inspect "$pid" "${names[@]}" | sed 's/^.* = //' | diff gdb - ||
			complain "$compiler"
		# gdb 13 says nothing of members of unions without a name, and of none by such names.
		"$CPROF" inspect "$pid" of_union '&S::u' '&A::v1' both 's.*first' 'to_s->*nested' '!no_member' '!first' \
			'second == &A::b' 'sizeof(function)' '&ns::Box<double>::value' >got
		diff got - <<-'END' || complain "$compiler"
			of_union = &S::u
			&S::u = &S::u
			&A::v1 = &virtual A::v1(long)
			both = {member=&S::a, function=&virtual A::v0()}
			s.*first = 1
			to_s->*nested = {x=8, y=9}
			!no_member = true
			!first = false
			second == &A::b = true
			sizeof(function) = 16
			&ns::Box<double>::value = &ns::Box<double>::value
		END
		inspect first function
		jq -e '.[0] | .type == "int S::*" and .value == "0x0" and .text == "&S::a"' json
		[[ $("$CPROF" inspect "$pid" '&S::counted') == '&S::counted = 0x'*' -> 5' ]]
		finish
	done
	separately "$CPROF" inspect ./members '&S::bits'
	[ "${stderr%%$'\n'*}" = 'cprof: &S::bits: a bit-field has no address' ]
	separately "$CPROF" inspect ./members '&S::zz'
	[ "${stderr%%$'\n'*}" = 'cprof: &S::zz: S has no member zz' ]
	for how in '' --traps; do
		g++ -g -O0 -o members "$SOURCES/tests/cli/inspect_members.cpp"
		# shellcheck disable=SC2086
		"$CPROF" run -q $how -o x.data -t take -a -- ./members </dev/null
		"$CPROF" replay x.data >calls
		grep -F 'take(&S::a, &virtual A::v0(), &A::plain(int), ' calls || { cat calls; return 1; }
	done
}

@test "arrays at the end of structures are shown as far as something tells their length" {
	needs gdb gcc
	for compiler in "gcc -O0" "clang -O2 -gdwarf-4"; do
		command -v "${compiler%% *}" >/dev/null || continue
		# shellcheck disable=SC2086
		$compiler -g -o flexible "$SOURCES/tests/cli/inspect_flexible.c"
		begin flexible
		"$CPROF" inspect "$pid" few many none greeting old '*dynamic' 'dynamic->data' 'dynamic->data[0]@4' '*named' >got
		diff got - <<-'END' || complain "$compiler"
			few = {n=3, data={1, 2, 3}}
			many = {n=70, data={1, 0 <repeats 68 times>, 7}}
			none = {n=0, data={...}}
			greeting = {n=5, name="hello"}
			old = {n=9, row={...}}
			*dynamic = {n=4, data={...}}
			dynamic->data = {...}
			dynamic->data[0]@4 = {0, 1, 4, 9}
			*named = {n=3, name="abc"}
		END
		gdb_says '*few.data@3' '*many.data@70' '*dynamic->data@4' 'greeting.name' '*named'
		sed -i 's/0x[0-9a-f]* \(<[^>]*> \)\?//' gdb
		diff gdb - <<-'END'
			{1, 2, 3}
			{1, 0 <repeats 68 times>, 7}
			{0, 1, 4, 9}
			"hello"
			{n = 3, name = "abc"}
		END
		finish
	done
	gcc -g -O0 -o flexible "$SOURCES/tests/cli/inspect_flexible.c"
	"$CPROF" run -q -o x.data -t look -a -- ./flexible </dev/null
	"$CPROF" replay x.data >calls
	grep -F 'look(&{n=4, data={...}})' calls
	# A user knows what tells it.
	printf 'flex: row\n  at data\n  count n\n' >shapes
	[ "$("$CPROF" inspect --shapes=shapes ./flexible many few)" = $'many = {1, 0 <repeats 68 times>, 7}\nfew = {1, 2, 3}' ]
}

@test "text in a structure is shown as deep as numbers are" {
	needs gcc
	cat >tagged.c <<-'END'
		#include <wchar.h>
		struct {
			struct {
				struct { char tag[8]; wchar_t wide[4]; int n; int row[2]; unsigned char bytes[2]; } c;
			} b;
		} a = { { { "abc", L"xyz", 7, { 1, 2 }, { 3, 4 } } } };
		int main(void) { return 0; }
	END
	gcc -g -o tagged tagged.c
	"$CPROF" inspect ./tagged a >got
	diff got - <<-'END'
		a = {b={c={tag="abc", wide="xyz", n=7, row={...}, bytes={...}}}}
	END
}

@test "--depth follows pointers as far as it says, of variables and at calls" {
	needs gcc
	cat >linked.c <<-'END'
		#include <stdio.h>
		struct node { int v; struct node *next; };
		struct node d = { 4, 0 }, c = { 3, &d }, b = { 2, &c }, a = { 1, &b }, *list = &a;
		int i = 7, *pi = &i, **ppi = &pi, ***pppi = &ppi;
		int look(struct node *n, int ***p) { return n->v + ***p; }
		int main(void)
		{
			look(list, pppi);
			puts("ready");
			fflush(stdout);
			getchar();
			return 0;
		}
	END
	gcc -g -O0 -o linked linked.c
	# depth, the list, a pointer to a pointer to a pointer; an address is @.
	while read -r depth pointer nodes; do
		begin linked
		"$CPROF" inspect --depth="$depth" "$pid" pppi list | tr -d '\n' |
			sed -E 's/0x[0-9a-f]+ -> /\&/g; s/0x[0-9a-f]+/@/g; s/ +/ /g; s/\{ ?/{/g; s/,? \}|,\}/}/g; s/\b = /=/g' >got
		assert_equal "$(cat got)" "pppi=${pointer}list=$nodes"
		finish
		for how in '' --traps; do
			# shellcheck disable=SC2086
			"$CPROF" run -q $how -o x.data -t look -a --depth="$depth" -- ./linked </dev/null >/dev/null
			"$CPROF" replay x.data | grep -o 'look(.*)' | sed -E 's/0x[0-9a-f]+/@/g' >got
			assert_equal "$(cat got)" "look($nodes, $pointer)"
		done
	done <<-'END'
		1 &@ @
		3 &@ &{v=1, next=@}
		4 &&&7 &{v=1, next=&{v=2, next=@}}
		6 &&&7 &{v=1, next=&{v=2, next=&{v=3, next=@}}}
		12 &&&7 &{v=1, next=&{v=2, next=&{v=3, next=&{v=4, next=NULL}}}}
	END
}

@test "JSON says which parts are not there, and why, as the text does" {
	needs gcc jq
	cat >lacking.c <<-'END'
		struct in { int n; struct { int deep; } s; };
		struct { int row[5]; struct { struct in a; } b; struct { int k; int more[]; } *p; } all;
		int main(void) { return 0; }
	END
	gcc -g -o lacking lacking.c
	"$CPROF" inspect --json --limit=2 ./lacking all all.b 'all.row[0]' >json
	jq -c '.[] | [.text, .value, .lacks]' json >got
	diff got - <<-'END'
		["{row={0, 0, ...}, b={a={n=0, s={...}}}, p=NULL}",{"row":[0,0],"b":{"a":{"n":0,"s":null}},"p":"0x0"},[{"at":"row","error":"cut"},{"at":"b.a.s","error":"depth"}]]
		["{a={n=0, s={deep=0}}}",{"a":{"n":0,"s":{"deep":0}}},null]
		["0",0,null]
	END
	# The same of calls, by the recorder and as they come, and of frames.
	cat >>lacking.c <<-'END'
		#include <stdio.h>
		int look(typeof(all) *p, const char *text, typeof(all) **far) { puts("ready"); fflush(stdout); return getchar() + p->row[0] + *text; }
		int run(void) { typeof(all) *p = &all; return look(p, "a long text", &p); }
	END
	sed -i 's/int main(void) { return 0; }/int run(void); int main(void) { run(); return 0; }/' lacking.c
	gcc -g -o lacking lacking.c
	cat >wanted <<-'END'
		["p",[{"at":"b.a","error":"depth"}]]
		["text",[{"at":"","error":"cut"}]]
		["far",null]
	END
	"$CPROF" run -q -o x.data -t look -a --string=6 -- ./lacking </dev/null
	"$CPROF" replay --json x.data | jq -c 'select(.event == "enter").args[] | [.name, .lacks]' | diff wanted -
	"$CPROF" run -q --profile=calls:spec=look,args,json,output=said -- ./lacking </dev/null
	jq -c 'select(.event == "enter").args[] | [.name, .lacks]' said | diff <(sed '/text/s/,.*/,null]/' wanted) -
	begin lacking
	"$CPROF" stack --args --json --string=6 "$pid" |
		jq -c '.threads[].frames[] | select(.function == "look").args[] | [.name, .lacks]' | diff wanted -
	finish
}

@test "bases are where the object has them, virtual ones too, and casts lead from one to another" {
	needs gdb g++ jq
	local values=(diamond whole on_thin twice more member '*left' '*right' '*other' 'diamond.id' 'whole.name'
		'left->id' 'ref.id' '((Diamond*)left)->own' '((Whole*)base)->whole'
		'((Whole*)other)->whole' '*(Base*)left' '(Base*)&whole==base?5:6' '((Both*)second)->both'
		'((Both*)plain)->both' '(Diamond*)none==0?7:8' '((OnThin*)thin)->on' '(Also)twice' '(Base)whole'
		'*(Right*)other' '(char*)(Second*)&both-(char*)&both')
	for compiler in "g++ -O0" "g++ -O2 -gdwarf-4 -fdebug-types-section" "clang++ -O0 -fstandalone-debug" "clang++ -O2 -fstandalone-debug"; do
		command -v "${compiler%% *}" >/dev/null || continue
		# shellcheck disable=SC2086
		$compiler -g -o bases "$SOURCES/tests/cli/inspect_bases.cpp"
		begin bases
		{
			printf 'set print %s off\n' address vtbl
			for expression in "${values[@]}"; do
				printf '%s\n' 'echo <\n' "output $expression" 'echo \n'
			done
		} >commands
		gdb -q -nx -batch -iex 'set debuginfod enabled off' -p "$pid" -x commands 2>log | sed -n '/^<$/{n;p}' |
			sed -E 's/_vptr[.$][A-Za-z:]* = <[^>]*>(, )?//g; s/<([A-Za-z][A-Za-z:<>]*)> = /\1=/g; s/ns:://g;
				s/Held<long>/Held<long int>/; s/Held<short>/Held<short int>/; s/ = /=/g; s/^@[0-9a-fx]*: //' >gdb
		inspect --depth=9 "${values[@]}"
		jq -r '.[].text' json | sed -E 's/Held<long>/Held<long int>/; s/Held<short>/Held<short int>/' |
			diff gdb - || complain "$compiler"
		# gdb 13 does not parse a cast to a class in a namespace, and is not led by the last one.
		"$CPROF" inspect "$pid" '((ns::More*)of_more)->more' '((ns::More*)held)->more' '((Diamond*)right)->own' |
			sed 's/.* = //' | diff <(printf '%s\n' 16 16 3) - || complain "$compiler"
		separately "$CPROF" inspect "$pid" '(Plain)twice'
		[ "${stderr%%$'\n'*}" = 'cprof: (Plain)twice: Plain is a base of Twice more than once' ]
		finish
		for how in '' --traps; do
			# shellcheck disable=SC2086
			"$CPROF" run -q $how -o x.data -t take -a --depth=5 -- ./bases </dev/null >/dev/null
			"$CPROF" replay x.data | grep -qF 'take(&{Left={Base={id=7, name="base"}, left=1}, Right={right=2}, own=3}, '
		done
	done
}

@test "a function is a value by its name, as gdb has it" {
	needs gdb g++
	cat >named.cpp <<-'END'
		#include <cstdio>
		struct A { int x; int plain(int) const; virtual int virt(); static int stat(int); };
		int A::plain(int i) const { return i + x; }
		int A::virt() { return 1; }
		int A::stat(int i) { return i; }
		namespace ns { int called(int i) { return i; } }
		static int local(int i) { return i * 2; }
		extern "C" int of_c(void) { return 3; }
		int (*of_ns)(int) = &ns::called, (*of_local)(int) = local;
		int (A::*of_plain)(int) const = &A::plain;
		int main()
		{
			A a;
			a.x = of_c();
			std::printf("ready %d\n", (a.*of_plain)(3) + a.virt() + A::stat(2) + of_ns(2) + of_local(2));
			std::fflush(stdout);
			return std::getchar() > 0;
		}
	END
	local names=(of_c A::plain '&A::plain' '&A::virt' '&A::stat' ns::called '&ns::called' local
		'of_ns==ns::called?1:0' 'of_ns==&ns::called?1:0' 'of_local==ns::called?1:0' '(long)&ns::called')
	for how in "-O0" "-O0 -no-pie"; do
		# shellcheck disable=SC2086
		g++ -g $how -o named named.cpp
		begin named
		gdb_says "${names[@]}"
		sed -i 's/^[({].* 0x[0-9a-f]* <\(.*\)>$/\1/; s/^of_c()$/of_c/' gdb
		"$CPROF" inspect "$pid" "${names[@]}" | sed 's/^.* = //' | diff gdb -
		[ "$("$CPROF" inspect "$pid" main '&main')" = $'main = main\n&main = main' ]
		finish
	done
}

@test "a function is found with what it is in left out, and a type is said to be one" {
	needs g++
	cat >within.cpp <<-'END'
		#include <cstdio>
		namespace a { namespace b {
			struct Err { int code; int told(int) const; };
			int Err::told(int i) const { return i + code; }
			int fun(int i) { return i; }
			template<class T> T made(T t) { return t; }
		} }
		namespace other { int unfun(int i) { return i; } }
		a::b::Err err;
		int main()
		{
			std::printf("(long)&b::fun = %ld\n(long)fun = %ld\n", (long)&a::b::fun, (long)&a::b::fun);
			std::printf("ready %d\n", a::b::fun(3) + err.told(1) + other::unfun(2) + a::b::made(5L) > 0);
			std::fflush(stdout);
			return std::getchar() > 0;
		}
	END
	g++ -g -O0 -o within within.cpp
	begin within
	"$CPROF" inspect "$pid" '(long)&b::fun' '(long)fun' | diff <(grep -F '(long)' said) -
	[ "$("$CPROF" inspect "$pid" b::Err::told)" = 'b::Err::told = a::b::Err::told(int) const' ]
	separately "$CPROF" inspect "$pid" ::fun
	assert_failure 1
	separately "$CPROF" inspect "$pid" un
	assert_failure 1
	local name
	for name in a::b::Err b::Err Err; do
		separately "$CPROF" inspect "$pid" "$name"
		assert_failure 1
		[ "${stderr%%$'\n'*}" = "cprof: $name: $name is a type, and no variable" ] ||
			complain "$stderr"
		grep -F "cprof layout FILE '$name'" <<<"$stderr"
		[ "$("$CPROF" inspect "$pid" "sizeof($name)")" = "sizeof($name) = 4" ]
	done
	finish
}

@test "what has no debug information is said to, whatever is asked of it" {
	needs gcc
	cat >bare.c <<-'END'
		#include <stdio.h>
		struct server { int port, other; } server = { 6379, 7 };
		int main(void) { puts("ready"); fflush(stdout); return getchar() > 0; }
	END
	gcc -o bare bare.c
	begin bare
	separately "$CPROF" inspect "$pid" server.port
	assert_failure
	[ "${stderr%%$'\n'*}" = 'cprof: server.port: no debug information tells the type of what port is looked for in' ]
	grep -F 'cast it: ((struct node *)&NAME)->port' <<<"$stderr"
	# What it says, done so: no type of the program's is needed.
	way=$(grep -oF '*(int *)((char *)&NAME + 8)' <<<"$stderr")
	way=${way/NAME/server} way=${way/ 8/ 4}
	[ "$("$CPROF" inspect "$pid" "$way")" = "$way = 7" ]
	for what in '*server' 'server[1]'; do
		separately "$CPROF" inspect "$pid" "$what"
		assert_failure
		grep -F 'no debug information tells its type' <<<"$stderr"
	done
	[ "$("$CPROF" inspect "$pid" '*(int *)&server')" = '*(int *)&server = 6379' ]
	finish
}

@test "truth, members of several bases, enumerators as keys: as the program has them, or an error" {
	needs gdb g++
	cat >said.cpp <<-'END'
		#include <cstdio>
		#include <map>
		#include <optional>
		#include <string>
		enum Color { RED, GREEN = 5, BLUE };
		enum class Shade { LIGHT, DARK = 7 };
		namespace ns { struct S { enum Kind { SMALL, LARGE = 3 } kind = LARGE; } s; enum class E { A, B }; }
		struct Point { int x, y; } point{1, 2};
		struct Base { int in_base = 1, own = 2; };
		struct Left : Base { int left = 3; };
		struct Right : Base { int right = 4; };
		struct Both : Left, Right { int both = 5; } both;
		struct Shared { int in_shared = 6, hidden = 7; virtual ~Shared() {} };
		struct One : virtual Shared { int hidden = 8; };
		struct Two : virtual Shared { int two = 9; };
		struct Whole : One, Two { int whole = 10; } whole;
		std::optional<int> none, zero = 0;
		std::optional<std::optional<int>> none2, inner = std::optional<int>(), full = zero;
		std::map<Color, int> colors{{RED, 11}, {GREEN, 12}};
		std::map<Shade, int> shades{{Shade::LIGHT, 13}, {Shade::DARK, 14}};
		std::map<std::string, int> names{{"DARK", 15}};
		std::string DARKER = "text";
		int *nothing;
		__attribute__((noinline, used)) static double half(double d) { return d / 2; } /* libm has constants of these names */
		__attribute__((noinline, used)) static int one(int i) { return i; }
		#define SAY(e) std::printf("%s = %d\n", #e, (int)(e));
		int main()
		{
		#include "say.h"
			std::printf("ready %g %d %d\n", half(1), one(2), nothing && both.both + ns::s.kind + (ns::E::A == ns::E::B) + point.x);
			std::fflush(stdout);
			return std::getchar() > 0;
		}
	END
	cat >say.h <<-'END'
		SAY(!none)
		SAY(!zero)
		SAY(zero && 1)
		SAY(none2 && 1)
		SAY(inner && 1)
		SAY(inner && *inner)
		SAY(full && *full && !**full)
		SAY(nothing || 0)
		SAY(nothing ? 1 : 2)
		SAY(names["DARK"])
		SAY(colors[GREEN])
		SAY(colors[RED])
		SAY(shades[Shade::DARK])
		SAY(shades[Shade::LIGHT] + 1)
		SAY(Shade::DARK == Shade::LIGHT)
		SAY(ns::s.kind == ns::S::LARGE)
		SAY(ns::E::B == ns::E::A)
		SAY(whole.in_shared)
		SAY(whole.hidden)
		SAY(((Left *)&both)->in_base)
		SAY(both.both)
	END
	for compiler in "g++ -O0" "g++ -O2" "clang++ -O0 -fstandalone-debug"; do
		command -v "${compiler%% *}" >/dev/null || continue
		# shellcheck disable=SC2086
		$compiler -g -std=c++17 -o said.exe said.cpp -lm
		begin said.exe
		grep ' = ' said >wanted
		sed 's/ = [0-9]*$//' wanted >asked
		mapfile -t expressions <asked
		"$CPROF" inspect "$pid" "${expressions[@]}" | sed 's/ = true$/ = 1/; s/ = false$/ = 0/' | diff wanted - ||
			complain "$compiler"
		"$CPROF" inspect "$pid" none none2 inner full one half | diff - <(printf '%s\n' 'none = nullopt' \
			'none2 = nullopt' 'inner = {value=nullopt}' 'full = 0' 'one = one(int)' 'half = half(double)') ||
			complain "$compiler"
		# What C++ does not compile, and gdb refuses or does not know.
		for wrong in 'point && 1' 'point && point' '!point' 'point ? 1 : 2' 'both.in_base' 'both.own' \
			'DARKER && 1' 'names[DARK]' 'colors[NO_COLOR]' 'colors[YELLOW]' 'Shade::NONE'; do
			! "$CPROF" inspect "$pid" "$wrong" >answer 2>why && [ ! -s answer ] ||
				complain "$wrong: $(cat answer)"
		done
		separately -2 "$CPROF" inspect "$pid" 'both.in_base'
		assert_equal "${stderr%%$'\n'*}" 'cprof: both.in_base: more than one base of Both has a member in_base'
		finish
	done
	# A file says how its variables begin; of what is not constructed yet nobody knows where its bases are.
	[ "$("$CPROF" inspect said.exe whole.in_shared)" = 'whole.in_shared = <not constructed>' ]
}

@test "an object's own class is noted where its type says less, as gdb tells it" {
	needs gdb python3 g++
	cat >classes.cpp <<-'END2'
		#include <cstdio>
		#include <unistd.h>
		struct shape { int id = 1; virtual ~shape() = default; };
		struct second { int two = 2; virtual ~second() = default; };
		namespace ns {
		struct square : shape { int side = 4; };
		struct both : shape, second { int own = 5; };
		template <class T> struct of : virtual shape { T item = 3; };
		namespace { struct hidden : square {}; }
		}
		shape *to_square = new ns::square, *to_both = new ns::both, *plain = new shape, *none;
		shape *to_template = new ns::of<int>, *to_hidden = new ns::hidden;
		second *to_second = new ns::both;
		shape &reference = *to_square;
		ns::square *square = new ns::square;
		ns::both whole;
		int main()
		{
			char c;
			puts("ready");
			fflush(stdout);
			return (int)read(0, &c, 1) + to_square->id + reference.id + whole.own;
		}
	END2
	cat >classes.py <<-'END2'
		import gdb
		for name in open("names"):
		    v = gdb.parse_and_eval(name.strip())
		    t, said = v.dynamic_type, str(v.type).replace("struct ", "").split("::")[-1].rstrip(" *&")
		    own = str(t).replace("struct ", "").rstrip(" *&")
		    print("class:", name.strip(), "-" if own.split("::")[-1] == said else own)
	END2
	printf '%s\n' to_square to_both plain to_template to_hidden to_second reference square whole \
		'*to_square' '*to_second' '*plain' >names
	g++ -g -std=c++17 -o classes classes.cpp
	begin classes
	mapfile -t names <names
	"$CPROF" inspect --json "$pid" "${names[@]}" |
		jq -r '.[] | "class: \(.expression) \((.notes // ["-"])[0] | ltrimstr("it is a "))"' >ours
	gdb -q -nx -batch -iex 'set debuginfod enabled off' -p "$pid" -x classes.py | grep ^class: >theirs
	finish
	diff theirs ours
	[ "$(grep -c 'ns::' ours)" -ge 7 ]
}

@test "elements of vectors are gdb's" {
	needs gdb python3 gcc
	cat >vectors.c <<-'END'
		#include <stdio.h>
		float reals __attribute__((vector_size(16))) = { 1.5f, 2.5f, 3.5f, 4.5f };
		int numbers __attribute__((vector_size(32))) = { 1, 2, 3, 4, 5, 6, 7, 8 };
		int main(void)
		{
			puts("ready");
			fflush(stdout);
			return getchar() == (int)reals[0] + numbers[0];
		}
	END
	gcc -g -o vectors vectors.c
	begin vectors
	printf '%s\n' 'reals[0]' 'reals[3]' 'numbers[1] + 4' 'numbers[7]' >expressions
	CPROF=$CPROF python3 "$SOURCES/tests/cli/inspect_judge.py" "$pid" expressions >judged
	! grep -e apart -e gdb: judged || { cat judged; return 1; } >&2
	grep '^same [4-9]' judged || { cat judged; return 1; } >&2
	inspect 'numbers[2..4]'
	[ "$(jq -c '.[0].value' json)" = '[3,4,5]' ]
	finish
}

@test "members of Rust's tuples are called as in Rust" {
	needs rustc
	cat >tuples.rs <<-'END'
		use std::io::*;
		struct Pair(#[allow(dead_code)] u8, (i32, &'static str));
		#[inline(never)]
		fn hold(t: &(u8, (i32, i32), f64), pair: &Pair)
		{
			println!("{}", t.0);
			println!("{}", t.1.1);
			println!("{}", t.2);
			println!("{}", (pair.1).0 + 1);
			println!("\"{}\"", pair.1.1);
			println!("ready");
			let _ = stdin().read(&mut [0u8]);
		}
		fn main() { hold(&(1, (2, 3), 4.5), &Pair(5, (6, "seven"))) }
	END
	rustc -g -o tuples tuples.rs
	begin tuples
	grep -v ready said >expected
	"$CPROF" inspect --frame=hold "$pid" t.0 t.1.1 t.2 'pair.1.0 + 1' pair.1.1 |
		sed -n 's/.* = //p' >shown
	diff expected shown
	separately "$CPROF" inspect --frame=hold "$pid" t.3
	[[ $stderr == *"no member __3"* ]]
	finish
}

@test "a long name of a function at an address is whole" {
	needs g++
	cat >long.cpp <<-'END'
		#include <cstdio>
		#include <map>
		#include <string>
		using table = std::map<std::string, std::map<std::string, std::map<std::string, std::string>>>;
		__attribute__((noinline)) int hold(const table &one, const table &two)
		{
			puts("ready");
			fflush(stdout);
			return getchar() + (int)one.size() + (int)two.size();
		}
		int main() { return hold({}, {}); }
	END
	g++ -g -o long long.cpp
	begin long
	# shellcheck disable=SC2016
	"$CPROF" inspect --frame=hold "$pid" '$pc' >shown
	nm -C long | sed -n 's/^[^ ]* T \(hold(.*\)$/\1/p' >name
	[ "$(wc -c <name)" -gt 300 ]
	grep -F "$(cat name)+" shown || { cat shown; return 1; } >&2
	grep -E '\+[0-9a-fx]+$' shown
	finish
}

# Where the file that defines one has no debug information, its symbol tells the place.
@test "static members are found where they are only declared, of objects, and of bases" {
	needs g++
	cat >static.h <<-'END'
		#include <cstdio>
		#include <string>
		namespace ns {
		struct Foo {
			static int count, row[3]; static const int limit = 7; static std::string name; static Foo *first;
			static inline long kept = 12; static thread_local int own; struct In { static double rate; } in; int a;
		};
		template <typename T> struct Box { static T last; };
		template <typename T> T Box<T>::last = T(9);
		extern int plain;
		}
		struct Base { static int shared; virtual ~Base() {} };
		struct Derived : Base { int d; };
	END
	cat >defines.cpp <<-'END'
		#include "static.h"
		int ns::Foo::count = 5, ns::Foo::row[3] = {1, 2, 3}, ns::plain = 21, Base::shared = 66;
		thread_local int ns::Foo::own = 8;
		std::string ns::Foo::name = "foo";
		double ns::Foo::In::rate = 1.5;
		ns::Foo *ns::Foo::first;
	END
	cat >uses.cpp <<-'END'
		#include "static.h"
		ns::Foo foo; ns::Box<int> box; Derived derived;
		#define SHOW(how, what) std::printf(#what " = " how "\n", what);
		int main()
		{
			foo.a = 33;
			ns::Foo::first = &foo;
			SHOW("%d", ns::Foo::count) SHOW("%d", foo.count) SHOW("%d", ns::Foo::row[1]) SHOW("%d", ns::Foo::limit)
			SHOW("%d", foo.limit) SHOW("%d", ns::Foo::first->a) SHOW("%ld", foo.kept) SHOW("%d", ns::Foo::own)
			SHOW("%g", ns::Foo::In::rate) SHOW("%g", foo.in.rate) SHOW("%d", box.last) SHOW("%d", Base::shared)
			SHOW("%d", Derived::shared) SHOW("%d", derived.shared)
		#ifndef __clang__ // which declares std::string only
			std::printf("ns::Foo::name = \"%s\"\n", ns::Foo::name.c_str());
		#endif
			std::puts("ready");
			std::fflush(stdout);
			return getchar() + ns::plain;
		}
	END
	g++ -c defines.cpp
	for compiler in g++ "clang++ -std=c++17" "g++ -gdwarf-4"; do
		command -v "${compiler%% *}" >/dev/null || continue
		# shellcheck disable=SC2086
		$compiler -g -o static uses.cpp defines.o
		begin static
		grep -v ready said >expected
		sed 's/ = .*//' expected | xargs -d '\n' "$CPROF" inspect "$pid" -- | diff expected -
		finish
	done
	separately "$CPROF" inspect static foo.counted
	[[ $stderr == *"Foo has no member counted"* ]]
}
