/* SPDX-License-Identifier: MIT */
#include "base/buf.h"
#include "base/cursor.h"
#include "base/digits.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/map.h"
#include "base/random.h"
#include "base/regexp.h"
#include "base/tally.h"
#include "base/text.h"
#include "base/types.h"
#include "base/vec.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static void test_leb(void)
{
	static const int64_t values[] = { 0,	     1,		-1,   63,    64,
					  -64,	     -65,	127,  128,   INT32_MIN,
					  INT64_MAX, INT64_MIN, 8191, -8192, 1 << 20 };
	struct cp_buf buf = { 0 };
	struct cp_cursor c;
	size_t i;

	for (i = 0; i < CP_ARRAY_SIZE(values); i++) {
		cp_buf_sleb(&buf, values[i]);
		cp_buf_uleb(&buf, (uint64_t)values[i]);
	}
	c = cp_cursor(buf.bytes, buf.size);
	for (i = 0; i < CP_ARRAY_SIZE(values); i++) {
		CHECK(cp_cursor_sleb(&c) == values[i]);
		CHECK_U64(cp_cursor_uleb(&c), (uint64_t)values[i]);
	}
	CHECK(!c.bad && !cp_cursor_left(&c));
	CHECK_U64(cp_cursor_u32(&c), 0);
	CHECK(c.bad);
	cp_buf_free(&buf);
}

static void test_endless_leb(void)
{
	uint8_t bytes[64];
	struct cp_cursor c;

	memset(bytes, 0x80, sizeof(bytes));
	c = cp_cursor(bytes, sizeof(bytes));
	cp_cursor_uleb(&c);
	CHECK(c.bad);
}

static void test_map(void)
{
	struct cp_map map = { 0 };
	uint64_t key, value, sum = 0, n;
	size_t cursor = 0, room;

	for (n = 0; n < 1000; n++)
		CHECK(cp_map_put(&map, n * 4096, n));
	for (n = 0; n < 1000; n += 2)
		CHECK(cp_map_remove(&map, n * 4096));
	CHECK(!cp_map_remove(&map, 0));
	CHECK_U64(map.count, 500);
	CHECK(!cp_map_get(&map, 0));
	CHECK(cp_map_get(&map, 4096) && *cp_map_get(&map, 4096) == 1);
	while (cp_map_next(&map, &cursor, &key, &value))
		sum += value;
	CHECK_U64(sum, 250000);
	/* Churn must not fill the table with removed slots. */
	for (n = 0; n < 100000; n++) {
		CHECK(cp_map_put(&map, n * 8 + 1, n));
		CHECK(cp_map_remove(&map, n * 8 + 1));
	}
	CHECK(map.capacity <= 4096);
	/* Without looking twice: what is found goes, what is absent comes. */
	for (n = 0; n < 1000; n++)
		CHECK(cp_map_add(&map, n * 8 + 2, n));
	for (n = 0; n < 1000; n += 2)
		cp_map_remove_found(&map, cp_map_get(&map, n * 8 + 2));
	for (n = 0; n < 1000; n++)
		CHECK((cp_map_get(&map, n * 8 + 2) != NULL) == n % 2);
	CHECK_U64(map.count, 1000);
	CHECK(cp_map_reserve(&map, 5000));
	CHECK(cp_map_get(&map, 10) && *cp_map_get(&map, 10) == 1);
	room = map.capacity;
	for (n = 0; n < 5000; n++)
		CHECK(cp_map_add(&map, n * 8 + 3, n));
	CHECK_U64(map.capacity, room); /* at once */
	CHECK_U64(map.count, 6000);
	cp_map_free(&map);
}

static void test_intern(void)
{
	struct cp_interner in = { 0 };
	char text[16];
	uint32_t id;
	bool fresh;
	int i, round;

	for (round = 0; round < 2; round++) {
		for (i = 0; i < 1000; i++) {
			snprintf(text, sizeof(text), "s%d", i);
			CHECK(cp_intern(&in, text, strlen(text), &id, &fresh));
			CHECK_U64(id, (uint64_t)i);
			CHECK(fresh == !round);
		}
	}
	CHECK_STR(in.items[7].bytes, "s7");
	cp_interner_free(&in);
}

static const char *escaped(enum cp_escape how, const char *text)
{
	static struct cp_buf buf;

	cp_buf_clear(&buf);
	cp_escape(&buf, how, text, strlen(text));
	return buf.bytes;
}

