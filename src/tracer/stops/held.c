/* SPDX-License-Identifier: MIT
 *
 * Threads that are left stopped on purpose, until the controller has read so far, or a
 * child was seen.
 *
 * Their stops are consumed (stop.c), or they would be reported for ever; those are event
 * stops and carry no signal.
 */
#include "tracer/stops/held.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "tracer/known/await.h"
#include "tracer/known/lookup.h"
#include "tracer/known/state.h"
#include "tracer/stops/go.h"

/* A controller that reads a program may do other things for so long. */
#define REST_NS (10 * CP_NS_PER_S)

/* ---- holding ---- */

/* Leaves a thread stopped for `ns` at most. False: without memory. */
static bool keep(struct tracer *tr, struct thread *t, struct held held, uint64_t ns)
{
	uint64_t now = cp_now();

	held.tid = t->tid;
	held.deadline_ns = now + ns;
	if (!cp_vec_push(&tr->held, held))
		return false;
	await_consume(t->tid);
	t->state = THREAD_HELD;
	t->kept_ns = tr->held_ns = now;
	return true;
}

bool held_until(struct tracer *tr, struct thread *t, uint64_t until_tail, uint64_t ns)
{
	const struct held held = { .until_tail = until_tail, .reading = ns == HELD_READ_NS };

	if (tr->link->shared->tail >= until_tail || tr->ending || !keep(tr, t, held, ns))
		return false;
	if (held.reading) {
		tr->work_until_ns = t->kept_ns + HELD_READ_NS;
		tr->rest_until_ns = t->kept_ns + REST_NS;
	}
	cp_ring_kick(tr->link, true);
	return true;
}

void held_told(struct tracer *tr, uint64_t tail)
{
	size_t i;

	for (i = 0; i < tr->held.count; i++)
		if (tr->held.items[i].until_tail == HELD_UNTIL_TOLD)
			tr->held.items[i].until_tail = tail;
}

/* ---- who waits for a child ---- */

/* Not a thread of another one. */
static bool is_process(pid_t tid)
{
	return !syscall(SYS_tgkill, tid, tid, 0);
}

/* Has it been reaped? Its number may not be used again before that. */
static bool is_gone(pid_t tid)
{
	siginfo_t si;

	return waitid(P_PID, (id_t)tid, &si, WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL);
}

/* The child whose birth is reported: its first stop is sure to come, or its death; 0:
 * that has been. */
static pid_t expect_newborn(struct tracer *tr, const struct thread *parent)
{
	unsigned long tid;

	if (!(tr->trace_flags & (CP_TRACE_PROBES | CP_TRACE_FOLLOW)) ||
	    ptrace(PTRACE_GETEVENTMSG, parent->tid, 0, &tid) || thread_find(tr, (pid_t)tid) ||
	    is_gone((pid_t)tid))
		return 0;
	if (!cp_vec_push(&tr->newborns, (pid_t)tid)) {
		cp_debug("no memory to remember a newborn");
		return 0;
	}
	return (pid_t)tid;
}

/* A child has breakpoints that came with its parent's memory, and what is known of
 * them is known of its parent. So that one neither ends nor executes anything until
 * the child was seen: there also is nobody left when nobody is known. */
bool held_for_birth(struct tracer *tr, struct thread *t)
{
	pid_t newborn = expect_newborn(tr, t);

	return newborn && !tr->ending && is_process(newborn) &&
	       keep(tr, t, (struct held){ .newborn = newborn }, HELD_NS);
}

void held_newborn_seen(struct tracer *tr, pid_t tid)
{
	size_t i = 0;

	while (i < tr->newborns.count) {
		if (tr->newborns.items[i] == tid)
			tr->newborns.items[i] = tr->newborns.items[--tr->newborns.count];
		else
			i++;
	}
}

/* ---- letting go ---- */

static bool is_expected(const struct tracer *tr, pid_t newborn)
{
	size_t i;

	for (i = 0; i < tr->newborns.count; i++)
		if (tr->newborns.items[i] == newborn)
			return true;
	return false;
}

static bool stays(const struct tracer *tr, const struct held *h, uint64_t now)
{
	bool waits =
		h->newborn ? is_expected(tr, h->newborn) : tr->link->shared->tail < h->until_tail;

	return waits && now < h->deadline_ns && !tr->ending;
}

/* Lets go who may; with `parents`, of those alone that wait for a child. */
static void release(struct tracer *tr, bool parents)
{
	uint64_t now = cp_now();
	size_t i = 0;

	while (i < tr->held.count) {
		struct held *h = &tr->held.items[i];
		struct thread *t = thread_find(tr, h->tid);
		bool held = t && t->state == THREAD_HELD;

		if (held && ((parents && !h->newborn) || stays(tr, h, now))) {
			i++;
			continue;
		}
		if (held) {
			tr->link->shared->stats.unready += h->reading && now >= h->deadline_ns;
			go_count_kept(tr, t, now);
			go_resume(tr, t);
		}
		*h = tr->held.items[--tr->held.count];
	}
}

void held_release(struct tracer *tr)
{
	release(tr, false);
}

void held_release_parents(struct tracer *tr)
{
	release(tr, true);
}
