#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A program of variables of all kinds, as source:
    make.py c | c++ | rust

Each kind is held by static variables, and in frames several calls deep by arguments and
locals: constants, copies that are used after the call and such that are not, and such
whose address is known elsewhere. What they hold never changes, so that any optimisation
has them as none has them. The program says "ready", and waits in read().
"""
import sys

# What is declared, with % where the name goes, and what it holds.
C_KINDS = [
    ("truth", "_Bool %", "1"),
    ("letter", "char %", "'x'"),
    ("control", "char %", "'\\n'"),
    ("small", "signed char %", "-100"),
    ("byte", "unsigned char %", "200"),
    ("short_", "short %", "-30000"),
    ("ushort", "unsigned short %", "60000"),
    ("int_", "int %", "-2000000000"),
    ("uint", "unsigned %", "4000000000u"),
    ("long_", "long %", "-4611686018427387905l"),
    ("ulong", "unsigned long %", "18446744073709551615ul"),
    ("llong", "long long %", "1234567890123ll"),
    ("power", "long %", "1l << 42"),
    ("wide", "__int128 %", "-((__int128)1 << 100) - 5"),
    ("uwide", "unsigned __int128 %", "((unsigned __int128)3 << 126) + 7"),
    ("float_", "float %", "1.25f"),
    ("tenth", "float %", "0.1f"),
    ("double_", "double %", "-2.5e-300"),
    ("nan_", "double %", "__builtin_nan(\"\")"),
    ("inf_", "double %", "-__builtin_inf()"),
    ("third", "double %", "1.0 / 3"),
    ("minus_zero", "double %", "-0.0"),
    ("ldouble", "long double %", "3.25e1000L"),
    ("color", "enum color %", "GREEN"),
    ("no_color", "enum color %", "(enum color)77"),
    ("negative", "enum negative %", "BELOW"),
    ("flags", "enum flags %", "(enum flags)(READ | EXECUTE)"),
    ("tiny_enum", "enum tiny %", "LAST"),
    ("large_enum", "enum large %", "HUGE_ONE"),
    ("typedefed", "number_t %", "4242"),
    ("volatile_", "volatile int %", "99"),
    ("pointer", "int *%", "&target"),
    ("constant_pointer", "const int *const %", "&target"),
    ("null", "int *%", "0"),
    ("bad_pointer", "int *%", "(int *)0x10"),
    ("nothing", "void *%", "&target"),
    ("pointer2", "int **%", "&pointed"),
    ("text", "const char *%", '"a text, \\"quoted\\" \\t\\001"'),
    ("empty_text", "const char *%", '""'),
    ("no_text", "char *%", "0"),
    ("latin", "const char *%", '"caf\\xe9"'),
    ("utf", "const char *%", '"caf\u00e9 \u2603"'),
    ("utext", "const unsigned char *%", '(const unsigned char *)"bytes"'),
    ("function", "int (*%)(int)", "callee"),
    ("no_function", "int (*%)(int)", "0"),
    ("to_array", "int (*%)[3]", "&row"),
    ("to_point", "struct point *%", "&somewhere"),
    ("to_list", "struct node *%", "&first"),
    ("to_opaque", "struct opaque *%", "(struct opaque *)&target"),
    ("vector", "vec4 %", "{ 1, -2, 3, -4 }"),
    ("vectord", "vec2d %", "{ 1.5, -2.5 }"),
    ("point", "struct point %", "{ 3, -4 }"),
    ("big", "struct big %", '{ 7, { 1, 2 }, "inside", { 1.5, 2.5 }, &target }'),
    ("bits", "struct bits %", "{ -3, 5, 1, 0x1ffffffffull, -1 }"),
    ("ubits", "struct ubits %", "{ 1, 127, RED, 0 }"),
    ("anonymous", "struct anonymous %", "{ 1, { 0x41424344 }, { 8, 9 } }"),
    ("union_", "union both %", "{ 0x40490fdb }"),
    ("packed", "struct packed %", "{ 'p', 123456, 7.5 }"),
    ("aligned", "struct aligned %", "{ 5, 6 }"),
    ("mixed", "struct mixed %", "{ 2.5, 9 }"),
    ("floats", "struct floats %", "{ 1.5f, 2.5f, 3.5f }"),
    ("one", "struct one %", "{ 77 }"),
    ("callbacks", "struct callbacks %", "{ callee, 0, &target }"),
    ("nested", "struct nested %", "{ { { 1, 2 }, { 3, 4 } }, { { { 5, 6 } }, 'n' } }"),
    ("array", "int %[5]", "{ 1, 2, 3, 4, 5 }"),
    ("chars", "char %[12]", '"chars"'),
    ("full_chars", "char %[4]", "{ 'f', 'u', 'l', 'l' }"),
    ("bytes", "unsigned char %[6]", "{ 0, 1, 127, 128, 254, 255 }"),
    ("matrix", "short %[2][3]", "{ { 1, 2, 3 }, { 4, 5, 6 } }"),
    ("points", "struct point %[3]", "{ { 1, 2 }, { 3, 4 }, { 5, 6 } }"),
    ("texts", "const char *%[3]", '{ "one", 0, "three" }'),
    ("colors", "enum color %[3]", "{ RED, BLUE, GREEN }"),
    ("repeated", "long %[100]", "{ 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2 }"),
    ("doubles", "double %[3]", "{ 0.5, 1e100, -3 }"),
    ("truths", "_Bool %[4]", "{ 1, 0, 1, 1 }"),
    ("lines", "char %[3][8]", '{ "first", "second", "" }'),
]

C_ONLY = [
    ("complexf", "_Complex float %", "1.5f + 2.5f * 1.0if"),
    ("complexd", "_Complex double %", "1.5 - 2.5 * 1.0i"),
    ("atomic", "_Atomic int %", "31"),
    ("wchars", "wchar_t %[6]", 'L"wide\u00e9"'),
    ("chars16", "char16_t %[4]", 'u"\u00e9\u2603x"'),
    ("chars32", "char32_t %[3]", 'U"\U0001f600y"'),
    ("empty", "struct empty %", "{}"),
]

# Of those that can be copied.
CPP_KINDS = [
    ("scoped", "scoped %", "scoped::second"),
    ("bytes_enum", "small %", "small::high"),
    ("member", "int point::*%", "&point::y"),
    ("no_member", "int point::*%", "nullptr"),
    ("method", "int (shape::*%)() const", "&shape::area"),
    ("plain_method", "int (shape::*%)(int)", "&shape::twice"),
    ("null_pointer", "std::nullptr_t %", "nullptr"),
    ("char8", "char8_t %", "u8'q'"),
    ("char16", "char16_t %", "u'\\u2603'"),
    ("char32", "char32_t %", "U'\\U0001f600'"),
    ("wide_char", "wchar_t %", "L'w'"),
    ("derived", "square %", "square(3, 4)"),
    ("many_bases", "many_bases %", "{}"),
    ("virtual_base", "diamond %", "diamond()"),
    ("to_base", "shape *%", "&a_square"),
    ("to_second_base", "second_base *%", "&a_many"),
    ("to_virtual_base", "shape *%", "&a_diamond"),
    ("to_const", "const square *const %", "&a_square"),
    ("holder", "holder<int, 3> %", "{ { 1, 2, 3 } }"),
    ("holder2", "holder<holder<short, 2>, 2> %", "{ { { { 1, 2 } }, { { 3, 4 } } } }"),
    ("without", "without %", "{}"),
    ("derived_of_none", "derived_of_none %", "{}"),
    ("with_statics", "with_statics %", "{}"),
    ("with_reference", "with_reference %", "{ target, 9 }"),
    ("string", "std::string %", '"short"'),
    ("long_string", "std::string %", '"a string that does not fit where short ones are kept"'),
    ("empty_string", "std::string %", '""'),
    ("nul_string", "std::string %", 'std::string("a\\0b", 3)'),
    ("wide_string", "std::wstring %", 'L"wide"'),
    ("string16", "std::u16string %", 'u"sixteen"'),
    ("view", "std::string_view %", '"a view"'),
    ("vector_", "std::vector<int> %", "std::vector<int>({ 1, 2, 3 })"),
    ("empty_vector", "std::vector<int> %", "std::vector<int>()"),
    ("strings", "std::vector<std::string> %", 'std::vector<std::string>({ "one", "two" })'),
    ("bools", "std::vector<bool> %", "std::vector<bool>({ true, false, true })"),
    ("vectors", "std::vector<std::vector<int>> %", "std::vector<std::vector<int>>({ { 1 }, {}, { 2, 3 } })"),
    ("list", "std::list<int> %", "std::list<int>({ 4, 5, 6 })"),
    ("forward", "std::forward_list<int> %", "std::forward_list<int>({ 7, 8 })"),
    ("deque", "std::deque<int> %", "std::deque<int>({ 9, 10, 11 })"),
    ("stack", "std::stack<int> %", "std::stack<int>(std::deque<int>({ 1, 2 }))"),
    ("queue", "std::queue<int> %", "std::queue<int>(std::deque<int>({ 3, 4 }))"),
    ("map", "std::map<std::string, int> %", '(std::map<std::string, int>{ { "one", 1 }, { "two", 2 } })'),
    ("multimap", "std::multimap<int, int> %", "(std::multimap<int, int>{ { 1, 1 }, { 1, 2 } })"),
    ("set", "std::set<int> %", "std::set<int>({ 3, 1, 2 })"),
    ("unordered", "std::unordered_map<int, double> %", "(std::unordered_map<int, double>{ { 5, 0.5 } })"),
    ("unordered_set", "std::unordered_set<int> %", "std::unordered_set<int>({ 8 })"),
    ("std_array", "std::array<int, 3> %", "{ 1, 2, 3 }"),
    ("pair", "std::pair<int, double> %", "{ 1, 2.5 }"),
    ("tuple", "std::tuple<int, char, double> %", "{ 1, 'c', 2.5 }"),
    ("optional", "std::optional<int> %", "5"),
    ("nothing_optional", "std::optional<int> %", "std::nullopt"),
    ("optional_string", "std::optional<std::string> %", 'std::string("perhaps")'),
    ("variant", "std::variant<int, std::string> %", 'std::string("varied")'),
    ("any_", "std::any %", "42"),
    ("no_any", "std::any %", "std::any()"),
    ("shared", "std::shared_ptr<int> %", "shared_one"),
    ("no_shared", "std::shared_ptr<int> %", "nullptr"),
    ("weak", "std::weak_ptr<int> %", "shared_one"),
    ("function_", "std::function<int(int)> %", "callee"),
    ("bitset", "std::bitset<10> %", "std::bitset<10>(0x155)"),
    ("span", "std::span<int> %", "std::span<int>(row)"),
    ("complex", "std::complex<double> %", "{ 1.5, -2.5 }"),
    ("complexf_", "std::complex<float> %", "{ 0.5f, 1.5f }"),
    ("valarray", "std::valarray<int> %", "std::valarray<int>({ 1, 2, 3 })"),
    ("seconds", "std::chrono::seconds %", "std::chrono::seconds(90)"),
    ("reference_wrapper", "std::reference_wrapper<int> %", "std::reference_wrapper<int>(target)"),
    ("error_code", "std::error_code %", "std::make_error_code(std::errc::timed_out)"),
]

# Others: static, and local.
CPP_UNIQUE = [
    ("unique", "std::unique_ptr<int> %", "std::make_unique<int>(6)"),
    ("no_unique", "std::unique_ptr<int> %", "nullptr"),
    ("unique_base", "std::unique_ptr<shape> %", "std::make_unique<square>(5, 6)"),
    ("unique_array", "std::unique_ptr<int[]> %", "std::make_unique<int[]>(3)"),
    ("atomic_", "std::atomic<int> %", "{ 12 }"),
    ("lambda", "auto %", "[n = 5, &where = target](int i) { return i + n + where; }"),
    ("reference", "int &%", "target"),
    ("const_reference", "const point &%", "somewhere"),
    ("rvalue", "int &&%", "4 + 4"),
    ("array_reference", "int (&%)[3]", "row"),
    ("initializers", "std::initializer_list<int> %", "{ 5, 6, 7 }"),
]

CPP_HEAD = r'''
#include <any>
#include <array>
#include <atomic>
#include <bitset>
#include <chrono>
#include <complex>
#include <cstddef>
#include <deque>
#include <forward_list>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <span>
#include <stack>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <valarray>
#include <variant>
#include <vector>
'''

CPP_TYPES = r'''
enum class scoped { first, second = 9 };
enum class small : unsigned char { low, high = 255 };
struct shape {
	int id = 1;
	shape(int i = 1) : id(i) {}
	virtual ~shape() = default;
	virtual int area() const { return id; }
	int twice(int n) { return n * 2 + id; }
};
struct square : shape {
	int side;
	square(int i, int s) : shape(i), side(s) {}
	int area() const override { return side * side; }
};
struct plain_base { int plain = 50; };
struct second_base { long two = 60; virtual ~second_base() = default; };
struct many_bases : plain_base, second_base, shape { int own = 70; };
struct left : virtual shape { int l = 10; };
struct right : virtual shape { int r = 20; };
struct diamond : left, right { int d = 30; int area() const override { return l + r + d; } };
template <typename T, int N> struct holder { T items[N]; static int made; };
template <typename T, int N> int holder<T, N>::made = N;
struct without {};
struct derived_of_none : without { int only = 3; };
struct with_statics { static int count; static constexpr int limit = 100; static inline double ratio = 0.5; int own = 1; enum { INSIDE = 44 }; };
int with_statics::count = 77;
int count = 1;
struct with_reference { int &to; int own; };
square a_square(2, 8);
many_bases a_many;
diamond a_diamond;
std::shared_ptr<int> shared_one = std::make_shared<int>(17);
namespace outer { namespace { int hidden = 5; } inline int counted = 6; namespace inner { int deep[2] = { 7, 8 }; } }
template <typename T> T variable_template = T(3);
template double variable_template<double>;
'''

CPP_FRAMES = r'''
template <typename T, typename... R>
static NOINLINE int in_template(const T &a_first, T k_second, R... a_rest)
{
	auto [k_one, k_two] = std::make_pair(k_second, 2);
	KEEP(k_one);
	KEEP(k_two);
	KEEP(k_second);
	int result = CALL;
	((void)a_rest, ...);
	KEEP(k_one);
	return result + (int)a_first;
}
namespace outer {
struct worker : square {
	static int count;
	int c_own = 15;
	std::string name = "a worker";
	std::vector<square> squares = { square(1, 2), square(3, 4) };
	worker() : square(21, 22) {}
	NOINLINE int work(int by_value, const std::string &by_reference, std::vector<int> &&moved)
	{
		int k_local = by_value + 1;
		KEEP(k_local);
		KEEP(by_reference);
		KEEP(moved);
		auto k_lambda = [this, &k_local, by_value](long a_inside) -> int {
			int k_deep = k_local + by_value + (int)a_inside;
			KEEP(k_deep);
			int result = in_template<long, char, double>(a_inside, 6, 'r', 1.5);
			KEEP(k_deep);
			return result + c_own;
		};
		KEEP(k_lambda);
		int result = 0;
		for (const auto &k_each : squares) {
			try {
				throw k_each.side;
			} catch (int &k_caught) {
				result = k_lambda(k_caught);
			}
		}
		KEEP(k_local);
		hidden++;
		return result + count;
	}
};
int worker::count = 88;
}
'''

SHARED = r'''
#include <stddef.h>
#include <stdio.h>
#include <uchar.h>
#include <unistd.h>
#include <wchar.h>

enum color { RED, GREEN = 5, BLUE };
enum negative { BELOW = -7, ABOVE = 7 };
enum flags { READ = 1, WRITE = 2, EXECUTE = 4 };
enum __attribute__((packed)) tiny { FIRST, LAST = 200 };
enum large { HUGE_ONE = 0x123456789abcLL, SMALL_ONE = 1 };
typedef long number_t;
typedef int vec4 __attribute__((vector_size(16)));
typedef double vec2d __attribute__((vector_size(16)));
struct opaque;
struct point { int x, y; };
struct node { struct node *next; int n; const char *what; };
struct big { long id; struct point at; char name[10]; double pair[2]; int *to; };
struct bits { int a : 3; unsigned b : 5; unsigned c : 1; unsigned long long d : 40; int e : 20; };
struct ubits { unsigned char one : 1; unsigned char seven : 7; enum color hue : 8; unsigned : 3; unsigned last : 9; };
struct anonymous { int kind; union { int number; char letters[4]; }; struct { short low, high; }; };
union both { unsigned bits; float value; };
struct __attribute__((packed)) packed { char c; int n; double d; };
struct aligned { int a; int b; } __attribute__((aligned(16)));
struct mixed { double d; int n; };
struct floats { float a, b, c; };
struct one { long only; };
struct callbacks { int (*call)(int); void (*none)(void); void *data; };
struct nested { struct { struct point from, to; } span; struct { union { struct point at; } u; char end; } rest; };
#ifndef __cplusplus
struct empty {};
#endif

int callee(int n);
__attribute__((noinline)) int callee(int n) { return n + 1; }
int target = 4711;
int *pointed = &target;
int row[3] = { 10, 20, 30 };
struct point somewhere = { 11, 22 };
struct node second = { 0, 2, "second" };
struct node first = { &second, 1, "first" };

#define NOINLINE __attribute__((noinline))
#define KEEP(x) asm volatile("" : : "r"(&(x)) : "memory")
#define FILL(x, from) __builtin_memcpy((void *)&(x), (const void *)&(from), sizeof(x))
#define USE(x) asm volatile("" : : "m"(x))
static volatile int read_so_far;
'''

WAIT = r'''
static NOINLINE int wait_here(void)
{
	char c;
	puts("ready");
	fflush(stdout);
	read_so_far = (int)read(0, &c, 1);
	return read_so_far;
}
'''


def declare(kind, name):
    return kind.replace("%", name)


def cpp_statics(kinds, unique):
    out = []
    for name, kind, value in kinds + unique:
        where = ("static ", "static thread_local ", "const ")[len(out) % 3]
        out.append(f"{declare(kind, 'g_' + name)} = {value};")
        prefix = "s_"
        if "const " in kind or "&%" in kind or "auto" in kind or "*%" in kind:
            where = "static "
        elif "thread_local" in where:
            prefix = "t_" # made when the thread first uses it
        out.append(f"{where}{declare(kind, prefix + name)} = {value};")
        out.append(f"static const void *volatile use_{name} = &{prefix}{name};")
    return "\n".join(out) + "\n"


def is_array(kind):
    return "%[" in kind


def c_statics(kinds):
    out = []
    for i, (name, kind, value) in enumerate(kinds):
        out.append(f"{declare(kind, 'g_' + name)} = {value};")
        where = ("static ", "static const ", "static __thread ", "static volatile ")[i % 4]
        if where == "static __thread " and "*%" in kind:
            where = "static "
        name = f"s_{name}"
        if ("const" in where or "volatile" in where) and ("(*" in kind or "*%" in kind):
            where = "static "
        if "volatile" in where and "volatile" in kind:
            where = "static "
        out.append(f"{where}{declare(kind, name)} = {value};")
    return "\n".join(out) + "\n"


def c_functions(kinds, language, call="wait_here()", level="level", share=6):
    """Calls of calls, the last of which waits; a function has a share of the kinds."""
    groups = [kinds[i : i + share] for i in range(0, len(kinds), share)]
    out = []
    for number, group in enumerate(groups):
        inner = number % 4 == 3
        parameters = ", ".join(declare(kind, f"a_{name}") for name, kind, _ in group)
        body, after = [], []
        for at, (name, kind, value) in enumerate(group):
            how = (at + number) % 3
            body += [f"{declare(kind, f'k_{name}')} = {value};", f"{declare(kind, f'c_{name}')} = {value};"]
            if is_array(kind):
                body.append(f"{declare(kind, f'u_{name}')};")
                body.append(f"FILL(u_{name}, g_{name});")
            else:
                body.append(f"{declare(kind, f'u_{name}')} = g_{name};")
            body.append(f"KEEP(k_{name});")
            after.append(f"KEEP(k_{name});")
            if how:
                after.append(f"USE(u_{name});")
            if how == 2:
                after.append(f"USE(a_{name});")
        body.append(f"static int calls_{number} = {number};")
        body.append(f"calls_{number}++;")
        body.append(f"{{ long shadowed = 1; KEEP(shadowed); {{ double shadowed = 2.5; KEEP(shadowed); result = {call}; }} KEEP(shadowed); }}")
        attribute = "static inline __attribute__((always_inline))" if inner else "static NOINLINE"
        out.append(f"{attribute} int {level}_{number}({parameters})\n{{\n\tint result;\n\t"
                   + "\n\t".join(body) + "\n\t" + "\n\t".join(after) + "\n\treturn result + 1;\n}\n")
        call = f"{level}_{number}(" + ", ".join(f"g_{name}" for name, _, _ in group) + ")"
    return "\n".join(out), call


VARIABLE = r"""
static NOINLINE int variable(int n, int m)
{
	int result, vla[n], vlas[n][m];
	char name[n * 2];
	for (int i = 0; i < n; i++) {
		vla[i] = i * i;
		for (int j = 0; j < m; j++)
			vlas[i][j] = i * 10 + j;
	}
	snprintf(name, sizeof(name), "vla%d", n);
	KEEP(vla); KEEP(vlas); KEEP(name);
	result = CALL;
	KEEP(vla); KEEP(vlas); KEEP(name);
	return result;
}
"""


def c_program():
    kinds = C_KINDS + C_ONLY
    functions, call = c_functions(kinds, "c")
    return SHARED + c_statics(kinds) + WAIT + functions + VARIABLE.replace("CALL", call) + \
        "int main(void)\n{\n\tint result = variable(4, target & 3);\n\treturn !result;\n}\n"


def cpp_program():
    plain = [(name, kind.replace("_Bool", "bool"), value) for name, kind, value in C_KINDS]
    first, call = c_functions(plain[::3], "cpp", share=8)
    second, call = c_functions(CPP_KINDS, "cpp", call, "deeper")
    unique = "".join(f"\t{declare(kind, 'k_' + name)} = {value};\n\tKEEP(k_{name});\n" for name, kind, value in CPP_UNIQUE)
    after = "".join(f"\tKEEP(k_{name});\n" for name, _, _ in CPP_UNIQUE)
    statics = c_statics(plain).replace("_Bool", "bool")
    return CPP_HEAD + SHARED + CPP_TYPES + statics + cpp_statics(CPP_KINDS, CPP_UNIQUE) + WAIT + first + second + \
        f"static NOINLINE int uniques()\n{{\n{unique}\tint result = {call};\n{after}\treturn result;\n}}\n" + \
        CPP_FRAMES.replace("CALL", "uniques()") + \
        "int main()\n{\n\touter::worker k_worker;\n\tKEEP(k_worker);\n" + \
        "\tint result = k_worker.work(4, \"by reference\", { 1, 2, 3 }) + outer::counted + outer::inner::deep[1];\n" + \
        "\tKEEP(k_worker);\n\treturn !result;\n}\n"


RUST_KINDS = [ # name, type, value, is a constant
    ("truth", "bool", "true", 1),
    ("letter", "char", "'é'", 1),
    ("byte", "u8", "200", 1),
    ("small", "i8", "-100", 1),
    ("short", "i16", "-30000", 1),
    ("ushort", "u16", "60000", 1),
    ("int", "i32", "-2000000000", 1),
    ("uint", "u32", "4000000000", 1),
    ("long", "i64", "-4611686018427387905", 1),
    ("power", "i64", "1 << 42", 1),
    ("ulong", "u64", "18446744073709551615", 1),
    ("size", "usize", "77", 1),
    ("wide", "i128", "-(1i128 << 100) - 5", 1),
    ("uwide", "u128", "(3u128 << 126) + 7", 1),
    ("float", "f32", "0.1", 1),
    ("double", "f64", "-2.5e-300", 1),
    ("unit", "()", "()", 1),
    ("nothing", "Nothing", "Nothing", 1),
    ("phantom", "std::marker::PhantomData<i32>", "std::marker::PhantomData", 1),
    ("no_items", "[i32; 0]", "[]", 1),
    ("text", "&'static str", '"a text"', 1),
    ("empty_text", "&'static str", '""', 1),
    ("bytes", "&'static [u8]", 'b"bytes"', 1),
    ("array", "[i32; 4]", "[1, 2, 3, 4]", 1),
    ("matrix", "[[i16; 3]; 2]", "[[1, 2, 3], [4, 5, 6]]", 1),
    ("texts", "[&'static str; 2]", '["one", "two"]', 1),
    ("slice", "&'static [i32]", "&[7, 8, 9]", 1),
    ("tuple", "(i32, char, f64)", "(1, 'c', 2.5)", 1),
    ("pair", "(u8, u64)", "(3, 4)", 1),
    ("point", "Point", "Point { x: 3, y: -4 }", 1),
    ("wrapped", "Wrapped", "Wrapped(9)", 1),
    ("nested", "Nested", "Nested { from: Point { x: 1, y: 2 }, to: (Point { x: 3, y: 4 }, 5) }", 1),
    ("generic", "Generic<u16>", "Generic { item: 7, more: [8, 9] }", 1),
    ("color", "Color", "Color::Green", 1),
    ("signed_enum", "Signed", "Signed::Below", 1),
    ("circle", "Shape", "Shape::Circle(2.5)", 1),
    ("square", "Shape", "Shape::Square { side: 4, at: Point { x: 5, y: 6 } }", 1),
    ("no_shape", "Shape", "Shape::Nothing", 1),
    ("some", "Option<i32>", "Some(5)", 1),
    ("none", "Option<i32>", "None", 1),
    ("some_reference", "Option<&'static i32>", "Some(&TARGET)", 1),
    ("no_reference", "Option<&'static i32>", "None", 1),
    ("some_text", "Option<&'static str>", 'Some("perhaps")', 1),
    ("some_color", "Option<Color>", "Some(Color::Blue)", 1),
    ("no_color", "Option<Color>", "None", 1),
    ("deep_option", "Option<Option<bool>>", "Some(None)", 1),
    ("good", "Result<u8, i64>", "Ok(6)", 1),
    ("bad", "Result<u8, i64>", "Err(-7)", 1),
    ("reference", "&'static i32", "&TARGET", 1),
    ("to_point", "&'static Point", "&SOMEWHERE", 1),
    ("function", "fn(i32) -> i32", "callee", 1),
    ("dynamic", "&'static (dyn Area + Sync)", "&SOMEWHERE", 1),
    ("nonzero", "std::num::NonZeroU32", "std::num::NonZeroU32::new(12).unwrap()", 1),
    ("no_nonzero", "Option<std::num::NonZeroU32>", "None", 1),
    ("ordering", "std::cmp::Ordering", "std::cmp::Ordering::Less", 1),
    ("range", "std::ops::Range<i32>", "3..8", 1),
    ("duration", "std::time::Duration", "std::time::Duration::new(1, 500_000_000)", 1),
    ("both", "Both", "Both { bits: 0x40490fdb }", 1),
    ("wrapping", "std::num::Wrapping<i32>", "std::num::Wrapping(-3)", 1),
    ("string", "String", 'String::from("a string")', 0),
    ("empty_string", "String", "String::new()", 0),
    ("boxed", "Box<i32>", "Box::new(5)", 0),
    ("boxed_dynamic", "Box<dyn Area>", "Box::new(Point { x: 2, y: 3 })", 0),
    ("boxed_text", "Box<str>", 'Box::from("boxed")', 0),
    ("boxed_slice", "Box<[u16]>", "vec![1, 2, 3].into_boxed_slice()", 0),
    ("numbers", "Vec<i32>", "vec![1, 2, 3]", 0),
    ("no_numbers", "Vec<i32>", "Vec::new()", 0),
    ("strings", "Vec<String>", 'vec!["one".to_string(), "two".to_string()]', 0),
    ("ring", "std::collections::VecDeque<i32>", "std::collections::VecDeque::from([4, 5, 6])", 0),
    ("hash", "std::collections::HashMap<i32, f64>", "std::collections::HashMap::from([(5, 0.5)])", 0),
    ("hash_set", "std::collections::HashSet<i32>", "std::collections::HashSet::from([8])", 0),
    ("tree", "std::collections::BTreeMap<i32, i64>", "std::collections::BTreeMap::from([(1, 10), (2, 20)])", 0),
    ("tree_set", "std::collections::BTreeSet<u8>", "std::collections::BTreeSet::from([3, 1, 2])", 0),
    ("rc", "std::rc::Rc<i32>", "std::rc::Rc::new(17)", 0),
    ("arc", "std::sync::Arc<Point>", "std::sync::Arc::new(Point { x: 7, y: 8 })", 0),
    ("cell", "std::cell::Cell<i32>", "std::cell::Cell::new(19)", 0),
    ("refcell", "std::cell::RefCell<i32>", "std::cell::RefCell::new(20)", 0),
    ("mutex", "std::sync::Mutex<i32>", "std::sync::Mutex::new(21)", 0),
    ("rwlock", "std::sync::RwLock<i32>", "std::sync::RwLock::new(22)", 0),
    ("atomic", "std::sync::atomic::AtomicU32", "std::sync::atomic::AtomicU32::new(23)", 0),
    ("once", "std::sync::OnceLock<i32>", "std::sync::OnceLock::from(24)", 0),
    ("no_once", "std::sync::OnceLock<i32>", "std::sync::OnceLock::new()", 0),
    ("once_cell", "std::cell::OnceCell<i32>", "std::cell::OnceCell::from(25)", 0),
    ("no_once_cell", "std::cell::OnceCell<i32>", "std::cell::OnceCell::new()", 0),
    ("some_string", "Option<String>", 'Some("text".to_string())', 0),
    ("no_string", "Option<String>", "None", 0),
    ("some_box", "Option<Box<Point>>", "Some(Box::new(Point { x: 1, y: 1 }))", 0),
    ("no_box", "Option<Box<Point>>", "None", 0),
    ("cow", "std::borrow::Cow<'static, str>", 'std::borrow::Cow::Borrowed("a cow")', 0),
    ("owned_cow", "std::borrow::Cow<'static, str>", 'std::borrow::Cow::Owned("owned".to_string())', 0),
    ("list", "std::collections::LinkedList<i32>", "std::collections::LinkedList::from([1, 2])", 0),
    ("path", "std::path::PathBuf", 'std::path::PathBuf::from("/a/path")', 0),
]

RUST_HEAD = r"""
#![allow(dead_code, unused, static_mut_refs, non_upper_case_globals)]
use std::hint::black_box;
use std::io::{Read, Write};

