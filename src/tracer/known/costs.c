/* SPDX-License-Identifier: MIT
 *
 * What stops take of a thread's CPU time: the last ones that were measured
 * (hits/calibrate.c), by class, and what is typical of them.
 */
#include "tracer/known/costs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The clock of the scheduler is no better. */
#define LEAST_SIGMA 100.0
/* From the tenth part to the last but a tenth of what is distributed normally. */
#define TENTHS 2.56
#define ENOUGH 4u /* of a class, to say something about it */
/* Of all, to say of others how long they take: one that was measured on a busy machine took 475 us
 * where others took 5, and subtracted from each call nothing was left of 100 us. */
#define ENOUGH_FOR_OTHERS 16u
/* Those that are measured are the first ones, and the first after others: what the least took is
 * in caches later, and less than it may be taken (118 us where all of a call with its stop took
 * that, on a busy machine). */
#define CERTAIN 2
#define GAP_UNSEEN UINT64_C(2000000) /* ns; where none was seen, none is longer than that */
#define FIRST 8u /* with so few all are taken for usual */

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The last ones of `room`, of which there were `count` so far, in order; returns how
 * many. */
static size_t sort_last(const uint64_t *last, size_t room, size_t count, uint64_t *ret)
{
	size_t n = count < room ? count : room;

	memcpy(ret, last, n * sizeof(*ret));
	qsort(ret, n, sizeof(*ret), compare);
	return n;
}

/* Whoever has to wake a tracer that sleeps on an idle CPU takes several times as long
 * as who finds it on the own one, and that is not to be seen of a single stop. But how
 * long it took until the tracer ran, and whether there was a CPU for the thread, says
 * a lot. */
static unsigned class_of(uint64_t gap_ns, bool at_once)
{
	unsigned power = 0;

	while (power < CALIBRATION_CLASSES / 2 - 1 && gap_ns >> (power + 11))
		power++;
	return 2 * power + at_once;
}

static struct stop_cost cost_of(const uint64_t *sorted, size_t n)
{
	struct stop_cost cost = {
		.typical = (double)sorted[n / 2],
		.sigma = (double)(sorted[n - 1 - n / 10] - sorted[n / 10]) / TENTHS,
	};

	if (cost.sigma < LEAST_SIGMA)
		cost.sigma = LEAST_SIGMA;
	return cost;
}

/* Another stop took so much longer than is typical of its kind. All kinds are taken together:
 * what is rare would not be seen of one. */
static void add_excess(struct calibration *c, double excess)
{
	double sum = 0, squares = 0, mean;
	size_t n, i;

	c->excess[c->excess_count++ % EXCESSES] = excess;
	n = c->excess_count < EXCESSES ? c->excess_count : EXCESSES;
	for (i = 0; i < n; i++) {
		sum += c->excess[i];
		squares += c->excess[i] * c->excess[i];
	}
	mean = sum / (double)n;
	c->mean_excess = mean;
	c->slant = sqrt(fmax(squares / (double)n - mean * mean, LEAST_SIGMA * LEAST_SIGMA) /
			(double)n);
}

uint64_t costs_add(struct calibration *c, uint64_t run_ns, uint64_t gap_ns, bool at_once)
{
	struct calibration_class *class = &c->classes[class_of(gap_ns, at_once)];
	uint64_t sorted[CALIBRATIONS];
	size_t n;

	class->run_ns[class->count++ % CLASS_CALIBRATIONS] = run_ns;
	n = sort_last(class->run_ns, CLASS_CALIBRATIONS, class->count, sorted);
	class->cost = cost_of(sorted, n);
	add_excess(c, (double)run_ns - class->cost.typical);
	c->run_ns[c->count++ % CALIBRATIONS] = run_ns;
	c->least_ns = c->count == 1 || run_ns < c->least_ns ? run_ns : c->least_ns;
	n = sort_last(c->run_ns, CALIBRATIONS, c->count, sorted);
	c->cost = cost_of(sorted, n);
	costs_gap(c, gap_ns);
	return sorted[n - 1 - (n > FIRST)] - sorted[n / 2]; /* but for the slowest */
}

void costs_gap(struct calibration *c, uint64_t gap_ns)
{
	c->gaps[c->gap_count++ % CALIBRATIONS] = gap_ns;
}

uint64_t costs_longest_gap(const struct calibration *c)
{
	size_t n = c->gap_count < CALIBRATIONS ? c->gap_count : CALIBRATIONS, i;
	uint64_t longest = n ? 0 : GAP_UNSEEN;

	for (i = 0; i < n; i++)
		longest = c->gaps[i] > longest ? c->gaps[i] : longest;
	return longest;
}

static struct stop_cost with_mean(const struct calibration *c, struct stop_cost cost)
{
	bool few = c->count < ENOUGH_FOR_OTHERS;

	cost.least = few ? 0 : (double)c->least_ns / CERTAIN;
	cost.mean = fmax(cost.typical + c->mean_excess, cost.least);
	cost.slant = few ? fmax(c->slant, cost.mean) : c->slant;
	return cost;
}

struct stop_cost costs_of_any(const struct calibration *c)
{
	return with_mean(c, c->cost);
}

struct stop_cost costs_of(const struct calibration *c, uint64_t gap_ns, bool at_once)
{
	const struct calibration_class *class = &c->classes[class_of(gap_ns, at_once)];

	return with_mean(c, class->count >= ENOUGH ? class->cost : c->cost);
}
