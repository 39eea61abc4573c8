/* SPDX-License-Identifier: MIT
 *
 * What profilers have copied at calls (cprof/fetch.h), as they ask for it, and as it is
 * found again among what the entry or the exit captured.
 */
#include <string.h>

#include "engine/calls/context.h"
#include "engine/probes/fetches.h"
#include "engine/probes/hide.h"
#include "engine/probes/trace.h"
#include "engine/target/live.h"
#include "engine/target/memory.h"
#include "engine/target/state.h"
#include "inspect/build.h"
#include "inspect/plan.h"

/* ---- what is to be copied ---- */

static bool is_sound(const cprof_fetch *what)
{
	if (what->argument < CPROF_FETCH_RESULT || what->argument > 255 ||
	    what->steps > CPROF_FETCH_STEPS_MAX)
		return false;
	if (what->late && (what->argument == CPROF_FETCH_RESULT || what->kind == CPROF_FETCH_VALUE))
		return false;
	switch (what->kind) {
	case CPROF_FETCH_VALUE:
		return !what->steps;
	case CPROF_FETCH_BYTES:
	case CPROF_FETCH_STRING:
		return what->size && what->size <= CPROF_FETCH_SIZE_MAX;
	}
	return false;
}

int cprof_profiler_fetch(cprof_profiler_handle handle, const cprof_callspec *spec,
			 const cprof_fetch *what)
{
	cprof_callspec *own = (cprof_callspec *)(uintptr_t)spec;
	cprof_session *s = cprof_session_current();
	struct engine_calls *c;

	if (!handle || !spec || !what || !is_sound(what))
		return CPROF_E_INVALID_ARGUMENT;
	if (!engine_may_ask(s))
		return CPROF_E_CALL_ONLY_FROM_INIT;
	c = engine_calls_get(s);
	if (!c || !cp_vec_push(&c->fetches, (struct engine_fetch){ own, *what }))
		return CPROF_E_OUT_OF_MEMORY;
	own->references++;
	return (int)c->fetches.count - 1;
}

/* ---- what was ---- */

/* What was captured at an end of the call. */
struct captured {
	const struct engine_site *site;
	const struct cp_regs *regs;
	const uint8_t *fetched;
	size_t fetched_size;
};

/* False: nothing was, of this call. */
static bool captured_of(const struct engine_context *x, bool entry, struct captured *ret)
{
	const struct engine_calls *c = x->session->calls;
	const struct engine_hit *hit = x->hit;

	if (entry && x->leave) {
		if (!x->entry)
			return false;
		*ret = (struct captured){ &c->sites.items[x->entry->site], &x->entry->regs,
					  x->entry->fetched, x->entry->fetched_size };
		return true;
	}
	*ret = (struct captured){ &c->sites.items[hit->site], &hit->regs, hit->fetched,
				  hit->fetched ? hit->event->fetched_size : 0 };
	/* A call may be seen to end at another function's site. */
	return ret->site->traced != ENGINE_NO_FUNCTION &&
	       c->traced.items[ret->site->traced] == x->traced;
}

/* A copy with a NUL behind it; NULL without memory. */
static uint8_t *copy(struct engine_context *x, const void *bytes, size_t size)
{
	uint8_t *to = cp_arena_alloc(&x->arena->memory, size + 1);

	if (to && size)
		memcpy(to, bytes, size);
	if (to)
		to[size] = 0;
	return to;
}

static size_t end_of(const cprof_fetch *what, const void *bytes, size_t size)
{
	return what->kind == CPROF_FETCH_STRING ? strnlen(bytes, size) : size;
}

/* Follows the pointers now, while the thread stands. */
static const void *read_now(struct engine_context *x, const cprof_fetch *what,
			    const struct captured *at, const struct cp_fetch *chain, size_t count,
			    size_t *size_ret)
{
	cprof_process *p = x->session->current.process;
	uint64_t pointer = at->regs->r[chain[0].from];
	uint8_t *bytes = NULL;
	size_t got = 0, i;

	if (!x->session->current.capture.held || !engine_open_memory(p))
		return NULL;
	for (i = 0; i < count; i++) {
		pointer += (uint64_t)(int64_t)chain[i].offset;
		bytes = cp_arena_alloc(&x->arena->memory, chain[i].size + 1);
		if (!bytes || pointer < 4096)
			return NULL;
		got = p->memory.read(p->memory.ctx, pointer, bytes, chain[i].size);
		if (i + 1 < count && got < sizeof(pointer))
			return NULL;
		engine_hide_breakpoints(p, pointer, bytes, (uint32_t)got);
		if (i + 1 < count)
			memcpy(&pointer, bytes, sizeof(pointer));
	}
	if (!bytes || !got)
		return NULL;
	*size_ret = end_of(what, bytes, got);
	bytes[*size_ret] = 0;
	return bytes;
}

/* The block that the last fetch of a chain read. */
static const void *read_then(struct engine_context *x, const cprof_fetch *what,
			     const struct captured *at, const struct cp_fetch *chain, size_t count,
			     size_t *size_ret)
{
	int number = cp_plan_find(at->site->list.fetches, at->site->list.fetch_count, chain, count);
	struct cp_fetched block;
	const uint8_t *bytes;
	size_t next = 0;

	while (number >= 0 &&
	       cp_fetched_next(at->fetched, at->fetched_size, &next, &block, &bytes)) {
		if (block.index != (uint32_t)number || !block.size)
			continue;
		*size_ret = end_of(what, bytes, block.size);
		return copy(x, bytes, *size_ret);
	}
	return NULL;
}

/* Only what this function's calls bring along in this event. */
static const cprof_fetch *fetch_of(const struct engine_context *x, int number)
{
	const struct engine_calls *c = x->session->calls;
	const cprof_fetch *what;
	size_t i;

	if (x->frame || !x->traced || !x->hit || !engine_fetches(x->traced))
		return NULL;
	for (i = 0; i < x->traced->fetching->numbers.count; i++) {
		if ((int)x->traced->fetching->numbers.items[i] != number)
			continue;
		what = &c->fetches.items[number].what;
		return x->leave || (what->argument >= 0 && !what->late) ? what : NULL;
	}
	return NULL;
}

const void *cprof_call_context_fetched(cprof_call_context *handle, int number, size_t *size_ret)
{
	struct engine_context *x = engine_live(ENGINE_LIVE_CONTEXT, handle);
	const cprof_fetch *what = x ? fetch_of(x, number) : NULL;
	struct cp_fetch chain[ENGINE_CHAIN_MAX];
	const void *bytes = NULL;
	struct captured at;
	size_t count, size = 0;
	unsigned reg;

	if (size_ret)
		*size_ret = 0;
	if (!what || !captured_of(x, what->argument >= 0, &at)) {
		if (x)
			x->error = CPROF_E_NOT_FOUND;
		return NULL;
	}
	count = engine_fetch_chain(what, at.site, chain, &reg);
	if (count)
		bytes = (what->late ? read_now : read_then)(x, what, &at, chain, count, &size);
	else if (at.regs->known >> reg & 1)
		bytes = copy(x, &at.regs->r[reg], size = sizeof(at.regs->r[reg]));
	x->error = bytes ? CPROF_OK : CPROF_E_UNREADABLE;
	if (size_ret && bytes)
		*size_ret = size;
	return bytes;
}

uint64_t cprof_call_context_fetched_value(cprof_call_context *handle, int number)
{
	size_t size;
	const void *bytes = cprof_call_context_fetched(handle, number, &size);
	uint64_t value = 0;

	if (bytes && size == sizeof(value))
		memcpy(&value, bytes, sizeof(value));
	return value;
}
