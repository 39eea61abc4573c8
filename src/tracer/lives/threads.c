/* SPDX-License-Identifier: MIT
 *
 * The beginnings and ends of threads and processes.
 */
#include "tracer/lives/threads.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "tracer/captures/capture.h"
#include "tracer/captures/perf_state.h"
#include "tracer/captures/perf_take.h"
#include "tracer/captures/sample.h"
#include "tracer/captures/tick.h"
#include "tracer/captures/wall.h"
#include "tracer/known/emit.h"
#include "tracer/known/lookup.h"
#include "tracer/known/proc.h"
#include "tracer/lives/inherit.h"
#include "tracer/memory/rings.h"
#include "tracer/memory/space.h"

#define PROCESS_FDS 4 /* that a process takes, */
#define FIXED_FDS 32 /* and all of them together */
#define SPARE_FDS 16 /* so many processes may come at once */

/* Without those that each process takes it could not be looked into, which may be its end.
 * Threads go on without. As many as `fds_all` are for processes. */
static void make_room(struct tracer *tr)
{
	int processes = (int)tr->by_pid.count * PROCESS_FDS, threads = tr->fds_all - tr->fds_left;

	if (processes + threads + FIXED_FDS + SPARE_FDS >= 2 * tr->fds_all)
		threads_close(tr);
}

static struct process *process_add(struct tracer *tr, pid_t pid, enum cp_birth birth,
				   const struct proc_group *group)
{
	pid_t parent = group ? group->parent : 0;
	struct cp_event_process event = {
		.e = { .type = CP_EVENT_PROCESS, .ts_ns = cp_now(), .pid = pid, .tid = pid },
		.parent = parent,
		.birth = birth,
		.own = group ? group->own : 0,
	};
	struct process *p = calloc(1, sizeof(*p));
	struct space *space =
		birth == CP_BIRTH_FORKED ? inherit_space(tr, pid, parent) : space_create(pid);
	char path[64];

	if (!p || !space || !cp_map_put(&tr->by_pid, (uint64_t)pid, (uintptr_t)p)) {
		space_release(space);
		free(p);
		return NULL;
	}
	p->space = space;
	p->guest = birth == CP_BIRTH_FORKED && !(tr->trace_flags & CP_TRACE_FOLLOW);
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	p->pid = pid;
	p->task_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	p->cpu_seen = proc_cpu_clock(pid);
	p->launching = birth == CP_BIRTH_LAUNCHED;
	p->program = proc_program(pid);
	if (p->guest)
		return p;
	tr->link->shared->stats.processes++;
	if (birth == CP_BIRTH_FORKED)
		event.sp = capture_fork(pid);
	emit_event(tr, &event.e, sizeof(event));
	return p;
}

void slot_forget(struct tracer *tr, uint32_t slot)
{
	if (slot == CP_NO_SLOT)
		return;
	tr->link->shared->stack_end[slot] = 0;
	tr->link->shared->stack_low[slot] = 0;
	tr->link->shared->stack_link[slot] = 0;
}

static uint32_t slot_take(struct tracer *tr)
{
	uint32_t slot = CP_NO_SLOT;

	if (tr->free_slots.count)
		slot = tr->free_slots.items[--tr->free_slots.count];
	else if (tr->slots_used < CP_LINK_SLOTS)
		slot = tr->slots_used++;
	slot_forget(tr, slot);
	return slot;
}

struct thread *thread_add(struct tracer *tr, pid_t pid, pid_t tid, enum cp_birth birth,
			  const struct proc_group *group)
{
	struct process *p = process_find(tr, pid);
	struct thread *t = calloc(1, sizeof(*t));
	struct cp_event_thread born = {
		.e = { .type = CP_EVENT_THREAD, .ts_ns = cp_now(), .pid = pid, .tid = tid },
	};

	if (!p) {
		make_room(tr);
		p = process_add(tr, pid, birth, group);
	}
	if (!t || !p || !cp_vec_push(&p->threads, t)) {
		free(t);
		return NULL;
	}
	*t = (struct thread){
		.process = p,
		.tid = tid,
		.state = THREAD_RUNNING,
		.slot = slot_take(tr),
		.index = (uint32_t)p->threads.count - 1,
		.schedstat_fd = -1,
		.syscall_fd = -1,
		.stat_fd = -1,
		.status_fd = -1,
		.hot = birth != CP_BIRTH_ATTACHED,
	};
	if (birth == CP_BIRTH_ATTACHED)
		proc_cpu_use(tr, t, &t->seen);
	t->run_base = t->run_given = t->seen.run_ns;
	t->perf.looked_ns = t->perf.run_ns = t->run_base;
	wall_begin(t, &t->seen);
	if (!cp_map_put(&tr->by_tid, (uint64_t)tid, (uintptr_t)t)) {
		p->threads.count--;
		free(t);
		return NULL;
	}
	if (p->guest) {
		tr->guests++;
		return t;
	}
	tick_activate(t, 1);
	tr->link->shared->stats.threads++;
	if (pid == tid)
		perf_born(tr);
	born.slot = t->slot;
	if (birth == CP_BIRTH_FORKED)
		born.sp = capture_birth(tr, t);
	emit_event(tr, &born.e, sizeof(born));
	return t;
}

