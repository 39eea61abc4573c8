/* SPDX-License-Identifier: MIT
 *
 * What the parts of the profiler behind the live view share.
 */
#ifndef CP_MODULES_LIVE_COLLECTOR_H
#define CP_MODULES_LIVE_COLLECTOR_H

#include <pthread.h>

#include "base/map.h"
#include "base/vec.h"
#include "modules/live/collect.h"
#include "record/spans.h"

/* What stacks are of, as their sums are: no padding. */
struct stack_key {
	uint32_t kind; /* enum cp_live_kind */
	uint32_t thread;
	uint32_t before; /* seconds before the batch's */
	uint32_t stack; /* of the batch's */
};

/* Who called whom, as it is interned. */
struct edge {
	uint32_t thread, caller, callee; /* functions; caller CP_LIVE_NONE: none that is traced */
};

/* What happened in a second. */
struct batch {
	struct batch *next; /* the one after it */
	uint32_t second;
	cprof_stacks *stacks; /* owned */
	cprof_tally *weights; /* owned; by struct stack_key */
	struct cp_interner edges;
	CP_VEC(struct cp_live_amount) amounts; /* by edge */
};

struct cprof_profiler {
	cprof_profiler_handle handle;
	struct cp_live_wants wants;
	struct cp_live *sums; /* borrowed */
	/* ---- the session's thread ---- */
	struct cp_map threads; /* cprof_thread * -> number */
	cprof_callspec *spec; /* owned */
	struct cp_map functions; /* cprof_function * that is traced -> number */
	struct cp_spans spans; /* calls that are open */
	struct cp_call_costs costs; /* of those by detours; 0: not asked yet */
	uint64_t disarmed; /* functions */
	/* ---- both ---- */
	pthread_mutex_t lock;
	pthread_cond_t ended;
	struct batch *oldest, *newest; /* owned */
	bool ends, failed; /* failed: without memory */
	/* ---- the other one's ---- */
	pthread_t namer;
	bool names; /* it runs */
	struct cp_interner places;
	struct span {
		size_t first, count;
	} * spans_of_places; /* by place: its frames */
	size_t span_capacity;
	CP_VEC(struct cp_live_frame) frames;
	CP_VEC(struct cp_live_frame) whole; /* of the stack being added */
};

/* The number of a thread; CP_LIVE_ALL: no memory, or no thread. */
uint32_t collector_thread(cprof_profiler *p, cprof_thread *t);
/* The batch of a second, which is the newest one or a new one; NULL without memory. With the
 * lock held. */
struct batch *collector_batch(cprof_profiler *p, uint32_t second);
/* Something of the event being delivered. */
struct collected {
	enum cp_live_kind kind;
	uint64_t ts_ns;
	cprof_addr ip;
	uint64_t events, weight;
	bool lasted; /* for `weight`, up to `ts_ns`: each second has its part */
};
/* Adds to the stack of the event, in the batch of its second. */
void collector_stack(cprof_profiler *p, const struct collected *c);

/* The names that a thread and its process have now. With the lock of the sums held. */
void collector_names(const cprof_thread *t, struct cp_live_thread *to);
void collector_batch_destroy(struct batch *b);

#endif
