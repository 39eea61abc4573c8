/* SPDX-License-Identifier: MIT
 *
 * On which CPU a thread is, and on which one we are (captures/place.c).
 */
#ifndef CP_TRACER_PLACE_H
#define CP_TRACER_PLACE_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "tracer/known/own.h"

/* Of a thread. */
struct on_cpu {
	uint64_t slices; /* schedstat's, when its CPU was looked up; 0: it was not */
	int cpu; /* -1: not known */
	uint32_t came; /* the tick that found it there first */
	bool moved; /* it ran, or began to, between the last two looks */
	uint32_t asked_for; /* looks, the next ones, at which its CPU is wanted */
	/* The last stop for a sample: when it went on from it, and what it had had by then. */
	uint64_t went_on_ns;
	struct cpu_use had;
	/* The last interrupt for a sample: for which tick, and what the thread had had. */
	uint64_t tick_ns;
	struct cpu_use asked;
	bool near; /* it was on our CPU then */
	int64_t left_ns; /* how long after the tick it had left that, if it is known; else 0 */
	uint32_t sooner,
		later; /* left it in a call, a little before our slice was over, or after */
	bool rests; /* it was given no CPU since it went on */
	uint32_t near_only; /* samples, the next ones, for which it has to be on our own CPU */
	uint32_t passed_over; /* ticks since its last sample, because it was not */
};

/* Of the tracer. */
struct on_cpus {
	uint32_t tick; /* counted, from 1 on */
	uint32_t came[CPU_SETSIZE]; /* the tick that found somebody there first */
	int here; /* our CPU at the tick; -1: not known */
	int wanted; /* where somebody is who was passed over; -1: nowhere */
	uint32_t cpus; /* CPUs that we have to go round, by the last ticks */
	uint32_t stay; /* ticks since we came here */
	uint32_t age; /* ticks, all in all */
	bool pinned, stuck; /* to one CPU; no CPU can be chosen */
};

#endif
