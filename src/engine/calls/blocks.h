/* SPDX-License-Identifier: MIT
 *
 * Calls that are told in blocks. Private to src/engine.
 */
#ifndef CP_ENGINE_CALLS_BLOCKS_H
#define CP_ENGINE_CALLS_BLOCKS_H

#include <cprof/cprof.h>

struct cp_record;
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
