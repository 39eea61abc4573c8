/* SPDX-License-Identifier: MIT
 *
 * How values read, to people and in JSON.
 */
#include "inspect/inspect.h"

#include <math.h>

#include "test.h"

#define TEXT(s) .u.text = { s, sizeof(s) - 1 }
#define ITEMS(list) .items = (list), .count = CP_ARRAY_SIZE(list)

static const struct cp_value_style plain = { 0 };

/* Prints `value` both ways and compares. */
static void is_line(int line, const cprof_value *value, const char *text, const char *json)
{
	struct cp_buf out = { 0 };
	int failed = test_failures;

	cp_value_print(&out, value, &plain);
	CHECK_STR(out.bytes, text);
	cp_buf_clear(&out);
	cp_value_json(&out, value);
	CHECK_STR(out.bytes, json);
	cp_buf_free(&out);
	if (test_failures > failed)
		fprintf(stderr, "... of line %d\n", line);
}

#define IS(text, json, ...) is_line(__LINE__, &(cprof_value){ __VA_ARGS__ }, text, json)

static void numbers(void)
{
	IS("-3", "-3", .kind = CPROF_VALUE_INT, .u.i = -3);
	IS("9007199254740992", "9007199254740992", .kind = CPROF_VALUE_INT,
	   .u.i = INT64_C(9007199254740992));
	IS("9007199254740993", "\"9007199254740993\"", .kind = CPROF_VALUE_INT,
	   .u.i = INT64_C(9007199254740993));
	IS("-9223372036854775808", "\"-9223372036854775808\"", .kind = CPROF_VALUE_INT,
	   .u.i = INT64_MIN);
	IS("18446744073709551615", "\"18446744073709551615\"", .kind = CPROF_VALUE_UINT,
	   .u.u = UINT64_MAX);
	IS("0x5", "\"0x5\"", .kind = CPROF_VALUE_UINT, .u.u = 5, .guessed = true);
	IS("-170141183460469231731687303715884105728",
	   "\"-170141183460469231731687303715884105728\"", .kind = CPROF_VALUE_INT128,
	   .u.wide = { 0, UINT64_C(1) << 63 });
	IS("340282366920938463463374607431768211455", "\"340282366920938463463374607431768211455\"",
	   .kind = CPROF_VALUE_UINT128, .u.wide = { UINT64_MAX, UINT64_MAX });
	IS("-1", "\"-1\"", .kind = CPROF_VALUE_INT128, .u.wide = { UINT64_MAX, UINT64_MAX });
	IS("true", "true", .kind = CPROF_VALUE_BOOL, .u.u = 1);
	IS("7", "7", .kind = CPROF_VALUE_BOOL, .u.u = 7);
	IS("void", "null", .kind = CPROF_VALUE_VOID);
}

static void floats(void)
{
	cprof_value complex[] = { { .kind = CPROF_VALUE_FLOAT, .size = 8, .u.f = 1.5 },
				  { .kind = CPROF_VALUE_FLOAT, .size = 8, .u.f = -2 } };

	IS("1.5", "1.5", .kind = CPROF_VALUE_FLOAT, .size = 8, .u.f = 1.5);
	IS("0.1", "0.1", .kind = CPROF_VALUE_FLOAT, .size = 8, .u.f = 0.1);
	IS("0.1", "0.1", .kind = CPROF_VALUE_FLOAT, .size = 4, .u.f = 0.1f);
	IS("0.30000000000000004", "0.30000000000000004", .kind = CPROF_VALUE_FLOAT, .size = 8,
	   .u.f = 0.1 + 0.2);
	IS("nan", "\"nan\"", .kind = CPROF_VALUE_FLOAT, .size = 8, .u.f = NAN);
	IS("-inf", "\"-inf\"", .kind = CPROF_VALUE_FLOAT, .size = 4, .u.f = -INFINITY);
	IS("1.25", "1.25", .kind = CPROF_VALUE_LONG_DOUBLE, TEXT("1.25"));
	IS("3.14159265358979323851", "\"3.14159265358979323851\"", .kind = CPROF_VALUE_LONG_DOUBLE,
	   TEXT("3.14159265358979323851"));
	IS("inf", "\"inf\"", .kind = CPROF_VALUE_LONG_DOUBLE, TEXT("inf"));
	IS("1.5 + -2i", "[1.5,-2]", .kind = CPROF_VALUE_COMPLEX, ITEMS(complex));
}

