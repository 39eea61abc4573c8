/* SPDX-License-Identifier: MIT */
#include "torture_parts.h"

namespace other
{
struct opaque {
	char not_this_one[100];
};
opaque there;
} // namespace other

namespace parts
{
homed::homed(int a) : x(a), y(a + 1)
{
}
homed::homed(const homed &o) : x(o.x), y(o.y)
{
}
homed::~homed()
{
}
light::light(long n) : a(n)
{
}
struct opaque {
	int secret;
	const char *name;
};
opaque *make(int n)
{
	static opaque one;

	one.secret = n;
	one.name = "hidden";
	return &one;
}
} // namespace parts
