/* SPDX-License-Identifier: MIT
 *
 * Who is not sampled so as he should be goes by stops.
 */
#ifndef CP_TRACER_PERF_JUDGE_H
#define CP_TRACER_PERF_JUDGE_H

#include <stdint.h>

struct thread;
struct tracer;

/* The thread is sampled by stops from now on, until it is judged again at least. */
void perf_use_stops(struct tracer *tr, struct thread *t);
void perf_judge(struct tracer *tr, uint64_t now);

#endif
