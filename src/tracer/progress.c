/* SPDX-License-Identifier: MIT */
#include "tracer/progress.h"

#include "base/clock.h"
#include "base/file.h"
#include "tracer/known/proc.h"
#include "tracer/known/state.h"
#include "tracer/memory/rings.h"
#include "tracer/memory/space.h"

/* A controller that reads nothing for so long, though there is something to
 * read, counts as dead; if it uses CPU time meanwhile, or would, after five times that:
 * it may have to share its CPU with thousands. Of a program that we launched it is five times
 * that of CPU time, and none as long as it says that it gets on with the program's code. */
#define CONTROLLER_HANGS_NS (2 * CP_NS_PER_S)
/* It is late by so much before we say for it that it reads, and may be late by so much at most. */
#define BEAT_LATE_NS (250 * CP_NS_PER_MS)
#define BEAT_LATEST_NS (30 * CP_NS_PER_S)

/* Does it run, or would it if it had a CPU or its disk? Not so: it was stopped. */
static bool is_running(pid_t pid)
{
	char state[2];

	return cp_file_stat_field(pid, 3, state, sizeof(state)) &&
	       (state[0] == 'R' || state[0] == 'D');
}

/* Has it worked, without reading anything, for longer than it may? */
static bool is_too_long(const struct tracer *tr, uint64_t now, uint64_t cpu)
{
	if (now <= tr->work_until_ns)
		return false;
	return !tr->link->shared->working_ns ? now > tr->tail_moved_ns + 5 * CONTROLLER_HANGS_NS
					     : cpu > tr->moved_cpu + 5 * CONTROLLER_HANGS_NS;
}

bool progress_ended(struct tracer *tr, uint64_t now)
{
	const struct cp_link_shared *shared = tr->link->shared;
	uint64_t tail = shared->tail, cpu;

	if (tail != tr->tail_seen || tail == shared->head ||
	    now < shared->working_ns + CONTROLLER_HANGS_NS) {
		tr->tail_seen = tail;
		tr->tail_ns = tr->tail_moved_ns = now;
		tr->moved_cpu = 0;
	}
	if (now - tr->tail_ns <= CONTROLLER_HANGS_NS || now <= tr->rest_until_ns)
		return false;
	cpu = proc_cpu_clock(tr->controller);
	if (!tr->moved_cpu) /* it may have worked for a moment by then */
		tr->moved_cpu = cpu;
	if ((cpu == tr->controller_cpu && !is_running(tr->controller)) || is_too_long(tr, now, cpu))
		return true;
	tr->controller_cpu = cpu;
	tr->tail_ns = now;
	return false;
}

void progress_believe(struct tracer *tr, uint64_t now)
{
	const struct cp_link_shared *shared = tr->link->shared;
	uint64_t beat = shared->beat_ns, key, value;
	size_t cursor = 0;

	if (!beat || now < beat + BEAT_LATE_NS || now > beat + BEAT_LATEST_NS ||
	    now < tr->believed_ns + BEAT_LATE_NS)
		return;
	tr->believed_ns = now;
	if (!is_running(tr->controller))
		return;
	while (cp_map_next(&tr->by_pid, &cursor, &key, &value)) {
		const struct process *p = (const struct process *)(uintptr_t)value;

		rings_believe(p->space->rings, shared->beat_ticks);
	}
}
