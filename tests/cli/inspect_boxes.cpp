/* SPDX-License-Identifier: MIT
 *
 * What libstdc++ holds things in, for tests of `cprof inspect`. Says "ready", and ends
 * when its standard input does.
 */
#include <any>
#include <array>
#include <atomic>
#include <bitset>
#include <chrono>
#include <deque>
#include <filesystem>
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
#include <stdio.h>
#include <string>
#include <string_view>
#include <tuple>
#include <unistd.h>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

enum class Color { red, green = 5 };
struct Point {
	int x, y;
	bool operator<(const Point &other) const
	{
		return x < other.x || (x == other.x && y < other.y);
	}
};
struct Empty {
};

std::string short_text = "short", long_text(300, 'l'), no_text;
std::string with_nul("a\0b", 3);
std::string_view view = "a view of it";
std::wstring wide = L"wi\u00e9de";
std::u16string sixteen = u"sixteen \u20ac";
std::u32string thirty_two = U"\U0001f600 wide";
std::vector<int> numbers = { 1, 2, 3 };
std::vector<int> none;
std::vector<std::string> texts = { "one", "two", "three" };
std::vector<std::vector<Point>> nested = { { { 1, 2 } }, {}, { { 3, 4 }, { 5, 6 } } };
std::vector<bool> flags;
std::vector<Color> colors = { Color::red, Color::green };
std::array<short, 4> row = { 1, 2, 3, 4 };
std::array<std::string, 2> pair_of_texts = { "first", "second" };
std::unique_ptr<Point> unique(new Point{ 7, 8 });
std::unique_ptr<Point> no_unique;
struct Deleter {
	int calls = 3;
	void operator()(Point *p) const
	{
		delete p;
	}
};
std::unique_ptr<Point, Deleter> with_deleter(new Point{ 9, 10 });
std::unique_ptr<Point, void (*)(Point *)> with_function(new Point{ 9, 11 },
							[](Point *p) { delete p; });
std::shared_ptr<Point> shared = std::make_shared<Point>(Point{ 11, 12 });
std::shared_ptr<int> no_shared;
std::weak_ptr<Point> weak = shared, no_weak;
std::map<int, std::string> by_number;
std::map<std::string, int> by_name = { { "one", 1 }, { "two", 2 }, { "three", 3 } };
std::map<Point, std::vector<int>> by_point;
std::map<char, long double> by_letter = { { 'a', 1.5L }, { 'b', 2.5L } };
std::multimap<int, int> many = { { 1, 10 }, { 1, 11 }, { 2, 20 } };
std::set<int> chosen = { 5, 3, 9, 1 };
std::multiset<std::string> words = { "b", "a", "b" };
std::unordered_map<std::string, int> hashed = { { "alpha", 1 }, { "beta", 2 }, { "gamma", 3 } };
std::unordered_map<int, long double> hashed_wide = { { 1, 1.25L } };
std::unordered_set<int> hashed_set = { 1, 2, 3 };
std::unordered_multimap<int, char> hashed_many = { { 1, 'a' }, { 1, 'b' } };
std::unordered_multiset<std::string> hashed_words = { "x", "x" };
std::list<int> chain = { 1, 2, 3 };
std::list<std::string> no_chain;
std::forward_list<std::string> forward = { "f", "g" };
std::deque<int> ring;
std::deque<Point> ring_of_points = { { 1, 2 }, { 3, 4 } };
std::deque<std::array<int, 300>> ring_of_large(3);
std::stack<int> stacked;
std::queue<std::string> queued;
std::priority_queue<int> first_of_all;
std::pair<int, std::string> couple = { 1, "one" };
std::tuple<int, std::string, double> three = { 1, "two", 3.5 };
std::tuple<> nothing;
std::tuple<Empty, int> with_empty(Empty(), 4);
std::optional<int> maybe = 5, not_at_all;
std::optional<std::string> maybe_text = "some";
std::variant<int, std::string, Point> either = "text";
std::variant<int, std::string, Point> either_point = Point{ 1, 2 };
std::span<int> all_of(numbers);
std::span<short, 4> four_of(row);
std::bitset<10> bits("1000000101");
std::bitset<130> many_bits;
std::atomic<int> counter = 42;
std::atomic<bool> done = true;
std::atomic<Point *> at = unique.get();
std::chrono::milliseconds wait_for(1500);
std::chrono::time_point<std::chrono::system_clock> when{ std::chrono::seconds(1700000000) };
std::function<int(int)> no_function;
std::any nothing_at_all, anything = 3;
std::filesystem::path path = "/usr/share/doc";
std::map<std::string, std::map<int, std::vector<std::string>>> deep = {
	{ "x", { { 1, { "y", "z" } }, { 2, {} } } }
};

int main()
{
	for (int i = 0; i < 100; i++)
		by_number[i * 7 % 101] = "number " + std::to_string(i);
	by_point[{ 1, 2 }] = { 3, 4 };
	for (int i = 0; i < 130; i++) {
		flags.push_back(i % 3 == 0);
		many_bits[i] = i % 5 == 0;
	}
	for (int i = 0; i < 300; i++)
		ring.push_back(i);
	for (int i = 0; i < 140; i++)
		ring.pop_front();
	ring.push_front(-1);
	stacked.push(1);
	stacked.push(2);
	queued.push("front");
	queued.push("back");
	for (int i : { 3, 9, 4 })
		first_of_all.push(i);
	puts("ready");
	fflush(stdout);
	return getchar() == 'x';
}