static void texts(void)
{
	struct cp_value_style narrow = { .width = 4 };
	cprof_value wide = { .kind = CPROF_VALUE_STRING, TEXT("abc\303\244d") };
	struct cp_buf out = { 0 };

	IS("\"host\"", "\"host\"", .kind = CPROF_VALUE_STRING, TEXT("host"));
	IS("\"host\"...", "\"host\"", .kind = CPROF_VALUE_STRING, TEXT("host"), .cut = true);
	IS("\"a\\n\\\"\\\\\\x1b[m\\0'\"", "\"a\\u000a\\\"\\\\\\u001b[m\\u0000'\"",
	   .kind = CPROF_VALUE_STRING, TEXT("a\n\"\\\033[m\0'"));
	IS("\"\303\244 \\xff\"", "{\"b64\":\"w6Qg/w==\"}", .kind = CPROF_VALUE_STRING,
	   TEXT("\303\244 \377"));
	IS("\"\\u{202e}\"", "\"\\u202e\"", .kind = CPROF_VALUE_STRING, TEXT("\342\200\256"));
	IS("'c'", "99", .kind = CPROF_VALUE_CHAR, .size = 1, .u.i = 'c');
	IS("'\\''", "39", .kind = CPROF_VALUE_CHAR, .size = 1, .u.i = '\'');
	IS("'\\xff'", "-1", .kind = CPROF_VALUE_CHAR, .size = 1, .u.i = -1);
	IS("'\\0'", "0", .kind = CPROF_VALUE_CHAR, .size = 1, .u.i = 0);
	IS("'\342\202\254'", "8364", .kind = CPROF_VALUE_CHAR, .size = 4, .u.i = 0x20ac);
	IS("<bytes 00 ff>", "{\"b64\":\"AP8=\"}", .kind = CPROF_VALUE_RAW, TEXT("\0\377"));
	cp_value_print(&out, &wide, &narrow);
	CHECK_STR(out.bytes, "\"abc\"..."); /* not in the middle of the fourth */
	cp_buf_free(&out);
}

static void pointers(void)
{
	cprof_value text = { .kind = CPROF_VALUE_STRING, TEXT("x") };
	cprof_value five = { .kind = CPROF_VALUE_INT, .u.i = 5 };
	cprof_value lost = { .kind = CPROF_VALUE_ERROR,
			     .error = CPROF_VALUE_UNREADABLE,
			     .address = 9 };
	cprof_value deep = { .kind = CPROF_VALUE_ERROR, .error = CPROF_VALUE_TOO_DEEP };

	IS("NULL", "\"0x0\"", .kind = CPROF_VALUE_POINTER);
	IS("0x7ffe00", "\"0x7ffe00\"", .kind = CPROF_VALUE_POINTER, .u.u = 0x7ffe00);
	IS("print_row", "\"0x1234\"", .kind = CPROF_VALUE_POINTER, .u.u = 0x1234,
	   .symbol = "print_row");
	IS("&5", "5", .kind = CPROF_VALUE_POINTER, .u.u = 16, .items = &five, .count = 1);
	IS("&\"x\"", "\"x\"", .kind = CPROF_VALUE_POINTER, .u.u = 16, .items = &text, .count = 1);
	IS("<unreadable 0x9>", "\"0x9\"", .kind = CPROF_VALUE_POINTER, .u.u = 9, .items = &lost,
	   .count = 1);
	IS("0x9", "\"0x9\"", .kind = CPROF_VALUE_POINTER, .u.u = 9, .items = &deep, .count = 1);
	IS("NORTH", "\"NORTH\"", .kind = CPROF_VALUE_ENUM, .symbol = "NORTH", .size = 4);
	IS("nullopt", "null", .kind = CPROF_VALUE_ENUM, .symbol = "nullopt");
	IS("17", "17", .kind = CPROF_VALUE_ENUM, .u.i = 17);
	IS("<optimized out>", "null", .kind = CPROF_VALUE_ERROR,
	   .error = CPROF_VALUE_OPTIMIZED_OUT);
	IS("<unreadable 0x10>", "null", .kind = CPROF_VALUE_ERROR, .error = CPROF_VALUE_UNREADABLE,
	   .address = 16);
	IS("<unavailable>", "null", .kind = CPROF_VALUE_ERROR, .error = CPROF_VALUE_UNAVAILABLE);
	IS("<cycle>", "null", .kind = CPROF_VALUE_ERROR, .error = CPROF_VALUE_CYCLE);
}

