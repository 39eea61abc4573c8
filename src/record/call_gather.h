/* SPDX-License-Identifier: MIT
 *
 * Events of calls that wait to be a block. A thread is told a few at a time where many take
 * turns, or where single events come in between; each block begins without known calls,
 * callees and forms, so blocks of some events are twice as large and slow to read. What
 * waits, of all threads as it came:
 *
 *     entries   aaaabbbbbbaaacccccaa
 *     runs      [  ][    ][ ][   ][]    and of each thread its first and its last one
 *
 * A thread's first block never waits: readers go by who began first where two events have
 * the same time (call_walk.c).
 */
#ifndef CP_RECORD_CALL_GATHER_H
#define CP_RECORD_CALL_GATHER_H

#include "base/vec.h"
#include "record/arena.h"
#include "record/call_block.h"

/* Events of one thread that were told at once. */
struct cp_call_run {
	size_t from, count; /* entries */
	size_t next; /* the thread's next run + 1; 0: none */
	struct cp_call_costs costs;
};

struct cp_call_waiting {
	size_t first, last; /* runs + 1; 0: none */
	bool begun; /* it has a block */
};

/* Those of a thread that make a block. */
struct cp_call_gathered {
	const struct cp_call_entry *entries; /* until the next ones are asked for */
	size_t count;
	struct cp_call_costs costs;
};

struct cp_call_gather {
	CP_VEC(struct cp_call_entry) entries, joined;
	CP_VEC(struct cp_call_run) runs;
	CP_VEC(struct cp_call_waiting) threads;
	CP_VEC(uint32_t) waiting; /* threads, who waits longest first */
	struct cp_record_arena values; /* of the entries */
	size_t told; /* events since nothing waited, of `value_bytes` */
	size_t value_bytes;
};

/* Are so many of the thread's events to wait? Else they are a block, after what waits. */
bool cp_call_gather_wants(struct cp_call_gather *g, uint32_t thread, size_t count);
/* Copies them, values and all; false without memory. */
bool cp_call_gather_add(struct cp_call_gather *g, struct cp_call_coder *coder, uint32_t thread,
			const struct cp_call_costs *costs, const struct cp_call_entry *entries,
			size_t count);
/* Is it time to tell all that waits? So that little is kept here, and a thread's next block
 * is never many chunks behind those of others. */
bool cp_call_gather_is_full(const struct cp_call_gather *g);
/* Takes the next ones of a thread; false: none wait, or (*failed) there is no memory. */
bool cp_call_gather_next(struct cp_call_gather *g, uint32_t thread, struct cp_call_gathered *ret,
			 bool *failed);
/* When all threads have been asked. */
void cp_call_gather_clear(struct cp_call_gather *g);
void cp_call_gather_free(struct cp_call_gather *g);

#endif
