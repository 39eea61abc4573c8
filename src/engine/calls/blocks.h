/* SPDX-License-Identifier: MIT
 *
 * Calls that are told in blocks. Private to src/engine.
 */
#ifndef CP_ENGINE_CALLS_BLOCKS_H
#define CP_ENGINE_CALLS_BLOCKS_H

#include <cprof/cprof.h>

#include "engine/target/state.h"
#include "link/records.h"

struct engine_ring;

/* How far records are taken. */
struct engine_reach {
	uint64_t until_ns;
	uint64_t position; /* in the ring */
	size_t most;
};

/* A ring whose records are taken, one after the other. */
struct engine_blocks {
	cprof_session *session;
	struct engine_ring *ring;
	cprof_thread *thread;
};

/* The stack pointer of a record, of which that has the lower bits, on the thread's own stack; 0: it
 * is not there. */
static inline uint64_t engine_blocks_sp(const cprof_thread *t, uint64_t low)
{
	const uint64_t span = UINT64_C(1) << CP_RECORD_SP_BITS;
	uint64_t sp = (t->stack_end & ~(span - 1)) | low;

	if (sp >= t->stack_end)
		sp -= span;
	return sp >= t->stack_low && sp < t->stack_end ? sp : 0;
}

/* Do all profilers that are told of calls take blocks, and does nobody want more than
 * blocks say? Changes between two events at most. */
bool engine_blocks_wanted(const cprof_session *s);
/* May records of the ring go into blocks by now? */
bool engine_blocks_begin(cprof_session *s, struct engine_ring *ring, struct engine_blocks *ret);
/* The ring's next records, up to the first that goes the way of hits. How many they were. */
size_t engine_blocks_take(const struct engine_blocks *b, const struct engine_reach *reach);
/* Tells profilers what was taken: before anything else is told of the thread. */
void engine_blocks_tell(cprof_session *s, struct engine_ring *ring);
/* The same of all threads. */
void engine_blocks_tell_all(cprof_session *s);

#endif