static void test_escape(void)
{
	CHECK_STR(escaped(CP_ESCAPE_TERMINAL, "a\033[31mb\177"), "a\\x1b[31mb\\x7f");
	CHECK_STR(escaped(CP_ESCAPE_TERMINAL, "caf\xc3\xa9"), "caf\xc3\xa9");
	CHECK_STR(escaped(CP_ESCAPE_TERMINAL, "\xff\xc0\x80"), "\\xff\\xc0\\x80");
	CHECK_STR(escaped(CP_ESCAPE_TERMINAL, "\xe2\x80\xae"
					      "x"),
		  "\\u{202e}x");
	CHECK_STR(escaped(CP_ESCAPE_TERMINAL, "\xc2\x9b"
					      "31m"),
		  "\\x9b31m");
	CHECK_STR(escaped(CP_ESCAPE_JSON, "\"\\\n</script>"), "\\\"\\\\\\u000a\\u003c/script>");
	CHECK_STR(escaped(CP_ESCAPE_XML, "a<b>&\"'"), "a&lt;b&gt;&amp;&quot;&#39;");
	CHECK_STR(escaped(CP_ESCAPE_FOLDED, "a;b\nc"), "a:b c");
}

/* What is in the buffer already becomes what is appended escaped. */
static void test_escape_from(void)
{
	static const char *const texts[] = {
		"", "plain", "a\"b", "\"", "<\\\n\xff\xc2\x9b", "a&b", "&<>\"';", "caf\xc3\xa9"
	};
	struct cp_buf buf = { 0 };
	size_t i, how;

	for (i = 0; i < CP_ARRAY_SIZE(texts); i++)
		for (how = CP_ESCAPE_TERMINAL; how <= CP_ESCAPE_FOLDED; how++) {
			cp_buf_clear(&buf);
			cp_buf_str(&buf, "<&\"");
			cp_buf_str(&buf, texts[i]);
			cp_escape_from(&buf, (enum cp_escape)how, 3);
			CHECK(!memcmp(buf.bytes, "<&\"", 3));
			CHECK_STR(buf.bytes + 3, escaped((enum cp_escape)how, texts[i]));
		}
	cp_buf_free(&buf);
}

static void test_fit(void)
{
	struct cp_buf buf = { 0 };

	cp_text_fit(&buf, "abcdefghij", 7);
	CHECK_STR(buf.bytes, "abc…hij");
	CHECK_U64(cp_text_columns(buf.bytes), 7);
	cp_buf_clear(&buf);
	cp_text_fit(&buf, "abc", 3);
	CHECK_STR(buf.bytes, "abc");
	cp_buf_free(&buf);
}

static const char *nearest(const char *typed)
{
	static const char *const names[] = { "sample", "clock", "duration", "output", "fp" };
	struct cp_text_near near = cp_text_near(typed, strlen(typed));
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		cp_text_near_try(&near, names[i]);
	return near.best;
}

