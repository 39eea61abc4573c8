/* SPDX-License-Identifier: MIT
 *
 * Breakpoints of which a sample is enough pause when they are hit too often.
 *
 *     credit  BURST ──hits──► 0 │ pause │ a fifth of a second's ──hits──► 0 │ pause ...
 *
 * All groups of a process that pause (CP_GROUP_PAUSES) share one credit, so what
 * belongs together (who allocates, who frees) is seen together or not at all. What
 * a program does in its first moments is seen whole; what it does all the time,
 * in pieces, a few each second.
 */
#include <string.h>

#include "base/clock.h"
#include "tracer/space.h"

#define PIECES 5u /* a second */
#define MOST_RATE 1000000u /* a second; more is no different */

static uint64_t credit_of(const struct pause *pause, uint64_t ns)
{
	return ns > CP_NS_PER_S ? pause->rate : ns * pause->rate / CP_NS_PER_S;
}

bool pause_spend(struct space *space, uint32_t rate, uint64_t now)
{
	struct pause *pause = &space->pause;
	uint64_t most, more;

	rate = rate < MOST_RATE ? rate : MOST_RATE;
	most = (uint64_t)CP_PAUSE_BURST_S * rate;
	if (!pause->rate) {
		pause->rate = rate;
		pause->credit = most;
		pause->since_ns = now;
	}
	more = now > pause->since_ns ? credit_of(pause, now - pause->since_ns) : 0;
	if (more) {
		pause->credit = pause->credit + more < most ? pause->credit + more : most;
		pause->since_ns = now;
	}
	if (pause->credit)
		pause->credit--;
	return !pause->credit;
}

static void tell(struct tracer *tr, const struct pause *pause, uint64_t now, bool over)
{
	struct cp_event_pause e = {
		.e = { .type = CP_EVENT_PAUSE,
		       .flags = over ? CP_PAUSE_OVER : 0,
		       .ts_ns = now,
		       .pid = pause->pid,
		       .tid = pause->pid },
		.since_ns = pause->since_ns,
	};

	emit_event(tr, &e.e, sizeof(e));
}

void pause_begin(struct tracer *tr, struct space *space, pid_t pid, uint64_t now)
{
	struct pause *pause = &space->pause;

	if (pause->until_ns)
		return;
	pause->pid = pid;
	pause->since_ns = now;
	pause->until_ns = now + CP_NS_PER_S / PIECES;
	if (!tr->pause_due_ns || pause->until_ns < tr->pause_due_ns)
		tr->pause_due_ns = pause->until_ns;
	sites_pause(space);
	heap_sample_pause(tr, space);
	tell(tr, pause, now, false);
}

static void end(struct tracer *tr, struct space *space, uint64_t now)
{
	struct pause *pause = &space->pause;

	tell(tr, pause, now, true);
	pause->until_ns = 0;
	pause->credit = pause->rate / PIECES + 1;
	pause->since_ns = now;
	sites_resume(space);
}

void pause_look(struct tracer *tr, uint64_t now)
{
	uint64_t key, value, due = 0;
	size_t cursor = 0;

	if (!tr->pause_due_ns || now < tr->pause_due_ns)
		return;
	while (cp_map_next(&tr->by_pid, &cursor, &key, &value)) {
		struct space *space = ((struct process *)(uintptr_t)value)->space;
		uint64_t until = space->pause.until_ns;

		if (!until)
			continue;
		if (until <= now &&
		    cp_ring_reserve(tr->link, sizeof(struct cp_event_pause), CP_LINK_RESERVE))
			end(tr, space, now);
		else if (!due || until < due)
			due = until;
	}
	tr->pause_due_ns = due;
}
