/* SPDX-License-Identifier: MIT
 *
 * Functions that take and give values of every kind, in registers and on the
 * stack. Before each call its line is printed, as the caller sees it.
 */
#include <complex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Called through a pointer that may change, so that no compiler looks into
 * the function when it makes the call. */
#define CALL(line, function, ...) \
	do { \
		__typeof__(&function) volatile f_ = function; \
		puts(#function line); \
		fflush(stdout); \
		f_(__VA_ARGS__); \
	} while (0)

#define API __attribute__((noinline, used))

enum direction { NORTH, EAST, SOUTH, WEST };
enum flags { READ = 1, WRITE = 2, APPEND = 4 };
enum negative { BELOW = -1, ZERO, ABOVE };

struct point {
	int x, y;
};
struct mixed {
	double d;
	long l;
};
struct three {
	char c[3];
};
struct big {
	long a, b, c;
};
struct floats {
	float a, b, c;
};
struct packed {
	char c;
	int i;
} __attribute__((packed));
struct bits {
	unsigned a : 3;
	int b : 5;
	bool c : 1;
	unsigned long long d : 40;
};
struct nested {
	struct point p;
	const char *name;
};
struct empty {
};
struct flexible {
	int n;
	int rest[];
};
struct with_long_double {
	long double l;
};
union number {
	int i;
	float f;
};
union wide {
	long double l;
	long i;
};
struct list {
	int value;
	struct list *next;
};
typedef float v4 __attribute__((vector_size(16)));
typedef int v2 __attribute__((vector_size(8)));
struct int128 {
	__int128 v;
};
typedef int (*callback)(int);

static int helper(int x)
{
	return x + 1;
}

/* Every type that goes by itself, and how its value reads. */
#define VALUES(X) \
	X(schar, signed char, "'\\x85'", -123) \
	X(char, char, "'c'", 'c') \
	X(bool, bool, "true", true) \
	X(short, short, "-300", -300) \
	X(ushort, unsigned short, "65535", 65535) \
	X(int, int, "-2147483648", -2147483647 - 1) \
	X(uint, unsigned, "4294967295", 4294967295u) \
	X(long, long, "-9223372036854775807", -9223372036854775807L) \
	X(ulong, unsigned long, "18446744073709551615", 18446744073709551615UL) \
	X(int128, __int128, "-36893488147419103232", -((__int128)1 << 65)) \
	X(uint128, unsigned __int128, "36893488147419103233", ((__int128)1 << 65) + 1) \
	X(uint8, uint8_t, "200", 200) \
	X(float, float, "1.5", 1.5f) \
	X(double, double, "-0.1", -0.1) \
	X(long_double, long double, "2.5", 2.5L) \
	X(complex_float, complex float, "1 + 2i", 1 + 2 * I) \
	X(complex_double, complex double, "1.5 + -2i", 1.5 - 2 * I) \
	X(complex_long_double, complex long double, "3 + 4i", 3 + 4 * I) \
	X(string, const char *, "\"host\"", "host") \
	X(null, const char *, "NULL", NULL) \
	X(pointer, void *, "0x1234", (void *)0x1234) \
	X(unreadable, const char *, "<unreadable 0x10>", (const char *)0x10) \
	X(enum, enum direction, "SOUTH", SOUTH) \
	X(no_enum, enum direction, "9", (enum direction)9) \
	X(flags, enum flags, "READ | APPEND", READ | APPEND) \
	X(more_flags, enum flags, "WRITE | 0x8", (enum flags)(WRITE | 8)) \
	X(negative, enum negative, "BELOW", BELOW) \
	X(callback, callback, "helper", helper) \
	X(point, struct point, "{x=3, y=4}", { 3, 4 }) \
	X(mixed, struct mixed, "{d=1.5, l=-7}", { 1.5, -7 }) \
	X(three, struct three, "{c=\"abc\"}", { { 'a', 'b', 'c' } }) \
	X(big, struct big, "{a=1, b=2, c=3}", { 1, 2, 3 }) \
	X(floats, struct floats, "{a=1, b=2, c=3.5}", { 1, 2, 3.5f }) \
	X(packed, struct packed, "{c='p', i=99}", { 'p', 99 }) \
	X(bits, struct bits, "{a=5, b=-3, c=true, d=1099511627775}", { 5, -3, 1, 0xffffffffff }) \
	X(nested, struct nested, "{p={x=1, y=2}, name=\"in\"}", { { 1, 2 }, "in" }) \
	X(with_long_double, struct with_long_double, "{l=0.5}", { 0.5L }) \
	X(number, union number, "{i=1069547520, f=1.5}", { .f = 1.5f }) \
	X(struct128, struct int128, "{v=-1}", { -1 }) \
	X(v4, v4, "{1, 2, 3, 4}", { 1, 2, 3, 4 }) \
	X(v2, v2, "{7, -7}", { 7, -7 }) \
	X(float128, __float128, "1.25", 1.25q) \
	X(list, struct list *, "&{value=1, next=0x5678}", &one) \
	X(list_by_value, struct list, "{value=2, next=&{value=1, next=0x5678}}", { 2, &one }) \
	X(int_pointer, int *, "&17", &seventeen) \
	X(text_pointer, char **, "&\"first\"", texts)

static struct list one = { 1, (struct list *)0x5678 };
static int seventeen = 17;
static char *texts[] = { "first", "second", NULL };

/* Alone; given back; among others; behind all integer registers; behind all
 * vector registers. */
#define FUNCTIONS(name, type, text, ...) \
	API void t_one_##name(type a) \
	{ \
		__asm__ volatile("" : : "m"(a)); \
	} \
	API type t_give_##name(void) \
	{ \
		type volatile *value = (type volatile[]){ __VA_ARGS__ }; \
		return *(type *)value; \
	} \
	API type t_among_##name(int i, type a, double d, type b, const char *s) \
	{ \
		__asm__ volatile("" : : "m"(a), "m"(b), "r"(i), "x"(d), "r"(s)); \
		return b; \
	} \
	API long t_behind_##name(long a, long b, long c, long d, long e, type x, int f, type y, \
				 short g) \
	{ \
		__asm__ volatile("" : : "m"(x), "m"(y)); \
		return a + b + c + d + e + f + g; \
	} \
	API double t_vectors_##name(double a, double b, double c, double d, double e, double f, \
				    float g, type x, double h, type y, float i, type z) \
	{ \
		__asm__ volatile("" : : "m"(x), "m"(y), "m"(z)); \
		return a + b + c + d + e + f + (double)g + h + (double)i; \
	}
VALUES(FUNCTIONS)

#define CALLS(name, type, text, ...) \
	{ \
		type v = __VA_ARGS__; \
		CALL("(" text ")", t_one_##name, v); \
		CALL("() = " text, t_give_##name); \
		CALL("(-1, " text ", 0.25, " text ", \"end\") = " text, t_among_##name, -1, v, \
		     0.25, v, "end"); \
		CALL("(1, 2, 3, 4, 5, " text ", 6, " text ", 7) = 28", t_behind_##name, 1, 2, 3, \
		     4, 5, v, 6, v, 7); \
		CALL("(1, 2, 3, 4, 5, 6, 7, " text ", 8, " text ", 9, " text ") = 45", \
		     t_vectors_##name, 1, 2, 3, 4, 5, 6, 7, v, 8, v, 9, v); \
	}

int main(void)
{
	VALUES(CALLS)
	return 0;
}
