/* SPDX-License-Identifier: MIT
 *
 * Allocations, from functions that have such a role (probes/roles.h):
 *
 *     malloc(24)       entry: the size ──► words of the open call
 *                      ret:   the address ──► gc_allocation
 *     free(p)          entry: heap_free; no other stop
 *     realloc(p, n)    ret:   gc_moves, heap_resized, gc_allocation or heap_free
 *
 * Allocators call each other (operator new calls malloc, reallocarray calls realloc):
 * the outermost one is what the program asked for, and what is open around a call marks
 * it (probe/shadow.h). Calls that free are never open; there the address tells: a block
 * that is free already is not freed again (operator delete calls free). Nor does a free
 * count that an allocator's library makes by a call that nothing can stand in for:
 * glibc frees its own stock when a thread ends.
 *
 * Where such a function ends in a jump to one that is not watched, as fast paths of
 * allocators do, that one is (GOES_ON), whatever it is called: what it answers is the
 * answer. Where it can't be, the return address has a breakpoint.
 */
#include "engine/families/heap.h"

#include <cprof/heap.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "base/text.h"
#include "engine/calls/calls.h"
#include "engine/families/heap_names.h"
#include "engine/families/heap_runs.h"
#include "engine/families/heap_state.h"
#include "engine/families/heap_types.h"
#include "engine/frames/snapshot.h"
#include "engine/probes/rings.h"
#include "engine/probes/roles.h"
#include "engine/probes/sites.h"
#include "engine/probes/trace.h"
#include "engine/target/family.h"
#include "engine/target/images.h"
#include "engine/target/memory.h"
#include "engine/target/profilers.h"
#include "engine/target/state.h"
#include "image/image.h"

/* Flags of a call where a sample is told. IGNORED: the call is none of the sample.
 * PASSED: only the block that it moves is, not the one that it becomes. */
#define CALL_IGNORED 0x200u
#define CALL_PASSED 0x400u
#define CALL_ROLE_SHIFT 16 /* of GOES_ON: the role of what goes on */

/* ---- wanted ---- */

bool engine_heap_enabled(const cprof_session *s)
{
	return engine_heap_of(s) != NULL;
}

bool cprof_profiler_enable_allocations(void)
{
	cprof_session *s = cprof_session_current();

	if (!engine_may_ask(s) || !engine_calls_get(s))
		return false;
	if (!engine_heap_of(s))
		s->own[ENGINE_FAMILY_HEAP] = calloc(1, sizeof(struct engine_heap));
	if (engine_heap_of(s))
		engine_heap_of(s)->all = true;
	return engine_heap_of(s) != NULL;
}

bool cprof_profiler_sample_allocations(uint64_t bytes)
{
	cprof_session *s = cprof_session_current();
	bool all = s && engine_heap_of(s) && engine_heap_of(s)->all;
	struct engine_heap *h;

	if (!bytes || !cprof_profiler_enable_allocations())
		return false;
	h = engine_heap_of(s);
	h->all = all;
	h->every = h->every && h->every < bytes ? h->every : bytes;
	return true;
}

bool cprof_profiler_enable_allocation_types(void)
{
	struct engine_heap *h;

	if (!cprof_profiler_enable_allocations())
		return false;
	h = engine_heap_of(cprof_session_current());
	if (!h->types)
		h->types = engine_heap_types_create();
	return h->types != NULL;
}

static void free_heap(cprof_session *s)
{
	struct engine_heap *h = engine_heap_of(s);
	uint64_t tid, call;
	struct engine_heap_blocks *b;
	size_t cursor = 0;

	if (!h)
		return;
	cp_vec_for_each(&h->blocks, b)
		engine_heap_blocks_free(b);
	cp_vec_free(&h->blocks);
	cp_vec_free(&h->told);
	while (cp_map_next(&h->ended, &cursor, &tid, &call))
		free((struct cp_call *)(uintptr_t)call);
	cp_map_free(&h->ended);
	engine_heap_types_free(h->types);
	free(h);
	s->own[ENGINE_FAMILY_HEAP] = NULL;
}

static void explain(cprof_session *s)
{
	if (engine_heap_of(s) && !engine_heap_of(s)->found)
		engine_warn(s,
			    "allocations of %s can't be watched: no function that allocates has "
			    "a name there",
			    s->command && *s->command ? s->command[0] : "the program");
}

static void note_found(cprof_session *s)
{
	engine_heap_of(s)->found = true;
}

/* ---- events ---- */

