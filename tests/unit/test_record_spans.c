/* SPDX-License-Identifier: MIT
 *
 * Calls matched from their events: on stacks on which threads take turns, several of them
 * entered at once.
 */
#include "record/spans.h"
#include "test.h"

#define START_NS 1000u
#define MANY 4u

struct seen {
	unsigned ended, open, begun;
	uint32_t thread[MANY + 1], stack[MANY + 1]; /* in the order of their ends */
};

static struct cp_error *begin(void *ctx, struct cp_span *span, const struct cp_record_call *call)
{
	struct seen *seen = ctx;

	(void)span, (void)call;
	seen->begun++;
	return NULL;
}

static struct cp_error *end(void *ctx, struct cp_span *span, const struct cp_record_call *call)
{
	struct seen *seen = ctx;

	(void)call;
	if (span->end != CP_SPAN_RETURNED) {
		seen->open++;
	} else if (seen->ended <= MANY) {
		seen->thread[seen->ended] = span->thread;
		seen->stack[seen->ended++] = span->on_stack;
	}
	return NULL;
}

static void tell(struct cp_spans *s, uint32_t thread, uint32_t stack, uint64_t ts_ns, bool leaves)
{
	struct cp_record_call call = {
		.kind = leaves ? CP_RECORD_LEAVE : CP_RECORD_ENTER,
		.thread = thread,
		.function = 3,
		.depth = 7,
		.on_stack = leaves ? 0 : stack,
		.ts_ns = START_NS + ts_ns,
		.duration_ns = leaves ? ts_ns - 10 : 0,
		.target = CP_RECORD_NONE,
		.stack = CP_RECORD_NONE,
	};

	CHECK_OK(cp_spans_event(s, &call));
}

/* All of them at the same depth of the same function, in the same nanosecond. */
static void enter_at_once(struct cp_spans *s)
{
	uint32_t i;

	for (i = 0; i < MANY; i++)
		tell(s, i, 100 + i, 10, false);
}

static void check_all(struct cp_spans *s, const struct seen *seen)
{
	CHECK_OK(cp_spans_rest(s, 1000));
	CHECK_U64(seen->begun, MANY);
	CHECK_U64(seen->ended, MANY);
	CHECK_U64(seen->open, 0);
	cp_spans_deinit(s);
}

/* Each thread ends its own, in any order. */
static void test_at_once(void)
{
	static const uint32_t orders[][MANY] = {
		{ 0, 1, 2, 3 }, { 3, 2, 1, 0 }, { 2, 0, 3, 1 }, { 1, 3, 0, 2 }
	};
	static const struct cp_spans_to to = { NULL, begin, end };
	size_t order, i;

	for (order = 0; order < sizeof(orders) / sizeof(*orders); order++) {
		struct seen seen = { 0 };
		struct cp_spans s = { .to = &to, .ctx = &seen, .start_ns = START_NS };

		enter_at_once(&s);
		for (i = 0; i < MANY; i++)
			tell(&s, orders[order][i], 0, 20 + i, true);
		for (i = 0; i < MANY; i++) {
			CHECK_U64(seen.thread[i], orders[order][i]);
			CHECK_U64(seen.stack[i], 100 + orders[order][i]);
		}
		check_all(&s, &seen);
	}
}

/* Each ends in another thread, and each once. */
static void test_moved(void)
{
	static const struct cp_spans_to to = { NULL, begin, end };
	struct seen seen = { 0 };
	struct cp_spans s = { .to = &to, .ctx = &seen, .start_ns = START_NS };
	unsigned stacks = 0;
	uint32_t i;

	enter_at_once(&s);
	for (i = 0; i < MANY; i++)
		tell(&s, 50 + i, 0, 20 + i, true);
	for (i = 0; i < MANY; i++)
		stacks |= 1u << (seen.stack[i] - 100);
	CHECK_U64(stacks, (1u << MANY) - 1);
	check_all(&s, &seen);
}

int main(void)
{
	test_at_once();
	test_moved();
	TEST_MAIN_END;
}
