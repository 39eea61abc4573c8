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
	local compiler minor
	minor=$(rustc --version | sed 's/^rustc 1\.\([0-9]*\).*/\1/')
	for compiler in "rustc -g" "rustc -g -C opt-level=2"; do
		# shellcheck disable=SC2086
		# shellcheck disable=SC2046
		$compiler --edition 2021 $([ "$minor" -ge 66 ] || echo --cfg old) -o boxes "$SOURCES/tests/cli/values_boxes.rs"
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

@test "--elements: calls tell what is in maps, lists and trees, as the program does" {
	needs g++
	cat >nodes.cpp <<'END'
#include <cstdio>
#include <list>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>
using map = std::map<std::string, int>;
struct held { std::map<int, std::vector<int>> inner; int n; };
extern "C" __attribute__((noinline)) int look(const map &m, std::list<int> &l, const std::set<std::string> *s, const std::unordered_map<int, int> &u,
	const held &h, int n)
{
	asm volatile("" ::: "memory");
	return (int)(m.size() + l.size() + s->size() + u.size() + h.inner.size()) + n;
}
extern "C" __attribute__((noinline)) map give(int n)
{
	map m;
	for (int i = 0; i < n; i++)
		m[std::to_string(i)] = i * i;
	return m;
}
extern "C" __attribute__((noinline)) int plain(const std::vector<int> &v) { asm volatile("" ::: "memory"); return v[0]; }
static void show(const map &m)
{
	const char *before = "{";
	for (auto &e : m) {
		std::printf("%s[\"%s\"] = %d", before, e.first.c_str(), e.second);
		before = ", ";
	}
	std::printf("}");
}
int main()
{
	map m;
	std::list<int> l;
	std::set<std::string> s;
	std::unordered_map<int, int> u;
	held h{ { { 1, { 2, 3 } }, { 4, {} } }, 5 };
	for (int i = 0; i < 3; i++) {
		m[std::to_string(i * 7)] = i;
		l.push_front(i);
		s.insert("in a set: " + std::to_string(i));
		u[i * 3] = i;
		look(m, l, &s, u, h, i);
		std::printf("look(&"), show(m);
		const char *before = ", &{";
		for (int x : l)
			std::printf("%s%d", before, x), before = ", ";
		before = "}, &{";
		for (auto &x : s)
			std::printf("%s\"%s\"", before, x.c_str()), before = ", ";
		before = "}, &{";
		for (auto &x : u)
			std::printf("%s[%d] = %d", before, x.first, x.second), before = ", ";
		std::printf("}, &{inner={[1] = {2, 3}, [4] = {}}, n=5}, %d)\n", i);
	}
	std::printf("give(12) = "), show(give(12)), std::puts("");
	plain({ 1 });
	std::puts("plain(&{1})");
}
END
	for compiler in "g++ -O0" "g++ -O2" "clang++ -O1"; do
		command -v "${compiler%% *}" >/dev/null || continue
		$compiler -std=c++17 -w -g -o nodes nodes.cpp
		for how in "" --traps; do
			"$CPROF" run -q -o x.data $how --elements -t look,give,plain -a -r --depth=4 -- ./nodes >said
			"$CPROF" replay x.data | sed -nE 's/^ *[0-9.]+ +((look|plain).*\)) = .*/\1/p; s/^ *[0-9.]+ +(give.*[^ ])  .*/\1/p' >told
			diff said told || { echo "$compiler $how"; return 1; }
		done
	done
	needs rustc
	cat >nodes.rs <<'END'
use std::collections::*;
#[inline(never)]
#[no_mangle]
pub fn look(m: &BTreeMap<i32, String>, s: &BTreeSet<u8>, l: &LinkedList<i32>) -> usize { m.len() + s.len() + l.len() }
fn main() {
	let m: BTreeMap<i32, String> = (0..20).map(|i| (i * 3, format!("n{}", i))).collect();
	let s: BTreeSet<u8> = (1..4).collect();
	let l: LinkedList<i32> = (5..8).collect();
	look(&m, &s, &l);
	let entries: Vec<String> = m.iter().map(|(k, v)| format!("[{}] = {:?}", k, v)).collect();
	println!("look(&{{{}}}, &{{1, 2, 3}}, &{{5, 6, 7}})", entries.join(", "));
}
END
	rustc -g -o nodes nodes.rs
	"$CPROF" run -q -o x.data --elements -t look -a -- ./nodes >said
	"$CPROF" replay x.data | sed -n 's/.* \(look(.*)\) .*/\1/p' >told
	diff said told
}

