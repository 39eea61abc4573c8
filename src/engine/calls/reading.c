/* SPDX-License-Identifier: MIT
 *
 * What the detours of a thread may read besides registers.
 *
 *     its own stack, from sp to where what the thread keeps begins:
 *         of the first thread   where the kernel put the program's arguments
 *         of others             the thread pointer, as glibc and musl place it
 *
 * /proc/pid/maps joins neighbours, so where a mapping ends says nothing. Who has neither
 * on the stack it runs on, and who is deeper than a record has room for, stops at calls
 * that bring a stack, which the tracer copies then.
 */
#include "engine/calls/reading.h"

#include "engine/calls/stacks.h"
#include "engine/probes/detours.h"
#include "engine/probes/sites.h"
#include "engine/target/state.h"

/* Sets ring->own_low so that who has more of a stack than a record can bring is not on
 * its own. */
static void limit_depth(struct engine_ring *ring)
{
	struct cp_detour_ring *of = ring->records.ring;
	uint64_t low = UINT64_MAX, own = __atomic_load_n(&of->own_low, __ATOMIC_RELAXED);

	if (of->stack_end > CP_DETOUR_STACK_MAX)
		low = of->stack_end - CP_DETOUR_STACK_MAX;
	if (low > own)
		__atomic_store_n(&of->own_low, low, __ATOMIC_RELAXED);
	ring->walks = true;
}

void engine_reading_begin(cprof_thread *t, const struct cp_event_hit *e)
{
	struct engine_rings *rings = t->process->detours ? t->process->detours->rings : NULL;
	struct cp_records_memory memory = { 0 };
	struct engine_ring *ring;

	if (!rings || e->target >= rings->count)
		return;
	ring = &rings->items[e->target];
	if (!ring->records.ring)
		return;
	memory.self = rings->base + e->target * cp_detour_ring_size(rings->code.log);
	memory.stack_end = engine_thread_stack_end(t, e->caller);
	memory.stack_low = memory.stack_end ? t->stack_low : 0;
	cp_records_set_memory(&ring->records, &memory);
	if (t->process->session->calls->walks)
		limit_depth(ring);
}

void engine_reading_check(const cprof_session *s, struct engine_rings *rings)
{
	uint32_t i;

	for (i = 0; s->calls->walks && i < rings->used; i++)
		if (rings->items[i].records.ring && !rings->items[i].walks)
			limit_depth(&rings->items[i]);
}
