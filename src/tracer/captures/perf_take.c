/* SPDX-License-Identifier: MIT
 *
 * What lies in the kernel's rings becomes samples, in the order of time.
 *
 * First it is counted: a thread's samples share the CPU time that it used since its last
 * ones, as schedstat has it, so that weights add up to what was used however many
 * records were lost. A stack that is longer than what was copied would be cut: such a
 * sample is not told, but its thread sampled by stops for a while, all its stacks, deep
 * and shallow ones, so that neither kind is seen too often.
 */
#include "tracer/captures/perf_take.h"

#include <linux/perf_event.h>

#include "arch/arch.h"
#include "base/clock.h"
#include "tracer/captures/capture.h"
#include "tracer/captures/perf_judge.h"
#include "tracer/captures/perf_state.h"
#include "tracer/captures/sample.h"
#include "tracer/known/lookup.h"
#include "tracer/known/state.h"

/* Between two looks, where no ring is a third full before. */
#define LOOK_NS (50 * CP_NS_PER_MS)
#define YOUNG_LOOK_NS (CP_NS_PER_MS / 2)

/* The thread of a sample that counts; NULL: it is of nobody that is followed, or of
 * a moment without a stack (an exit, an exec). */
static struct thread *thread_of(struct tracer *tr, const struct perf_record *r)
{
	struct thread *t;

	if (r->type != PERF_RECORD_SAMPLE || !r->regs)
		return NULL;
	t = thread_find(tr, r->tid);
	return !t || t->process->pid != r->pid || t->process->guest || t->process->launching ? NULL
											     : t;
}

static uint64_t sp_of(const struct perf_record *r, uint64_t prstatus[PRSTATUS_MAX / 8])
{
	struct cp_syscall_state where;

	cp_arch_prstatus_from_perf(r->regs, prstatus);
	cp_arch_syscall_state(prstatus, &where);
	return where.sp;
}

/* First: what is there. */
static void count(const struct perf_record *r, void *data)
{
	struct tracer *tr = data;
	struct thread *t = thread_of(tr, r);
	uint64_t prstatus[PRSTATUS_MAX / 8];

	if (!t || tr->perf->event)
		return;
	t->perf.sampled_ns += tr->perf->period_ns;
	if (capture_is_cut(tr, t, sp_of(r, prstatus), r->stack_size, tr->perf->stack)) {
		t->perf.cut = true;
		perf_use_stops(tr, t);
		tr->link->shared->stats.perf_cut++;
	}
	t->perf.pending++;
}

/* The CPU time that one of the thread's samples in the rings stands for. */
static uint64_t weight_of(struct tracer *tr, struct thread *t)
{
	struct perf_thread *p = &t->perf;
	uint64_t all;

	if (p->pending && !p->share_ns) {
		all = sample_give(tr, t, p->pending * tr->perf->period_ns, tr->perf->user_only);
		p->share_ns = all / p->pending;
	}
	return p->share_ns;
}

static void tell(struct tracer *tr, struct thread *t, const struct perf_record *r)
{
	uint64_t prstatus[PRSTATUS_MAX / 8];
	struct capture_copy copy = {
		.ts_ns = r->ts_ns,
		.prstatus = prstatus,
		.sp = sp_of(r, prstatus),
		.stack = r->stack,
		.stack_size = r->stack_size,
	};

	if (!perf_has(tr, t)) {
		t->perf.pending = 0;
		return;
	}
	if (tr->perf->event) {
		copy.weight_ns = tr->perf->every;
	} else {
		copy.weight_ns = weight_of(tr, t);
		if (t->perf.pending && !--t->perf.pending)
			t->perf.share_ns = 0;
	}
	if (!capture_copied(tr, t, &copy))
		return;
	tr->perf->given += copy.weight_ns;
	tr->link->shared->stats.perf_samples++;
}

void perf_take(struct tracer *tr)
{
	struct cp_link_stats *stats = &tr->link->shared->stats;
	struct perf *perf = tr->perf;
	struct perf_record r;
	struct thread *t;

	if (!perf || !perf_rings_look(&perf->rings))
		return;
	perf_rings_each(&perf->rings, count, tr);
	while (perf_rings_next(&perf->rings, &r)) {
		t = thread_of(tr, &r);
		if (t)
			tell(tr, t, &r);
		else if (r.type == PERF_RECORD_LOST)
			stats->perf_lost += r.lost;
		else if (r.type == PERF_RECORD_THROTTLE)
			stats->perf_throttled++;
	}
}

void perf_look(struct tracer *tr, uint64_t now)
{
	struct perf *perf = tr->perf;
	uint64_t full_ns, due_ns;

	if (!perf || !perf->on)
		return;
	if (now < perf->due_ns && !perf->full)
		return;
	perf->full = false;
	perf_take(tr);
	/* We may not be told of a full one: while hits follow each other, nobody asks. */
	full_ns = perf->rings.size / 2 / perf->stack * perf->period_ns;
	due_ns = now < perf->young_until_ns ? YOUNG_LOOK_NS : LOOK_NS;
	perf->due_ns = now + (full_ns < due_ns ? full_ns : due_ns);
	if (now >= perf->judge_ns && !perf->event)
		perf_judge(tr, now);
}