static void aggregates(void)
{
	cprof_value point[] = { { .kind = CPROF_VALUE_INT, .name = "x", .u.i = 3 },
				{ .kind = CPROF_VALUE_INT, .name = "y", .u.i = 4 } };
	cprof_value outer[] = { { .kind = CPROF_VALUE_STRUCT, .name = "p", ITEMS(point) },
				{ .kind = CPROF_VALUE_UNION, .name = "", ITEMS(point) } };
	cprof_value zeros[] = { { .kind = CPROF_VALUE_INT, .u.i = 1 },
				{ .kind = CPROF_VALUE_INT, .repeats = 3 } };

	IS("{x=3, y=4}", "{\"x\":3,\"y\":4}", .kind = CPROF_VALUE_STRUCT, ITEMS(point));
	IS("{p={x=3, y=4}, {x=3, y=4}}", "{\"p\":{\"x\":3,\"y\":4},\"x\":3,\"y\":4}",
	   .kind = CPROF_VALUE_STRUCT, ITEMS(outer));
	IS("{1, 0 <repeats 3 times>, ...}", "[1,0,0,0]", .kind = CPROF_VALUE_ARRAY, ITEMS(zeros),
	   .cut = true);
	IS("{}", "{}", .kind = CPROF_VALUE_STRUCT);
	IS("{...}", "[]", .kind = CPROF_VALUE_ARRAY, .cut = true);
	IS("&{x=3, y=4}", "{\"x\":3,\"y\":4}", .kind = CPROF_VALUE_POINTER, .u.u = 8, .count = 1,
	   .items = outer);
}

/* A recording may hold anything. */
static void hostile(void)
{
	cprof_value v[200];
	cprof_value name = { .kind = CPROF_VALUE_INT, .name = "a\033[2J\"", .u.i = 1 };
	struct cp_buf out = { 0 };
	size_t i;

	IS("{a\\x1b[2J\"=1}", "{\"a\\u001b[2J\\\"\":1}", .kind = CPROF_VALUE_STRUCT, .items = &name,
	   .count = 1);
	IS("5", "5", .kind = 200, .u.i = 5);
	IS("<unavailable>", "[]", .kind = CPROF_VALUE_COMPLEX);
	/* 2^32 elements of 2^32 elements of ... */
	memset(v, 0, sizeof(v));
	for (i = 0; i < CP_ARRAY_SIZE(v); i++) {
		v[i].kind = CPROF_VALUE_ARRAY;
		v[i].repeats = UINT32_MAX;
		v[i].count = i + 1 < CP_ARRAY_SIZE(v);
		v[i].items = v[i].count ? &v[i + 1] : NULL;
	}
	cp_value_json(&out, v);
	CHECK(out.size < (4u << 20));
	cp_buf_clear(&out);
	cp_value_print(&out, v, &plain);
	CHECK(out.size < 65536);
	cp_buf_free(&out);
	CHECK_STR(cp_value_error_name(CPROF_VALUE_TOO_DEEP), "depth");
	CHECK_STR(cp_value_error_name(77), "unavailable");
	CHECK_STR(cp_value_source_name(CPROF_SOURCE_DWARF), "dwarf");
	CHECK_STR(cp_value_source_name(77), "memory");
}

int main(void)
{
	numbers();
	floats();
	texts();
	pointers();
	aggregates();
	hostile();
	TEST_MAIN_END;
}