static void thread_close(struct tracer *tr, struct thread *t)
{
	tr->fds_left += (t->schedstat_fd >= 0) + (t->syscall_fd >= 0) + (t->stat_fd >= 0) +
			(t->status_fd >= 0);
	cp_close_fd(&t->schedstat_fd);
	cp_close_fd(&t->syscall_fd);
	cp_close_fd(&t->stat_fd);
	cp_close_fd(&t->status_fd);
}

/* Takes a thread out of all tables. */
static void thread_drop(struct tracer *tr, struct thread *t)
{
	struct process *p = t->process;
	struct thread *last = p->threads.items[p->threads.count - 1];

	thread_close(tr, t);
	p->threads.items[t->index] = last;
	last->index = t->index;
	p->threads.count--;
	tick_deactivate(t);
	cp_map_remove(&tr->by_tid, (uint64_t)t->tid);
	if (t->slot != CP_NO_SLOT && !cp_vec_push(&tr->free_slots, t->slot))
		t->slot = CP_NO_SLOT; /* one slot less */
	free(t);
}

/* What is told of the thread's end, but for how it ended; its CPU time is since we came. */
static struct cp_event_exit end_of(struct tracer *tr, struct thread *t, enum cp_event_type type)
{
	struct cp_event_exit event = {
		.e = { .type = (uint16_t)type, .pid = t->process->pid, .tid = t->tid },
	};
	struct cpu_use use = t->seen;

	proc_cpu_use(tr, t, &use);
	event.cpu_ns = use.run_ns > t->run_base ? use.run_ns - t->run_base : 0;
	proc_name(t, event.name, sizeof(event.name));
	return event;
}

static void emit_exit(struct tracer *tr, struct cp_event_exit *event, int status)
{
	event->e.ts_ns = cp_now();
	event->status = status;
	emit_event(tr, &event->e, sizeof(*event));
}

static void process_drop(struct tracer *tr, struct process *p, int status)
{
	struct cp_event_exit event = {
		.e = { .type = CP_EVENT_PROCESS_EXIT, .pid = p->pid, .tid = p->pid },
	};

	if (!p->guest)
		emit_exit(tr, &event, status);
	space_release(p->space);
	sample_program_end(tr, p);
	cp_map_remove(&tr->by_pid, (uint64_t)p->pid);
	cp_close_fd(&p->task_fd);
	cp_vec_free(&p->threads);
	cp_vec_free(&p->active);
	free(p);
}

void thread_remove(struct tracer *tr, struct thread *t, int status)
{
	struct process *p = t->process;
	struct thread rest = { .rings = t->rings, .ring = t->ring };
	struct cp_event_exit event;

	perf_take(tr);
	event = end_of(tr, t, CP_EVENT_THREAD_EXIT);
	if (p->guest)
		tr->guests--;
	else
		sample_thread_exit(tr, t, event.cpu_ns);
	thread_drop(tr, t);
	if (!p->guest)
		emit_exit(tr, &event, status);
	rings_take_back(&rest, tr->link->shared->head);
	if (!p->threads.count)
		process_drop(tr, p, status);
}

void threads_tell_end(struct tracer *tr)
{
	uint64_t key, value;
	size_t cursor = 0;

	while (cp_map_next(&tr->by_tid, &cursor, &key, &value)) {
		struct thread *t = (struct thread *)(uintptr_t)value;
		struct cp_event_exit event = end_of(tr, t, CP_EVENT_LET_GO);

		if (!t->process->guest)
			emit_exit(tr, &event, -1);
	}
}

void process_exec(struct tracer *tr, struct process *p)
{
	size_t i = 0;

	p->samples = 0;
	while (i < p->threads.count) {
		struct thread *t = p->threads.items[i];

		if (t->tid == p->pid)
			i++;
		else
			thread_remove(tr, t, 0);
	}
	if (p->threads.count)
		sample_exec(tr, p->threads.items[0]);
	sample_program_end(tr, p);
	p->program = proc_program(p->pid);
}

void threads_close(struct tracer *tr)
{
	uint64_t key, value;
	size_t cursor = 0;

	while (cp_map_next(&tr->by_tid, &cursor, &key, &value))
		thread_close(tr, (struct thread *)(uintptr_t)value);
	tr->fds_left = 0;
}
