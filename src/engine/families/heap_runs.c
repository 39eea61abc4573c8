/* SPDX-License-Identifier: MIT
 *
 * Records of allocations by the thousand (allocation_block). Nearly all are of a function that
 * allocates and returns without anything in between, or of one that frees, on the thread's own
 * stack, where nothing ended that is not seen to, and with callers that were walked before:
 *
 *     malloc(24)   entry: size ─┐
 *                  ret: address ┴─ stack ─key─► known? ─► an event of the block
 *     free(p)      entry: address ─ stack ─key─► known? ─┘
 *                                      └ no ─► the way of hits, which walks it (heap.c)
 *
 * What was looked up of a site or of a caller is good until `changes`. All that goes the way
 * of hits finds what it would have found had all gone there.
 */
#include "engine/families/heap_runs.h"

#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "base/clock.h"
#include "engine/calls/blocks.h"
#include "engine/calls/calls.h"
#include "engine/calls/records.h"
#include "engine/families/heap_state.h"
#include "engine/frames/stack_keys.h"
#include "engine/probes/detours.h"
#include "engine/probes/objects.h"
#include "engine/probes/rings.h"
#include "engine/probes/roles.h"
#include "engine/probes/sites.h"
#include "engine/target/profilers.h"
#include "link/records.h"
#include "probe/shadow_plain.h"

#define RUN_MOST 4096 /* records */
/* Records after which there is room for new ones. As many as the caches have the stacks of yet,
 * which are looked through for what is like a record. */
#define BATCH 32

struct run {
	cprof_session *session;
	struct engine_heap *heap;
	struct engine_heap_blocks *blocks;
	cprof_process *process;
	cprof_thread *thread;
	struct engine_ring *ring;
	const struct engine_reach *reach;
	const struct cprof_profiler_desc *teller;
	struct cp_unwind_capture capture; /* of the record that is looked at */
	uint8_t saved[CP_REG_MAX]; /* registers that walks begin with, as records have them */
	uint8_t saved_count;
	struct cp_records at; /* behind what was taken */
	uint64_t last_ns, before_ns; /* times of the last two that were */
	struct engine_again last;
};

/* ---- who wants runs ---- */

/* The one profiler that is told of blocks; NULL: some has to be told of each by itself. */
static const struct cprof_profiler_desc *teller_of(const cprof_session *s)
{
	const struct cprof_profiler_desc *p, *ret = NULL;

	for (p = s->profilers; p; p = p->next) {
		if (!p->gc_allocation && !p->gc_moves && !p->heap_resized && !p->heap_free)
			continue;
		if (ret || !p->allocation_block || !p->stack_known)
			return NULL;
		ret = p;
	}
	return ret;
}

static bool is_cancelled(const struct engine_ring *ring)
{
	size_t i;

	for (i = 0; i < CP_ARRAY_SIZE(ring->again); i++)
		if (ring->again[i].sp)
			return true;
	return false;
}

/* Is there anything about the thread that only the way of hits minds? */
static bool is_plain(const struct run *run)
{
	const struct engine_heap *h = run->heap;
	const cprof_thread *t = run->thread;
	const struct cp_call *ended = engine_heap_ended(h, t->tid);

	return !h->types && !engine_heap_every(run->session) && !t->blind && !t->held_ns &&
	       !run->ring->lost_ns && !is_cancelled(run->ring) && t->process->detours &&
	       !t->process->stacks_within && t->stack_end && t->stack_end != UINT64_MAX &&
	       !(ended && ended->sp);
}

/* Room for what is known of sites, and nothing that may be another way by now. */
static bool refresh(const struct engine_calls *c, struct engine_heap_blocks *b)
{
	size_t count = c->sites.count;

	if (b->changes == c->changes + 1 && b->sites.count == count)
		return true;
	if (!b->callers)
		b->callers = calloc(ENGINE_HEAP_CALLERS, sizeof(*b->callers));
	if (!b->callers || !cp_vec_reserve(&b->sites, count))
		return false;
	b->sites.count = count;
	memset(b->sites.items, 0, count * sizeof(*b->sites.items));
	memset(b->callers, 0, ENGINE_HEAP_CALLERS * sizeof(*b->callers));
	b->changes = c->changes + 1; /* never 0 */
	return true;
}

