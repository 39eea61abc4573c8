/* SPDX-License-Identifier: MIT
 *
 * Every thread once, now: the running ones are interrupted, the others read
 * where they sleep, unless their registers are wanted.
 *
 *   interrupt who runs ─► all parked? ─► capture and let go ─► read who sleeps
 *
 * Of many running threads each gets a CPU only after a while, and to stop, a
 * thread must get one. Those that have stopped are therefore parked, and let go
 * when the others have stopped as well: 16,000 stop in a tenth of a second,
 * whereas let go one by one they took the CPUs from each other for minutes.
 * The ring may be too small for all of them: then they wait for room.
 */
#include "tracer/stops/snapshot.h"

#include <errno.h>

#include "base/clock.h"
#include "tracer/calls/restart.h"
#include "tracer/captures/capture.h"
#include "tracer/known/await.h"
#include "tracer/known/emit.h"
#include "tracer/known/interrupt.h"
#include "tracer/known/lookup.h"
#include "tracer/known/proc.h"
#include "tracer/stops/go.h"
#include "tracer/stops/held.h"

/* The next thread to stop is waited for so long, and so long by the parked ones. We
 * may have been waiting for a CPU ourselves: the time is looked at only when
 * everybody was asked. */
#define SNAPSHOT_NS (2 * CP_NS_PER_S)
#define PARK_NS (300 * CP_NS_PER_MS)
#define ONE_NS CP_NS_PER_S
/* With so few that run nobody is parked. */
#define FEW_RUNNING 64

static void ask(struct tracer *tr, struct thread *t, unsigned flags)
{
	uint64_t pc, sp;

	if (proc_where(tr, t, &pc, &sp) == PROC_RUNNING || flags & CP_CAPTURE_STOP ||
	    !cp_vec_push(&tr->unread, t->tid))
		interrupt_thread(tr, t, WANT_SNAPSHOT);
}

/* Captures one thread for a profiler that waits in a callback: shorter than the
 * controller may take for anything. A thread that is held stands still, perhaps until
 * that same callback is over. */
static int start_one(struct tracer *tr, const struct cp_request *rq)
{
	struct thread *t = thread_find(tr, rq->pid);

	if (!t || t->process->guest)
		return ESRCH;
	tr->snapshot = true;
	tr->reports = true;
	tr->snapshot_deadline = cp_now() + ONE_NS;
	if (t->state == THREAD_HELD)
		capture_finish(tr, t, capture_stopped(tr, t, 0), WANT_SNAPSHOT);
	else
		ask(tr, t, rq->flags);
	return 0;
}

int snapshot_start(struct tracer *tr, const struct cp_request *rq)
{
	uint64_t key, value;
	size_t cursor = 0;

	if (tr->snapshot)
		return EBUSY;
	if (rq->pid)
		return start_one(tr, rq);
	tr->capture = rq->flags & (CP_CAPTURE_XSTATE | CP_CAPTURE_HOLD);
	tr->snapshot = tr->parking = true;
	while (cp_map_next(&tr->by_tid, &cursor, &key, &value)) {
		struct thread *t = (struct thread *)(uintptr_t)value;

		if (!(rq->flags & CP_CAPTURE_LINKED) || capture_has_link(tr, t))
			ask(tr, t, rq->flags);
	}
	tr->reports = true;
	tr->snapshot_deadline = cp_now() + SNAPSHOT_NS;
	tr->park_deadline = cp_now() + PARK_NS;
	return 0;
}

bool snapshot_park(struct tracer *tr, struct thread *t, unsigned want, uint64_t seen_ns)
{
	struct parked parked = { t->tid, want, seen_ns };

	if (t->state == THREAD_LISTENING || t->exec_stop || !(want & WANT_SNAPSHOT) || tr->ending)
		return false;
	tr->snapshot_deadline = seen_ns + SNAPSHOT_NS;
	tr->park_deadline = seen_ns + PARK_NS;
	if (!(tr->parking && tr->wanted.count > FEW_RUNNING) && capture_has_room(tr) &&
	    !(tr->capture & CP_CAPTURE_HOLD))
		return false;
	if (!cp_vec_push(&tr->parked, parked))
		return false;
	await_consume(t->tid);
	t->want = 0;
	t->state = THREAD_HELD;
	return true;
}

static bool stopping(struct tracer *tr)
{
	size_t i;

	for (i = 0; i < tr->wanted.count; i++) {
		const struct thread *t = thread_find(tr, tr->wanted.items[i]);

		if (t && t->want & WANT_SNAPSHOT)
			return true;
	}
	return false;
}

/* False: no room in the ring for now. */
static bool has_room(struct tracer *tr)
{
	if (tr->ending || capture_has_room(tr))
		return true;
	cp_ring_kick(tr->link, true);
	return false;
}

/* Captures a thread that was parked, and lets it go, unless it is to be held. */
static void unpark(struct tracer *tr, struct thread *t, const struct parked *parked)
{
	struct cp_event_sample *sample = capture_stopped(tr, t, parked->want);

	restart_repair(tr, t, capture_regs(t, sample));
	if (!(tr->capture & CP_CAPTURE_HOLD &&
	      held_until(tr, t, HELD_UNTIL_TOLD, CP_CAPTURE_HOLD_NS)))
		go_on(t, 0);
	go_finish(tr, t, sample, parked->want, parked->since_ns);
}

void snapshot_unpark(struct tracer *tr)
{
	while (tr->parked.count && has_room(tr)) {
		struct parked *p = &tr->parked.items[--tr->parked.count];
		struct thread *t = thread_find(tr, p->tid);

		if (t && t->state == THREAD_HELD)
			unpark(tr, t, p);
	}
}

static void read_sleepers(struct tracer *tr)
{
	while (tr->unread.count && has_room(tr)) {
		struct thread *t = thread_find(tr, tr->unread.items[--tr->unread.count]);

		if (t && !capture_blocked(tr, t, WANT_SNAPSHOT))
			interrupt_thread(tr, t, WANT_SNAPSHOT);
	}
}

bool snapshot_waits(const struct tracer *tr)
{
	return tr->parked.count || tr->unread.count ||
	       (tr->snapshot && tr->wanted.count > FEW_RUNNING);
}

void snapshot_check(struct tracer *tr, uint64_t now)
{
	if (!tr->snapshot || (tr->parking && now < tr->park_deadline && stopping(tr)))
		return;
	tr->parking = false;
	snapshot_unpark(tr);
	if (!tr->parked.count)
		read_sleepers(tr);
	if (tr->parked.count || tr->unread.count || (now < tr->snapshot_deadline && stopping(tr)))
		return;
	tr->snapshot = false;
	emit(tr, CP_EVENT_SNAPSHOT_END, 0, 0);
	held_told(tr, tr->link->shared->head);
	tr->capture &= ~CP_CAPTURE_HOLD;
	cp_ring_kick(tr->link, true);
}
