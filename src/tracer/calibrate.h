/* SPDX-License-Identifier: MIT
 *
 * What a stop costs the program beyond what the tracer sees of it.
 */
#ifndef CP_TRACER_CALIBRATE_H
#define CP_TRACER_CALIBRATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CALIBRATIONS 63

struct site;
struct thread;
struct tracer;

struct calibration {
	uint64_t hits;
	bool due;
	size_t count; /* so far; the last ones are kept */
	uint64_t costs[CALIBRATIONS]; /* ns */
};

/* A hit was served: the offset in the slot by which the thread shall go on, 0
 * as always. */
unsigned calibrate_detour(struct tracer *tr, struct thread *t, const struct site *site);
/* A trap of a thread, `pc` behind it: was that the detour's? Then it goes on
 * from there. */
bool calibrate_seen(struct tracer *tr, struct thread *t, uint64_t pc, uint64_t seen_ns);
/* Before leaving: who is still on the way goes on without a trap. */
void calibrate_end(struct tracer *tr);

#endif
