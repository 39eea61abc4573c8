// SPDX-License-Identifier: MIT
//
// For cover_gcov.bats: what only exceptions lead to, and what they don't.
#include <stdexcept>
#include <string>

namespace
{
int counted;

struct Guard {
	~Guard()
	{
		counted++;
	}
};

int thrower(int kind)
{
	if (kind == 1)
		throw std::out_of_range("one");
	if (kind == 2)
		throw 2;
	return kind;
}

int passes_through(int kind)
{
	std::string text(100, 'x');
	Guard first;
	return thrower(kind) + (int)text.size();
}

void again(int kind)
{
	try {
		passes_through(kind);
	} catch (const std::logic_error &) {
		counted += 3; // clause
		counted *= 2; // clause
		throw; // clause
	} catch (const char *) {
		counted += 4; // clause
	}
}

void all(int kind)
{
	try {
		again(kind);
	} catch (const std::out_of_range &e) {
		std::string text(e.what()); // clause
		counted += (int)text.size(); // clause
		try {
			thrower(2); // clause
			counted++; // clause
		} catch (...) {
			counted += 5; // clause
			if (counted < 0) // clause
				throw; // clause
		}
	} catch (int n) {
		counted += n; // clause
	}
}
} // namespace

int main(int argc, char **)
{
	for (int i = 0; i < argc + 1; i++)
		all(i);
	return counted == 12345;
}