@test "Rust: tuples, nothing, numbers that are not 0, cells that are set once, and weak pointers" {
	needs rustc
	cat >small.rs <<'END'
use std::cell::*;
use std::num::*;
use std::rc::Rc;
#[cfg(old)] pub struct OnceCell<T> { inner: UnsafeCell<Option<T>> }
#[cfg(old)] impl<T> OnceCell<T> {
	fn new() -> Self { OnceCell { inner: UnsafeCell::new(None) } }
	fn get(&self) -> Option<&T> { unsafe { (*self.inner.get()).as_ref() } }
	fn set(&self, value: T) -> Option<()> { unsafe { *self.inner.get() = Some(value) }; Some(()) }
}
use std::sync::{Arc, Mutex};
pub static mut SUM: usize = 0;
#[inline(never)]
#[no_mangle]
pub fn look(u: (), t: &(i32, String), one: &(u8,), w: &std::rc::Weak<i32>, gone: &std::rc::Weak<i32>, never: &std::rc::Weak<i32>,
	aw: &std::sync::Weak<i32>, n: NonZeroU32, i: &NonZeroI64, some: Option<NonZeroU8>, set: &OnceCell<i32>, unset: &OnceCell<i32>,
	nested: &(u8, (i16, &str)), nothing: &Option<()>) -> i32 {
	unsafe { SUM += w.strong_count() + gone.strong_count() + never.strong_count() + aw.strong_count() }
	let _ = u;
	t.0 + one.0 as i32 + n.get() as i32 + i.get() as i32 + some.map_or(0, |x| x.get() as i32) + *set.get().unwrap()
		+ unset.get().copied().unwrap_or(0) + nested.0 as i32 + nothing.is_some() as i32
}
fn main() {
	let (r, a) = (Rc::new(5), Arc::new(6));
	let gone = Rc::downgrade(&Rc::new(9));
	let set = OnceCell::new();
	set.set(7).unwrap();
	let t = (1, "one".to_string());
	let nested = (2u8, (3i16, "x"));
	let m = Mutex::new(());
	look((), &t, &(4,), &Rc::downgrade(&r), &gone, &std::rc::Weak::new(), &Arc::downgrade(&a), NonZeroU32::new(8).unwrap(),
		&NonZeroI64::new(-9).unwrap(), NonZeroU8::new(10), &set, &OnceCell::new(), &nested, &Some(()));
	println!("look({:?}, &{:?}, &{:?}, &{}, &dropped, &dropped, &{}, {}, &{}, Some({}), &{:?}, &{:?}, &{:?}, &{:?})", (), t, (4,), r, a, 8, -9, 10,
		set.get(), None::<()>, nested, m.lock().ok().map(|x| *x));
}
END
	local minor
	minor=$(rustc --version | sed 's/^rustc 1\.\([0-9]*\).*/\1/')
	# shellcheck disable=SC2046 # none, or two words
	rustc -g $([ "$minor" -ge 70 ] || echo --cfg old) -o small small.rs
	for how in --traps --elements; do
		"$CPROF" run -q -o x.data $how -t look -a -- ./small >said
		"$CPROF" replay x.data | sed -n 's/.* \(look(.*)\) .*/\1/p' | sed 's/Some({__0={__0=10}})/Some(10)/' >told
		diff said told
	done
}

# Before they are known by how many elements they have, afterwards by these.
@test "--changes: containers that a function only reads have not changed" {
	needs g++
	cat >reads.cpp <<'END'
#include <array>
#include <cstdio>
#include <list>
#include <map>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>
struct both { int a; std::map<int, int> m; std::vector<int> v; };
#define OWN extern "C" __attribute__((noinline))
OWN int reads(const std::map<int, int> &m, both *w, std::list<int> &l) { return m.size() + w->m.size() + l.size(); }
OWN int empty(const std::set<int> &s, std::unordered_map<int, int> &u) { return s.size() + u.size(); }
OWN int member(both *w) { return ++w->a; }
OWN int grows(std::map<int, int> &m, std::set<int> &s, std::vector<int> &v)
{
	m[7] = 8;
	v.push_back(1);
	return m.size() + s.size();
}
struct pointing { int *at; long n; };
OWN int fills(std::span<int> s, std::string_view text, pointing p)
{
	s[1] = 20;
	const_cast<char &>(text[0]) = 'H';
	return *p.at = 5;
}
/* What a function does to its own copies is nobody's. */
OWN int copies(std::array<int, 9> a, both b, pointing p, std::span<int> s)
{
	a[1] = b.v[0] = 20;
	p.n++;
	return s[a[0]];
}
int main()
{
	int row[] = { 1, 2, 3 }, one = 1;
	char text[] = "hello";
	std::map<int, int> m{ { 1, 2 } };
	std::list<int> l{ 1, 2 };
	std::set<int> s{ 3 }, none;
	std::unordered_map<int, int> u;
	std::vector<int> v{ 5 };
	both w{ 1, { { 3, 4 } }, { 5 } };
	reads(m, &w, l), empty(none, u), member(&w), grows(m, s, v);
	fills(row, text, { &one, 1 }), copies({ 1 }, w, { &one, 1 }, row);
	std::printf("{%d, %d, %d}\n\"%s\"\n{at=&%d, n=1}\n", row[0], row[1], row[2], text, one);
}
END
	g++ -std=c++20 -O0 -g -o reads reads.cpp
	for how in '' --elements --traps; do
		# shellcheck disable=SC2086
		"$CPROF" run -q $how -t reads,empty,member,grows,fills,copies -a -r --changes -o x.data -- ./reads >printed
		assert_equal "$("$CPROF" replay --json x.data | jq -c 'select(.event == "leave") |
			[.function, [.changed[]?.name]]')" \
			$'["reads",[]]\n["empty",[]]\n["member",["w"]]\n["grows",["m","v"]]\n["fills",["s","text","p"]]\n["copies",[]]'
		"$CPROF" replay --json x.data | jq -r 'select(.event == "leave" and .function == "fills") | .changed[].text' |
			diff printed -
	done
}
