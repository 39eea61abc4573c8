/* SPDX-License-Identifier: MIT
 *
 * Breakpoints that pause when they are hit too often. Private to src/tracer.
 */
#ifndef CP_TRACER_PAUSE_H
#define CP_TRACER_PAUSE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "tracer/known/own.h"

struct space;
struct tracer;

/* Of an address space. */
struct pause {
	uint32_t rate; /* hits a second; 0: none came yet */
	uint64_t credit; /* hits that may come before the next pause */
	double added_ns; /* by the space's clock, when the credit was last added to */
	struct own_clock piece; /* when this piece began; seen_ns 0: there was no pause yet */
	bool begins; /* a piece does, with the next hit */
	uint64_t since_ns; /* when the pause began */
	uint64_t until_ns; /* it ends then; 0: there is none */
	pid_t pid; /* of whom it was told */
};

/* A hit of a group that pauses at so many a second; true: it was one too many. */
bool pause_spend(struct space *space, uint32_t rate);
/* Takes out all that pauses, for a while, and tells of it. */
void pause_begin(struct tracer *tr, struct space *space, pid_t pid, uint64_t now);
/* Ends what pauses are due to end; after each time round. */
void pause_look(struct tracer *tr, uint64_t now);

#endif
