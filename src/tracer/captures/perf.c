/* SPDX-License-Identifier: MIT
 *
 * Samples without stops: events are opened, begun and closed.
 *
 * Each thread has an event on each CPU, because only such events may be handed on to
 * threads and processes that it brings forth (PERF_EVENT inherit) and still write into a
 * ring. A filter of system calls may kill whoever asks for an event, so where we have one all
 * is tried by a child before, on the real thread, with rings as large as those that are wanted.
 */
#include "tracer/captures/perf.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "link/perf.h"
#include "tracer/captures/perf_state.h"
#include "tracer/captures/perf_take.h"
#include "tracer/known/proc.h"
#include "tracer/known/state.h"

#define PERF_STACK_MAX 61440u /* a record is at most 65528 bytes long */
#define RING_MOST (UINT64_C(4) << 20)
#define RING_LEAST (UINT64_C(256) << 10)
#define RINGS_MOST (UINT64_C(64) << 20) /* all together */
/* So long a time's samples of a CPU have to find room. */
#define RING_NS (60 * CP_NS_PER_MS)
#define STACKS_IN_RING 8

/* ---- one thread ---- */

static int open_event(const struct tracer *tr, const struct perf *perf, pid_t tid, int cpu)
{
	struct perf_event_attr attr = perf_ring_attributes();

	attr.config = PERF_COUNT_SW_CPU_CLOCK;
	attr.sample_period = perf->period_ns;
	if (perf->event) {
		attr.type = perf->event->type;
		attr.config = perf->event->config;
		/* With PERF_SAMPLE_PERIOD, the kernel would make one sample each. */
		attr.sample_period = perf->every;
	}
	attr.sample_stack_user = perf->stack;
	attr.exclude_kernel = perf->user_only;
	attr.inherit = 1;
	attr.inherit_thread = !(tr->trace_flags & CP_TRACE_FOLLOW);
	return (int)syscall(SYS_perf_event_open, &attr, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* An errno; ESRCH: it has ended. */
static int open_thread(const struct tracer *tr, struct perf *perf, pid_t tid)
{
	const struct perf_ring *ring;
	int fd, err = 0;

	cp_vec_for_each(&perf->rings.list, ring) {
		fd = open_event(tr, perf, tid, ring->cpu);
		if (fd < 0)
			return errno;
		if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd))
			err = errno;
		else if (!cp_vec_push(&perf->events, fd))
			err = ENOMEM;
		if (err) {
			close(fd);
			return err;
		}
	}
	return 0;
}

static void close_events(struct tracer *tr, struct perf *perf)
{
	size_t i;

	for (i = 0; i < perf->events.count; i++)
		close(perf->events.items[i]);
	tr->fds_left += (int)perf->events.count;
	perf->events.count = 0;
}

static void free_perf(struct tracer *tr, struct perf *perf)
{
	if (!perf)
		return;
	close_events(tr, perf);
	cp_vec_free(&perf->events);
	perf_rings_close(&perf->rings);
	free(perf);
}

/* ---- trying ---- */

/* What a child found out. */
struct trial {
	int32_t errnum;
	uint32_t step; /* enum cp_perf_step */
	uint64_t ring; /* bytes that may be had */
};

/* How often an event will be is not known. */
static uint64_t ring_wanted(const struct perf *perf)
{
	uint64_t size = RING_LEAST, cpus = (uint64_t)sysconf(_SC_NPROCESSORS_CONF);
	uint64_t samples = perf->event ? UINT32_MAX : perf->hz * RING_NS / CP_NS_PER_S;

	while (size < RING_MOST && size < samples * PERF_STACK_MAX && 2 * size * cpus <= RINGS_MOST)
		size *= 2;
	return size < 2 * RING_LEAST ? 2 * RING_LEAST : size;
}

static uint32_t stack_wanted(uint64_t ring)
{
	return ring / STACKS_IN_RING < PERF_STACK_MAX ? (uint32_t)(ring / STACKS_IN_RING)
						      : PERF_STACK_MAX;
}

/* Everything for one thread, to find out whether it works. */
static struct trial attempt(const struct tracer *tr, struct perf *perf, pid_t tid)
{
	struct trial t = { .ring = ring_wanted(perf) };
	bool mapping = false;
	int fd = open_event(tr, perf, tid, -1);

	if (fd < 0)
		return (struct trial){ .errnum = errno, .step = CP_PERF_OPEN };
	close(fd);
	for (;; t.ring /= 2) {
		t.errnum = perf_rings_open(&perf->rings, t.ring, &mapping);
		if (!t.errnum || !mapping || t.ring <= RING_LEAST)
			break;
	}
	t.step = mapping ? CP_PERF_RING : CP_PERF_OPEN;
	if (t.errnum)
		return t;
	t.step = CP_PERF_OPEN;
	perf->stack = stack_wanted(t.ring);
	t.errnum = open_thread(tr, perf, tid);
	return t;
}

__attribute__((noreturn)) static void try_in_child(const struct tracer *tr, struct perf *perf,
						   pid_t tid, int to)
{
	struct trial t = attempt(tr, perf, tid);

	_exit(write(to, &t, sizeof(t)) != sizeof(t));
}

/* Tries it with a child, so that a filter that kills does not kill us. */
static struct trial try(const struct tracer *tr, struct perf *perf, pid_t tid)
{
	struct trial t = { .errnum = EPERM, .step = CP_PERF_KILLED };
	int ends[2];
	pid_t child;

	if (pipe2(ends, O_CLOEXEC))
		return (struct trial){ .errnum = errno };
	child = fork();
	if (child == 0)
		try_in_child(tr, perf, tid, ends[1]);
	close(ends[1]);
	if (child < 0)
		t = (struct trial){ .errnum = errno };
	else if (read(ends[0], &t, sizeof(t)) != sizeof(t))
		t = (struct trial){ .errnum = EPERM, .step = CP_PERF_KILLED };
	close(ends[0]);
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	return t;
}

