/* SPDX-License-Identifier: MIT
 *
 * Breakpoints that pause when they are hit too often.
 */
#ifndef CP_TRACER_PAUSE_H
#define CP_TRACER_PAUSE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct space;
struct tracer;

/* A hit of a group that pauses at so many a second; true: it was one too many. */
bool pause_spend(struct space *space, uint32_t rate);
/* Takes out all that pauses, for a while, and tells of it. */
void pause_begin(struct tracer *tr, struct space *space, pid_t pid, uint64_t now);
/* Ends what pauses are due to end; after each time round. */
void pause_look(struct tracer *tr, uint64_t now);

#endif
