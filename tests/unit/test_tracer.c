/* SPDX-License-Identifier: MIT
 *
 * Breakpoints, without the rest of cprof: the tracer with plans made by hand,
 * over a program that counts its calls itself.
 */
#include "test.h"

#include <signal.h>

#include "tracer_pilot.h"

static const char *program;

static void check_counts(struct pilot *p)
{
	const struct board *b = p->board;

	CHECK_U64(pilot_hits(p, F_PLAIN, CP_SITE_ENTRY), b->calls[F_PLAIN]);
	CHECK_U64(pilot_hits(p, F_PLAIN, CP_SITE_EXIT), b->calls[F_PLAIN]);
	CHECK_U64(pilot_hits(p, F_PAD, CP_SITE_ENTRY), b->calls[F_PAD]);
	CHECK_U64(pilot_hits(p, F_PAD, CP_SITE_EXIT), b->calls[F_PAD]);
	CHECK_U64(pilot_hits(p, F_TINY, CP_SITE_ENTRY), b->calls[F_TINY]);
	CHECK_U64(pilot_hits(p, F_TINY, CP_SITE_EXIT), b->calls[F_TINY]);
	CHECK_U64(pilot_hits(p, F_TAIL, CP_SITE_ENTRY), b->calls[F_TAIL]);
	/* Every second call leaves by the jump. */
	CHECK_U64(pilot_hits(p, F_TAIL, CP_SITE_TAIL), b->calls[F_PLAIN] - b->calls[F_PAD]);
	CHECK_U64(pilot_hits(p, F_TAIL, CP_SITE_EXIT) + pilot_hits(p, F_TAIL, CP_SITE_TAIL),
		  b->calls[F_TAIL]);
	CHECK_U64(p->bad, 0);
}

/* Every call is seen, by entry and exit; afterwards the text is as it was. */
static void test_counts(int threads, uint64_t limit)
{
	struct pilot p = { 0 };

	pilot_start(&p, program, "work", threads, limit);
	pilot_trace(&p, CP_TRACE_FOLLOW);
	CHECK_U64((uint64_t)pilot_map(&p, 64), 0);
	CHECK_U64((uint64_t)pilot_arm_all(&p), 0);
	pilot_go(&p, 1);
	pilot_until(&p, 9);
	CHECK_U64(p.board->calls[F_PAD], (uint64_t)threads * limit);
	check_counts(&p);
	CHECK_U64(p.link.shared->stats.lost, 0);
	CHECK(!pilot_text_is_clean(&p));
	CHECK(pilot_leave(&p));
	CHECK(pilot_text_is_clean(&p));
	fprintf(stderr, "%d threads: held %.2f us a hit\n", threads,
		(double)p.link.shared->stats.hit_ns / 1e3 / (double)p.link.shared->stats.hits);
	CHECK_U64((uint64_t)pilot_end(&p), 0);
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	program = argv[1];
	test_counts(1, 5000);
	test_counts(8, 1000);
	TEST_MAIN_END;
}
