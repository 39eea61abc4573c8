/* SPDX-License-Identifier: MIT
 *
 * Every thread once, now.
 */
#ifndef CP_TRACER_SNAPSHOT_H
#define CP_TRACER_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>

struct cp_request;
struct thread;
struct tracer;

/* An errno, or 0. */
int snapshot_start(struct tracer *tr, const struct cp_request *rq);
void snapshot_check(struct tracer *tr, uint64_t now);
/* True: a thread that stopped for it stays so (HELD) until it is captured. */
bool snapshot_park(struct tracer *tr, struct thread *t, unsigned want, uint64_t seen_ns);
/* True while it has more to do than to wait for a few threads. */
bool snapshot_waits(const struct tracer *tr);
/* Captures the parked threads and lets them go, as far as there is room. */
void snapshot_unpark(struct tracer *tr);

#endif