/* ---- all threads ---- */

static int open_all(struct tracer *tr, struct perf *perf)
{
	uint64_t key, value;
	size_t cursor = 0;
	int err = 0;

	if (tr->by_tid.count * perf->rings.list.count > (size_t)tr->fds_left / 2)
		return EMFILE;
	while (!err && cp_map_next(&tr->by_tid, &cursor, &key, &value)) {
		const struct thread *t = (const struct thread *)(uintptr_t)value;

		if (t->process->guest)
			continue;
		err = open_thread(tr, perf, t->tid);
		if (err == ESRCH)
			err = 0;
	}
	tr->fds_left -= (int)perf->events.count;
	return err;
}

static void each_event(const struct perf *perf, unsigned long what)
{
	size_t i;

	for (i = 0; i < perf->events.count; i++)
		ioctl(perf->events.items[i], what, 0);
}

/* The rings of an attempt of our own stay. */
static struct trial attempt_here(const struct tracer *tr, struct perf *perf, pid_t tid)
{
	struct trial t;
	size_t i;

	perf_rings_close(&perf->rings);
	t = attempt(tr, perf, tid);
	for (i = 0; i < perf->events.count; i++)
		close(perf->events.items[i]);
	perf->events.count = 0;
	return t;
}

static struct trial find_out(const struct tracer *tr, struct perf *perf, pid_t tid)
{
	return proc_filters_of(getpid()).mode ? try(tr, perf, tid) : attempt_here(tr, perf, tid);
}

/* Finds out what is permitted, and prepares that. */
static struct trial prepare(struct tracer *tr, struct perf *perf, const struct cp_request *rq)
{
	struct trial t = find_out(tr, perf, rq->pid);
	bool mapping;

	if (t.errnum == EACCES && t.step == CP_PERF_OPEN && !(rq->flags & CP_PERF_KERNEL)) {
		perf->user_only = true;
		t = find_out(tr, perf, rq->pid);
	}
	if (t.errnum || !rq->pid)
		return t;
	if (!perf->rings.list.count)
		t.errnum = perf_rings_open(&perf->rings, t.ring, &mapping);
	perf->stack = stack_wanted(t.ring);
	if (!t.errnum)
		t.errnum = open_all(tr, perf);
	return t;
}

void perf_open(struct tracer *tr, const struct cp_request *rq, struct cp_answer *ret)
{
	struct perf *perf = calloc(1, sizeof(*perf));
	struct trial t = { .errnum = ENOMEM };

	if (perf && rq->hz) {
		perf->rings.poll_fd = -1;
		perf->hz = rq->hz;
		perf->period_ns = CP_NS_PER_S / rq->hz;
		perf->event = rq->address ? &cp_perf_events[rq->address - 1] : NULL;
		perf->every = rq->size;
		t = prepare(tr, perf, rq);
	}
	ret->errnum = t.errnum;
	ret->threads = t.step;
	ret->address = perf && perf->user_only ? CP_PERF_USER_ONLY : 0;
	if (t.errnum || !rq->pid) {
		free_perf(tr, perf);
		return;
	}
	tr->perf = perf;
	cp_debug("perf: %zu events, %zu rings of %u KiB, %u bytes of a stack", perf->events.count,
		 perf->rings.list.count, (unsigned)(perf->rings.size >> 10), perf->stack);
}

/* Events are opened anew: those that threads were born with keep their period. */
static bool change_rate(struct tracer *tr, uint32_t hz)
{
	struct perf *perf = tr->perf;

	each_event(perf, PERF_EVENT_IOC_DISABLE);
	perf_take(tr);
	close_events(tr, perf);
	perf->on = false;
	perf->hz = hz;
	perf->period_ns = CP_NS_PER_S / hz;
	return !open_all(tr, perf);
}

void perf_set(struct tracer *tr, const struct cp_request *rq)
{
	struct perf *perf = tr->perf;
	uint64_t now = cp_now();

	if (!perf)
		return;
	if (rq->hz && !perf->event &&
	    (rq->wall || rq->flags & CP_CAPTURE_XSTATE ||
	     (rq->hz != perf->hz && !change_rate(tr, rq->hz)))) {
		perf_close(tr);
		return;
	}
	if (!rq->hz && perf->on) {
		each_event(perf, PERF_EVENT_IOC_DISABLE);
		perf_take(tr); /* later, these would stand for the pause, too */
	}
	if (rq->hz && !perf->on)
		each_event(perf, PERF_EVENT_IOC_ENABLE);
	perf->on = rq->hz != 0;
	perf->due_ns = now;
	perf->begun_ns = perf->judge_ns = now;
	perf_born(tr);
}

void perf_totals(struct tracer *tr)
{
	struct cp_link_stats *stats = &tr->link->shared->stats;
	const struct perf *perf = tr->perf;
	uint64_t value, all = 0;
	size_t i;

	if (!perf || !perf->event)
		return;
	for (i = 0; i < perf->events.count; i++)
		if (read(perf->events.items[i], &value, sizeof(value)) == sizeof(value))
			all += value;
	stats->event_count = all;
	stats->event_unsampled = all > perf->given ? all - perf->given : 0;
}

void perf_close(struct tracer *tr)
{
	struct perf *perf = tr->perf;

	if (!perf)
		return;
	each_event(perf, PERF_EVENT_IOC_DISABLE);
	perf_take(tr);
	perf_totals(tr);
	tr->perf = NULL;
	free_perf(tr, perf);
}
