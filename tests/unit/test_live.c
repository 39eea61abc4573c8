/* SPDX-License-Identifier: MIT
 *
 * Sums of the last seconds and since the start.
 */
#include "base/clock.h"
#include "base/types.h"
#include "live/live.h"
#include "test.h"

#define START (100 * CP_NS_PER_S)

static uint32_t f, g, h;

static void begin(struct cp_live *l)
{
	cp_live_init(l, START);
	f = cp_live_function(l, "f", "program", NULL);
	g = cp_live_function(l, "g", "program", "g.c");
	h = cp_live_function(l, "h", "program", NULL);
	CHECK(cp_live_function(l, "g", "program", NULL) == g);
	CHECK(cp_live_function(l, "g", "library", NULL) == 3);
	CHECK_STR(l->functions.items[g].file, "g.c");
}

static const struct cp_live_sum *find(struct cp_live *l, enum cp_live_what what, uint32_t thread,
				      uint32_t a, uint32_t b)
{
	const struct cp_live_sum *sum = NULL;

	while ((sum = cp_live_next(l, CP_LIVE_TIME, what, thread, sum)))
		if (sum->a == a && sum->b == b)
			return sum;
	return NULL;
}

static void test_stack(void)
{
	struct cp_live l;
	const struct cp_live_sum *sum;

	begin(&l);
	/* f called g, which called itself, which called f. */
	cp_live_add(&l, CP_LIVE_TIME, 0, 0,
		    (struct cp_live_frame[]){ { f, 3 }, { g, 7 }, { g, 7 }, { f, 9 } }, 4, 2, 10);
	sum = find(&l, CP_LIVE_FUNCTION, CP_LIVE_ALL, f, 0);
	CHECK(sum->all.self == 10 && sum->all.total == 10 && sum->all.count == 2);
	sum = find(&l, CP_LIVE_FUNCTION, CP_LIVE_ALL, g, 0);
	CHECK(sum->all.self == 0 && sum->all.total == 10 && sum->all.count == 2);
	sum = find(&l, CP_LIVE_CALLER, CP_LIVE_ALL, g, f);
	CHECK(sum->all.self == 10 && sum->all.total == 10);
	sum = find(&l, CP_LIVE_CALLER, CP_LIVE_ALL, f, g);
	CHECK(sum->all.self == 0 && sum->all.total == 10);
	sum = find(&l, CP_LIVE_LINE, CP_LIVE_ALL, g, 7);
	CHECK(sum->all.self == 0 && sum->all.total == 10);
	CHECK(find(&l, CP_LIVE_THREAD, CP_LIVE_ALL, 0, 0)->all.self == 10);
	CHECK(!find(&l, CP_LIVE_FUNCTION, CP_LIVE_ALL, h, 0));
	cp_live_deinit(&l);
}

static void test_last_seconds(void)
{
	const struct cp_live_frame frame = { f, 0 };
	struct cp_live l;
	const struct cp_live_sum *sum;
	uint32_t second;

	begin(&l);
	for (second = 0; second < 20; second++) {
		cp_live_add(&l, CP_LIVE_TIME, 0, second, &frame, 1, 1, 1u << second);
		sum = find(&l, CP_LIVE_FUNCTION, CP_LIVE_ALL, f, 0);
		/* This second is not over. */
		cp_live_advance(&l, START + second * CP_NS_PER_S + 1);
		CHECK(cp_live_last_seconds(&l) == (second < 5 ? second : 5));
		CHECK(cp_live_last(&l, sum).self ==
		      (1u << second) - (second < 5 ? 1 : 1u << (second - 5)));
		CHECK(sum->all.self == (2u << second) - 1);
	}
	/* What comes late counts in its own second, and not where that is long over. */
	cp_live_add(&l, CP_LIVE_TIME, 0, 17, &frame, 1, 1, 1u << 25);
	cp_live_add(&l, CP_LIVE_TIME, 0, 3, &frame, 1, 1, 1u << 26);
	CHECK(cp_live_last(&l, sum).self ==
	      (1u << 25) + (1u << 14) + (1u << 15) + (1u << 16) + (1u << 17) + (1u << 18));
	/* Nobody does anything. */
	cp_live_advance(&l, START + 60 * CP_NS_PER_S);
	CHECK(cp_live_last(&l, sum).self == 0);
	cp_live_deinit(&l);
}

