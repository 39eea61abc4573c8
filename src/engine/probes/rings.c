/* SPDX-License-Identifier: MIT
 *
 * The rings that a process's detours write to: which thread has which, how long who finds
 * no room waits, and what a detour costs.
 */
#include "engine/probes/rings.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "detour/space.h"
#include "engine/probes/areas.h"
#include "engine/probes/base.h"
#include "engine/probes/roles.h"
#include "engine/probes/valued.h"
#include "engine/target/images.h"
#include "engine/target/state.h"

/* More than a core has caches of its own for: lines that the reader had are not in them any more
 * when the program comes by again, and nobody waits for the other one to give one up. */
#define RING_LOG 21
#define LOW_LOG 20 /* what there is room for below a program that lies as low as they do */
#define RINGS 512
/* Where coverage is all that there is, nobody records: there is room for numbers. */
#define NUMBERS_LOG 23
#define NUMBERS_RINGS 3
/* Up to the first sign of life (engine_records_beat()): breakpoints are placed meanwhile. */
#define FIRST_TICKS (UINT64_C(1) << 34)
/* Of a thread that was given a ring, up to the first one that it is told of. */
#define FIRST_WAIT (UINT64_C(1) << 32)
/* For so many the program waits, where pieces are enough later. */
#define FIRST_RECORDS 500000
#define LOW_END (UINT64_C(1) << 31)
#define FAR (UINT64_C(16) << 30) /* bytes from anything else */
#define LOW_ROOM (UINT64_C(16) << 20) /* left free beside mappings there */

/* What one of the two rings that stay closed has not room for. */
static uint64_t lost_in(const struct engine_rings *rings, size_t number)
{
	const struct cp_detour_ring *ring =
		(const void *)(rings->memory + number * cp_detour_ring_size(rings->code.log));

	return __atomic_load_n(&ring->lost, __ATOMIC_RELAXED);
}

void engine_rings_settle(cprof_session *s, struct engine_rings *rings, bool asking)
{
	uint64_t lost = lost_in(rings, 0);

	if (rings->asking)
		s->calls->records_lost += lost - rings->zero_lost;
	rings->zero_lost = lost;
	rings->asking = asking;
}

uint64_t engine_rings_lost(const cprof_session *s)
{
	uint64_t lost = s->calls->records_lost;
	struct engine_rings *const *rings;
	uint32_t i;

	cp_vec_for_each(&s->calls->rings, rings) {
		lost += lost_in(*rings, CP_RINGS_CLOSED);
		for (i = 0; i < (*rings)->used; i++)
			if ((*rings)->items[i].records.ring)
				lost += cp_records_untold(&(*rings)->items[i].records);
	}
	return lost;
}

/* ---- numbers ---- */

uint32_t engine_rings_number(struct engine_rings *rings, uint32_t counter)
{
	const uint64_t *known = cp_map_get(&rings->places, counter);
	uint32_t place = known ? (uint32_t)*known - 1 : (uint32_t)rings->numbers.count;

	if (known)
		return cp_detour_count_at(rings->code.zero, place);
	if (place >= cp_detour_count_most(rings->code.log) ||
	    !cp_map_put(&rings->places, counter, place + UINT64_C(1)))
		return 0;
	if (cp_vec_push(&rings->numbers, ((struct engine_number){ .counter = counter })))
		return cp_detour_count_at(rings->code.zero, place);
	cp_map_remove(&rings->places, counter);
	return 0;
}

/* A number may be less than before: who was led out counts again. */
static void collect(struct engine_rings *rings,
		    void (*add)(void *ctx, uint32_t counter, uint64_t more), void *ctx)
{
	const uint64_t *numbers = (const void *)(rings->memory + cp_detour_count_at(0, 0));
	struct engine_number *n;
	uint64_t now;

	cp_vec_for_each(&rings->numbers, n) {
		now = __atomic_load_n(&numbers[n - rings->numbers.items], __ATOMIC_RELAXED);
		if (now != n->taken)
			add(ctx, n->counter, now - n->taken);
		n->taken = now;
	}
}

