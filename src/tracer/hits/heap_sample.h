/* SPDX-License-Identifier: MIT
 *
 * A sample of what is allocated. Private to src/tracer.
 */
#ifndef CP_TRACER_HEAP_SAMPLE_H
#define CP_TRACER_HEAP_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cp_regs;
struct site;
struct space;
struct thread;
struct tracer;

/* Of an address space. */
struct heap_sample {
	double left; /* bytes up to the next one that is chosen */
	uint64_t random; /* 0: nothing was drawn yet */
	uint64_t *live; /* owned; addresses of chosen blocks that were not freed; 0: free */
	size_t count; /* of them */
	bool full; /* there was no room for one: what is freed may be any */
};

/* Of a thread. */
struct heap_call {
	/* The call that is followed; sp 0: none. */
	uint64_t sp, caller;
	uint64_t size, previous; /* of realloc(): a chosen block, or 0 */
	uint64_t where; /* that the answer is written to; 0: it is the result */
	bool chosen; /* not only `previous` was */
	/* The last one that was begun, followed or not. */
	uint64_t last_sp, last_caller;
	uint32_t last_group;
};

/* A hit of a group that is sampled: what the event says of it (CP_HIT_CHOSEN,
 * CP_HIT_PASSED); 0: it is none of those that are followed. */
unsigned heap_sample_hit(struct tracer *tr, struct thread *t, struct space *space,
			 const struct site *site, const struct cp_regs *regs, uint64_t sp);
/* Watching pauses: nothing is known any more of what is open, or live. */
void heap_sample_pause(struct tracer *tr, struct space *space);
void heap_sample_free(struct heap_sample *h);

#endif
