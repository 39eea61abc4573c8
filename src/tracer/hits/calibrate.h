/* SPDX-License-Identifier: MIT
 *
 * Stops whose cost is measured, for nothing else happens between two of them.
 */
#ifndef CP_TRACER_CALIBRATE_H
#define CP_TRACER_CALIBRATE_H

#include <stdbool.h>
#include <stdint.h>

struct site;
struct thread;
struct tracer;

/* A hit was served: the offset in the slot by which the thread shall go on, 0
 * as always. */
unsigned calibrate_detour(struct tracer *tr, struct thread *t, const struct site *site);
/* A trap of a thread, `pc` behind it: was that the detour's? Then it goes on
 * from there. */
bool calibrate_seen(struct tracer *tr, struct thread *t, uint64_t pc, uint64_t seen_ns);
/* Before leaving: who is still on the way goes on without a trap. */
void calibrate_end(struct tracer *tr);

#endif
