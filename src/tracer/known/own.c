/* SPDX-License-Identifier: MIT
 *
 * How much of a thread's time is its own, and how much stops took. Of a stop we see
 * the middle only:
 *
 *      the program's │ trap, ─► we sleep,   │ held by us │ it waits   │ back to
 *          code      │ stop     wait, serve │            │ for a CPU  │ its code
 *                    a          others      s            r            b
 *
 * s and r are certain; what lies before s and behind r depends on who else wants
 * the CPUs, and is anything from 3 us to 100 ms. No average says what it was for
 * this very stop. But the kernel counts, for each thread, its time on a CPU, its
 * time waiting for one, and how often it was given one (schedstat, exact while it
 * is stopped). Between two stops,
 *
 *     given a CPU just once: it ran from b to a without a break, so what it did is
 *         the time on its CPU less what trap and return take of that, which is
 *         much the same from stop to stop, and is measured (hits/calibrate.c). Whatever
 *         waited for whom plays no part.
 *     more than once: it was preempted or slept in its own code. Then it is known
 *         what it had at least, its time on the CPU; and at most, all but what we
 *         held it. Of what is between, what it waited for CPUs may have been our
 *         doing, and as much of the rest as others were seen late.
 *
 * So each piece adds to what was lost, and to how doubtful that is: by how much that is
 * likely to be wrong, and by how much it may be too large at most. For what stops took
 * of a piece may be far less than the mean of others: only the least is certain.
 */
#include "tracer/known/own.h"

#include "tracer/known/proc.h"

/* Between two stops that were accounted for. */
struct piece {
	uint64_t away_ns; /* without what it was held */
	uint64_t run_ns, wait_ns, slices;
	uint64_t gap_ns; /* neither */
	uint64_t stops; /* that it went on from */
	bool known; /* the kernel has said so */
};

static struct piece piece_of(const struct thread *t, uint64_t total, const struct cpu_use *use)
{
	const struct own *own = &t->own;
	uint64_t held = t->stopped_ns - own->stopped_ns, on;
	struct piece p = { .stops = t->let_go - own->let_go };

	p.away_ns = total > held ? total - held : 0;
	p.known = use->slices && own->use.slices;
	if (!p.known)
		return p;
	p.run_ns = use->run_ns - own->use.run_ns;
	p.wait_ns = use->wait_ns - own->use.wait_ns;
	p.slices = use->slices - own->use.slices;
	on = p.run_ns + p.wait_ns;
	p.gap_ns = p.away_ns > on ? p.away_ns - on : 0;
	return p;
}

/* Anything between the two. */
static double between(double low, double high, struct cp_doubt *doubt)
{
	double range = high > low ? high - low : 0;

	cp_doubt_add_range(doubt, range);
	return high - range / 2;
}

/* The time of its own of a thread that ran without a break. Less than nothing where stops
 * take less than usual: sums have to be right. */
static double unbroken(struct calibration *c, const struct piece *p, struct cp_doubt *doubt)
{
	double stops = (double)p->stops;
	struct stop_cost cost = costs_of(c, p->gap_ns / p->stops, !p->wait_ns);
	bool measured = c->count && (cost.least > 0 || stops * cost.mean < (double)p->run_ns / 2);

	if (!measured)
		return between(0, (double)p->run_ns, doubt);
	costs_gap(c, p->gap_ns / p->stops);
	cp_doubt_add(doubt, stops, cost.sigma, cost.slant, cost.mean - cost.least);
	return (double)p->run_ns - stops * cost.mean;
}

static double broken(const struct calibration *c, const struct piece *p, struct cp_doubt *doubt)
{
	struct stop_cost usual = costs_of_any(c);
	double stops = (double)p->stops, cost = stops * usual.mean;
	double high = (double)p->away_ns - cost, low = (double)p->run_ns - cost, late;

	low = low > 0 ? low : 0;
	high = high > 0 ? high : 0;
	cp_doubt_add(doubt, stops, usual.sigma, usual.slant, usual.mean - usual.least);
	if (!p->known)
		return between(low, high, doubt);
	late = stops * (double)costs_longest_gap(c);
	late = (double)p->wait_ns + (late < (double)p->gap_ns ? late : (double)p->gap_ns);
	return between(high - late > low ? high - late : low, high, doubt);
}

void own_account(struct tracer *tr, struct thread *t, uint64_t seen_ns, bool idle)
{
	struct calibration *c = &tr->calibration;
	uint64_t total = seen_ns - t->own.seen_ns;
	struct cpu_use use = { 0 };
	double mine = 0;
	struct piece p;
	bool first = !t->own.seen_ns;

	proc_cpu_use(tr, t, &use);
	p = piece_of(t, total, &use);
	if (first || !p.stops)
		;
	else if (!idle && p.known && p.slices == p.stops)
		mine = unbroken(c, &p, &t->own.doubt);
	else if (!idle)
		mine = broken(c, &p, &t->own.doubt);
	else if (p.known && p.slices == 1)
		tr->link->shared->stats.slow_stop_ns = costs_add(c, p.run_ns, p.gap_ns, !p.wait_ns);
	if (!first)
		t->own.lost_ns += mine < (double)total ? (uint64_t)((double)total - mine) : 0;
	t->own.use = use;
	t->own.seen_ns = seen_ns;
	t->own.stopped_ns = t->stopped_ns;
	t->own.let_go = t->let_go;
}

void own_clock_advance(struct own_clock *clock, const struct own *before, const struct own *now)
{
	double total = (double)(now->seen_ns - before->seen_ns), share = 1;

	/* Other threads are not asked: their time is taken to have gone as here. */
	if (before->seen_ns && total > 0)
		share -= (double)(now->lost_ns - before->lost_ns) / total;
	if (clock->seen_ns && now->seen_ns > clock->seen_ns)
		clock->ns += share * (double)(now->seen_ns - clock->seen_ns);
	clock->seen_ns = now->seen_ns;
}
