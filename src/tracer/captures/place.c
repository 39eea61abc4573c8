/* SPDX-License-Identifier: MIT
 *
 * On which CPU a thread is, and on which one we are.
 *
 * An interrupt is a flag in the thread, looked at on its way back into user code, and a
 * message to its CPU that makes it take that way at once. On another CPU than ours the
 * message takes some microseconds, 5 to 30 on a virtual machine, and who makes a system call
 * meanwhile comes by the flag first:
 *
 *     our CPU     tick ─► flag ─── message ───┐
 *     its CPU     ─ user code ── call ─ ▲     ▼
 *                                       └ stops here, where it was not at the tick
 *
 * A program that made a call of 0.2 us each 1.6 us was in it at 99.5 % of such stops, and at
 * 12 % of those on our own CPU. There the timer itself took the CPU away from the thread,
 * between two of its instructions or at the end of the call that it was in, and it stays
 * there until it has seen the flag.
 *
 * So a thread that was once found at the end of a call from afar is interrupted only where
 * we are, for the next samples, and what stops it from afar meanwhile is none. Whoever is
 * passed over has us wait for the next tick on its CPU. As we go round several CPUs ticks
 * are as many times as frequent. Whether a stop came from afar says schedstat: who was
 * interrupted near was given a CPU since, who was afar had one all the time.
 *
 * Near by, too, a thread may go on after the tick: one in a call to its end, and any one
 * when the scheduler finds that it is not our turn yet. Then it runs for the length of our
 * slice at least (Linux 6.12 and later), and until the scheduler next looks at the time, which
 * some calls make it do: a program that asks for its CPU time each 34 us was there in three
 * quarters of such samples. How long it went on schedstat says. Of calls that take so long
 * as many have a little less left at a tick as a little more. Where those with more than
 * our slice are many times those with less, it was not the call that took so long, and what
 * ends in a call so late is no sample.
 *
 * Which CPU a thread is on needs to be looked up only when it has been given one, which
 * schedstat tells at once. That also tells who certainly waits and need not be stopped: one
 * on our CPU that has not run since the last tick, for we are on it ourselves, and one
 * on whose CPU somebody else came later.
 */
#include "tracer/captures/place.h"

#include "base/clock.h"
#include "tracer/known/proc.h"
#include "tracer/known/state.h"

#define NEAR_ONLY 256 /* samples */
#define OUR_SLICE_NS INT64_C(90000) /* tracer.c asks for 100 us, and a tick takes some to come */
#define BESIDE_NS INT64_C(60000)
#define FADES_AT 64
#define ASKED_FOR 64 /* looks at which its CPU is wanted, after a stop in vain */
#define STAY 2 /* ticks on one CPU, where several are wanted */
#define ROUNDS_MOST 8
#define LEAST_PERIOD_NS (CP_NS_PER_MS / 10)
#define PASSED_OVER_MOST 64 /* then an interrupt from afar is better than none */
#define TRY_AGAIN 1024 /* ticks after which a CPU may be chosen again, that could not be */
#define AGE 64 /* ticks between two looks where the only busy thread is */

void place_tick(struct tracer *tr)
{
	struct on_cpus *p = &tr->places;

	p->tick++;
	p->stuck &= p->age++ % TRY_AGAIN != 0;
	p->here = sched_getcpu();
	p->wanted = -1;
}

static bool is_known(int cpu)
{
	return cpu >= 0 && cpu < CPU_SETSIZE;
}

/* The only thread of the only process, which nobody displaces, is looked up now and then. */
static bool is_asked_for(const struct tracer *tr, const struct thread *t)
{
	return t->place.near_only || t->place.asked_for || t->process->active.count > 1 ||
	       tr->by_pid.count > 1 || !(tr->places.age % AGE);
}

void place_look(struct tracer *tr, struct thread *t, const struct cpu_use *use)
{
	struct on_cpu *at = &t->place;

	if (at->slices == use->slices)
		return;
	at->slices = 0;
	at->cpu = -1;
	at->asked_for -= at->asked_for != 0;
	if (!is_asked_for(tr, t))
		return;
	at->slices = use->slices;
	at->cpu = proc_cpu_of_thread(tr, t);
	at->came = tr->places.tick;
	if (is_known(at->cpu))
		tr->places.came[at->cpu] = at->came;
}

/* Of a thread near by that was given a CPU once since its last stop: how long after the tick
 * it left it, negative if before. It has not slept, so it waited first, and then it ran.
 * False: that is not known. */
static bool left_after(const struct tracer *tr, const struct thread *t, int64_t *ns_ret)
{
	const struct on_cpu *at = &t->place;

	if (!at->rests || t->seen.slices - at->had.slices != 1)
		return false;
	*ns_ret = (int64_t)(at->went_on_ns + t->seen.wait_ns - at->had.wait_ns + t->seen.run_ns -
			    at->had.run_ns - tr->tick_ns);
	return true;
}

bool place_may_run(const struct tracer *tr, const struct thread *t)
{
	const struct on_cpu *at = &t->place;
	int64_t after;

	if (at->rests && t->seen.slices == at->had.slices)
		return false;
	if (!at->slices || !is_known(at->cpu))
		return true;
	if (at->cpu == tr->places.here) /* which is ours now: it waits, and schedstat is exact */
		return at->moved && (!left_after(tr, t, &after) || after >= 0);
	return at->came == tr->places.came[at->cpu];
}

