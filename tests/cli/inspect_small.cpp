/* SPDX-License-Identifier: MIT
 *
 * Iterators, small classes and what they are behind, for tests of `cprof inspect`. Prints
 * what each is, by asking it; "ready" when it did.
 */
#include <atomic>
#include <compare>
#include <complex>
#include <deque>
#include <exception>
#include <forward_list>
#include <functional>
#include <initializer_list>
#include <list>
#include <map>
#include <mutex>
#include <set>
#include <stdio.h>
#include <string>
#include <tuple>
#include <typeindex>
#include <unistd.h>
#include <unordered_map>
#include <unordered_set>
#include <vector>

std::map<std::string, int> tree{ { "one", 1 }, { "two", 2 }, { "three", 3 } }, no_tree;
std::multimap<int, std::string> many{ { 1, "a" }, { 1, "b" } };
std::set<char> letters{ 'b', 'a', 'c' };
std::set<short> shorts{ 3, 1 };
std::map<char, short> small_map{ { 'x', 1 }, { 'y', 2 } };
std::map<bool, char> smallest{ { false, 'n' }, { true, 'y' } };
std::set<long double> wide_set{ 2.5L, 1.5L };
std::unordered_map<int, std::string> table{ { 1, "x" }, { 2, "y" } };
std::unordered_set<std::string> names{ "only" };
std::unordered_set<char> hashed_letter{ 'z' };
std::vector<int> row{ 5, 6, 7 };
std::vector<std::string> texts{ "first", "second" };
std::deque<int> ring{ 8, 9 };
std::forward_list<int> forward{ 4, 5 };
std::forward_list<long double> wide_forward{ 2.5L };
/* One of them is how many they are, as the head has it. */
std::list<int> numbers{ 1, 3, 7 }, no_numbers;
std::list<std::string> long_list(6000, "one of many");
std::list<std::string> text_list{ "in", "list" };

auto in_tree = tree.find("two");
std::map<std::string, int>::const_iterator in_tree_const = tree.begin();
auto behind_tree = tree.end(), of_nothing = no_tree.end();
auto in_many = many.begin();
auto behind_letters = letters.end();
auto in_small = small_map.find('y');
auto in_wide = wide_set.begin();
auto in_table = table.find(2), behind_table = table.end();
std::unordered_map<int, std::string>::const_iterator in_table_const = table.find(1);
auto in_names = names.begin(), behind_names = names.end();
auto in_row = row.begin() + 1;
auto in_texts = texts.cbegin();
auto in_ring = ring.begin();
auto in_wide_forward = wide_forward.begin();
auto in_list = numbers.begin(), at_count = std::next(in_list), behind_list = numbers.end();
std::list<std::string>::const_iterator in_texts_list = text_list.begin(),
				       behind_texts_list = text_list.end();
auto in_long_list = long_list.begin();
auto of_empty = no_numbers.end();
auto in_forward = forward.begin(), behind_forward = forward.end();

std::atomic<double> real(2.5);
std::complex<float> half(0.5f, -2);
std::complex<double> whole(1, 2);
std::complex<long double> longer(1.5L, 0);
std::strong_ordering order = 1 <=> 2;
std::type_index kind = typeid(std::string *);
std::exception_ptr none;
std::mutex lock;
std::initializer_list<int> list{ 1, 2, 3 };
std::reference_wrapper<std::string> wrapped = texts[1];
struct Empty {
};
std::tuple<> no_parts;
std::tuple<int, char> parts{ 1, 'c' };

static std::string said(int i)
{
	return std::to_string(i);
}
static std::string said(short i)
{
	return std::to_string(i);
}
static std::string said(bool b)
{
	return b ? "true" : "false";
}
static std::string said(char c)
{
	return std::string("'") + c + "'";
}
static std::string said(long double d)
{
	char text[40];

	snprintf(text, sizeof(text), "%Lg", d);
	return text;
}
static std::string said(const std::string &s)
{
	return '"' + s + '"';
}
template <class T> static std::string said(const std::complex<T> &c)
{
	return said((long double)c.real()) + " + " + said((long double)c.imag()) + "i";
}
template <class A, class B> static std::string said(const std::pair<A, B> &p)
{
	return "{first=" + said(p.first) + ", second=" + said(p.second) + "}";
}
template <class C> static void elements(const char *name, const C &c)
{
	std::string all;

	for (const auto &e : c)
		all += (all.empty() ? "{" : ", ") + said(e);
	printf("%s = %s}\n", name, all.c_str());
}
template <class M> static void pairs(const char *name, const M &m)
{
	std::string all;

	for (const auto &e : m)
		all += (all.empty() ? "{[" : ", [") + said(e.first) + "] = " + said(e.second);
	printf("%s = %s}\n", name, all.c_str());
}
template <class C, class I> static void at(const char *name, const C &c, I i)
{
	printf("%s = %s\n", name, i == c.end() ? "end" : ("&" + said(*i)).c_str());
}

int main()
{
	char c;

	pairs("tree", tree);
	pairs("many", many);
	elements("letters", letters);
	elements("shorts", shorts);
	pairs("small_map", small_map);
	pairs("smallest", smallest);
	elements("wide_set", wide_set);
	elements("hashed_letter", hashed_letter);
	at("in_tree", tree, in_tree);
	at("in_tree_const", tree, in_tree_const);
	at("behind_tree", tree, behind_tree);
	at("of_nothing", no_tree, of_nothing);
	at("in_many", many, in_many);
	at("behind_letters", letters, behind_letters);
	at("in_small", small_map, in_small);
	at("in_wide", wide_set, in_wide);
	at("in_table", table, in_table);
	at("behind_table", table, behind_table);
	at("in_table_const", table, in_table_const);
	at("in_names", names, in_names);
	at("behind_names", names, behind_names);
	at("in_row", row, in_row);
	at("in_texts", texts, in_texts);
	at("in_ring", ring, in_ring);
	at("in_forward", forward, in_forward);
	at("behind_forward", forward, behind_forward);
	at("in_wide_forward", wide_forward, wide_forward.begin());
	at("in_list", numbers, in_list);
	at("at_count", numbers, at_count);
	at("behind_list", numbers, behind_list);
	at("in_texts_list", text_list, in_texts_list);
	at("behind_texts_list", text_list, behind_texts_list);
	at("in_long_list", long_list, in_long_list);
	at("of_empty", no_numbers, of_empty);
	printf("real = %g\n", real.load());
	printf("half = %s\n", said(half).c_str());
	printf("whole = %s\n", said(whole).c_str());
	printf("longer = %s\n", said(longer).c_str());
	printf("order = %d\n", order < 0 ? -1 : order > 0);
	printf("kind = \"%s\"\n", kind.name());
	printf("none = %s\n", none ? "something" : "empty");
	printf("lock = unlocked\n");
	elements("list", list);
	printf("wrapped = &%s\n", said(wrapped.get()).c_str());
	printf("no_parts = {}\n");
	printf("parts = {%d, '%c'}\n", std::get<0>(parts), std::get<1>(parts));
	printf("ready\n");
	fflush(stdout);
	return (int)read(0, &c, 1);
}