static void begin_capture(struct run *run)
{
	const struct cp_arch *arch = cp_arch_host();
	const uint64_t places = UINT64_C(1) << arch->pc | UINT64_C(1) << arch->sp;
	unsigned i;

	run->capture.pid = run->process->pid;
	run->capture.regs.known = arch->callee_saved | places;
	for (i = 0; i < CP_REG_MAX; i++)
		if ((arch->callee_saved & ~places) >> i & 1)
			run->saved[run->saved_count++] = (uint8_t)i;
}

static bool begin(cprof_session *s, struct engine_ring *ring, const struct engine_reach *reach,
		  struct run *run)
{
	cprof_thread *t = ring->tid ? cprof_thread_from_tid(ring->tid) : NULL;

	memset(run, 0, sizeof(*run));
	run->session = s;
	run->heap = engine_heap_of(s);
	run->thread = t;
	run->ring = ring;
	run->reach = reach;
	run->teller = t && run->heap ? teller_of(s) : NULL;
	if (!run->teller || !is_plain(run))
		return false;
	run->process = t->process;
	if (!engine_stacks_known(s, t->process, ring->next_ns))
		return false;
	run->blocks = engine_heap_blocks(run->heap, t->process);
	if (!run->blocks || run->blocks->from_ns == UINT64_MAX ||
	    !engine_calls_shadow(t->process) || !refresh(s->calls, run->blocks) ||
	    !cp_shadow_own(t->process->shadow, t->tid, &ring->own) ||
	    !cp_vec_reserve(&run->heap->told, RUN_MOST))
		return false;
	run->heap->told.count = 0;
	run->at = ring->records;
	run->last_ns = ring->last_ns;
	begin_capture(run);
	return true;
}

/* ---- what is known of sites ---- */

/* The word of the record, behind `first`, that has a register; NONE: it has not. */
static uint8_t word_of(const struct engine_site *site, unsigned first, unsigned reg)
{
	uint64_t bit = UINT64_C(1) << reg;

	if (!(site->uses.general & bit))
		return ENGINE_HEAP_NONE;
	return (uint8_t)(first + (unsigned)__builtin_popcountll(site->uses.general & (bit - 1)));
}

static uint8_t argument_of(const struct engine_site *site, unsigned first, uint8_t position)
{
	return position == ENGINE_HEAP_NONE ? ENGINE_HEAP_NONE
					    : word_of(site, first, cp_arch_host()->args[position]);
}

/* Does a record of the site have what is looked at, and nothing else happen there? */
static bool suits(const struct engine_calls *c, const struct engine_site *site)
{
	const struct engine_traced *t =
		site->traced < c->traced.count ? c->traced.items[site->traced] : NULL;

	return t && t->family == ENGINE_FAMILY_HEAP && !engine_traced_by_others(t) &&
	       !t->disarmed && !t->by_return && !t->loops && t->function->kind != CP_PROBE_PLT &&
	       !site->also && !site->sampled && !site->jumps && !site->list.fetch_count &&
	       !site->uses.vectors && !site->uses.x87;
}

static uint8_t kind_of(const cprof_session *s, const struct engine_site *site)
{
	const struct engine_traced *t = s->calls->traced.items[site->traced];

	if (t->role == POSIX || t->role == GOES_ON || engine_holds(s, t, site))
		return ENGINE_HEAP_NOT;
	if (site->kind == ENGINE_SITE_ENTRY && t->role == FREE)
		return site->walked ? ENGINE_HEAP_FREES : ENGINE_HEAP_NOT;
	if (site->kind == ENGINE_SITE_ENTRY)
		return ENGINE_HEAP_BEGINS;
	return site->kind == ENGINE_SITE_EXIT && site->walked ? ENGINE_HEAP_ENDS : ENGINE_HEAP_NOT;
}

