/* SPDX-License-Identifier: MIT
 *
 * The clock, and whom it hits.
 */
#ifndef CP_TRACER_TICK_H
#define CP_TRACER_TICK_H

#include <stdint.h>

struct cp_request;
struct thread;
struct tracer;

/* Starts the clock, as a request has it. */
void tick_start(struct tracer *tr, const struct cp_request *rq);
void tick(struct tracer *tr, uint64_t now);
/* Ticks come again, if anybody needs them. */
void tick_wake(struct tracer *tr);
/* Writes the repeats of all threads that have not run (wall clock). */
void tick_flush(struct tracer *tr, uint64_t now);
/* Has the thread looked at for at least that many ticks. */
void tick_activate(struct thread *t, unsigned looks);
void tick_deactivate(struct thread *t);

#endif