#[derive(Clone, Copy)]
struct Nothing;
#[derive(Clone, Copy)]
struct Point { x: i32, y: i32 }
#[derive(Clone, Copy)]
struct Wrapped(u32);
#[derive(Clone, Copy)]
struct Nested { from: Point, to: (Point, u8) }
#[derive(Clone, Copy)]
struct Generic<T> { item: T, more: [T; 2] }
#[derive(Clone, Copy)]
enum Color { Red, Green, Blue }
#[derive(Clone, Copy)]
#[repr(i16)]
enum Signed { Below = -300, Above = 300 }
#[derive(Clone, Copy)]
enum Shape { Nothing, Circle(f64), Square { side: u32, at: Point } }
#[derive(Clone, Copy)]
union Both { bits: u32, value: f32 }
trait Area { fn area(&self) -> i32; }
impl Area for Point {
    #[inline(never)]
    fn area(&self) -> i32 { self.x * self.y }
}
static TARGET: i32 = 4711;
static SOMEWHERE: Point = Point { x: 11, y: 22 };
#[inline(never)]
fn callee(n: i32) -> i32 { n + 1 }

#[inline(never)]
fn wait_here() -> i32 {
    let mut c = [0u8; 1];
    println!("ready");
    std::io::stdin().read(&mut c).unwrap_or(0) as i32
}
"""


def rust_program():
    share = 6
    out, call = [RUST_HEAD], "wait_here()"
    constants = [kind for kind in RUST_KINDS if kind[3]]
    for name, kind, value, _ in constants:
        out.append(f"static mut g_{name}: {kind} = {value};")
    for number, at in enumerate(range(0, len(RUST_KINDS), share)):
        group = RUST_KINDS[at : at + share]
        body = []
        for name, kind, value, constant in group:
            body.append(f"let k_{name}: {kind} = {value};")
            body.append(f"black_box(&k_{name});")
            if constant:
                body.append(f"let c_{name}: {kind} = {value};")
                body.append(f"let u_{name}: {kind} = unsafe {{ std::ptr::read_volatile(&raw const g_{name}) }};")
        body.append(f"let result = {{ let shadowed = 1i64; black_box(&shadowed); let shadowed = 2.5f64; black_box(&shadowed); {call} }};")
        for i, (name, kind, value, constant) in enumerate(group):
            body.append(f"black_box(&k_{name});")
            if (i + number) % 3 and constant:
                body.append(f"black_box(&u_{name});")
            if (i + number) % 3 == 2:
                body.append(f"black_box(&a_{name});")
        parameters = ", ".join(f"a_{name}: {kind}" if i % 4 or not constant else f"a_{name}: {kind}"
                               for i, (name, kind, _, constant) in enumerate(group))
        attribute = "#[inline(always)]" if number % 4 == 3 else "#[inline(never)]"
        out.append(f"{attribute}\nfn level_{number}({parameters}) -> i32 {{\n    " + "\n    ".join(body) + "\n    result + 1\n}")
        call = f"level_{number}(" + ", ".join(
            f"unsafe {{ std::ptr::read_volatile(&raw const g_{name}) }}" if constant else value
            for name, _, value, constant in group) + ")"
    out.append("""struct Worker { name: String, count: u32 }