static void test_near(void)
{
	char longest[1000];

	CHECK_STR(nearest("smaple"), "sample");
	CHECK_STR(nearest("clok"), "clock");
	CHECK_STR(nearest("duratoin"), "duration");
	CHECK(!nearest("frobnicate"));
	CHECK(!nearest("xy")); /* both letters of "fp" exchanged */
	CHECK(!nearest(""));
	memset(longest, 'a', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = 0;
	CHECK(!nearest(longest));
}

static void test_numbers(void)
{
	uint64_t v = 0;

	CHECK(cp_parse_duration("500ms", &v) && v == 500000000);
	CHECK(cp_parse_duration("2m", &v) && v == UINT64_C(120000000000));
	CHECK(cp_parse_duration("1.5", &v) && v == 1500000000);
	CHECK(!cp_parse_duration("10x", &v) && !cp_parse_duration("-1s", &v));
	CHECK(!cp_parse_duration("", &v) && !cp_parse_duration("s", &v));
	CHECK(cp_parse_u64("0x10", 100, &v) && v == 16);
	CHECK(!cp_parse_u64("101", 100, &v) && !cp_parse_u64("1 ", 100, &v));
	CHECK(!cp_parse_u64("-1", UINT64_MAX, &v));
}

static void test_json(void)
{
	struct cp_buf buf = { 0 };
	struct cp_json j = { .out = &buf };

	cp_json_begin(&j, NULL, '{');
	cp_json_begin(&j, "a", '[');
	cp_json_end(&j, ']');
	cp_json_str(&j, "s", "x\"y");
	cp_json_hex(&j, "h", 255);
	cp_json_null(&j, "n");
	cp_json_end(&j, '}');
	CHECK_STR(buf.bytes, "{\"a\":[],\"s\":\"x\\\"y\",\"h\":\"0xff\",\"n\":null}");
	cp_buf_free(&buf);
}

static void test_integers(void)
{
	static const int64_t values[] = { 0,	     9,	 10,  99,	   100,	     12345,
					  INT64_MAX, -1, -10, -9876543210, INT64_MIN };
	struct cp_buf buf = { 0 };
	char text[64];
	size_t i;

	for (i = 0; i < CP_ARRAY_SIZE(values); i++) {
		cp_buf_clear(&buf);
		cp_buf_signed(&buf, values[i]);
		cp_buf_u8(&buf, ' ');
		cp_buf_decimal(&buf, (uint64_t)values[i]);
		cp_buf_u8(&buf, ' ');
		cp_buf_hex(&buf, (uint64_t)values[i]);
		snprintf(text, sizeof(text), "%lld %llu %llx", (long long)values[i],
			 (unsigned long long)values[i], (unsigned long long)values[i]);
		CHECK_STR(buf.bytes, text);
	}
	cp_buf_free(&buf);
}

/* By printf() and strtod(), the first that reads back. */
static const char *judged(double value, bool single)
{
	static char text[CP_DIGITS_MAX];
	int precision;

	for (precision = single ? 6 : 15; precision < 17; precision++) {
		snprintf(text, sizeof(text), "%.*g", precision, value);
		if (single ? strtof(text, NULL) == (float)value : strtod(text, NULL) == value)
			break;
	}
	if (precision == 17)
		snprintf(text, sizeof(text), "%.17g", value);
	return text;
}

static void check_digits(double value)
{
	char text[CP_DIGITS_MAX];

	cp_digits(text, value, false);
	CHECK_STR(text, judged(value, false));
	cp_digits(text, (float)value, true);
	CHECK_STR(text, judged((float)value, true));
}

static void test_digits(void)
{
	static const double values[] = { 0,
					 -0.0,
					 1,
					 -17,
					 0.1,
					 0.25,
					 1e-4,
					 9e-5,
					 999999,
					 1e6,
					 1e15,
					 999999999999999,
					 1.0 / 3,
					 1e-300,
					 5e-324,
					 1e300,
					 0.0001220703125 };
	uint64_t state = 1, bits;
	double value;
	size_t i;

	for (i = 0; i < CP_ARRAY_SIZE(values); i++)
		check_digits(values[i]);
	for (i = 0; i < 20000; i++) {
		bits = cp_random(&state);
		check_digits((double)(int64_t)(bits >> (bits & 63)) /
			     (double[]){ 1, 8, 10, 100, 1000, 1e4, 3 }[i % 7]);
		memcpy(&value, &bits, sizeof(value));
		if (value - value == 0) /* it is finite */
			check_digits(value);
	}
}

static void test_error(void)
{
	struct cp_error *err = cp_error_new(CP_ERR_IO, 2, "open %s", "x");

	err = cp_error_hint(err, "look for %s", "it");
	CHECK_STR(err->what, "open x: No such file or directory");
	CHECK_STR(err->hint, "look for it");
	cp_error_free(err);
	cp_error_free(cp_error_nomem());
	cp_error_free(NULL);
}

/* A name may look like the fields behind it. */
static void test_stat_field(void)
{
	char word[16];

	prctl(PR_SET_NAME, "a) Z 1 (b");
	CHECK(cp_file_stat_field(getpid(), 3, word, sizeof(word)));
	CHECK_STR(word, "R");
	CHECK(cp_file_stat_field(getpid(), 4, word, sizeof(word)));
	CHECK_U64((uint64_t)atoi(word), (uint64_t)getppid());
	CHECK(!cp_file_stat_field(getpid(), 1000, word, sizeof(word)));
	CHECK(!cp_file_stat_field(0x7ffffff0, 3, word, sizeof(word)));
}

static unsigned compared;

static int by_number(const void *a, const void *b)
{
	const int *x = a, *y = b;

	compared++;
	return *x < *y ? -1 : *x > *y;
}

/* What the C library would take seconds or all memory for is refused, and
 * nothing that somebody would write. */
static void test_regex(void)
{
	static const char *const good[] = { "^parse_.*$", "(a|b)+c{3,5}",	  "[]+*{(]x",
					    "[^]x]+",	  "[[:alpha:]_]+[[.].]]", "\\(+\\[",
					    "((a+)+)+",	  "(a{50}){50}",	  "a{255}" };
	static const char *const bad[] = { "(",
					   "a{2,1}",
					   "c++++++++++++++++++++++++++++++++",
					   "(((((((((((((((a+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+",
					   "((a{200}){200})",
					   "((a{,100}){100,}){2}" };
	char why[CP_REGEXP_WHY], deep[2 * 3000 + 2];
	regex_t regex;
	size_t i;

	for (i = 0; i < CP_ARRAY_SIZE(good); i++) {
		bool read = cp_regexp_compile(good[i], REG_NOSUB, &regex, why);

		CHECK(read);
		if (read)
			regfree(&regex);
		else
			fprintf(stderr, "%s: %s\n", good[i], why);
	}
	for (i = 0; i < CP_ARRAY_SIZE(bad); i++) {
		*why = 0;
		CHECK(!cp_regexp_compile(bad[i], 0, &regex, why) && *why);
	}
	memset(deep, '(', 3000);
	memset(deep + 3000, ')', 3000);
	deep[6000] = 0;
	CHECK(!cp_regexp_compile(deep, 0, &regex, why));
}

static void test_sort(void)
{
	static const char *const orders[] = { "", "1", "12", "21", "11", "1223", "1232", "3221" };
	CP_VEC(int) v = { 0 };
	size_t i, k;

	cp_vec_sort(&v, by_number);
	for (i = 0; i < sizeof(orders) / sizeof(*orders); i++) {
		v.count = 0;
		for (k = 0; orders[i][k]; k++)
			CHECK(cp_vec_push(&v, orders[i][k]));
		cp_vec_sort(&v, by_number);
		for (k = 1; k < v.count; k++)
			CHECK(v.items[k - 1] <= v.items[k]);
	}
	/* What is in order is looked through once. */
	for (v.count = 0, k = 0; k < 1000; k++)
		CHECK(cp_vec_push(&v, (int)(k / 2)));
	compared = 0;
	cp_vec_sort(&v, by_number);
	CHECK_U64(compared, 999);
	cp_vec_free(&v);
}

/* As printf rounds them. */
static void check_time(uint64_t ns)
{
	static const char *const units[] = { "s", "ms", "µs", "ns" };
	static const double lengths[] = { 1e9, 1e6, 1e3, 1 };
	struct cp_buf out = { 0 };
	char expected[64];
	double value;
	size_t i = 0;

	while (i < 3 && (double)ns < lengths[i] * 0.9995)
		i++;
	value = (double)ns / lengths[i];
	snprintf(expected, sizeof(expected), "%.*f %s",
		 i == 3 || value >= 99.95 ? 0
		 : value >= 9.995	  ? 1
					  : 2,
		 value, units[i]);
	cp_add_time(&out, ns);
	CHECK_STR(out.bytes, expected);
	cp_buf_free(&out);
}

static void test_times(void)
{
	uint64_t state = 1, ns, i;

	for (i = 0; i < 30000; i++) /* halves, which a double has not, among them */
		check_time(i * 5);
	for (i = 0; i < 20000; i++) {
		check_time(i * 5000 + 5000000);
		check_time(i * 500000);
		ns = cp_random(&state) >> (cp_random(&state) & 63);
		check_time(ns);
		check_time(ns / 1000 * 1000 + 500);
	}
	check_time(UINT64_MAX);
}

static void test_tally(void)
{
	struct cp_tally t = { 0 };
	uint64_t state = 1, i;

	cp_tally_sort(&t);
	for (i = 0; i < 100000; i++)
		CHECK(cp_tally_add(&t, cp_random(&state) % 1000 * UINT64_C(1000000007), 1));
	CHECK_U64(t.distinct, 1000);
	CHECK(t.capacity <= 4096); /* of a hundred thousand */
	cp_tally_sort(&t);
	for (state = 1, i = 0; i < 100000; i++)
		t.slots[cp_random(&state) % 1000].count--;
	for (i = 0; i < t.distinct; i++)
		CHECK(t.slots[i].value == i * UINT64_C(1000000007) && !t.slots[i].count);
	cp_tally_free(&t);
}

int main(void)
{
	test_leb();
	test_endless_leb();
	test_map();
	test_intern();
	test_escape();
	test_escape_from();
	test_integers();
	test_digits();
	test_fit();
	test_near();
	test_numbers();
	test_json();
	test_error();
	test_stat_field();
	test_regex();
	test_sort();
	test_times();
	test_tally();
	TEST_MAIN_END;
}
