/* SPDX-License-Identifier: MIT
 *
 * One of many units of a program, UNIT, each with the same thousands of types and with a
 * few names of its own.
 */
#define JOIN(a, b) a##b
#define NAME(a, b) JOIN(a, b)
#define OF(a) NAME(a, UNIT)

#define TYPE(n) \
	struct NAME(type_, n) { \
		int first, second, third, fourth, fifth, sixth, seventh, eighth; \
		struct NAME(type_, n) * next; \
		char text[sizeof(int) * 2]; \
	};
#define TEN(n) \
	TYPE(n##0) \
	TYPE(n##1) \
	TYPE(n##2) TYPE(n##3) TYPE(n##4) TYPE(n##5) TYPE(n##6) TYPE(n##7) TYPE(n##8) TYPE(n##9)
#define HUNDRED(n) \
	TEN(n##0) \
	TEN(n##1) TEN(n##2) TEN(n##3) TEN(n##4) TEN(n##5) TEN(n##6) TEN(n##7) TEN(n##8) TEN(n##9)
#define THOUSAND(n) \
	HUNDRED(n##0) \
	HUNDRED(n##1) \
	HUNDRED(n##2) \
	HUNDRED(n##3) \
	HUNDRED(n##4) HUNDRED(n##5) HUNDRED(n##6) HUNDRED(n##7) HUNDRED(n##8) HUNDRED(n##9)

#ifdef UNIT
#define USED __attribute__((used))
THOUSAND(1)
#ifdef MANY
THOUSAND(2)
THOUSAND(3)
THOUSAND(4)
THOUSAND(5)
THOUSAND(6)
THOUSAND(7)
THOUSAND(8)
THOUSAND(9)
#endif

struct OF(hidden) {
	int number, twice;
};

USED struct OF(hidden) OF(held) = { UNIT, 2 * UNIT };
USED int OF(v) = UNIT; /* short names stand in the unit itself */
USED int OF(number_) = 100 + UNIT;
USED int OF(the_end_of_number_) = 200 + UNIT; /* whose string may end with that of another */
USED static int everywhere = UNIT;
/* Names of two letters that all units have as something else: a member, bytes of a number. */
struct OF(point) {
	int ux;
	enum { LIKE_UY = 0x01007975 } as; /* "uy" and its end */
};
USED struct OF(point) OF(point_of_);
#if UNIT == 7
USED int ux = 307, uy = 407;
#endif

int OF(call)(void)
{
	static volatile int inside = 300 + UNIT;

	return inside + everywhere;
}
#else
#include <stdio.h>

#define UNITS(x) x(0) x(1) x(2) x(3) x(4) x(5) x(6) x(7) x(8) x(9) x(10) x(11)
#define DECLARE(n) \
	extern struct hidden##n held##n; \
	__attribute__((used)) struct hidden##n *to_hidden##n = &held##n; \
	int call##n(void);
#define CALL(n) +call##n()

UNITS(DECLARE)

int main(void)
{
	printf("%d\n", 0 UNITS(CALL));
	puts("ready");
	fflush(stdout);
	getchar();
	return 0;
}
#endif
