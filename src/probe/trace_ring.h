/* SPDX-License-Identifier: MIT
 *
 * Reads a program's ring of annotations (cprof/trace_format.h) from outside,
 * while the program writes to it. Nothing in there is believed: whatever it
 * says costs a bounded amount of work and memory.
 */
#ifndef CP_PROBE_TRACE_RING_H
#define CP_PROBE_TRACE_RING_H

#include <cprof/trace_format.h>

#include "base/types.h"

#define CP_TRACE_RING_CHUNK 1024 /* events that are read at once */
#define CP_TRACE_RING_MAX (UINT32_C(1) << 30) /* of a capacity */

struct cp_trace_ring {
	uint64_t root; /* address */
	uint64_t cursor; /* the next index */
	uint64_t head; /* behind the last one of its own, when last read */
	uint64_t floor; /* what is before it is none of ours */
	uint64_t lost; /* so far: overwritten, or never completed */
	uint32_t capacity; /* when last read; 0: there was none yet */
	bool begun; /* `cursor` counts */
	bool own; /* its process had recorded there, when last read */
	bool switched_on; /* our bit is set, when last read */
};

enum cp_trace_ring_state {
	CP_TRACE_RING_EMPTY, /* nothing more for now */
	CP_TRACE_RING_MORE, /* there is: read again */
	CP_TRACE_RING_BROKEN, /* no root is there, or none that we understand */
};

/* Takes an event; false: not now, offer it again at the next read. */
typedef bool (*cp_trace_ring_fn)(void *ctx, const cprof_trace_event *event);

/* A ring whose root is at `root`. Events that are there already are left alone;
 * of a forked process (`fork`), nothing is its own yet. False: no root. */
bool cp_trace_ring_init(struct cp_trace_ring *ring, const struct cp_reader *reader, uint64_t root,
			bool fork);
/* The ring will not be read again: what is left in it is lost. */
void cp_trace_ring_give_up(struct cp_trace_ring *ring);
/* Reads at most CP_TRACE_RING_CHUNK events. `pid`: the process's number, as it
 * sees it. `last`: nobody writes any more, what is incomplete stays so. */
enum cp_trace_ring_state cp_trace_ring_read(struct cp_trace_ring *ring,
					    const struct cp_reader *reader, int32_t pid, bool last,
					    cp_trace_ring_fn fn, void *ctx);

#endif
