/* SPDX-License-Identifier: MIT
 *
 * Conditions over arguments. The compiler is the judge of arithmetic: each
 * expression over plain integers is evaluated by it, too.
 */
#include "inspect/inspect.h"

#include "test.h"

#define TEXT(s) .u.text = { s, sizeof(s) - 1 }
#define ITEMS(list) .items = (list), .count = CP_ARRAY_SIZE(list)

static cprof_value point[] = { { .kind = CPROF_VALUE_INT, .name = "x", .u.i = 3 },
			       { .kind = CPROF_VALUE_INT, .name = "y", .u.i = -4 } };
static cprof_value inner[] = {
	{ .kind = CPROF_VALUE_STRUCT, .name = "", ITEMS(point) },
	{ .kind = CPROF_VALUE_STRING, .name = "name", .address = 0x1000, TEXT("host") },
};
static cprof_value target[] = { { .kind = CPROF_VALUE_STRUCT, .name = "", ITEMS(inner) } };
static cprof_value zeros[] = { { .kind = CPROF_VALUE_INT, .u.i = 7 },
			       { .kind = CPROF_VALUE_INT, .repeats = 10 },
			       { .kind = CPROF_VALUE_INT, .u.i = 9 } };
static const cprof_value arguments[] = {
	{ .kind = CPROF_VALUE_POINTER, .name = "this", .u.u = 0x2000, ITEMS(target) },
	{ .kind = CPROF_VALUE_INT, .name = "a", .u.i = 17 },
	{ .kind = CPROF_VALUE_INT, .name = "b", .u.i = -5 },
	{ .kind = CPROF_VALUE_UINT, .name = "len", .u.u = UINT64_MAX },
	{ .kind = CPROF_VALUE_FLOAT, .name = "f", .size = 8, .u.f = 1.5 },
	{ .kind = CPROF_VALUE_STRING, .name = "s", .address = 0x3000, TEXT("GET /") },
	{ .kind = CPROF_VALUE_STRING, .name = "cut", .address = 0x4000, TEXT("abc"), .cut = true },
	{ .kind = CPROF_VALUE_POINTER, .name = "null" },
	{ .kind = CPROF_VALUE_POINTER, .name = "far", .u.u = 0x5000 },
	{ .kind = CPROF_VALUE_ENUM, .name = "mode", .u.i = 1, .symbol = "NORTH" },
	{ .kind = CPROF_VALUE_ENUM, .name = "flags", .u.i = 5, .symbol = "READ | APPEND" },
	{ .kind = CPROF_VALUE_ARRAY, .name = "v", ITEMS(zeros) },
	{ .kind = CPROF_VALUE_ERROR, .name = "gone", .error = CPROF_VALUE_OPTIMIZED_OUT },
	{ .kind = CPROF_VALUE_CHAR, .name = "c", .size = 1, .u.i = 'c' },
	{ .kind = CPROF_VALUE_BOOL, .name = "flag", .u.u = 1 },
	{ .kind = CPROF_VALUE_LONG_DOUBLE, .name = "ld", TEXT("2.5") },
};

static enum cp_truth holds(const char *text)
{
	struct cp_condition *condition;
	struct cp_error *err = cp_condition_parse(text, &condition);
	enum cp_truth t;

	if (err) {
		fprintf(stderr, "%s\n", err->what);
		cp_error_free(err);
		return (enum cp_truth)99;
	}
	t = cp_condition_holds(condition, arguments, CP_ARRAY_SIZE(arguments));
	cp_condition_destroy(condition);
	return t;
}

#define IS(want, text) \
	do { \
		enum cp_truth got_ = holds(text); \
		test_checks++; \
		if (got_ != (want)) { \
			test_failures++; \
			fprintf(stderr, "line %d: %s is %d, want %d\n", __LINE__, text, got_, \
				want); \
		} \
	} while (0)

/* The compiler and we. */
#define JUDGE(...) IS((__VA_ARGS__) ? CP_TRUE : CP_FALSE, #__VA_ARGS__)

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wparentheses"
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wlogical-op"
#else
#pragma GCC diagnostic ignored "-Wlogical-op-parentheses"
#pragma GCC diagnostic ignored "-Wbitwise-op-parentheses"
#pragma GCC diagnostic ignored "-Wshift-op-parentheses"
#endif

static void arithmetic(void)
{
	const long a = 17, b = -5;

	JUDGE(a + b * 2 == 7);
	JUDGE((a + b) * 2 == 24);
	JUDGE(a - b - 3 == 19);
	JUDGE(a - (b - 3) == 25);
	JUDGE(a / 2 * 2 == 16);
	JUDGE(a % 5 == 2 && b % 3 == -2 && b / 3 == -1);
	JUDGE(a & 1 == 1);
	JUDGE((a & 1) == 1);
	JUDGE(a | b ^ 3 & 6 == 2);
	JUDGE(1 << 2 + 3 == 32);
	JUDGE(-1 >> 3 == -1);
	JUDGE(~a == -18);
	JUDGE(!a == 0 && !!a == 1);
	JUDGE(- -a == 17);
	JUDGE(-a < b);
	JUDGE(a > 16 == 1);
	JUDGE(1 < 2 < 3 && 3 > 2 > 1);
	JUDGE(a < b || a == 17 && b == -5);
	JUDGE((a < b || a == 17) && b == 5);
	JUDGE(a ? b ? 1 : 0 : 1);
	JUDGE(a < b ? 0 : b < a ? 1 : 0);
	JUDGE(0x11 == a && 021 == a && 17u == a && 17UL == a);
	JUDGE('a' == 97 && '\n' == 10 && '\x41' == 65 && '\0' == 0 && '\\' == 92 && '\101' == 65);
	JUDGE(1.5 * 2 == 3 && 1e3 == 1000 && .5 < 1);
	JUDGE(a * 1.5 == 25.5);
}
#pragma GCC diagnostic pop