impl Worker {
    #[inline(never)]
    fn work<T: Area + ?Sized>(&mut self, a_by: i32, k_area: &T, a_text: &str) -> i32 {
        let k_local = a_by + 1;
        let k_closure = |a_inside: i32| -> i32 {
            let k_deep = k_local + a_inside;
            black_box(&k_deep);
            let result = CALL;
            black_box(&k_deep);
            result + k_area.area()
        };
        black_box(&k_local);
        black_box(&k_closure);
        let result = match black_box(Some(Point { x: 5, y: 6 })) {
            Some(Point { x: k_x, y }) if y > 5 => k_closure(black_box(k_x)),
            Some(_) | None => 0,
        };
        black_box(&k_local);
        result + self.count as i32 + a_text.len() as i32
    }
}
fn main() {
    let mut k_worker = Worker { name: "a worker".to_string(), count: 3 };
    let k_area: Box<dyn Area> = Box::new(Point { x: 9, y: 9 });
    black_box(&k_worker);
    black_box(&k_area);
    let result = k_worker.work(4, &*k_area, "words");
    black_box(&k_worker);
    std::process::exit((result == 0) as i32);
}
""".replace("CALL", call))
    return "\n".join(out)


def main(language):
    sys.stdout.reconfigure(encoding="utf-8")
    print({"c": c_program, "cpp": cpp_program, "rust": rust_program}[language]())


if __name__ == "__main__":
    main(*sys.argv[1:])
