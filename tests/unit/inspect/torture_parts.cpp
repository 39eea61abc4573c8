/* SPDX-License-Identifier: MIT
 *
 * Types that this unit declares and another one defines.
 */
#include <cstdio>

#include "torture_parts.h"

#define SAY(text) (puts(text), fflush(stdout))
#define API __attribute__((noinline, used))
#define CALL(line, function, ...) \
	(SAY(#function line), ([&]() -> decltype(auto) { \
		 decltype(&function) volatile f_ = &function; \
		 return f_(__VA_ARGS__); \
	 }()))

using parts::homed;
using parts::light;
using parts::opaque;

API int t_homed(homed h, int n)
{
	return h.x + n;
}
API long t_light(light l, int n)
{
	return l.a + n;
}
API homed t_give_homed(int n)
{
	return homed(n);
}
API int t_opaque(opaque *o, int n)
{
	return o ? n : 0;
}

int main()
{
	CALL("({x=3, y=4}, 5) = 8", t_homed, homed(3), 5);
	CALL("({a=3}, 5) = 8", t_light, light(3), 5);
	CALL("(7) = {x=7, y=8}", t_give_homed, 7);
	CALL("(&{secret=9, name=\"hidden\"}, 5) = 5", t_opaque, parts::make(9), 5);
	return 0;
}
