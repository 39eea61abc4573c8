/* SPDX-License-Identifier: MIT
 *
 * Who is asked for stops: all there are at the moment are handled.
 *
 * waitid(P_ALL) looks at one traced thread after the other, so n stops of n
 * threads are n²/2 looks. Threads that we interrupted ourselves are therefore
 * asked one by one, and P_ALL is for what comes unasked.
 */
#include "tracer/stops/gather.h"

#include <sys/wait.h>

#include "base/clock.h"
#include "tracer/known/interrupt.h"
#include "tracer/known/lookup.h"
#include "tracer/known/state.h"
#include "tracer/stops/held.h"
#include "tracer/stops/stop.h"

/* Below this many threads P_ALL is as good as asking one by one. */
#define FEW_THREADS 64
/* Reports taken one after the other before the loop looks around. */
#define IN_A_ROW 1024u

/* Looks for other threads that wait for room: only the first is ever asked to. Looking
 * takes no more than a tenth of the time, so a wait can seem a little shorter
 * than it was. */
static void look_for_waiters(struct tracer *tr)
{
	uint64_t key, value, now = cp_now();
	size_t cursor = 0;

	if (now < tr->waiters_due_ns)
		return;
	while (cp_map_next(&tr->by_tid, &cursor, &key, &value)) {
		struct thread *t = (struct thread *)(uintptr_t)value;
		siginfo_t si = { 0 };

		if (!t->kept_ns && t->state != THREAD_HELD &&
		    !waitid(P_PID, (id_t)t->tid, &si, WSTOPPED | WNOWAIT | WNOHANG | __WALL) &&
		    si.si_pid)
			t->kept_ns = now;
	}
	tr->waiters_due_ns = now + 10 * (cp_now() - now);
}

/* Returns how many of them had stopped. */
static size_t gather_wanted(struct tracer *tr)
{
	size_t i = 0, before = tr->wanted.count;

	while (i < tr->wanted.count) {
		pid_t tid = tr->wanted.items[i];
		struct thread *t = thread_find(tr, tid);

		if (t && t->want && !stop_serve_one(tr, tid)) {
			i++;
			continue;
		}
		t = thread_find(tr, tid);
		if (!t || !t->want)
			tr->wanted.items[i] = tr->wanted.items[--tr->wanted.count];
	}
	return before - tr->wanted.count;
}

/* Asks every thread once, when many are reporting at the same time. */
static void gather_all_known(struct tracer *tr)
{
	CP_VEC(pid_t) tids = { 0 };
	uint64_t key, value;
	size_t cursor = 0, i;

	while (cp_map_next(&tr->by_tid, &cursor, &key, &value)) {
		if (!cp_vec_push(&tids, (pid_t)key))
			break;
	}
	for (i = 0; i < tids.count; i++)
		stop_serve_one(tr, tids.items[i]);
	cp_vec_free(&tids);
}

void gather(struct tracer *tr)
{
	unsigned in_a_row = 0;

	/* While they come in numbers, there are more by now. */
	tr->reports = true;
	if (tr->by_tid.count > FEW_THREADS && gather_wanted(tr) > FEW_THREADS)
		return;
	/* Not without end: there are requests, ticks and a controller to mind. */
	while (in_a_row++ < IN_A_ROW && stop_serve(tr, P_ALL, 0)) {
		if (tr->hot && (tr->hit_ns >= tr->look_ns || tr->held.count || !tr->by_tid.count))
			break;
		if (in_a_row % FEW_THREADS == 0 && tr->by_tid.count > FEW_THREADS)
			gather_all_known(tr);
	}
	if (tr->full)
		look_for_waiters(tr);
	tr->reports = in_a_row > IN_A_ROW;
	if (tr->by_tid.count <= FEW_THREADS)
		interrupt_forget(tr);
}

void gather_newborns(struct tracer *tr)
{
	while (tr->newborns.count) {
		pid_t tid = tr->newborns.items[0];
		siginfo_t si;

		if (waitid(P_PID, (id_t)tid, &si, WEXITED | WSTOPPED | WNOWAIT | __WALL) ||
		    !stop_serve_one(tr, tid))
			held_newborn_seen(tr, tid);
	}
	held_release_parents(tr);
}

const struct stops gather_stops = {
	.serve_one = stop_serve_one,
	.serve_newborns = gather_newborns,
};
