/* SPDX-License-Identifier: MIT
 *
 * What lies in the kernel's rings becomes samples.
 */
#ifndef CP_TRACER_PERF_TAKE_H
#define CP_TRACER_PERF_TAKE_H

#include <stdint.h>

struct tracer;

/* Tells of all samples so far. To be called before a thread is forgotten or its process
 * becomes another program. */
void perf_take(struct tracer *tr);
/* The same when it is time to, and judges once a second (perf_judge.h). */
void perf_look(struct tracer *tr, uint64_t now);

#endif