static struct engine_heap_site look_at(const struct run *run, uint32_t number)
{
	cprof_session *s = run->session;
	const struct engine_site *site = &s->calls->sites.items[number];
	struct engine_heap_site ret = { .what = ENGINE_HEAP_NOT, .traced = site->traced };
	const struct engine_heap_arguments *at;
	unsigned first;

	if (!suits(s->calls, site))
		return ret;
	ret.image = engine_detours_image(run->process, site->traced);
	ret.function = ret.image ? engine_traced_function(s, ret.image, site->traced) : NULL;
	if (!ret.function)
		return ret;
	ret.what = kind_of(s, site);
	ret.role = s->calls->traced.items[site->traced]->role;
	ret.pc = site->address + ret.image->bias;
	ret.saved = site->kind == ENGINE_SITE_ENTRY ? 2 : 0; /* caller, first argument */
	first = ret.saved + (site->walked ? run->saved_count : 0u);
	at = &engine_heap_arguments[ret.role];
	ret.size = argument_of(site, first, at->size);
	ret.times = argument_of(site, first, at->times);
	ret.address = argument_of(site, first, at->address);
	ret.result = word_of(site, first, engine_role_result_register(site));
	ret.words = (uint8_t)(first + (unsigned)__builtin_popcountll(site->uses.general));
	if ((ret.what == ENGINE_HEAP_ENDS && ret.result == ENGINE_HEAP_NONE) ||
	    (ret.what == ENGINE_HEAP_FREES && ret.address == ENGINE_HEAP_NONE) ||
	    (ret.what == ENGINE_HEAP_BEGINS && ret.size == ENGINE_HEAP_NONE))
		ret.what = ENGINE_HEAP_NOT;
	return ret;
}

/* NULL: the record goes the way of hits. */
static const struct engine_heap_site *site_of(const struct run *run, const struct cp_record *r)
{
	struct engine_heap_site *site;

	if (r->kind != CP_RECORD_SITE || r->site >= run->blocks->sites.count)
		return NULL;
	site = &run->blocks->sites.items[r->site];
	if (site->what == ENGINE_HEAP_UNKNOWN)
		*site = look_at(run, r->site);
	return site->what != ENGINE_HEAP_NOT && r->value_words >= site->words ? site : NULL;
}

static bool is_internal(const struct run *run, const struct engine_heap_site *site, uint32_t number,
			uint64_t caller)
{
	size_t place = (caller * UINT64_C(0x9e3779b97f4a7c15) >> 32) % ENGINE_HEAP_CALLERS;
	struct engine_heap_caller *known = &run->blocks->callers[place];

	if (known->address != caller || known->site != number)
		*known = (struct engine_heap_caller){
			caller, number,
			engine_heap_is_internal(run->process, site->image, site->pc, caller)
		};
	return known->internal;
}

/* ---- records ---- */

static uint64_t word(const struct cp_record *r, uint8_t number)
{
	return number == ENGINE_HEAP_NONE ? 0 : r->values[number];
}

/* Does the profiler know the record's stack? */
static bool knows(struct run *run, const struct engine_heap_site *site, const struct cp_record *r,
		  uint64_t sp, uint8_t kind, uint64_t *answer)
{
	const struct cp_arch *arch = cp_arch_host();
	struct cp_unwind_capture *c = &run->capture;
	unsigned i;
	uint64_t key;

	if (!r->stack_size)
		return false;
	for (i = 0; i < run->saved_count; i++)
		c->regs.r[run->saved[i]] = r->values[site->saved + i];
	c->regs.r[arch->pc] = site->pc;
	c->regs.r[arch->sp] = c->stack_base = sp;
	c->stack = r->stack;
	c->stack_size = r->stack_size & ~7u;
	return engine_stack_key(run->process, c, &key) &&
	       run->teller->stack_known(run->teller->prof, key, kind, answer);
}

