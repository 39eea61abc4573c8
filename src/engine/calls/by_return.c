/* SPDX-License-Identifier: MIT */
#include "engine/calls/by_return.h"

#include "engine/calls/calls.h"
#include "engine/calls/stacks.h"
#include "engine/probes/disarm.h"
#include "engine/probes/sites.h"
#include "engine/target/state.h"
#include "probe/shadow_fork.h"

/* Did an exception's handler jump to the return address? Functions were called
 * meanwhile, whose return addresses took the place of the call's own. */
static bool was_jumped_to(const cprof_session *s, const struct cp_event_hit *e)
{
	return s->calls->sites.items[e->site].kind == ENGINE_SITE_RETURN && e->caller &&
	       e->caller != e->pc;
}

/* Ends a call that is watched by its return address. Where it returns to another site,
 * that one's hit shows the return. */
static void end_by_return(cprof_session *s, const struct cp_shadow_at *at,
			  const struct cp_event_hit *e, unsigned stub)
{
	struct cp_shadow_at of_call = *at;
	const struct cp_call *call;

	of_call.sp = e->sp | stub;
	if (!(e->e.flags & CP_HIT_CALLS))
		of_call.sp -= cp_arch_host()->ret_size;
	call = cp_shadow_find(s->current.process->shadow, of_call.sp);
	/* The call's result is in registers, which another site's event need not have. */
	if (call && s->calls->traced.items[call->function]->family && !s->current.hit->regs.known)
		return;
	if (call && call->flags & CP_CALL_BY_RETURN && call->caller == e->pc)
		cp_shadow_leave(s->current.process->shadow, &of_call, CP_SHADOW_ANY,
				was_jumped_to(s, e) ? CP_CALL_UNWOUND : CP_CALL_RETURNED);
}

void engine_calls_end_by_return(cprof_session *s, const struct cp_shadow_at *at,
				const struct engine_hit *hit)
{
	end_by_return(s, at, hit->event, 0);
	end_by_return(s, at, hit->event, CP_SHADOW_STUB);
}

struct waiting {
	uint64_t address;
	bool any;
};

static void look_for_waiting(void *ctx, const struct cp_call *call)
{
	struct waiting *w = ctx;

	w->any |= call->flags & CP_CALL_BY_RETURN && call->caller == w->address;
}

void engine_calls_return_late(cprof_session *s, const struct engine_hit *hit)
{
	const struct cp_shadow_at at = engine_calls_where(s, hit->event);
	struct waiting w = { .address = hit->event->pc };

	engine_calls_end_by_return(s, &at, hit);
	s->calls->has_current = false;
	cp_shadow_each(s->current.process->shadow, look_for_waiting, &w);
	if (!w.any)
		engine_disarm_return(s->current.process, hit->site, hit->event->pc);
}