void engine_rings_collect(const cprof_session *s,
			  void (*add)(void *ctx, uint32_t counter, uint64_t more), void *ctx)
{
	struct engine_rings *const *rings;

	cp_vec_for_each(&s->calls->rings, rings)
		collect(*rings, add, ctx);
}

/* ---- theirs ---- */

static void release_rings(cprof_session *s, struct engine_rings *rings)
{
	size_t i;

	if (!rings || --rings->users)
		return;
	for (i = 0; i < s->calls->rings.count; i++)
		if (s->calls->rings.items[i] == rings)
			s->calls->rings.items[i] = s->calls->rings.items[--s->calls->rings.count];
	if (rings->memory) {
		engine_rings_settle(s, rings, false);
		s->calls->records_lost += lost_in(rings, CP_RINGS_CLOSED);
		munmap(rings->memory, rings->size);
	}
	for (i = 0; rings->items && i < rings->count; i++)
		engine_valued_release(&rings->items[i]);
	cp_map_free(&rings->callers);
	cp_map_free(&rings->places);
	cp_vec_free(&rings->numbers);
	free(rings->items);
	free(rings);
}

struct low {
	uint64_t size, found;
	uint64_t program; /* where it begins */
};

static uint64_t end_with(uint64_t end, uint64_t size)
{
	return (end - size) & ~(uint64_t)(CP_DETOUR_CHUNK - 1);
}

/* The highest place below 2 GiB; but below a program that is there itself, whose heap may
 * take all that is above it. */
static bool look_low(void *ctx, const struct engine_gap *gap)
{
	struct low *low = ctx;
	uint64_t end = gap->end < LOW_END ? gap->end : LOW_END;

	if (end <= gap->start)
		return true;
	if (gap->end <= low->program && low->program < LOW_END &&
	    end - gap->start >= 2 * low->size) {
		low->found = end_with(end, low->size + CP_DETOUR_CHUNK);
		return true;
	}
	if ((!low->found || low->found > low->program) &&
	    end - gap->start >= low->size + 2 * LOW_ROOM)
		low->found = end_with(end - LOW_ROOM, low->size);
	return true;
}

struct far {
	uint64_t size, found;
	uint64_t best; /* bytes of the largest gap */
};

/* In the largest gap, out of the reach of jumps from what is above it: a jump that shares bytes
 * with the instruction behind it leads to a certain place, which the rings may be in the way
 * of. */
static bool look_far(void *ctx, const struct engine_gap *gap)
{
	struct far *far = ctx;

	if (gap->end > cp_arch_host()->user_end || gap->end < gap->start ||
	    gap->end - gap->start <= far->best)
		return true;
	far->best = gap->end - gap->start;
	if (far->best >= 2 * FAR + far->size)
		far->found = end_with(gap->end - FAR, far->size);
	return true;
}

struct places {
	struct low low;
	struct far far;
};

static bool look_both(void *ctx, const struct engine_gap *gap)
{
	struct places *places = ctx;

	return look_low(&places->low, gap) && look_far(&places->far, gap);
}

static uint64_t begin_of_program(const cprof_process *p)
{
	size_t i;

	for (i = 0; i < p->images.count; i++)
		if (p->images.items[i]->mapped && engine_is_program(p->images.items[i]))
			return p->images.items[i]->start;
	return 0;
}

/* What is called first is seen whole, in a second or so. */
static bool is_first(const cprof_session *s)
{
	return s->calls->records < FIRST_RECORDS;
}

static bool is_tracing(const cprof_session *s)
{
	return s->calls && (s->calls->traces.count || s->calls->filters);
}

bool engine_rings_wait(const cprof_session *s)
{
	if (s->on_full != CPROF_ON_FULL_USUAL)
		return s->on_full == CPROF_ON_FULL_WAIT;
	if (!s->calls || !engine_roles_pausing(s))
		return s->child || (!is_tracing(s) && engine_roles_waiting(s));
	return !s->calls->rate_globbed || (s->child && is_first(s));
}

/* Who has no ring yet stops at its first call. Code may be worked out for longer than that is
 * said for: the tracer goes on saying so as long as we do (tracer/progress.c). */