/* Seconds end with the clock's own: only the first is longer, or shorter. */
static void test_first_second(void)
{
	static const struct {
		uint64_t start, first;
	} cases[] = { { 0, CP_NS_PER_S },
		      { CP_NS_PER_S / 4, CP_NS_PER_S * 3 / 4 },
		      { CP_NS_PER_S * 3 / 4, CP_NS_PER_S * 5 / 4 } };
	struct cp_live l;
	size_t i;

	for (i = 0; i < CP_ARRAY_SIZE(cases); i++) {
		uint64_t end = START + cases[i].start + cases[i].first;

		cp_live_init(&l, START + cases[i].start);
		CHECK(cp_live_second(&l, START) == 0 && cp_live_second(&l, end - 1) == 0);
		CHECK(cp_live_second(&l, end) == 1 && end % CP_NS_PER_S == 0);
		CHECK(cp_live_second_end(&l, 0) == end);
		CHECK(cp_live_second_end(&l, 2) == end + 2 * CP_NS_PER_S);
		cp_live_advance(&l, end - 1);
		CHECK(cp_live_last_ns(&l) == 0);
		cp_live_advance(&l, end);
		CHECK(cp_live_last_ns(&l) == cases[i].first);
		cp_live_advance(&l, end + 4 * CP_NS_PER_S);
		CHECK(cp_live_last_ns(&l) == cases[i].first + 4 * CP_NS_PER_S);
		cp_live_advance(&l, end + 5 * CP_NS_PER_S);
		CHECK(cp_live_last_ns(&l) == 5 * CP_NS_PER_S);
		cp_live_deinit(&l);
	}
	cp_live_init(&l, START + CP_NS_PER_S / 2);
	cp_live_begin(&l, START + CP_NS_PER_S / 4);
	cp_live_advance(&l, START + CP_NS_PER_S / 2);
	CHECK(cp_live_last_ns(&l) == 0);
	cp_live_finish(&l, START + CP_NS_PER_S / 2);
	CHECK(cp_live_last_ns(&l) == CP_NS_PER_S / 4);
	cp_live_deinit(&l);
}

static void test_threads(void)
{
	const struct cp_live_frame frame = { f, 0 };
	struct cp_live l;
	uint32_t a, b;

	begin(&l);
	a = cp_live_thread(&l, 1, 1);
	b = cp_live_thread(&l, 1, 2);
	cp_live_add(&l, CP_LIVE_TIME, a, 0, &frame, 1, 1, 3);
	cp_live_add(&l, CP_LIVE_TIME, b, 0, &frame, 1, 1, 4);
	CHECK(find(&l, CP_LIVE_FUNCTION, CP_LIVE_ALL, f, 0)->all.self == 7);
	CHECK(find(&l, CP_LIVE_FUNCTION, a, f, 0)->all.self == 3);
	CHECK(find(&l, CP_LIVE_FUNCTION, b, f, 0)->all.self == 4);
	cp_live_deinit(&l);
}

static void test_cost(void)
{
	struct cp_live l;
	uint64_t i;

	begin(&l);
	CHECK(cp_live_cost(&l, true).at_ns == 0);
	for (i = 0; i < 30; i++)
		cp_live_add_cost(&l, &(struct cp_live_cost){ .at_ns = START + i * CP_NS_PER_S,
							     .stopped_ns = i * i });
	CHECK(cp_live_cost(&l, false).at_ns == 29 * CP_NS_PER_S);
	CHECK(cp_live_cost(&l, false).stopped_ns == 29 * 29);
	CHECK(cp_live_cost(&l, true).at_ns == 5 * CP_NS_PER_S);
	CHECK(cp_live_cost(&l, true).stopped_ns == 29 * 29 - 24 * 24);
	cp_live_deinit(&l);
}

int main(void)
{
	test_stack();
	test_last_seconds();
	test_first_second();
	test_threads();
	test_cost();
	TEST_MAIN_END;
}
