/* SPDX-License-Identifier: MIT
 *
 * Every thread once, now: the running ones are interrupted, the others read
 * where they sleep, unless their registers are wanted.
 */
#include "base/clock.h"
#include "tracer/state.h"

#define SNAPSHOT_NS (2 * CP_NS_PER_S)

void snapshot_start(struct tracer *tr, const struct cp_request *rq)
{
	uint64_t key, value, pc, sp;
	size_t cursor = 0;

	tr->capture = rq->flags & CP_CAPTURE_XSTATE;
	tr->snapshot = true;
	tr->snapshot_deadline = cp_now() + SNAPSHOT_NS;
	while (cp_map_next(&tr->by_tid, &cursor, &key, &value)) {
		struct thread *t = (struct thread *)(uintptr_t)value;
		bool runs;

		if (rq->flags & CP_CAPTURE_LINKED && !capture_has_link(tr, t))
			continue;
		runs = proc_where(tr, t, &pc, &sp) == PROC_RUNNING;
		if (runs || rq->flags & CP_CAPTURE_STOP || !capture_blocked(tr, t, WANT_SNAPSHOT))
			thread_interrupt(tr, t, WANT_SNAPSHOT);
	}
}

void snapshot_check(struct tracer *tr, uint64_t now)
{
	size_t i;

	if (!tr->snapshot)
		return;
	for (i = 0; i < tr->wanted.count && now < tr->snapshot_deadline; i++) {
		const struct thread *t = thread_find(tr, tr->wanted.items[i]);

		if (t && t->want & WANT_SNAPSHOT)
			return;
	}
	tr->snapshot = false;
	emit(tr, CP_EVENT_SNAPSHOT_END, 0, 0);
	cp_ring_kick(tr->link, true);
}