static uint8_t register_of(uint8_t position)
{
	return position == ENGINE_HEAP_NONE ? CP_NO_REG : cp_arch_host()->args[position];
}

static bool sampled(const cprof_session *s, uint8_t role, struct cp_heap_probe *ret)
{
	if (!engine_heap_every(s))
		return false;
	*ret = (struct cp_heap_probe){
		.size = register_of(engine_heap_arguments[role].size),
		.times = register_of(engine_heap_arguments[role].times),
		.address = register_of(engine_heap_arguments[role].address),
		.where = register_of(engine_heap_arguments[role].where),
		.every = engine_heap_every(s),
	};
	return true;
}

/* What the call asks for: words[0] bytes, words[1] an address. */
static void note_arguments(uint8_t role, const struct engine_hit *hit, uint64_t *words)
{
	uint8_t times = engine_heap_arguments[role].times,
		address = engine_heap_arguments[role].address;

	if (address == ENGINE_HEAP_NONE)
		address = engine_heap_arguments[role].where;
	words[0] = engine_role_argument(hit, engine_heap_arguments[role].size);
	if (times != ENGINE_HEAP_NONE)
		words[0] = engine_heap_product(words[0], engine_role_argument(hit, times));
	if (address != ENGINE_HEAP_NONE)
		words[1] = engine_role_argument(hit, address);
}

static void set_allocated(struct engine_heap *h, const cprof_process *p, uint64_t address,
			  uint64_t ts_ns)
{
	struct engine_heap_blocks *blocks = engine_heap_blocks(h, p);

	if (blocks)
		cp_map_put(&blocks->at, address, ts_ns);
}

enum told { ALLOCATED, MOVED, RESIZED, FREED };

static void tell(cprof_session *s, const cprof_allocation *a, enum told what)
{
	cprof_object object = { .address = a->address, .size = a->size };
	const cprof_addr pair[2] = { a->previous, a->address };
	struct engine_heap *h = engine_heap_of(s);

	h->current = *a;
	h->has_current = true;
	if (h->types && (what == ALLOCATED || what == RESIZED))
		engine_heap_type(s, h->types, &object);
	switch (what) {
	case ALLOCATED:
		engine_raise(s, gc_allocation, &object);
		break;
	case MOVED:
		engine_raise(s, gc_moves, pair, 2);
		break;
	case RESIZED:
		engine_raise(s, heap_resized, &object);
		break;
	case FREED:
		engine_raise(s, heap_free, &object);
		break;
	}
	h->has_current = false;
}

bool cprof_current_allocation(cprof_allocation *ret)
{
	cprof_session *s = cprof_session_current();

	if (!s || !engine_heap_of(s) || !engine_heap_of(s)->has_current)
		return false;
	*ret = engine_heap_of(s)->current;
	return true;
}

/* Is the run-time address in a function of the image that allocates? */
static bool allocates_at(const cprof_session *s, const cprof_image *image, uint64_t address)
{
	struct engine_traced *const *t;
	size_t i;

	cp_vec_for_each(&s->calls->traced, t) {
		if ((*t)->assembly != image->assembly || (*t)->family != ENGINE_FAMILY_HEAP ||
		    (*t)->role == FREE)
			continue;
		for (i = 0; i < CP_GROUP_RANGES && (*t)->ranges[i].end; i++)
			if (address - image->bias >= (*t)->ranges[i].start &&
			    address - image->bias < (*t)->ranges[i].end)
				return true;
	}
	return false;
}

/* Did an allocator make the call of this hit? Open calls don't tell: one that an
 * exception ended was not seen to end, and where a sample is told none is open. So the
 * stack is walked; where it can't be, the answer is `unless`. */
static bool is_inner(cprof_session *s, bool unless)
{
	bool behind = engine_role_ends_behind(s);
	enum cp_unwind_end end;
	size_t count, i;

	if (!s->current.walkable || !engine_walk(s, NULL, false, &count, &end))
		return unless;
	for (i = behind ? 0 : 1; i < count; i++) {
		uint64_t pc = s->frames[i].pc.v - (i != 0);
		const struct engine_text *text = engine_find_text(s->current.process, pc);

		if (text && allocates_at(s, text->image, pc))
			return true;
	}
	return false;
}

/* Is the call of this hit one of the sample? */
static bool is_chosen(const cprof_session *s, const struct engine_hit *hit)
{
	return !engine_heap_every(s) || hit->event->e.flags & CP_HIT_CHOSEN;
}

