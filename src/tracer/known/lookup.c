/* SPDX-License-Identifier: MIT
 *
 * Processes and threads by their numbers.
 */
#include "tracer/known/lookup.h"

#include "tracer/known/state.h"

struct thread *thread_find(struct tracer *tr, pid_t tid)
{
	uint64_t *p = cp_map_get(&tr->by_tid, (uint64_t)tid);

	return p ? (struct thread *)(uintptr_t)*p : NULL;
}

struct process *process_find(struct tracer *tr, pid_t pid)
{
	uint64_t *p = cp_map_get(&tr->by_pid, (uint64_t)pid);

	return p ? (struct process *)(uintptr_t)*p : NULL;
}
