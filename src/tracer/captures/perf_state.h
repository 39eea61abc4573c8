/* SPDX-License-Identifier: MIT
 *
 * Samples without stops, by the kernel's own interrupt (perf_event_open()): what is known.
 *
 *   a thread's time on a CPU is up ─► the kernel copies registers and stack into the
 *   ring of that CPU ─► perf_take() tells of them as of stops ─► the controller walks
 *
 * perf.c opens and closes events, perf_ring.c reads rings, perf_take.c tells of what is
 * in them, perf_judge.c finds threads that are not sampled so as they should be, which
 * ticks (tick.c) sample by stops.
 */
#ifndef CP_TRACER_PERF_STATE_H
#define CP_TRACER_PERF_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "tracer/captures/perf_ring.h"

struct thread;
struct tracer;

struct perf {
	uint32_t hz;
	uint64_t period_ns;
	const struct cp_perf_event *event; /* NULL: time on a CPU */
	uint64_t every; /* of the event */
	uint64_t given; /* of it, that samples carry */
	uint32_t stack; /* bytes that are copied of one */
	bool user_only; /* the kernel's time may not be looked at */
	bool on;
	bool full; /* a ring is a third full */
	bool ticks; /* some are sampled by stops */
	struct perf_rings rings;
	CP_VEC(int) events; /* of each thread on each CPU */
	uint64_t due_ns; /* when to look into the rings at the latest */
	uint64_t young_until_ns; /* a program began lately */
	/* Of late, what is longer ago less (perf_judge.c). */
	uint64_t judge_ns, begun_ns; /* when the next one is; and samples began */
	uint64_t used_ns; /* CPU time of all */
	uint64_t ended_ns, ended_sampled_ns; /* of threads that ended */
	bool stops; /* too many are too short: all go by stops */
};

/* Is the thread sampled without stops now? */
bool perf_has(const struct tracer *tr, const struct thread *t);
/* Nobody needs ticks. */
bool perf_rests(const struct tracer *tr);
/* Is the thread's time in the kernel in no samples? */
bool perf_leaves_out(const struct tracer *tr, const struct thread *t);
/* Is so much more CPU time used than sampled that it is no chance? */
bool perf_misses(const struct perf *perf, uint64_t used_ns, uint64_t sampled_ns);
/* A thread ended that used `cpu_ns`. */
void perf_ended(struct tracer *tr, const struct thread *t, uint64_t cpu_ns);
/* A program began: its first samples are looked for soon. */
void perf_born(struct tracer *tr);

#endif
