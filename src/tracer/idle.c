/* SPDX-License-Identifier: MIT
 *
 * Waiting for whatever comes next, while nobody is hit.
 */
#include "tracer/idle.h"

#include <errno.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "tracer/captures/perf_state.h"
#include "tracer/known/state.h"
#include "tracer/stops/held.h"
#include "tracer/stops/snapshot.h"

#define HELD_POLL_NS UINT64_C(200000)
#define TOLD_POLL_NS (2 * CP_NS_PER_MS) /* should its word not come */
/* Between two pieces of a batch. */
#define MORE_NS (100 * CP_NS_PER_MS)
/* Thousands of threads stop: not each of them wakes us. */
#define SNAPSHOT_POLL_NS CP_NS_PER_MS

/* Who waits for room in the ring goes on at once; who has to wait for long, a little later.
 * Who is held is let go when the controller says so (ask_for_wake()), or when its child
 * stops: to look more often takes CPU time from the controller, which is waited for. */
static uint64_t held_poll(const struct tracer *tr, uint64_t now)
{
	uint64_t held = now > tr->held_ns ? (now - tr->held_ns) / 16 : 0;

	if (!tr->full && !snapshot_waits(tr))
		return TOLD_POLL_NS;
	return held < HELD_POLL_NS ? HELD_POLL_NS : held < CP_NS_PER_MS ? held : CP_NS_PER_MS;
}

/* Nanoseconds until there is something to do without being woken. */
static uint64_t time_to_wait(const struct tracer *tr, uint64_t now)
{
	uint64_t wait = CP_NS_PER_S / 2, due;

	if ((tr->reports && !tr->full) || (tr->ending && !tr->wanted.count))
		return 0;
	if (tr->held.count || tr->full)
		wait = held_poll(tr, now);
	else if (snapshot_waits(tr))
		wait = SNAPSHOT_POLL_NS;
	if (tr->hz && !tr->ending) {
		due = tr->next_tick_ns > now ? tr->next_tick_ns - now : 0;
		if (due < wait)
			wait = due;
	}
	if (tr->perf && tr->perf->on) {
		due = tr->perf->due_ns > now ? tr->perf->due_ns - now : 0;
		if (due < wait)
			wait = due;
	}
	if (tr->pause_due_ns && !tr->full) {
		due = tr->pause_due_ns > now ? tr->pause_due_ns - now : 0;
		if (due < wait)
			wait = due;
	}
	return wait;
}

/* Has the controller say when the next of those that are held may go. True: one may. */
static bool ask_for_wake(const struct tracer *tr)
{
	_Atomic uint64_t *wake_at = &tr->link->shared->wake_at;
	uint64_t next = HELD_UNTIL_TOLD;
	size_t i;

	for (i = 0; i < tr->held.count; i++)
		if (!tr->held.items[i].newborn && tr->held.items[i].until_tail < next)
			next = tr->held.items[i].until_tail;
	if (next == HELD_UNTIL_TOLD)
		return false;
	atomic_store(wake_at, next);
	return atomic_load(&tr->link->shared->tail) >= next;
}

void idle_until_anything(struct tracer *tr)
{
	bool many = snapshot_waits(tr);
	struct pollfd fds[] = {
		{ .fd = many ? -1 : tr->signal_fd, .events = POLLIN },
		{ .fd = tr->link->tracer_socket, .events = POLLIN },
		{ .fd = tr->controller_pidfd, .events = POLLIN },
		{ .fd = tr->perf ? tr->perf->rings.poll_fd : -1, .events = POLLIN },
	};
	struct timespec timeout = cp_timespec(time_to_wait(tr, cp_now()));
	struct signalfd_siginfo si;
	int ready;

	tr->reports |= many;
	tr->asked = true;
	if (ask_for_wake(tr))
		return;
	ready = ppoll(fds, 4, &timeout, NULL);
	if (ready >= 0)
		tr->asked = ready && fds[1].revents;
	if (ready <= 0)
		return;
	if (fds[3].revents)
		tr->perf->full = true;
	if (fds[2].revents)
		tr->ending = true;
	if (!fds[0].revents)
		return;
	tr->reports = true;
	if (read(tr->signal_fd, &si, sizeof(si)) < 0)
		cp_debug("tracer: nothing to read of SIGCHLD");
}

void idle_until_request(const struct tracer *tr)
{
	struct pollfd fds[] = {
		{ .fd = tr->link->tracer_socket, .events = POLLIN },
		{ .fd = tr->controller_pidfd, .events = POLLIN },
	};
	uint64_t now = cp_now(), until = now + MORE_NS;
	struct timespec timeout;

	for (; now < until; now = cp_now()) {
		timeout = cp_timespec(until - now);
		if (ppoll(fds, 2, &timeout, NULL) >= 0 || errno != EINTR)
			return;
	}
}