static void ask_for_rings(const cprof_session *s, void *zero)
{
	cp_records_ask(zero, cp_arch_time_stamp() + FIRST_TICKS,
		       engine_rings_wait(s) ? FIRST_WAIT : 0);
	s->link.shared->beat_ticks = FIRST_TICKS;
	s->link.shared->beat_ns = cp_now();
}

/* As many ways as there are parts of chance that are alike, in any order. */
static void set_ways(void *zero, unsigned ring_log, uint64_t every)
{
	uint64_t *ways = (void *)((uint8_t *)zero + cp_detour_ways_offset(ring_log));
	uint64_t random = cp_arch_time_stamp(), other;
	size_t i;

	for (i = 0; every && i < CP_DETOUR_WAYS; i++) {
		double chance = ((double)i + 0.5) / CP_DETOUR_WAYS;

		other = cp_random(&random) % (i + 1);
		ways[i] = ways[other];
		ways[other] = (uint64_t)(-log(chance) * (double)every) + 1;
	}
}

static int ask(const cprof_process *p, const struct cp_request *rq, struct cp_answer *answer,
	       int *fd_ret)
{
	struct cp_error *err = cp_link_call(&p->session->link, rq, answer, fd_ret);

	if (!err)
		return answer->errnum;
	cp_error_free(err);
	return ESRCH;
}

static unsigned log_for(const cprof_process *p)
{
	uint64_t program = begin_of_program(p);

	if (p->session->coverage)
		return NUMBERS_LOG;
	return program && program < LOW_END ? LOW_LOG : RING_LOG;
}

