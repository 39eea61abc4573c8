/* SPDX-License-Identifier: MIT */
#include "engine/calls/unwound.h"

#include "engine/probes/rings.h"
#include "engine/probes/sites.h"
#include "engine/target/state.h"

void engine_unwound_doubt(const cprof_session *s, const struct cp_call *call, cprof_call *ret)
{
	const cprof_thread *t = s->current.thread;
	const struct engine_ring *ring = t ? engine_ring_of(t->process, t->tid) : NULL;
	uint64_t own = ret->timestamp_ns - ret->enter_ns - ret->overhead_ns, seen, since;

	if (!t || t->tid != call->tid || s->calls->exiting || s->calls->reached)
		return;
	seen = ring && ring->last_ns > t->before_ns ? ring->last_ns : t->before_ns;
	seen = seen > ret->enter_ns ? seen : ret->enter_ns;
	since = ret->timestamp_ns > seen ? ret->timestamp_ns - seen : 0;
	since = since < own ? since : own;
	if ((double)since > ENGINE_PLAIN_DOUBT * (double)own && since > ret->uncertain_ns)
		ret->uncertain_ns = since;
}
