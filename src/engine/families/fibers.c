/* SPDX-License-Identifier: MIT
 *
 * Fibers that the program does not announce, switched by the C library:
 *
 *   swapcontext(from, to), setcontext(to)     breakpoints at both
 *        │               └─► the stack that makecontext() was given, copied at
 *        │                   the stop: its bounds, and the sp saved within
 *        └─► the stack that the thread is on: sp
 *
 * Each stack gets a number, in the order in which they are first switched to;
 * 0 is the thread's own. A stack that is used again is the same fiber. As soon
 * as a process announces switches itself, it knows better, and nothing is
 * raised any more. Switches that are made otherwise (Boost, Go) are not seen.
 */
#include "engine/families/fibers.h"

#include <cprof/trace_format.h>
#include <stdlib.h>
#include <string.h>

#include "engine/families/annotations.h"
#include "engine/probes/sites.h"
#include "engine/target/family.h"
#include "engine/target/state.h"

#define STACK_MIN 1024u
#define STACK_MAX (UINT64_C(1) << 40)
#define STACKS_MAX 100000u

/* Both instruction sets' ucontext_t: flags, link, then the stack. */
#define UCONTEXT_STACK 16

enum { SET, SWAP }; /* kinds of sites: the context is the first, or second argument */

struct stack {
	uint64_t start, end;
	uint32_t number;
};

/* The fibers of a process. */
struct fibers {
	CP_VEC(struct stack) stacks; /* sorted, apart from each other */
	uint32_t count; /* numbers given out */
	bool announced;
};

/* What a session captures at switches. */
struct switches {
	struct cp_fetch fetches[2][2]; /* by kind of site */
};

static struct fibers *fibers_of(cprof_process *p)
{
	if (!p->own[ENGINE_FAMILY_FIBERS])
		p->own[ENGINE_FAMILY_FIBERS] = calloc(1, sizeof(struct fibers));
	return p->own[ENGINE_FAMILY_FIBERS];
}

static void forget(cprof_process *p)
{
	struct fibers *f = p->own[ENGINE_FAMILY_FIBERS];

	if (f)
		cp_vec_free(&f->stacks);
	free(f);
	p->own[ENGINE_FAMILY_FIBERS] = NULL;
}

void engine_fibers_announced(cprof_process *p)
{
	struct fibers *f = fibers_of(p);

	if (f)
		f->announced = true;
}

static size_t place_of(const struct fibers *f, uint64_t sp)
{
	return cp_vec_partition(&f->stacks, s, s->end <= sp);
}

/* The fiber whose stack holds `sp`; 0: none. */
static uint32_t fiber_at(const struct fibers *f, uint64_t sp)
{
	size_t n = place_of(f, sp);

	return n < f->stacks.count && f->stacks.items[n].start <= sp ? f->stacks.items[n].number
								     : 0;
}

/* The number of a stack, new or known; 0 without memory. */
static uint32_t fiber_of(struct fibers *f, uint64_t start, uint64_t end)
{
	struct stack fresh = { start, end, f->count + 1 };
	size_t n = place_of(f, start), last = n, after;

	if (n < f->stacks.count && f->stacks.items[n].start == start &&
	    f->stacks.items[n].end == end)
		return f->stacks.items[n].number;
	while (last < f->stacks.count && f->stacks.items[last].start < end)
		last++; /* the stacks that were there are gone */
	if (f->stacks.count >= STACKS_MAX || !cp_vec_reserve(&f->stacks, f->stacks.count + 1))
		return 0;
	after = f->stacks.count - last;
	memmove(f->stacks.items + n + 1, f->stacks.items + last, after * sizeof(fresh));
	f->stacks.items[n] = fresh;
	f->stacks.count = n + 1 + after;
	return ++f->count;
}

/* ---- what is captured at a switch ---- */

static void capture(cprof_session *s, struct engine_site *site)
{
	struct switches *own = s->own[ENGINE_FAMILY_FIBERS];
	const struct cp_arch *arch = cp_arch_host();
	struct cp_fetch *list;

	if (!own)
		own = s->own[ENGINE_FAMILY_FIBERS] = calloc(1, sizeof(*own));
	if (!own)
		return;
	list = own->fetches[site->what];
	list[0] = (struct cp_fetch){ .from = arch->args[site->what],
				     .offset = UCONTEXT_STACK,
				     .size = 3 * sizeof(uint64_t) };
	list[1] = (struct cp_fetch){ .from = arch->args[site->what],
				     .offset = arch->ucontext_sp,
				     .size = sizeof(uint64_t) };
	site->list.fetches = list;
	site->list.fetch_count = 2;
}

/* Block `index` of a hit; false: it was not captured, or not whole. */
static bool block(const struct engine_hit *hit, uint32_t index, void *to, size_t size)
{
	const uint8_t *bytes;
	struct cp_fetched b;
	size_t at = 0;

	while (cp_fetched_next(hit->fetched, hit->event->fetched_size, &at, &b, &bytes)) {
		if (b.index != index || b.size != size)
			continue;
		memcpy(to, bytes, size);
		return true;
	}
	return false;
}

static void on_hit(cprof_session *s, const struct engine_hit *hit)
{
	cprof_process *p = s->current.process;
	cprof_trace_event e = { .type = CPROF_TRACE_EVENT_FIBER_SWITCH };
	struct fibers *f = fibers_of(p);
	uint64_t stack[3], sp; /* start, flags, size */
	uint32_t from, to;

	if (!f)
		return;
	engine_annotations_read(p, false);
	if (f->announced || !block(hit, 0, stack, sizeof(stack)) || !block(hit, 1, &sp, sizeof(sp)))
		return;
	/* In a context that makecontext() did not make, `stack` is anything. */
	if (stack[2] >= STACK_MIN && stack[2] <= STACK_MAX && sp - stack[0] <= stack[2])
		to = fiber_of(f, stack[0], stack[0] + stack[2]);
	else
		to = fiber_at(f, sp);
	from = fiber_at(f, hit->event->sp);
	if (from == to)
		return;
	e.thread_id = (uint32_t)s->current.thread->ns_tid;
	e.timestamp = hit->event->e.ts_ns;
	e.u.fiber.from_fiber = from;
	e.u.fiber.to_fiber = to;
	e.u.fiber.reserved[0] = 1;
	engine_annotations_raise(p, s->current.thread, &e);
}

static bool is_enabled(const cprof_session *s)
{
	return engine_annotations_wanted(s);
}

static void free_fibers(cprof_session *s)
{
	free(s->own[ENGINE_FAMILY_FIBERS]);
	s->own[ENGINE_FAMILY_FIBERS] = NULL;
}

static const struct engine_watch watches[] = {
	{ "setcontext", SET, CP_SITE_ENTRY | CP_SITE_REGS, 0 },
	{ "swapcontext", SWAP, CP_SITE_ENTRY | CP_SITE_REGS, 0 },
};

const struct engine_family engine_fibers_family = {
	.name = "fibers",
	.enabled = is_enabled,
	.watches = watches,
	.watch_count = CP_ARRAY_SIZE(watches),
	.capture = capture,
	.hit = on_hit,
	.forget = forget,
	.free_process = forget,
	.free = free_fibers,
};
