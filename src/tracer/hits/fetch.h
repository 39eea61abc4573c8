/* SPDX-License-Identifier: MIT
 *
 * What the controller wants to have read at a hit.
 */
#ifndef CP_TRACER_FETCH_H
#define CP_TRACER_FETCH_H

#include "tracer/hits/at.h"

/* A return address on the stack: at an entry it is the caller's, behind a return
 * the one that was used. */
struct slot_read {
	uint64_t address;
	uint64_t *to; /* NULL: not wanted */
};

/* Fills `to` with the blocks of a site and returns how long they are together.
 * Each is read to where it lies if all are as long as they may be, and moved
 * together afterwards. `caller` is read with them. */
uint32_t fetch(const struct at *at, const struct site *site, uint8_t *to, struct slot_read caller);
/* Vectors and floating point of a thread that stands still; 0: it is gone. */
uint32_t fetch_vector(pid_t tid, struct cp_hit_vector *to);
/* A call begins of which the first argument is kept (CP_GROUP_KEEPS). */
void fetch_keep_first(struct thread *t, uint64_t sp, uint64_t value);

#endif