void place_interrupts(const struct tracer *tr, struct thread *t)
{
	struct on_cpu *at = &t->place;

	at->tick_ns = tr->tick_ns;
	at->asked = t->seen;
	at->near = at->slices && at->cpu == tr->places.here;
	at->left_ns = 0;
	if (at->near)
		left_after(tr, t, &at->left_ns);
}

void place_stopped(struct thread *t, const struct cpu_use *now, bool in_vain)
{
	t->place.went_on_ns = t->resumed_ns;
	t->place.had = *now;
	t->place.rests = (in_vain || t->place.near) && now->slices - t->place.asked.slices == 1;
	if (in_vain)
		t->place.asked_for = ASKED_FOR;
	if (t->place.rests && t->place.slices)
		t->place.slices = now->slices;
}

/* Where the tracer's CPU is chosen by what hits breakpoints (stops/hot.c), or can't be, there
 * is no choice. */
static bool has_choice(const struct tracer *tr)
{
	return !tr->hot && !tr->places.stuck;
}

bool place_is_near(struct tracer *tr, struct thread *t)
{
	struct on_cpu *at = &t->place;

	if (!at->near_only || !has_choice(tr) || !at->slices || !is_known(at->cpu) ||
	    at->cpu == tr->places.here || !CPU_ISSET(at->cpu, &tr->cpus))
		return true;
	if (at->passed_over++ >= PASSED_OVER_MOST)
		return true;
	tr->places.wanted = at->cpu;
	return false;
}

/* Was it put off its CPU late, where the kernel happened to look at the time? */
static bool is_late(struct on_cpu *at)
{
	bool late = at->left_ns >= OUR_SLICE_NS;

	if (at->left_ns < OUR_SLICE_NS - BESIDE_NS || at->left_ns >= OUR_SLICE_NS + BESIDE_NS)
		return late && at->later > 2 * at->sooner + 2;
	at->later += late;
	at->sooner += !late;
	if (at->later + at->sooner >= FADES_AT) {
		at->later /= 2;
		at->sooner /= 2;
	}
	return late && at->later > 2 * at->sooner + 2;
}

bool place_counts(struct tracer *tr, struct thread *t, const struct cpu_use *now, bool in_call)
{
	struct on_cpu *at = &t->place;
	bool afar = now->slices == at->asked.slices;
	bool counts = (!afar && !(in_call && is_late(at))) || at->passed_over > PASSED_OVER_MOST ||
		      !has_choice(tr) || (!in_call && !at->near_only);

	if (afar && in_call)
		at->near_only = NEAR_ONLY;
	else if (counts && at->near_only)
		at->near_only--;
	if (counts)
		at->passed_over = 0;
	return counts;
}

/* ---- where we are ---- */

void place_anywhere(struct tracer *tr)
{
	if (tr->places.pinned)
		sched_setaffinity(0, sizeof(tr->cpus), &tr->cpus);
	tr->places.pinned = false;
}

static void go_to(struct tracer *tr, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	tr->places.stuck = sched_setaffinity(0, sizeof(set), &set) != 0;
	tr->places.pinned = !tr->places.stuck;
	tr->places.stay = 0;
}

/* While just one thread is busy, a stop is cheapest on its own CPU: waking
 * another one costs several times the stop itself. */
static int cpu_of_hot(const struct tracer *tr)
{
	uint64_t key, value;
	size_t cursor = 0;

	while (tr->hot_threads == 1 && cp_map_next(&tr->by_tid, &cursor, &key, &value)) {
		const struct thread *t = (const struct thread *)(uintptr_t)value;

		if (t->hot)
			return t->place.slices ? t->place.cpu : proc_cpu_of(t->tid);
	}
	return -1;
}

static bool is_wanted(const struct thread *t)
{
	return t->hot && t->place.near_only && is_known(t->place.cpu);
}

/* CPUs that threads are on for which we have to be there. */
static uint32_t count_wanted(const struct tracer *tr)
{
	uint64_t key, value;
	size_t cursor = 0;
	cpu_set_t set;

	CPU_ZERO(&set);
	while (cp_map_next(&tr->by_tid, &cursor, &key, &value)) {
		const struct thread *t = (const struct thread *)(uintptr_t)value;

		if (is_wanted(t))
			CPU_SET(t->place.cpu, &set);
	}
	return (uint32_t)CPU_COUNT(&set);
}

void place_choose(struct tracer *tr)
{
	struct on_cpus *p = &tr->places;
	bool alone = tr->hot_threads == 1;
	int cpu;

	p->stay++;
	if (p->wanted >= 0 && (alone || p->stay >= STAY)) {
		p->cpus = alone ? 1 : count_wanted(tr);
		go_to(tr, p->wanted);
		return;
	}
	if (p->wanted >= 0 || p->age % AGE)
		return;
	p->cpus = 1;
	cpu = cpu_of_hot(tr);
	if (is_known(cpu))
		go_to(tr, cpu);
	else
		place_anywhere(tr);
}

uint32_t place_rounds(const struct tracer *tr)
{
	uint32_t rounds = tr->wall ? 1 : tr->places.cpus,
		 most = (uint32_t)(tr->period_ns / LEAST_PERIOD_NS);

	rounds = rounds < ROUNDS_MOST ? rounds : ROUNDS_MOST;
	rounds = rounds < most ? rounds : most;
	return rounds ? rounds : 1;
}