static void add(struct run *run, const cprof_allocation_event *e)
{
	run->heap->told.items[run->heap->told.count++] = *e;
}

/* An entry of a function that frees. False: it goes the way of hits, and nothing was done. */
static bool take_free(struct run *run, const struct engine_heap_site *site,
		      const struct cp_record *r, uint64_t ns)
{
	struct cp_shadow_own *own = &run->ring->own;
	const struct cp_call *outer = cp_shadow_innermost(own);
	uint64_t sp = engine_blocks_sp(run->thread, r->sp), address = word(r, site->address),
		 *ts_ns;
	cprof_allocation_event e = {
		.timestamp_ns = ns,
		.begin_ns = ns,
		.function = site->function,
		.address = address,
		.kind = CPROF_ALLOCATION_FREED,
	};

	if (!sp)
		return false;
	if (!address || is_internal(run, site, r->site, r->values[0]))
		return true;
	if (!cp_shadow_enters_plainly(own, outer, sp, 0) ||
	    (outer && outer->flags & (CP_CALL_MARKS | CP_CALL_MARKED)))
		return false;
	e.depth = cp_shadow_depth_within(outer);
	ts_ns = cp_map_get(&run->blocks->at, address);
	if (!ts_ns || *ts_ns != ENGINE_HEAP_IS_FREE) {
		if (!knows(run, site, r, sp, e.kind, &e.stack))
			return false;
		if (ts_ns)
			*ts_ns = ENGINE_HEAP_IS_FREE;
		else
			cp_map_put(&run->blocks->at, address, ENGINE_HEAP_IS_FREE);
		add(run, &e);
	}
	cp_shadow_pass_plain(own, sp, false);
	return true;
}

/* What a call comes to that answered. False: nothing. */
static bool settle(const struct engine_heap_site *site, const struct cp_record *begins,
		   cprof_allocation_event *e)
{
	uint64_t before = engine_heap_moves(site->role) ? word(begins, site->address) : 0;

	e->size = word(begins, site->size);
	if (site->times != ENGINE_HEAP_NONE)
		e->size = engine_heap_product(e->size, word(begins, site->times));
	if (!e->address) {
		if (!before || e->size)
			return false;
		e->address = before; /* resized to no bytes: freed */
		e->kind = CPROF_ALLOCATION_FREED;
		return true;
	}
	if (before && before != e->address) {
		e->previous = before;
		e->kind = CPROF_ALLOCATION_MOVED;
	} else if (before) {
		e->kind = CPROF_ALLOCATION_RESIZED;
	}
	return true;
}

/* A call of a function that allocates, in which nothing happened. False: as above. */
static bool take_call(struct run *run, const struct engine_heap_site *site,
		      const struct cp_record *begins, const struct cp_record *ends, uint64_t ns,
		      uint64_t end_ns)
{
	const struct engine_heap_site *end = site_of(run, ends);
	struct cp_shadow_own *own = &run->ring->own;
	const struct cp_call *outer = cp_shadow_innermost(own);
	uint64_t sp = engine_blocks_sp(run->thread, begins->sp);
	struct engine_heap_blocks *b = run->blocks;
	cprof_allocation_event e = {
		.timestamp_ns = end_ns,
		.begin_ns = ns,
		.function = site->function,
		.kind = CPROF_ALLOCATION_ALLOCATED,
	};

	if (!sp || !end || end->what != ENGINE_HEAP_ENDS || end->traced != site->traced ||
	    ends->sp != begins->sp || !cp_shadow_enters_plainly(own, outer, sp, 0) ||
	    (outer && outer->flags & (CP_CALL_MARKS | CP_CALL_MARKED)))
		return false;
	e.address = word(ends, end->result);
	e.depth = cp_shadow_depth_within(outer);
	if (settle(site, begins, &e)) {
		if (!knows(run, end, ends, sp, e.kind, &e.stack))
			return false;
		if (e.kind == CPROF_ALLOCATION_FREED)
			engine_heap_set_free(b, e.address, ns);
		else
			cp_map_put(&b->at, e.address, end_ns);
		if (e.previous)
			engine_heap_set_free(b, e.previous, ns);
		add(run, &e);
	}
	cp_shadow_pass_plain(own, sp, false);
	return true;
}

