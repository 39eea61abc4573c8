/* SPDX-License-Identifier: MIT
 *
 * Types of the standard library.
 */
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#define SAY(text) (puts(text), fflush(stdout))
#define API __attribute__((noinline, used))
#define CALL(line, function, ...) \
	(SAY(#function line), ([&]() -> decltype(auto) { \
		 decltype(&function) volatile f_ = &function; \
		 return f_(__VA_ARGS__); \
	 }()))

struct person {
	std::string name;
	int age;
};

API int t_string(std::string s, const std::string &r, int n)
{
	return (int)(s.size() + r.size()) + n;
}
API int t_view(std::string_view v, int n)
{
	return (int)v.size() + n;
}
API int t_vector(const std::vector<int> &v, std::vector<double> *p)
{
	return v[0] + (int)p->size();
}
API int t_pointers(std::unique_ptr<int> u, std::shared_ptr<int> s)
{
	return *u + *s;
}
API int t_optional(std::optional<int> some, std::optional<short> none)
{
	return *some + (int)none.has_value();
}
API int t_map(const std::map<int, int> &m)
{
	return (int)m.size();
}
API int t_person(const person &p)
{
	return p.age;
}
API std::string t_give_string(int n)
{
	return std::string((size_t)n, 'x');
}
API std::vector<int> t_give_vector(int n)
{
	return std::vector<int>((size_t)n, 7);
}
API std::unique_ptr<int> t_give_pointer(int n)
{
	return std::make_unique<int>(n);
}

int main()
{
	std::string longer = "a string that is too long to be short";
	std::vector<int> v = { 1, 2, 3 };
	std::vector<double> none;
	std::map<int, int> m = { { 1, 2 }, { 3, 4 } };
	person p = { "Ada", 36 };

	CALL("(\"short\", &\"a string that is too long to be short\", 3) = 45", t_string, "short",
	     longer, 3);
	CALL("(\"view\", 3) = 7", t_view, std::string_view("viewer", 4), 3);
	CALL("(&{1, 2, 3}, &{}) = 1", t_vector, v, &none);
	CALL("(&5, &6) = 11", t_pointers, std::make_unique<int>(5), std::make_shared<int>(6));
	CALL("(7, nullopt) = 7", t_optional, 7, std::nullopt);
	CALL("(&{size=2, ...}) = 2", t_map, m);
	CALL("(&{name=\"Ada\", age=36}) = 36", t_person, p);
	CALL("(3) = \"xxx\"", t_give_string, 3);
	CALL("(30) = \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"", t_give_string, 30);
	CALL("(2) = {7, 7}", t_give_vector, 2);
	CALL("(9) = &9", t_give_pointer, 9);
	return 0;
}