static int map_rings(cprof_process *p, struct engine_rings *rings)
{
	struct cp_request rq = { .type = CP_REQUEST_RINGS,
				 .pid = p->pid,
				 .first = p->session->coverage ? NUMBERS_RINGS : RINGS };
	unsigned log = log_for(p);
	struct places places = {
		.low = { .size = cp_detour_ring_size(log), .program = begin_of_program(p) },
		.far = { .size = cp_detour_ring_size(log) * rq.first },
	};
	struct cp_answer answer;
	CP_CLOSE int fd = -1;
	int errnum;

	rq.size = places.low.size;
	if (!engine_area_gaps(p, look_both, &places) || !places.low.found)
		return ENOMEM;
	rq.address = places.low.found;
	rq.hint = places.far.found;
	errnum = ask(p, &rq, &answer, &fd);
	if (errnum == EEXIST && answer.address) { /* threads have rings of an earlier cprof */
		rq.address = answer.address;
		rq.first = answer.threads > rq.first ? answer.threads : rq.first;
		errnum = ask(p, &rq, &answer, &fd);
	}
	if (errnum || fd < 0)
		return errnum ? errnum : EBADF;
	rings->count = (uint32_t)rq.first;
	rings->size = rings->count * rq.size;
	rings->base = answer.address;
	rings->memory = mmap(NULL, rings->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (rings->memory == MAP_FAILED) {
		rings->memory = NULL;
		return errno;
	}
	if (!p->session->coverage)
		set_ways(rings->memory, log, engine_roles_every(p->session));
	ask_for_rings(p->session, rings->memory);
	rings->asking = true;
	rings->code = (struct cp_detour_rings){ .zero = (uint32_t)rq.address, .log = (uint8_t)log };
	return 0;
}

static struct engine_rings *make_rings(cprof_process *p)
{
	struct engine_rings *rings = calloc(1, sizeof(*rings));
	int errnum;

	if (!rings)
		return NULL;
	rings->users = 1;
	errnum = map_rings(p, rings);
	if (!errnum)
		rings->items = calloc(rings->count, sizeof(*rings->items));
	if (!errnum && rings->items && cp_vec_push(&p->session->calls->rings, rings)) {
		if (!p->session->calls->priced && !p->session->coverage)
			p->session->calls->price = engine_price();
		p->session->calls->priced |= !p->session->coverage;
		return rings;
	}
	cp_debug("rings of %d: %s", p->pid, strerror(errnum));
	release_rings(p->session, rings);
	return NULL;
}

struct engine_detours *engine_detours_of(cprof_process *p)
{
	if (!p->detours)
		p->detours = calloc(1, sizeof(*p->detours));
	return p->detours;
}

struct engine_rings *engine_rings_of(cprof_process *p)
{
	if (!engine_detours_of(p) || p->detours->foreign)
		return NULL;
	if (!p->detours->tried && engine_base_used(p)) {
		p->detours->foreign = true;
		return NULL;
	}
	if (!p->detours->tried)
		p->detours->rings = make_rings(p);
	p->detours->tried = true;
	return p->detours->rings;
}

void engine_rings_inherit(cprof_process *p, const cprof_process *parent)
{
	if (!parent->detours || p->detours)
		return;
	if (!engine_detours_of(p))
		return;
	p->detours->rings = parent->detours->rings;
	p->detours->tried = parent->detours->tried;
	p->detours->foreign = parent->detours->foreign;
	if (p->detours->rings)
		p->detours->rings->users++;
}

void engine_rings_forget(cprof_process *p)
{
	if (!p->detours)
		return;
	release_rings(p->session, p->detours->rings);
	cp_vec_free(&p->detours->plain);
	cp_vec_free(&p->detours->stacks);
	free(p->detours->callers);
	free(p->detours->targets);
	free(p->detours);
	p->detours = NULL;
}

struct engine_ring *engine_ring_of(const cprof_process *p, int32_t tid)
{
	struct engine_rings *rings = p->detours ? p->detours->rings : NULL;
	uint32_t i;

	for (i = 0; rings && i < rings->used; i++)
		if (rings->items[i].tid == tid)
			return &rings->items[i];
	return NULL;
}

void engine_rings_chosen(const cprof_process *p, uint64_t address, bool more)
{
	struct engine_rings *rings = p->detours ? p->detours->rings : NULL;
	uint8_t *byte, was;

	if (!rings)
		return;
	byte = rings->memory + cp_detour_chosen_offset(rings->code.log) +
	       cp_detour_chosen(address, rings->code.log);
	was = __atomic_load_n(byte, __ATOMIC_RELAXED);
	while ((more ? was < CP_DETOUR_MANY : was != 0) &&
	       !__atomic_compare_exchange_n(byte, &was, more ? was + 1 : was - 1, false,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

/* Calls on other stacks than its own are told by stops, which bring the stack along, until
 * that is known. */
void engine_ring_stack(const cprof_thread *t)
{
	struct engine_ring *ring = engine_ring_of(t->process, t->tid);
	struct cp_detour_ring *of = ring ? ring->records.ring : NULL;

	if (!of || !t->stack_end || t->stack_end == UINT64_MAX)
		return;
	__atomic_store_n(&of->own_low, t->process->stacks_within ? UINT64_MAX : t->stack_low,
			 __ATOMIC_RELAXED);
	__atomic_store_n(&of->own_end, t->stack_end, __ATOMIC_RELAXED);
	if (t->process->stacks_within)
		cp_records_forget_stacks(&ring->records);
}

/* What is further up may be another stack (tracer/known/again.c). */
#define SAME_STACK (UINT64_C(16) << 10)

void engine_ring_cancel(struct engine_ring *ring)
{
	size_t i, count = CP_ARRAY_SIZE(ring->again);

	for (i = 0; i < count - 1 && ring->again[i].sp; i++)
		;
	ring->again[i] = ring->last;
}

uint64_t engine_site_mark(const struct engine_site *site, const uint64_t *values, unsigned words)
{
	if (site->kind != ENGINE_SITE_ENTRY || words < 2)
		return 0;
	return values[0] ^ (values[1] << 32 | values[1] >> 32);
}

/* A handler that does not return leaves one here that says nothing any more: another call
 * at that place is another one, and nothing else happens there, or further up, before. */
bool engine_ring_told(struct engine_ring *ring, const struct engine_again *now)
{
	uint64_t sp = CP_RECORD_SP(now->sp);
	bool same = false;
	size_t i;

	for (i = 0; i < CP_ARRAY_SIZE(ring->again); i++) {
		struct engine_again *again = &ring->again[i];

		same |= again->sp == sp && again->site == now->site && again->call == now->call;
		if (sp >= again->sp && sp - again->sp < SAME_STACK)
			again->sp = 0;
	}
	ring->last = (struct engine_again){ sp, now->call, now->site };
	return same;
}
