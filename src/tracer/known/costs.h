/* SPDX-License-Identifier: MIT
 *
 * What stops take of a thread's CPU time, from those at which it is known.
 */
#ifndef CP_TRACER_COSTS_H
#define CP_TRACER_COSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CALIBRATIONS 63
#define CALIBRATION_CLASSES 16
#define CLASS_CALIBRATIONS 15
#define EXCESSES 255

/* CPU time of a thread for a stop: most are between `typical` and 2 `sigma` less or more. A
 * few take much longer (interrupts, a host that takes the CPU away), so that many take
 * `mean` each, or `slant` less or more. All 0: not known yet. */
struct stop_cost {
	double typical, sigma; /* ns */
	double mean, slant;
	double least; /* none takes less, for certain; 0 if not enough were measured to say so */
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
	uint64_t run_ns[CALIBRATIONS]; /* as costs_add() got them */
	struct stop_cost cost; /* of all kinds */
	uint64_t least_ns; /* of all so far */
	size_t excess_count;
	double excess[EXCESSES]; /* by how much the last ones took more than is typical */
	double mean_excess, slant; /* of these; how wrong that mean may be */
	size_t gap_count;
	uint64_t gaps[CALIBRATIONS]; /* of stops at which it is known */
	struct calibration_class classes[CALIBRATION_CLASSES];
};

/* A thread that did nothing between two stops was on its CPU for `run_ns`. Of the
 * time between, `gap_ns` were neither that nor waiting for a CPU; `at_once`: it did
 * not wait for one. Answers how much more than usual a slow stop takes. */
uint64_t costs_add(struct calibration *c, uint64_t run_ns, uint64_t gap_ns, bool at_once);
/* The gap_ns of another stop, whose costs are not known. */
void costs_gap(struct calibration *c, uint64_t gap_ns);
uint64_t costs_longest_gap(const struct calibration *c);
/* The usual cost of stops; of those with such a gap. */
struct stop_cost costs_of_any(const struct calibration *c);
struct stop_cost costs_of(const struct calibration *c, uint64_t gap_ns, bool at_once);

#endif