/* Is a block live at the address that was told? Of a sample, who frees or moves one is told
 * where the block may have been chosen. */
static bool is_told(const cprof_session *s, uint64_t address)
{
	struct engine_heap_blocks *b = engine_heap_blocks(engine_heap_of(s), s->current.process);
	const uint64_t *ts_ns = b ? cp_map_get(&b->at, address) : NULL;

	return !engine_heap_every(s) || (ts_ns && *ts_ns != ENGINE_HEAP_IS_FREE);
}

/* A block of a sample is gone, and nobody has counted it down; or a call that looked like one
 * of it was none. */
static void unchoose(const cprof_session *s, uint64_t address)
{
	if (engine_heap_every(s) && address)
		engine_rings_chosen(s->current.process, address, false);
}

/* The detour of who frees has counted down what another block stands for. */
static void choose_again(const cprof_session *s, uint64_t address)
{
	if (engine_heap_every(s) && address)
		engine_rings_chosen(s->current.process, address, true);
}

/* Is some of what the thread calls not seen just now? Then nothing is, for who allocates by
 * which function has nothing to do with what is told. */
static bool is_unwatched(const cprof_session *s, const struct engine_hit *hit)
{
	const cprof_process *p = s->current.process;
	const struct engine_heap_blocks *b = engine_heap_blocks(engine_heap_of(s), p);
	const struct engine_ring *ring =
		hit->recorded ? NULL : engine_ring_of(p, hit->event->e.tid);

	return (b && b->from_ns == UINT64_MAX) || (ring && ring->lost_ns);
}

static bool on_free(cprof_session *s, const struct engine_hit *hit)
{
	cprof_process *p = s->current.process;
	cprof_allocation a = { .address = engine_role_argument(hit, 0),
			       .begin_ns = hit->event->e.ts_ns };
	const struct cp_call *around;

	if (!a.address ||
	    engine_heap_is_internal(p, hit->image, hit->event->pc, hit->event->caller) ||
	    !is_chosen(s, hit) || is_unwatched(s, hit))
		return false;
	if (!is_told(s, a.address)) {
		choose_again(s, hit->recorded ? a.address : 0);
		return false;
	}
	engine_calls_reach(s, hit->event, hit->event->sp);
	around = cp_shadow_top(p->shadow, hit->event->e.tid);
	if ((around && around->flags & (CP_CALL_MARKS | CP_CALL_MARKED) && is_inner(s, true)) ||
	    !engine_heap_set_free(engine_heap_blocks(engine_heap_of(s), p), a.address, UINT64_MAX))
		return false;
	unchoose(s, hit->recorded ? 0 : a.address);
	a.function = engine_role_function(s, hit);
	tell(s, &a, FREED);
	return true;
}

/* The function that the program called: realloc() of nothing may end in a jump to
 * malloc(). */
static const cprof_function *called(const struct cp_call *call)
{
	uintptr_t first = (uintptr_t)call->words[2];

	return first ? (const cprof_function *)first : call->subject;
}

static uint8_t role_of_call(const cprof_session *s, const struct cp_call *call)
{
	uint8_t role = s->calls->traced.items[call->function]->role;

	return role == GOES_ON ? (uint8_t)(call->flags >> CALL_ROLE_SHIFT) : role;
}

/* The call of an allocator that jumped to where the hit is; NULL: it was called. `ended` is
 * what the caller knows. */
static const struct cp_call *jumped(const struct engine_heap *h, const struct cp_event_hit *e,
				    const struct cp_call *ended)
{
	const struct cp_call *call = engine_heap_ended(h, e->e.tid);

	if (ended->flags & CP_CALL_MARKS)
		return ended;
	return call && call->sp == e->sp && call->caller == e->caller ? call : NULL;
}

/* It says nothing any more once the thread has entered something else. */
static void forget_ended(const struct engine_heap *h, int32_t tid)
{
	struct cp_call *call = engine_heap_ended(h, tid);

	if (call)
		call->sp = 0;
}

/* The rest of the call that ended in a jump; or it was called by another function. */
static void go_on(const cprof_session *s, struct cp_call *call, const struct cp_call *ended)
{
	if (!ended) {
		call->flags |= CALL_IGNORED;
		return;
	}
	memcpy(call->words, ended->words, sizeof(call->words));
	call->words[2] = (uintptr_t)called(ended);
	call->flags |= ended->flags & (CP_CALL_MARKS | CALL_IGNORED | CALL_PASSED);
	call->flags |= (uint32_t)role_of_call(s, ended) << CALL_ROLE_SHIFT;
}

