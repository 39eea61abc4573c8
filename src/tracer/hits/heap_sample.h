/* SPDX-License-Identifier: MIT
 *
 * A sample of what is allocated.
 */
#ifndef CP_TRACER_HEAP_SAMPLE_H
#define CP_TRACER_HEAP_SAMPLE_H

#include <stdint.h>

struct cp_regs;
struct site;
struct space;
struct thread;
struct tracer;

/* A hit of a group that is sampled: what the event says of it (CP_HIT_CHOSEN,
 * CP_HIT_PASSED); 0: it is none of those that are followed. */
unsigned heap_sample_hit(struct tracer *tr, struct thread *t, struct space *space,
			 const struct site *site, const struct cp_regs *regs, uint64_t sp);
/* Watching pauses: nothing is known any more of what is open, or live. */
void heap_sample_pause(struct tracer *tr, struct space *space);

#endif