/* When a record was written, after the one before it; false: that is out of reach. */
static bool time_within(const struct run *run, const struct cp_record *r,
			const struct cp_records *behind, uint64_t last_ns, uint64_t *ns_ret)
{
	uint64_t ns = engine_clock_ns(&run->session->calls->clock, r->time);

	*ns_ret = ns > last_ns ? ns : last_ns + 1; /* the clock was set meanwhile */
	return *ns_ret <= run->reach->until_ns && behind->position <= run->reach->position;
}

static void taken(struct run *run, const struct cp_record *r, uint64_t ns)
{
	const struct engine_site *site = &run->session->calls->sites.items[r->site];

	engine_records_took(run->session, run->thread, site, r);
	run->before_ns = run->last_ns;
	run->last_ns = ns;
	run->last = (struct engine_again){ r->sp, engine_site_mark(site, r->values, r->value_words),
					   r->site };
}

/* The record at `behind`, which is moved behind it; false: none is there yet. */
static bool next(const struct run *run, struct cp_records *behind, struct cp_record *ret)
{
	return cp_records_next(behind, run->session->calls->clock.last.ticks, ret);
}

/* The record, and its call's end. How many were taken; `behind`: it. */
static size_t take(struct run *run, const struct cp_record *r, struct cp_records *behind)
{
	const struct engine_heap_site *site = site_of(run, r);
	struct cp_record ends;
	uint64_t ns, end_ns;

	if (!site || !time_within(run, r, behind, run->last_ns, &ns))
		return 0;
	if (site->what == ENGINE_HEAP_FREES) {
		if (!take_free(run, site, r, ns))
			return 0;
		taken(run, r, ns);
		return 1;
	}
	if (site->what != ENGINE_HEAP_BEGINS || !next(run, behind, &ends) ||
	    !time_within(run, &ends, behind, ns, &end_ns) ||
	    !take_call(run, site, r, &ends, ns, end_ns))
		return 0;
	taken(run, r, ns);
	taken(run, &ends, end_ns);
	return 2;
}

static size_t take_all(struct run *run)
{
	size_t most = run->reach->most < RUN_MOST ? run->reach->most : RUN_MOST, n = 0, got;
	struct engine_ring *ring = run->ring;
	struct cp_record r = ring->next;
	struct cp_records behind = run->at;

	while ((got = take(run, &r, &behind))) {
		n += got;
		run->at = behind;
		if (n % BATCH < got) {
			cp_records_release(&run->at);
			behind = run->at;
		}
		if (n >= most || !next(run, &behind, &r))
			break;
	}
	return n;
}

static void tell(struct run *run)
{
	cprof_session *s = run->session;
	const struct engine_current outer = s->current;

	s->current = (struct engine_current){ .process = run->process, .thread = run->thread };
	engine_raise(s, allocation_block, run->thread, run->heap->told.items,
		     run->heap->told.count);
	s->current = outer;
}

size_t engine_heap_run(cprof_session *s, struct engine_ring *ring, const struct engine_reach *reach)
{
	struct run run;
	size_t n;

	if (!begin(s, ring, reach, &run))
		return 0;
	engine_blocks_tell(s, ring);
	n = take_all(&run);
	if (!n)
		return 0;
	ring->has_next = false;
	ring->records = run.at;
	cp_records_release(&ring->records);
	ring->last_ns = run.last_ns;
	ring->told += n;
	ring->last =
		(struct engine_again){ CP_RECORD_SP(run.last.sp), run.last.call, run.last.site };
	run.thread->before_ns = run.before_ns;
	run.thread->told_ns = run.last_ns;
	s->calls->now_ns = run.last_ns;
	s->calls->records += n;
	s->calls->events += run.heap->told.count;
	if (run.heap->told.count)
		tell(&run);
	return n;
}