static bool entered(cprof_session *s, uint8_t role, const struct engine_hit *hit,
		    struct cp_call *call, const struct cp_call *ended)
{
	const struct cp_call *before;

	if (role == FREE)
		return on_free(s, hit);
	before = jumped(engine_heap_of(s), hit->event, ended);
	if (role == GOES_ON)
		go_on(s, call, before);
	else if (before)
		call->words[2] = (uintptr_t)called(before);
	forget_ended(engine_heap_of(s), hit->event->e.tid);
	if (role == GOES_ON)
		return false;
	note_arguments(role, hit, call->words);
	call->flags |= CP_CALL_MARKS;
	if (!is_chosen(s, hit) || is_unwatched(s, hit))
		call->flags |= CALL_IGNORED;
	if (hit->event->e.flags & CP_HIT_PASSED)
		call->flags |= CALL_PASSED;
	return false;
}

/* realloc() of nothing may have jumped to malloc(). */
static bool on_ended(cprof_session *s, const struct cp_call *call, enum cp_call_end how)
{
	struct engine_heap *h = engine_heap_of(s);
	struct cp_call *ended;

	if (how != CP_CALL_TAIL_CALLED)
		return false;
	ended = engine_heap_ended(h, call->tid);
	if (!ended && (ended = malloc(sizeof(*ended))) &&
	    !cp_map_put(&h->ended, (uint64_t)call->tid, (uintptr_t)ended)) {
		free(ended);
		ended = NULL;
	}
	if (ended)
		*ended = *call;
	return false;
}

static uint64_t read_pointer(cprof_process *p, uint64_t address)
{
	uint64_t value = 0;

	if (!engine_open_memory(p) ||
	    p->memory.read(p->memory.ctx, address, &value, sizeof(value)) != sizeof(value))
		return 0;
	return value;
}

/* The address that the function answers with; 0: it failed, or its result is not known. */
static uint64_t answer(cprof_session *s, uint8_t role, const struct cp_call *call)
{
	uint64_t result;

	if (!engine_role_result(s, &result))
		return 0;
	if (role == POSIX)
		return (int32_t)result ? 0 : read_pointer(s->current.process, call->words[1]);
	return result;
}

static bool returned(cprof_session *s, uint8_t role, const struct cp_call *call)
{
	cprof_process *p = s->current.process;
	uint8_t of = role == GOES_ON ? role_of_call(s, call) : role;
	bool again = engine_heap_moves(of);
	cprof_allocation a = {
		.function = called(call),
		.address = answer(s, of, call),
		.size = call->words[0],
		.begin_ns = call->enter_ns,
	};
	uint64_t before = again ? call->words[1] : 0;
	bool marked = call->flags & CP_CALL_MARKED, passed = call->flags & CALL_PASSED;
	bool counted = s->current.hit && s->current.hit->recorded; /* by the detour, as chosen */

	if (call->flags & CALL_IGNORED ||
	    ((marked || engine_heap_every(s)) && is_inner(s, marked))) {
		unchoose(s, counted ? a.address : 0);
		return false;
	}
	if (passed)
		unchoose(s, counted ? a.address : 0);
	if (before && !is_told(s, before)) {
		choose_again(s, counted && passed ? before : 0);
		before = 0;
	}
	if (!a.address || passed) {
		if (!before || (a.size && !a.address))
			return false;
		a.address = before; /* resized to no bytes: freed */
		a.size = 0;
		engine_heap_set_free(engine_heap_blocks(engine_heap_of(s), p), before,
				     call->enter_ns);
		unchoose(s, counted ? 0 : before);
		tell(s, &a, FREED);
		return true;
	}
	unchoose(s, counted ? 0 : before);
	if (before && before != a.address) {
		engine_heap_set_free(engine_heap_blocks(engine_heap_of(s), p), before,
				     call->enter_ns);
		a.previous = before;
	}
	set_allocated(engine_heap_of(s), p, a.address, s->calls->now_ns);
	tell(s, &a, a.previous ? MOVED : before ? RESIZED : ALLOCATED);
	return true;
}

/* ---- pauses ---- */

/* Adds the time that the process was watched since its last pause, if it had any. */
static void add_watched(const struct engine_heap_blocks *b, uint64_t now_ns,
			cprof_allocation_statistics *to)
{
	if (b->pauses && now_ns > b->from_ns)
		to->watched_ns += now_ns - b->from_ns;
}

