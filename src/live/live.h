/* SPDX-License-Identifier: MIT
 *
 * What a program does now: samples, calls and allocations added up by function, caller,
 * source line and thread, over the last seconds and since the start. One thread adds what
 * it is told, another one looks.
 *
 * Of each sum there are the amounts of the last seconds, one beside the other, so that
 * nothing has to be taken off again when a second is over:
 *
 *     seconds   ... 17   18   19   20   21 | 22
 *                  `------ last -------'     being told
 *
 * Seconds are those of the monotonic clock, for what sleeps is told of at the first tick of
 * each (tracer/captures/tick.c). Only the one in which all begins is longer or shorter.
 */
#ifndef CP_LIVE_H
#define CP_LIVE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"

#define CP_LIVE_SECONDS 5 /* what "last" is */
#define CP_LIVE_SLOTS 8 /* seconds that are kept: some may be told late */
#define CP_LIVE_ALL 0 /* the number that stands for all threads */
#define CP_LIVE_NONE UINT32_MAX /* no number at all */

enum cp_live_kind {
	CP_LIVE_TIME, /* samples; ns */
	CP_LIVE_CALLS, /* traced calls that are over; ns */
	CP_LIVE_BYTES, /* allocations */
	CP_LIVE_KINDS
};

/* What a sum is of. */
enum cp_live_what {
	CP_LIVE_THREAD, /* all of a thread's */
	CP_LIVE_FUNCTION, /* a: the function */
	CP_LIVE_CALLER, /* a: the caller, b: whom it called */
	CP_LIVE_LINE, /* a: the function, b: the line */
};

struct cp_live_amount {
	uint64_t count; /* samples, calls, blocks */
	uint64_t self, total; /* ns, or bytes; total: with what was called. A second may lack what
				  was in it of calls that lasted longer */
};

struct cp_live_slot {
	uint32_t second;
	struct cp_live_amount amount;
};

struct cp_live_sum {
	uint32_t a, b;
	uint32_t next; /* of the same group; CP_LIVE_NONE: it is the last */
	uint32_t stamp; /* of the event that was added last */
	struct cp_live_amount all;
	struct cp_live_slot slots[CP_LIVE_SLOTS]; /* by second modulo their number */
};

struct cp_live_function {
	const char *name, *image; /* owned by the interner, as long as all of it */
	const char *file; /* likewise; NULL: unknown */
};

struct cp_live_thread {
	int32_t pid, tid; /* both 0: all threads */
	char name[64]; /* untrusted */
	char process[64]; /* its process's name, untrusted */
	bool ended;
};

/* What profiling cost up to a moment. Times in ns. */
struct cp_live_cost {
	uint64_t at_ns; /* monotonic */
	uint64_t own_cpu_ns; /* of cprof's processes */
	uint64_t stops, stopped_ns; /* of the program's threads, added up */
	uint64_t samples, lost;
	uint64_t calls_lost; /* calls that there was no room for */
	uint64_t disarmed; /* functions that were called too often */
	uint64_t paused_ns, watched_ns; /* where there were more allocations than could be told */
};

/* A frame of a stack; what is inlined has one of its own. */
struct cp_live_frame {
	uint32_t function, line; /* line 0: unknown */
};

struct cp_live {
	pthread_mutex_t lock;
	uint64_t start_ns; /* monotonic */
	uint64_t first_ns; /* how long the first second is: 0.5 s to 1.5 s */
	uint64_t elapsed_ns; /* up to when it was looked at last */
	uint32_t seconds; /* how many are over */
	uint32_t stamp;
	struct cp_interner groups; /* kind, what, thread */
	CP_VEC(uint32_t) first; /* sum of a group */
	struct cp_interner keys; /* group, a, b */
	CP_VEC(struct cp_live_sum) sums;
	struct cp_interner names; /* name and image */
	struct cp_interner files;
	CP_VEC(struct cp_live_function) functions;
	CP_VEC(struct cp_live_thread) threads; /* the first one stands for all */
	CP_VEC(struct cp_live_cost) costs; /* the newest last */
	bool failed; /* without memory: what is here is not all */
};

void cp_live_init(struct cp_live *l, uint64_t start_ns);
void cp_live_deinit(struct cp_live *l);

/* All others are to be called with the lock held. */
void cp_live_lock(struct cp_live *l);
void cp_live_unlock(struct cp_live *l);

/* ---- who adds ---- */

/* All begins now, not when it was initialized. */
void cp_live_begin(struct cp_live *l, uint64_t start_ns);

/* The number of a function. `file` may be NULL. */
uint32_t cp_live_function(struct cp_live *l, const char *name, const char *image, const char *file);
/* The number of a new thread. */
uint32_t cp_live_thread(struct cp_live *l, int32_t pid, int32_t tid);
/* The second of a time, from 0; and when that is over. */
uint32_t cp_live_second(const struct cp_live *l, uint64_t ns);
uint64_t cp_live_second_end(const struct cp_live *l, uint32_t second);
/* An event, or some that are alike, with its stack, leaf first. */
void cp_live_add(struct cp_live *l, enum cp_live_kind kind, uint32_t thread, uint32_t second,
		 const struct cp_live_frame *frames, size_t count, uint64_t events,
		 uint64_t weight);
/* Calls that are over, of `callee` by `caller` (or CP_LIVE_NONE). amount->total: 0 for those
 * within another call of the same function. */
void cp_live_add_calls(struct cp_live *l, uint32_t thread, uint32_t second, uint32_t caller,
		       uint32_t callee, const struct cp_live_amount *amount);
void cp_live_add_cost(struct cp_live *l, const struct cp_live_cost *cost);
/* Seconds that are over by now. */
void cp_live_advance(struct cp_live *l, uint64_t now_ns);
/* The same for the last time: what was too short for a second is one. */
void cp_live_finish(struct cp_live *l, uint64_t now_ns);

/* ---- who looks ---- */

/* Makes a copy of what there is now, to look at: names are those of `l`, and good as long. Takes
 * the lock. */
void cp_live_freeze(struct cp_live *frozen, struct cp_live *l);
/* Seconds that the last ones are, fewer at the start; and how long these are. */
uint32_t cp_live_last_seconds(const struct cp_live *l);
uint64_t cp_live_last_ns(const struct cp_live *l);
/* What a sum has of the last seconds. */
struct cp_live_amount cp_live_last(const struct cp_live *l, const struct cp_live_sum *sum);
/* Walks the sums of a group: `sum` NULL begins, NULL ends. */
const struct cp_live_sum *cp_live_next(struct cp_live *l, enum cp_live_kind kind,
				       enum cp_live_what what, uint32_t thread,
				       const struct cp_live_sum *sum);
/* What profiling cost from one moment to another, in the last seconds, or from the start
 * (`last` false); at_ns: the time between. */
struct cp_live_cost cp_live_cost(const struct cp_live *l, bool last);

#endif
