/* SPDX-License-Identifier: MIT
 *
 * The tracer accounts for a thread's time from stop to stop. Records of detours tell of calls
 * that begin between two:
 *
 *      stop ──────────────── enter ──────────────── stop
 *       P     lost, or its own  E   lost, or its own  A
 *
 * How much was lost from P to A is known; how much of that from E on is not, so of these
 * calls it is anything between nothing and all of it.
 */
#include "engine/calls/account.h"

#include <math.h>

#include "probe/shadow_plain.h"

struct late {
	const struct cp_account *before; /* at the call's entry, or with what a hold took since */
	const struct cp_event_hit *event;
	double lost, slack; /* that nothing told of before, and what more that may be */
};

/* Its account from here on: as if half of what it may have lost had been lost in it. */
static void share(void *ctx, struct cp_call *call)
{
	const struct late *late = ctx;
	const struct cp_event_hit *e = late->event;
	double most = (double)(e->e.ts_ns > call->enter_ns ? e->e.ts_ns - call->enter_ns : 0);
	double range = fmin(fabs(late->lost) + late->slack, most), told, since;

	told = (double)late->before->lost_ns - (double)call->account.lost_ns;
	since = told + (late->lost < 0 ? -range : range) / 2;
	call->account.lost_ns =
		(double)e->lost_ns > since ? (uint64_t)((double)e->lost_ns - since) : 0;
	call->account.doubt = e->doubt;
	call->account.doubt.slant -= range / 4;
	call->account.doubt.slack -= range / 2;
}

void engine_account(cprof_thread *t, const struct cp_event_hit *e)
{
	struct late late = { .before = &t->account,
			     .event = e,
			     .lost = (double)e->lost_ns - (double)t->account.lost_ns,
			     .slack = cp_slack_since(&e->doubt, &t->account.doubt) };

	if (t->process->shadow && t->accounted_ns)
		cp_shadow_recent(t->process->shadow, t->tid, t->accounted_ns, share, &late);
	t->held_ns = 0;
	t->accounted_ns = e->e.ts_ns;
	t->account.lost_ns = e->lost_ns;
	t->account.run_ns = e->run_ns;
	t->account.doubt = e->doubt;
}
