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
#define CALIBRATION_CLASSES 16
#define CLASS_CALIBRATIONS 15

struct site;
struct thread;
struct tracer;

/* CPU time of a thread for a stop: most are between `typical` and 2 `sigma` less or
 * more. All 0: not known yet. */
struct stop_cost {
	double typical, sigma; /* ns */
};

/* The last stops of one kind. */
struct calibration_class {
	size_t count; /* so far */
	uint64_t run_ns[CLASS_CALIBRATIONS];
	struct stop_cost cost;
};

struct calibration {
	uint64_t hits;
	bool due;
	size_t count; /* so far; of the last ones is kept: */
	uint64_t run_ns[CALIBRATIONS]; /* as calibrate_add() got them */
	struct stop_cost cost; /* of all kinds */
	size_t gap_count;
	uint64_t gaps[CALIBRATIONS]; /* of stops at which it is known */
	struct calibration_class classes[CALIBRATION_CLASSES];
};

/* A hit was served: the offset in the slot by which the thread shall go on, 0
 * as always. */
unsigned calibrate_detour(struct tracer *tr, struct thread *t, const struct site *site);
/* A trap of a thread, `pc` behind it: was that the detour's? Then it goes on
 * from there. */
bool calibrate_seen(struct tracer *tr, struct thread *t, uint64_t pc, uint64_t seen_ns);
/* A thread that did nothing between two stops was on its CPU for `run_ns`. Of the
 * time between, `gap_ns` were neither that nor waiting for a CPU; `at_once`: it did
 * not wait for one. Answers how much more than usual a slow stop takes. */
uint64_t calibrate_add(struct calibration *c, uint64_t run_ns, uint64_t gap_ns, bool at_once);
/* As gap_ns there, of other stops. */
void calibrate_gap(struct calibration *c, uint64_t gap_ns);
uint64_t calibrate_longest_gap(const struct calibration *c);
/* Of a stop of which that much is known. */
struct stop_cost calibrate_cost(const struct calibration *c, uint64_t gap_ns, bool at_once);
/* Before leaving: who is still on the way goes on without a trap. */
void calibrate_end(struct tracer *tr);

#endif
