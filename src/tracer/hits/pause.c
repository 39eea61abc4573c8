/* SPDX-License-Identifier: MIT
 *
 * Breakpoints of which a sample is enough pause when they are hit too often.
 *
 *     credit  BURST ──hits──► 0 │ pause │ a fifth of a second's ──hits──► 0 │ pause ...
 *
 * All groups of a process that pause (CP_GROUP_PAUSES) share one credit, so what
 * belongs together (who allocates, who frees) is seen together or not at all. What
 * a program does in its first moments is seen whole; what it does all the time,
 * in pieces, a few each second. Seconds of hits are those that the program has for
 * itself (known/own.h).
 */
#include "tracer/hits/pause.h"

#include "base/clock.h"
#include "tracer/hits/heap_sample.h"
#include "tracer/known/emit.h"
#include "tracer/memory/sites.h"
#include "tracer/memory/space.h"

#define PIECES 5u /* a second */
#define MOST_RATE 1000000u /* a second; more is no different */
/* The time that tracing may take from the program in a piece that has more hits than it
 * should, and how many times that a pause lasts at least: on a busy machine a stop
 * takes a hundred times as long. */
#define MOST_LOST_NS (CP_NS_PER_S / PIECES)
#define RESTS 4

static uint64_t credit_of(const struct pause *pause, double ns)
{
	if (ns <= 0)
		return 0;
	return ns > CP_NS_PER_S ? pause->rate : (uint64_t)(ns * pause->rate / CP_NS_PER_S);
}

/* The time that tracing has taken from the program since the piece began. */
static double lost_in_piece(const struct space *space)
{
	const struct own_clock *piece = &space->pause.piece, *now = &space->clock;

	if (!piece->seen_ns)
		return 0;
	return (double)(now->seen_ns - piece->seen_ns) - (now->ns - piece->ns);
}

static void begin_piece(struct space *space)
{
	struct pause *pause = &space->pause;

	pause->begins = false;
	pause->piece = space->clock;
	pause->added_ns = space->clock.ns;
}

bool pause_spend(struct space *space, uint32_t rate)
{
	struct pause *pause = &space->pause;
	uint64_t most, more;

	rate = rate < MOST_RATE ? rate : MOST_RATE;
	most = (uint64_t)CP_PAUSE_BURST_S * rate;
	if (!pause->rate) {
		pause->rate = rate;
		pause->credit = most;
		pause->added_ns = space->clock.ns;
	}
	if (pause->begins)
		begin_piece(space);
	more = credit_of(pause, space->clock.ns - pause->added_ns);
	if (more) {
		pause->credit = pause->credit + more < most ? pause->credit + more : most;
		pause->added_ns += (double)more * CP_NS_PER_S / rate;
	}
	if (pause->credit)
		pause->credit--;
	return !pause->credit ||
	       (pause->credit < rate / PIECES && lost_in_piece(space) > MOST_LOST_NS);
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
	double rest = RESTS * lost_in_piece(space);

	if (pause->until_ns)
		return;
	pause->pid = pid;
	pause->since_ns = now;
	pause->until_ns =
		now + (uint64_t)(rest > CP_NS_PER_S / PIECES ? rest : CP_NS_PER_S / PIECES);
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
	pause->begins = true;
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
