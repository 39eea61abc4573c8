/* SPDX-License-Identifier: MIT
 *
 * Breakpoints, without the rest of cprof: the tracer with plans made by hand,
 * over a program that counts its calls itself.
 */
#include "test.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
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
	uint64_t began, took;

	pilot_start(&p, program, "work", threads, limit);
	pilot_trace(&p, CP_TRACE_FOLLOW);
	CHECK_U64((uint64_t)pilot_map(&p, 64), 0);
	CHECK_U64((uint64_t)pilot_arm_all(&p), 0);
	pilot_drain(&p);
	began = cp_now();
	pilot_go(&p, 1);
	pilot_until(&p, 9);
	took = cp_now() - began;
	CHECK_U64(p.board->calls[F_PAD], (uint64_t)threads * limit);
	check_counts(&p);
	CHECK_U64(p.link.shared->stats.lost, 0);
	CHECK(p.link.shared->stats.detours >= 60 &&
	      cp_histogram_quantile(p.link.shared->stats.trap, 500) > 0);
	CHECK(!pilot_text_is_clean(&p) && pilot_catches_trap(&p));
	CHECK(pilot_leave(&p));
	CHECK(!pilot_catches_trap(&p));
	CHECK(pilot_text_is_clean(&p));
	fprintf(stderr, "%d threads: %.2f us a hit, held for %.2f\n", threads,
		(double)took / 1e3 / (double)p.link.shared->stats.hits,
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

static bool is_alive(const struct pilot *p)
{
	siginfo_t si = { 0 };

	return !waitid(P_PID, (id_t)p->program, &si, WEXITED | WNOHANG | WNOWAIT) && !si.si_pid;
}

/* Waits until the program has made so many rounds more, and is alive. */
static bool runs_on(const struct pilot *p, uint64_t more)
{
	uint64_t want = rounds(p) + more;

	while (rounds(p) < want) {
		if (!is_alive(p))
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

/* What a killed cprof left is no obstacle for the next one, nor is that one's
 * handler mistaken for the program's. */
static void test_next(void)
{
	struct pilot p = { 0 };
	pid_t controller;
	int i;

	pilot_start(&p, program, "work", 2, 0);
	for (i = 0; i < 3; i++) {
		controller = spawn_controller(&p);
		CHECK(runs_on(&p, 50));
		kill(p.board->tracer, SIGKILL);
		kill(controller, SIGKILL);
		waitpid(controller, NULL, 0);
		pilot_await_untraced(&p);
	}
	CHECK(runs_on(&p, 50));
	pilot_trace(&p, CP_TRACE_FOLLOW);
	CHECK_U64((uint64_t)pilot_map(&p, 64), 0);
	CHECK(pilot_text_is_clean(&p));
	CHECK_U64((uint64_t)pilot_arm_all(&p), 0);
	/* No waiting for rounds: the program may wait for room in the ring. */
	while (pilot_hits(&p, F_PAD, CP_SITE_ENTRY) < 100 && is_alive(&p))
		pilot_drain(&p);
	CHECK(pilot_leave(&p));
	CHECK(pilot_text_is_clean(&p) && !pilot_catches_trap(&p));
	CHECK(runs_on(&p, 50));
	CHECK_U64((uint64_t)pilot_end(&p), 0);
}

/* ---- signals ---- */

/* A handler that runs while the thread is in a slot sees where it really is. */
static void test_signals(uint64_t limit)
{
	struct pilot p = { 0 };

	pilot_start(&p, program, "signals", 1, limit);
	pilot_trace(&p, CP_TRACE_FOLLOW);
	CHECK_U64((uint64_t)pilot_map(&p, 64), 0);
	CHECK_U64((uint64_t)pilot_arm_all(&p), 0);
	pilot_go(&p, 1);
	pilot_until(&p, 9);
	check_counts(&p);
	CHECK(p.board->signals > 20);
	CHECK_U64(p.board->in_area, 0);
	CHECK(pilot_leave(&p));
	CHECK_U64((uint64_t)pilot_end(&p), 0);
}

/* The program's own breakpoint instructions are its own. */
static void test_own_traps(const char *mode)
{
	struct pilot p = { 0 };

	pilot_start(&p, program, mode, 1, 500);
	pilot_go(&p, 1);
	pilot_until(&p, 2);
	pilot_trace(&p, CP_TRACE_FOLLOW);
	CHECK_U64((uint64_t)pilot_map(&p, 64), 0);
	CHECK_U64((uint64_t)pilot_arm_all(&p), 0);
	pilot_go(&p, 2);
	pilot_until(&p, 9);
	check_counts(&p);
	CHECK_U64(p.board->own_traps, !strcmp(mode, "blocked") ? 1 : 500);
	CHECK_U64(p.board->wrong, 0);
	CHECK(pilot_leave(&p));
	CHECK_U64((uint64_t)pilot_end(&p), 0);
}

/* ---- children ---- */

static void test_children(const char *mode, uint32_t flags)
{
	struct pilot p = { 0 };
	const struct board *b;

	pilot_start(&p, program, mode, 1, 60);
	b = p.board;
	pilot_trace(&p, flags);
	CHECK_U64((uint64_t)pilot_map(&p, 64), 0);
	CHECK_U64((uint64_t)pilot_arm_all(&p), 0);
	pilot_go(&p, 1);
	pilot_until(&p, 9);
	CHECK_U64(b->wrong, 0);
	CHECK_U64(p.bad, 0);
	/* The parent counts its own calls only. */
	if (!flags)
		check_counts(&p);
	else if (!strcmp(mode, "forks"))
		CHECK_U64(pilot_hits(&p, F_PAD, CP_SITE_ENTRY), 2 * b->calls[F_PAD]);
	else
		CHECK_U64(pilot_hits(&p, F_PLAIN, CP_SITE_ENTRY), b->calls[F_PLAIN] + 60);
	CHECK_U64(p.events[CP_EVENT_PROCESS], flags ? 61 : 1);
	CHECK(pilot_leave(&p));
	CHECK(pilot_text_is_clean(&p));
	CHECK_U64((uint64_t)pilot_end(&p), 0);
}

/* ---- fences ---- */

static void test_refused(const char *mode, int want)
{
	struct pilot p = { 0 };
	int got;

	pilot_start(&p, program, mode, 1, 100);
	pilot_trace(&p, CP_TRACE_FOLLOW);
	got = pilot_map(&p, 64);
	if (want || got)
		CHECK_U64((uint64_t)got, (uint64_t)(geteuid() ? EACCES : want));
	if (!got)
		CHECK_U64((uint64_t)pilot_arm_all(&p), 0);
	pilot_go(&p, 1);
	pilot_until(&p, 9);
	if (!got)
		check_counts(&p);
	CHECK(pilot_leave(&p));
	CHECK_U64((uint64_t)pilot_end(&p), 0);
}

/* ---- the ring ---- */

/* The longest time that each of two threads lost between hits. */
struct waits {
	uint32_t slot[2];
	uint64_t before[2], longest[2];
};

static void note_wait(struct pilot *p, const struct cp_event_hit *hit)
{
	struct waits *w = p->ctx;
	unsigned i = w->slot[0] != hit->slot && w->before[0];
	uint64_t rise = hit->lost_ns - w->before[i];

	if (w->before[i] && rise > w->longest[i])
		w->longest[i] = rise;
	w->slot[i] = hit->slot;
	w->before[i] = hit->lost_ns;
}

/* A controller that does not read until the program stands still loses nothing,
 * and the hits tell how long their threads waited. */
static void test_full_ring(void)
{
	struct pilot p = { 0 };
	struct pilot_want want = { .function = F_PLAIN, .flags = CP_SITE_REGS | CP_SITE_STACK };
	/* Hardly room for another event as large as they may be. */
	uint64_t full = CP_LINK_RING - CP_LINK_RESERVE - CP_STACK_MAX - 4096;
	struct waits waits = { 0 };
	uint64_t half = 0;
	unsigned still = 0;

	p.on_hit = note_wait;
	p.ctx = &waits;
	pilot_start(&p, program, "work", 2, 8000);
	pilot_trace(&p, CP_TRACE_FOLLOW);
	CHECK_U64((uint64_t)pilot_map(&p, 64), 0);
	CHECK_U64((uint64_t)pilot_arm(&p, &want, 1), 0);
	pilot_go(&p, 1);
	while (p.board->ready < 9 && still < 100) {
		usleep(1000);
		still = p.link.shared->head > full && pilot_is_stopped(&p, 2) ? still + 1 : 0;
		if (still == 50)
			half = cp_now();
	}
	CHECK(p.board->ready < 9);
	half = cp_now() - half;
	pilot_until(&p, 9);
	CHECK_U64(pilot_hits(&p, F_PLAIN, CP_SITE_ENTRY), p.board->calls[F_PLAIN]);
	CHECK_U64(pilot_hits(&p, F_PLAIN, CP_SITE_EXIT), p.board->calls[F_PLAIN]);
	CHECK(waits.longest[0] >= half);
	CHECK(waits.longest[1] >= half);
	CHECK(p.link.shared->stats.full_ns >= 2 * half);
	CHECK(pilot_leave(&p));
	CHECK_U64((uint64_t)pilot_end(&p), 0);
}

/* With a ring that is full to the brim, births and deaths wait, too: as many are
 * told as without. */
static void births(uint64_t *born_ret, uint64_t *died_ret, bool full)
{
	struct pilot p = { 0 };
	uint64_t tail;
	unsigned n;

	pilot_start(&p, program, "work", 8, 10);
	pilot_trace(&p, CP_TRACE_FOLLOW);
	pilot_drain(&p);
	tail = p.link.shared->tail;
	if (full)
		p.link.shared->tail = p.link.shared->head + 64 - CP_LINK_RING;
	pilot_go(&p, 1);
	for (n = 0; full && n < 50; n++)
		usleep(1000);
	CHECK(!full || p.board->ready < 9);
	p.link.shared->tail = tail;
	pilot_until(&p, 9);
	CHECK(pilot_leave(&p));
	*born_ret = p.events[CP_EVENT_THREAD];
	*died_ret = p.events[CP_EVENT_THREAD_EXIT];
	CHECK_U64((uint64_t)pilot_end(&p), 0);
}

static void test_full_to_the_brim(void)
{
	uint64_t born, died, all_born, all_died;

	births(&all_born, &all_died, false);
	births(&born, &died, true);
	CHECK(all_born >= 8 && all_died >= 7);
	CHECK_U64(born, all_born);
	CHECK_U64(died, all_died);
}

/* ---- what is captured ---- */

struct captured {
	uint64_t hits, wrong;
};

static const char *const texts[] = { "a", "text of some length", "" };

/* Entries of F_PLAIN: n, a text, and (double)n. */
static void look_at_values(struct pilot *p, const struct cp_event_hit *hit)
{
	const uint64_t *regs = (const uint64_t *)(hit + 1);
	const struct cp_hit_vector *v;
	const struct cp_fetched *f;
	struct captured *c = p->ctx;
	const char *text;
	double value;

	if (p->sites[hit->site].id != F_PLAIN * 16 + CP_SITE_ENTRY)
		return;
	c->hits++;
	v = (const struct cp_hit_vector *)(regs + cp_arch_host()->nregs);
	memcpy(&value, v->v[0], sizeof(value));
	f = (const struct cp_fetched *)(v + 1);
	text = texts[regs[5] % 3];
	c->wrong += hit->regs_size != cp_arch_host()->nregs * 8u || regs[16] != hit->pc ||
		    regs[7] != hit->sp;
	c->wrong += hit->vector_size != sizeof(*v) ||
		    (hit->caller < p->board->start[F_TAIL] && value != (double)regs[5]);
	c->wrong += f->size != strlen(text) + 1 || strcmp((const char *)(f + 1), text) ||
		    f->address != regs[4];
	f = (const struct cp_fetched *)((const uint8_t *)(f + 1) + cp_align8(f->size));
	c->wrong += f->size || f->index != 1; /* at an address that is not there */
	c->wrong += hit->fetched_size !=
		    (uint64_t)((const uint8_t *)(f + 1) - (const uint8_t *)(v + 1));
	c->wrong += hit->caller < p->board->text || hit->caller > p->board->text_end;
}

static void test_values(void)
{
	const struct cp_fetch fetches[] = {
		{ .from = 4, .flags = CP_FETCH_STRING, .size = 64 },
		{ .from = 5, .offset = 16, .size = 100 },
	};
	struct pilot_want want = { .function = F_PLAIN,
				   .flags = CP_SITE_REGS | CP_SITE_VECTOR,
				   .fetches = fetches,
				   .fetch_count = 2 };
	struct captured captured = { 0 };
	struct pilot p = { .on_hit = look_at_values, .ctx = &captured };

	pilot_start(&p, program, "work", 1, 3000);
	pilot_trace(&p, CP_TRACE_FOLLOW);
	CHECK_U64((uint64_t)pilot_map(&p, 64), 0);
	CHECK_U64((uint64_t)pilot_arm(&p, &want, 1), 0);
	pilot_go(&p, 1);
	pilot_until(&p, 9);
	CHECK_U64(captured.hits, p.board->calls[F_PLAIN]);
	CHECK_U64(captured.wrong, 0);
	CHECK(pilot_leave(&p));
	CHECK_U64((uint64_t)pilot_end(&p), 0);
}

/* A breakpoint where the function returns to, made while the thread waits. */
static void arm_return(struct pilot *p, const struct cp_event_hit *hit)
{
	unsigned *armed = p->ctx;

	if (!(hit->e.flags & CP_HIT_WANTS_RETURN))
		return;
	CHECK_U64((uint64_t)pilot_arm_return(p, F_PLAIN, hit->caller), 0);
	++*armed;
}

static void test_returns(int threads)
{
	struct pilot_want want = { .function = F_PLAIN, .flags = CP_SITE_WATCH_RETURN };
	unsigned armed = 0;
	struct pilot p = { .on_hit = arm_return, .ctx = &armed };

	pilot_start(&p, program, "work", threads, 300);
	pilot_trace(&p, CP_TRACE_FOLLOW);
	CHECK_U64((uint64_t)pilot_map(&p, 64), 0);
	CHECK_U64((uint64_t)pilot_arm(&p, &want, 1), 0);
	pilot_go(&p, 1);
	pilot_until(&p, 9);
	/* It is called from two places; threads may ask at the same time. */
	CHECK(armed >= 2 && armed <= 2u * (unsigned)threads);
	CHECK_U64(pilot_hits(&p, F_PLAIN, CP_SITE_ENTRY), p.board->calls[F_PLAIN]);
	CHECK(pilot_hits(&p, F_PLAIN, CP_SITE_RETURN) >= p.board->calls[F_PLAIN]);
	/* F_TAIL, which jumps to it every second time, returns to the same place the
	 * other times: 150, but the first is before that breakpoint. */
	if (threads == 1)
		CHECK_U64(pilot_hits(&p, F_PLAIN, CP_SITE_RETURN), p.board->calls[F_PLAIN] + 149);
	CHECK(pilot_leave(&p));
	CHECK(pilot_text_is_clean(&p));
	CHECK_U64((uint64_t)pilot_end(&p), 0);
}

/* ---- coming and going ---- */

static void test_disarm(void)
{
	struct cp_request group = { .type = CP_REQUEST_DISARM_GROUP, .first = F_PLAIN };
	struct cp_request range = { .type = CP_REQUEST_DISARM };
	struct pilot p = { 0 };
	uint64_t before;
	int i;

	pilot_start(&p, program, "work", 2, 0);
	pilot_trace(&p, CP_TRACE_FOLLOW);
	CHECK_U64((uint64_t)pilot_map(&p, 64), 0);
	pilot_go(&p, 1);
	for (i = 0; i < 20; i++) {
		p.slots = p.site_count = 0;
		CHECK_U64((uint64_t)pilot_arm_all(&p), 0);
		before = pilot_hits(&p, F_PLAIN, CP_SITE_ENTRY);
		while (pilot_hits(&p, F_PLAIN, CP_SITE_ENTRY) < before + 50)
			pilot_drain(&p);
		CHECK_U64((uint64_t)pilot_request(&p, group, NULL), 0);
		range.pid = p.program;
		range.address = p.board->text;
		range.size = p.board->text_end - p.board->text;
		CHECK_U64((uint64_t)pilot_request(&p, range, NULL), 0);
		CHECK(pilot_text_is_clean(&p));
	}
	CHECK(runs_on(&p, 100));
	CHECK_U64(p.bad, 0);
	CHECK(pilot_leave(&p));
	CHECK_U64((uint64_t)pilot_end(&p), 0);
}

static void count_bulk(struct pilot *p, const struct cp_event_hit *hit)
{
	uint32_t *hits = p->ctx;

	if (hit->site < 2 * BULK)
		hits[hit->site]++;
}

/* Two thousand functions, each called once, armed and disarmed twice. */
static void test_bulk(void)
{
	static uint32_t hits[2 * BULK];
	struct cp_request rq = { .type = CP_REQUEST_DISARM };
	struct pilot p = { .on_hit = count_bulk, .ctx = hits };
	uint64_t began, armed, disarmed;
	unsigned n, wrong = 0;

	pilot_start(&p, program, "bulk", 1, 0);
	pilot_trace(&p, CP_TRACE_FOLLOW);
	CHECK_U64((uint64_t)pilot_map(&p, 2 * BULK), 0);
	CHECK_U64((uint64_t)pilot_arm_bulk(&p), 0);
	rq.pid = p.program;
	rq.address = p.board->bulk;
	rq.size = BULK * BULK_SIZE;
	CHECK_U64((uint64_t)pilot_request(&p, rq, NULL), 0);
	CHECK(pilot_text_is_clean(&p));
	began = cp_now();
	CHECK_U64((uint64_t)pilot_arm_bulk(&p), 0);
	armed = cp_now();
	pilot_go(&p, 1);
	pilot_until(&p, 9);
	disarmed = cp_now();
	CHECK_U64((uint64_t)pilot_request(&p, rq, NULL), 0);
	fprintf(stderr, "%d functions: armed in %.2f ms, disarmed in %.2f ms\n", BULK,
		(double)(armed - began) / 1e6, (double)(cp_now() - disarmed) / 1e6);
	for (n = 0; n < 2 * BULK; n++)
		wrong += hits[n] != 1;
	CHECK_U64(wrong, 0);
	CHECK(pilot_text_is_clean(&p));
	CHECK(pilot_leave(&p));
	CHECK_U64((uint64_t)pilot_end(&p), 0);
}

/* Which of them fits to none before it. */
static void check_order(struct pilot *p)
{
	struct cp_request forget = { .type = CP_REQUEST_DISARM,
				     .pid = p->program,
				     .flags = CP_DISARM_FORGET,
				     .address = p->board->bulk,
				     .size = BULK * BULK_SIZE };
	uint64_t area = p->area;

	CHECK_U64((uint64_t)pilot_arm_piece(p, 0, 10, CP_ARM_NEXT), EINVAL);
	CHECK_U64((uint64_t)pilot_arm_piece(p, 0, 10, CP_ARM_MORE), 0);
	p->area += 4096;
	CHECK_U64((uint64_t)pilot_arm_piece(p, 10, 10, CP_ARM_NEXT | CP_ARM_MORE), EINVAL);
	p->area = area;
	CHECK_U64((uint64_t)pilot_arm_piece(p, 20, 10, CP_ARM_NEXT), EINVAL);
	CHECK_U64((uint64_t)pilot_arm_piece(p, 0, 10, CP_ARM_MORE), 0);
	CHECK_U64((uint64_t)pilot_request(p, forget, NULL), 0);
	CHECK_U64((uint64_t)pilot_arm_piece(p, 10, 10, CP_ARM_NEXT), EINVAL);
	/* Nor what was begun and is begun again. */
	CHECK_U64((uint64_t)pilot_arm_piece(p, 0, BULK, CP_ARM_MORE), 0);
	CHECK_U64((uint64_t)pilot_arm_piece(p, 0, 10, CP_ARM_MORE), 0);
	CHECK(pilot_text_is_clean(p) && !pilot_catches_trap(p));
	CHECK_U64((uint64_t)pilot_arm_piece(p, 10, 10, CP_ARM_NEXT), 0);
	CHECK(!pilot_text_is_clean(p) && pilot_catches_trap(p));
	CHECK_U64((uint64_t)pilot_arm_piece(p, 20, 10, CP_ARM_NEXT), EINVAL);
}

/* A batch that comes in pieces: breakpoints with the last one. */
static void test_pieces(void)
{
	static uint32_t hits[2 * BULK];
	struct pilot p = { .on_hit = count_bulk, .ctx = hits };
	unsigned n, right = 0;

	pilot_start(&p, program, "bulk", 1, 0);
	pilot_trace(&p, CP_TRACE_FOLLOW);
	CHECK_U64((uint64_t)pilot_map(&p, 2 * BULK), 0);
	check_order(&p);
	for (n = 100; n < 1000; n += 100)
		CHECK_U64((uint64_t)pilot_arm_piece(&p, n, 100,
						    (n > 100 ? CP_ARM_NEXT : 0) |
							    (n < 900 ? CP_ARM_MORE : 0)),
			  0);
	pilot_go(&p, 1);
	pilot_until(&p, 9);
	for (n = 0; n < 2 * BULK; n++)
		right += hits[n] == (n < 2 * 20 || (n >= 2 * 100 && n < 2 * 1000));
	CHECK_U64(right, 2 * BULK);
	CHECK(pilot_leave(&p));
	CHECK(pilot_text_is_clean(&p));
	CHECK_U64((uint64_t)pilot_end(&p), 0);
}

static void test_rate(void)
{
	struct pilot_want want = { .function = F_PAD, .max_rate = 1000 };
	struct pilot p = { 0 };

	pilot_start(&p, program, "work", 1, 0);
	pilot_trace(&p, CP_TRACE_FOLLOW);
	CHECK_U64((uint64_t)pilot_map(&p, 64), 0);
	CHECK_U64((uint64_t)pilot_arm(&p, &want, 1), 0);
	pilot_go(&p, 1);
	while (!p.events[CP_EVENT_DISARMED] && is_alive(&p))
		pilot_drain(&p);
	CHECK(pilot_text_is_clean(&p));
	CHECK(runs_on(&p, 100));
	CHECK(pilot_leave(&p));
	CHECK_U64((uint64_t)pilot_end(&p), 0);
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
	RUN(kills, is_long ? 600 : 30);
	RUN(next);
	RUN(signals, 20000);
	RUN(own_traps, "own traps");
	RUN(own_traps, "blocked");
	RUN(children, "forks", CP_TRACE_FOLLOW);
	RUN(children, "forks", 0);
	RUN(children, "vforks", CP_TRACE_FOLLOW);
	RUN(children, "vforks", 0);
	RUN(refused, "seccomp", 0);
	RUN(refused, "no memory", ENOMEM);
	RUN(full_ring);
	RUN(full_to_the_brim);
	RUN(values);
	RUN(returns, 1);
	RUN(returns, 3);
	RUN(disarm);
	RUN(rate);
	RUN(bulk);
	RUN(pieces);
	/* For measuring: threads, rounds. */
	if (argc == 5 && !strcmp(argv[2], "speed"))
		test_counts(atoi(argv[3]), strtoull(argv[4], NULL, 10));
	TEST_MAIN_END;
}
