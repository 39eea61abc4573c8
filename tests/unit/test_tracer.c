/* SPDX-License-Identifier: MIT
 *
 * Breakpoints, without the rest of cprof: the tracer with plans made by hand,
 * over a program that counts its calls itself.
 */
#include "test.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tracer/restore.h"
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

/* ---- killed ---- */

enum victim { TRACER, CONTROLLER, BOTH, VICTIMS };

/* A controller of its own, which reads events until it dies. */
static pid_t spawn_controller(struct pilot *p)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	pilot_trace(p, CP_TRACE_FOLLOW);
	if (pilot_map(p, 64) || pilot_arm_all(p))
		_exit(1);
	pilot_go(p, 1);
	for (;;) {
		pilot_drain(p);
		usleep(200);
	}
}

static uint64_t rounds(const struct pilot *p)
{
	return p->board->rounds[0];
}

/* Waits until the program has made so many rounds more, and is alive. */
static bool runs_on(const struct pilot *p, uint64_t more)
{
	uint64_t want = rounds(p) + more;
	siginfo_t si = { 0 };

	while (rounds(p) < want) {
		if (waitid(P_PID, (id_t)p->program, &si, WEXITED | WNOHANG | WNOWAIT) || si.si_pid)
			return false;
		usleep(100);
	}
	return true;
}

static void test_kill(enum victim victim, unsigned n, int threads)
{
	struct pilot p = { 0 };
	pid_t controller, tracer;
	size_t restored = 0;
	int status;

	pilot_start(&p, program, "work", threads, 0);
	controller = spawn_controller(&p);
	CHECK(runs_on(&p, 20 + n * 7 % 31));
	usleep(n * 37 % 211);
	tracer = p.board->tracer;
	if (victim != CONTROLLER)
		kill(tracer, SIGKILL);
	if (victim != TRACER)
		kill(controller, SIGKILL);
	if (!runs_on(&p, 100)) {
		status = pilot_end(&p);
		fprintf(stderr, "victim %d, round %u, %d threads: 0x%x\n", victim, n, threads,
			(unsigned)status);
		CHECK(!"the program survives");
		kill(controller, SIGKILL);
		waitpid(controller, &status, 0);
		return;
	}
	if (victim == CONTROLLER) {
		while (!pilot_text_is_clean(&p) && runs_on(&p, 1))
			;
	} else {
		CHECK_OK(cp_restore_text(p.program, &restored));
		CHECK(restored >= 7);
	}
	CHECK(pilot_text_is_clean(&p));
	CHECK(runs_on(&p, 100));
	if (victim == TRACER)
		kill(controller, SIGKILL);
	waitpid(controller, &status, 0);
	status = pilot_end(&p);
	CHECK_U64((uint64_t)status, 0);
	if (status)
		fprintf(stderr, "victim %d, round %u, %d threads\n", victim, n, threads);
}

static void test_kills(unsigned count)
{
	unsigned n;

	for (n = 0; n < count; n++)
		test_kill(n % VICTIMS, n, n % 2 ? 1 : 3);
}

int main(int argc, char **argv)
{
	bool all = argc == 2, is_long = getenv("CPROF_TEST_LONG");

	if (argc < 2)
		return 2;
	program = argv[1];
#define RUN(name, ...) \
	do { \
		if (all || !strcmp(argv[2], #name)) \
			test_##name(__VA_ARGS__); \
	} while (0)
	RUN(counts, 1, 5000);
	RUN(counts, 8, 1000);
	RUN(kills, is_long ? 3000 : 30);
	TEST_MAIN_END;
}