static void values(void)
{
	IS(CP_TRUE, "len > 4096");
	IS(CP_TRUE, "len == 18446744073709551615");
	IS(CP_TRUE, "b < len");
	IS(CP_TRUE, "f == 1.5 && ld == 2.5");
	IS(CP_TRUE, "s == \"GET /\"");
	IS(CP_FALSE, "s == \"GET\"");
	IS(CP_TRUE, "\"POST\" != s");
	IS(CP_TRUE, "s[0] == 'G' && s[5] == 0");
	IS(CP_UNKNOWN, "s[6]");
	IS(CP_FALSE, "cut == \"xyz\"");
	IS(CP_FALSE, "cut == \"ab\"");
	IS(CP_UNKNOWN, "cut == \"abc\"");
	IS(CP_UNKNOWN, "cut == \"abcdef\"");
	IS(CP_TRUE, "s && s != NULL && !null");
	IS(CP_TRUE, "null == 0 && null == NULL && null == nullptr");
	IS(CP_TRUE, "mode == NORTH");
	IS(CP_FALSE, "mode == SOUTH");
	IS(CP_TRUE, "mode != SOUTH && SOUTH != mode");
	IS(CP_TRUE, "mode == 1");
	IS(CP_TRUE, "flags & READ");
	IS(CP_FALSE, "flags & WRITE");
	IS(CP_FALSE, "flags == READ");
	IS(CP_TRUE, "flags & 4");
	IS(CP_TRUE, "v[0] == 7 && v[1] == 0 && v[10] == 0 && v[11] == 9");
	IS(CP_UNKNOWN, "v[12] == 0");
	IS(CP_TRUE, "c == 'c' && flag == true && flag");
}

static void members(void)
{
	IS(CP_TRUE, "this->x == 3 && this->y == -4 && this->name == \"host\"");
	IS(CP_TRUE, "this.x == 3");
	IS(CP_TRUE, "(*this).x == 3");
	IS(CP_TRUE, "this[0].x == 3");
	IS(CP_TRUE, "this->name[0] == 'h'");
	IS(CP_UNKNOWN, "this->z == 1");
	IS(CP_UNKNOWN, "far->x == 1");
	IS(CP_UNKNOWN, "gone == 1");
	IS(CP_UNKNOWN, "nobody == 1");
	IS(CP_UNKNOWN, "a / 0");
	IS(CP_UNKNOWN, "a << 200");
	/* What decides, decides. */
	IS(CP_TRUE, "gone || a == 17");
	IS(CP_TRUE, "a == 17 || gone");
	IS(CP_FALSE, "gone && a == 1");
	IS(CP_UNKNOWN, "gone && a == 17");
	IS(CP_UNKNOWN, "!gone");
	IS(CP_FALSE, "null && null->x == 1");
}

static void refuses(const char *text, const char *message)
{
	struct cp_condition *condition = NULL;
	struct cp_error *err = cp_condition_parse(text, &condition);

	CHECK(err);
	if (!err) {
		fprintf(stderr, "... %s\n", text);
		cp_condition_destroy(condition);
		return;
	}
	if (message)
		CHECK_STR(err->what, message);
	cp_error_free(err);
}

static void errors(void)
{
	char deep[3000];

	refuses("a = 3", "condition 'a = 3': '=' (equal is '==') at character 3");
	refuses("", "condition '': a value is missing at character 1");
	refuses("a ==", "condition 'a ==': a value is missing at character 5");
	refuses("a b", "condition 'a b': an operator is missing at character 3");
	refuses("(a", "condition '(a': ')' is missing at character 3");
	refuses("a[1", NULL);
	refuses("a->", "condition 'a->': the name of a member is missing at character 4");
	refuses("a ? b", NULL);
	refuses("'ab'", NULL);
	refuses("\"ab", "condition '\"ab': a quote that is not closed at character 1");
	refuses("1x", NULL);
	refuses("99999999999999999999", NULL);
	refuses("a # b", NULL);
	refuses("'\\q'", NULL);
	memset(deep, '(', sizeof(deep));
	deep[sizeof(deep) - 1] = '\0';
	refuses(deep, NULL);
	memset(deep, '!', sizeof(deep) - 1);
	refuses(deep, NULL);
}

int main(void)
{
	arithmetic();
	values();
	members();
	errors();
	TEST_MAIN_END;
}
