/* SPDX-License-Identifier: MIT */
#include "tracer/progress.h"

#include "base/clock.h"
#include "base/file.h"
#include "tracer/known/proc.h"
#include "tracer/known/state.h"
#include "tracer/memory/rings.h"
#include "tracer/memory/space.h"

/* A controller that reads nothing for so long, though there is something to
 * read, counts as dead; if it uses CPU time meanwhile, after five times that:
 * it may have to share its CPU with thousands. */
#define CONTROLLER_HANGS_NS (2 * CP_NS_PER_S)
/* It is late by so much before we say for it that it reads, and may be late by so much at most. */
#define BEAT_LATE_NS (250 * CP_NS_PER_MS)
#define BEAT_LATEST_NS (30 * CP_NS_PER_S)

bool progress_ended(struct tracer *tr, uint64_t now)
{
	uint64_t tail = tr->link->shared->tail, cpu;
	uint64_t work_until;

	if (tail != tr->tail_seen || tail == tr->link->shared->head) {
		tr->tail_seen = tail;
		tr->tail_ns = tr->tail_moved_ns = now;
	}
	if (now - tr->tail_ns <= CONTROLLER_HANGS_NS || now <= tr->rest_until_ns)
		return false;
	cpu = proc_cpu_clock(tr->controller);
	work_until = tr->tail_moved_ns + 5 * CONTROLLER_HANGS_NS;
	if (cpu == tr->controller_cpu || (now > work_until && now > tr->work_until_ns))
		return true;
	tr->controller_cpu = cpu;
	tr->tail_ns = now;
	return false;
}

/* Does it run, or would it if it had a CPU or its disk? Not so: it was stopped. */
static bool is_running(pid_t pid)
{
	char state[2];

	return cp_file_stat_field(pid, 3, state, sizeof(state)) &&
	       (state[0] == 'R' || state[0] == 'D');
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
