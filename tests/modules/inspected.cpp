/* SPDX-License-Identifier: MIT
 *
 * Static variables of all kinds, objects of derived classes, and what holds things: for
 * tests of cprof/inspect.h. Prints where each is, as tests/modules/inspectprobe.c does.
 */
#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <stdio.h>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

struct Base {
	virtual ~Base() = default;
	int b = 1;
};
struct Other {
	virtual ~Other() = default;
	long o = 2;
};
namespace ns
{
struct Derived : Base, Other {
	int d = 3;
	static int made;
};
int Derived::made = 4;
struct Virtual : virtual Base {
	int v = 5;
};
template <class T> struct Holder : Other {
	T t{};
};
} // namespace ns

struct Plain {
	int p;
};
struct node {
	int value;
	struct node *next;
};

int global = 10;
static int of_file = 11;
thread_local int of_thread = 12;
node second = { 2, nullptr }, first = { 1, &second };
ns::Derived derived;
ns::Virtual virtually;
ns::Holder<std::pair<int, long>> holder;
Base *base = &derived;
Other *other = &derived;
Base *through = &virtually;
Other *templated = &holder;
Plain plain = { 6 };
std::vector<int> numbers = { 1, 2, 3 };
std::array<short, 4> row = { 1, 2, 3, 4 };
std::string text = "a text";
std::string_view view = text;
std::optional<int> maybe = 7, nothing;
std::unique_ptr<Plain> unique(new Plain{ 8 });
std::unique_ptr<Plain> empty;
std::shared_ptr<Plain> shared = std::make_shared<Plain>(Plain{ 9 });
std::atomic<int> counter = 14;
std::variant<int, std::string> either = "text";
char letters[20] = "letters";
const char *pointer = letters;

static int &calls()
{
	static int number = 15;

	return ++number;
}
struct Late {
	int l = 16;
	Late()
	{
		puts("late");
	}
};
__attribute__((noinline)) static Late &late()
{
	static Late one;

	return one;
}

struct Counter {
	int own = 21;
	static const int literal = 13;
	__attribute__((noinline)) int takes(const node *list, int n)
	{
		int doubled = n * 2 + own;

		__asm__ volatile("" ::"r"(list), "r"(&doubled) : "memory");
		return doubled;
	}
};

#define AT(name) printf("at %s %p %zu\n", #name, (const void *)&(name), sizeof(name))

int main(int argc, char **)
{
	Counter c;
	int *number = &calls();

	AT(global);
	AT(of_file);
	AT(of_thread);
	AT(ns::Derived::made);
	printf("at calls()::number %p %zu\n", (void *)number, sizeof(int));
	printf("whole base %p ns::Derived\n", dynamic_cast<void *>(base));
	printf("whole other %p ns::Derived\n", dynamic_cast<void *>(other));
	printf("whole through %p ns::Virtual\n", dynamic_cast<void *>(through));
	printf("whole templated %p ns::Holder<std::pair<int, long> >\n",
	       dynamic_cast<void *>(templated));
	printf("elements numbers %p 3\n", (void *)numbers.data());
	printf("elements row %p 4\n", (void *)row.data());
	printf("elements text %p 6\n", (const void *)text.data());
	printf("elements letters %p 20\n", (void *)letters);
	printf("held unique %p 4\n", (void *)unique.get());
	printf("held shared %p 4\n", (void *)shared.get());
	printf("held maybe %p 4\n", (void *)&*maybe);
	printf("held counter %p 4\n", (void *)&counter);
	printf("held either %p %zu\n", (void *)&std::get<1>(either), sizeof(std::string));
	fflush(stdout);
	c.takes(&first, argc);
	if (argc > 9)
		late();
	return of_file + Counter::literal + *number == 0;
}