/* Blocks may be freed and allocated unseen from now on. */
static void note_pause(struct engine_heap *h, struct engine_heap_blocks *b)
{
	b->pauses++;
	h->statistics.pauses++;
	cp_map_clear(&b->at);
}

static void on_pause(const cprof_process *p, const struct cp_event_pause *e)
{
	struct engine_heap *h = engine_heap_of(p->session);
	struct engine_heap_blocks *b = engine_heap_blocks(h, p);

	if (!b)
		return;
	if (e->e.flags & CP_PAUSE_OVER) {
		h->statistics.paused_ns += e->e.ts_ns - e->since_ns;
		b->from_ns = e->e.ts_ns;
		return;
	}
	note_pause(h, b);
	add_watched(b, e->e.ts_ns, &h->statistics);
	b->from_ns = UINT64_MAX;
}

/* What some thread allocates and frees meanwhile is not seen. */
static void on_lost(const cprof_process *p, uint64_t from_ns, uint64_t to_ns)
{
	struct engine_heap *h = engine_heap_of(p->session);
	struct engine_heap_blocks *b = h ? engine_heap_blocks(h, p) : NULL;

	if (!b)
		return;
	if (from_ns == to_ns)
		note_pause(h, b);
	if (from_ns < b->lost_ns) /* of another thread */
		from_ns = b->lost_ns;
	if (from_ns >= to_ns)
		return;
	b->lost_ns = to_ns;
	h->statistics.paused_ns += to_ns - from_ns;
	add_watched(b, from_ns, &h->statistics);
	if (b->from_ns < to_ns) /* else it pauses */
		b->from_ns = to_ns;
}

void cprof_get_allocation_statistics(cprof_allocation_statistics *ret)
{
	const cprof_session *s = cprof_session_current();
	const struct engine_heap_blocks *b;

	*ret = (cprof_allocation_statistics){ 0 };
	if (!s || !engine_heap_of(s))
		return;
	*ret = engine_heap_of(s)->statistics;
	ret->every = engine_heap_every(s);
	ret->passed = s->link.shared->stats.hits_passed;
	cp_vec_for_each(&engine_heap_of(s)->blocks, b)
		add_watched(b, s->calls->now_ns, ret);
}

static void forget_blocks(cprof_process *p, int32_t tid)
{
	struct engine_heap *h = tid ? NULL : engine_heap_of(p->session);
	size_t i;

	for (i = h ? h->blocks.count : 0; i--;) {
		if (h->blocks.items[i].process != p)
			continue;
		add_watched(&h->blocks.items[i], p->session->calls->now_ns, &h->statistics);
		engine_heap_blocks_free(&h->blocks.items[i]);
		h->blocks.items[i] = h->blocks.items[--h->blocks.count];
	}
}

/* Bits of `arguments`. */
#define AT(position) (1u << (position))

static const struct engine_role roles[ROLES] = {
	[MALLOC] = { CP_SITE_REGS, ENGINE_WITH_STACK, false, AT(0) },
	[CALLOC] = { CP_SITE_REGS, ENGINE_WITH_STACK, false, AT(0) | AT(1) },
	[ALIGNED] = { CP_SITE_REGS, ENGINE_WITH_STACK, false, AT(1) },
	[POSIX] = { CP_SITE_REGS, ENGINE_WITH_STACK, true, 0 },
	[REALLOC] = { CP_SITE_REGS, ENGINE_WITH_STACK, false, AT(0) | AT(1) },
	[REALLOCARRAY] = { CP_SITE_REGS, ENGINE_WITH_STACK, false, AT(0) | AT(1) | AT(2) },
	[RUST_REALLOC] = { CP_SITE_REGS, ENGINE_WITH_STACK, false, AT(0) | AT(3) },
	[FREE] = { ENGINE_WITH_STACK, 0, false, AT(0) },
	[GOES_ON] = { 0, ENGINE_WITH_STACK, false, AT(0) },
};

const struct engine_family engine_heap_family = {
	.name = "heap",
	.breakpoints = true,
	.enabled = engine_heap_enabled,
	.roles = roles,
	.goes_on = GOES_ON,
	.pauses = true,
	.role_of = engine_heap_role_of,
	.found = note_found,
	.sampled = sampled,
	.run = engine_heap_run,
	.entered = entered,
	.returned = returned,
	.ended = on_ended,
	.pause = on_pause,
	.lost = on_lost,
	.exited = forget_blocks,
	.explain = explain,
	.free = free_heap,
};
