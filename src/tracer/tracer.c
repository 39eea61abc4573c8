/* SPDX-License-Identifier: MIT
 *
 * The tracer process: its birth, its loop, its end.
 *
 *        ┌────────────────────────────────────────────────────┐
 *        ▼                                                    │
 *   requests ─► stops and exits ─► tick due? ─► held ones ─► wait for
 *   (socket)     (stops/)          (tick.c)                 SIGCHLD, socket,
 *        │                                                  controller's end,
 *        └─► LEAVE, or the controller died or hangs         next tick
 *                 │
 *                 ▼
 *            wait for the stops that are under way, let them go, exit:
 *            the kernel detaches everybody, and nobody was stopped for it
 */
#include "tracer/tracer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "tracer/calls/ask.h"
#include "tracer/captures/sample.h"
#include "tracer/captures/tick.h"
#include "tracer/hits/batch.h"
#include "tracer/hits/calibrate.h"
#include "tracer/hits/mapping.h"
#include "tracer/hits/pause.h"
#include "tracer/known/emit.h"
#include "tracer/known/interrupt.h"
#include "tracer/known/lookup.h"
#include "tracer/known/proc.h"
#include "tracer/lives/seize.h"
#include "tracer/lives/threads.h"
#include "tracer/memory/annotate.h"
#include "tracer/memory/area.h"
#include "tracer/memory/sites.h"
#include "tracer/memory/space.h"
#include "tracer/signals/trap.h"
#include "tracer/stops/gather.h"
#include "tracer/stops/held.h"
#include "tracer/stops/hot.h"
#include "tracer/stops/snapshot.h"

/* A controller that reads nothing for so long, though there is something to
 * read, counts as dead; if it uses CPU time meanwhile, after five times that:
 * it may have to share its CPU with thousands. */
#define CONTROLLER_HANGS_NS (2 * CP_NS_PER_S)
/* Preempted threads are waited for so long before leaving. */
#define LEAVE_NS (2 * CP_NS_PER_S)
#define LEAVE_TRIES 4
#define HELD_POLL_NS UINT64_C(200000)
/* Between two pieces of a batch. */
#define MORE_NS (100 * CP_NS_PER_MS)
/* Thousands of threads stop: not each of them wakes us. */
#define SNAPSHOT_POLL_NS CP_NS_PER_MS

static void answer_memory(struct tracer *tr, const struct cp_request *rq, struct cp_answer *answer)
{
	char path[64];

	/* Only of what we trace: the descriptor outlives our right to it. */
	if (!process_find(tr, rq->pid)) {
		answer->errnum = ESRCH;
		cp_link_answer(tr->link, answer, -1);
		return;
	}
	snprintf(path, sizeof(path), "/proc/%d/task/%d/mem", (int)rq->pid,
		 (int)process_find(tr, rq->pid)->threads.items[0]->tid);
	CP_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	answer->errnum = fd < 0 ? errno : 0;
	cp_link_answer(tr->link, answer, fd);
}

static void handle_request(struct tracer *tr, const struct cp_request *rq)
{
	struct cp_answer answer = { .type = rq->type, .serial = rq->serial };

	switch ((enum cp_request_type)rq->type) {
	case CP_REQUEST_LAUNCH:
		seize_launch(tr, rq, &answer);
		break;
	case CP_REQUEST_ATTACH:
		seize_attach(tr, rq, &answer);
		break;
	case CP_REQUEST_SAMPLE:
		tick_start(tr, rq);
		break;
	case CP_REQUEST_SNAPSHOT:
		answer.errnum = snapshot_start(tr, rq);
		break;
	case CP_REQUEST_MEMORY:
		answer_memory(tr, rq, &answer);
		return;
	case CP_REQUEST_LEAVE:
		tr->ending = true;
		break;
	case CP_REQUEST_MAP:
		mapping_request(tr, rq, &answer);
		break;
	case CP_REQUEST_ARM:
		batch_arm(tr, rq, &answer);
		break;
	case CP_REQUEST_DISARM:
		batch_disarm(tr, rq, &answer);
		break;
	case CP_REQUEST_ANNOTATE:
		annotate(tr, rq, &answer);
		break;
	case CP_REQUEST_DISARM_GROUP:
		batch_disarm_group(tr, rq);
		break;
	default:
		answer.errnum = EINVAL;
	}
	cp_link_answer(tr->link, &answer, -1);
}

static bool controller_hangs(struct tracer *tr, uint64_t now)
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

/* Nanoseconds until there is something to do without being woken. */
static uint64_t time_to_wait(const struct tracer *tr, uint64_t now)
{
	uint64_t wait = CP_NS_PER_S / 2, due;

	if ((tr->reports && !tr->full) || (tr->ending && !tr->wanted.count))
		return 0;
	if (tr->held.count || tr->full)
		wait = HELD_POLL_NS;
	else if (snapshot_waits(tr))
		wait = SNAPSHOT_POLL_NS;
	if (tr->hz && !tr->ending) {
		due = tr->next_tick_ns > now ? tr->next_tick_ns - now : 0;
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

static void wait_for_something(struct tracer *tr)
{
	bool many = snapshot_waits(tr);
	struct pollfd fds[] = {
		{ .fd = many ? -1 : tr->signal_fd, .events = POLLIN },
		{ .fd = tr->link->tracer_socket, .events = POLLIN },
		{ .fd = tr->controller_pidfd, .events = POLLIN },
	};
	struct timespec timeout = cp_timespec(time_to_wait(tr, cp_now()));
	struct signalfd_siginfo si;

	tr->reports |= many;
	if (ppoll(fds, 3, &timeout, NULL) <= 0)
		return;
	if (fds[2].revents)
		tr->ending = true;
	if (!fds[0].revents)
		return;
	tr->reports = true;
	if (read(tr->signal_fd, &si, sizeof(si)) < 0)
		cp_debug("tracer: nothing to read of SIGCHLD");
}

/* The next piece of a batch is about to come. A child that was forked meanwhile is
 * not looked at before: it would have the breakpoints of those that came. */
static void wait_for_more(const struct tracer *tr)
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

static void take_requests(struct tracer *tr)
{
	struct cp_request rq;
	bool gone = false;

	while (cp_link_receive(tr->link, &rq, &gone)) {
		tr->more = false;
		handle_request(tr, &rq);
		tr->tail_ns = cp_now(); /* it lives */
		if (tr->more)
			wait_for_more(tr);
	}
	if (gone)
		tr->ending = true;
}

/* Takes out all breakpoints and our handler, where possible while a thread of
 * the process stands still: one that is alone sees nothing half done. Ignoring
 * SIGTRAP forgets what other threads have hit, so that waits until they were
 * seen, `passed`. False: there was none that it can be tried with. */
static bool leave_known(struct tracer *tr, bool passed)
{
	uint64_t key, value;
	size_t cursor = 0;
	CP_VEC(struct space *) spaces = { 0 };
	size_t i, count;

	/* Processes may go while this runs: the spaces are kept. */
	while (cp_map_next(&tr->by_pid, &cursor, &key, &value)) {
		const struct process *p = (const struct process *)(uintptr_t)value;
		struct space *space = p->space;
		bool later =
			!passed && p->threads.count > 1 && space->own.handler == (uintptr_t)SIG_IGN;

		annotate_end(space);
		if (!space->handler || space->leaving >= LEAVE_TRIES || space->kept)
			continue;
		if (later)
			sites_clean_traps(space);
		if (later || !cp_vec_push(&spaces, space))
			continue;
		space->users++;
		space->kept = true;
	}
	count = spaces.count;
	for (i = 0; i < count; i++) {
		if (trap_remove(tr, spaces.items[i]))
			spaces.items[i]->leaving = LEAVE_TRIES;
		else
			spaces.items[i]->leaving++;
		spaces.items[i]->kept = false;
		space_release(spaces.items[i]);
	}
	cp_vec_free(&spaces);
	return count > 0;
}

/* Children that are born meanwhile have breakpoints, too. */
static void leave_spaces(struct tracer *tr, bool passed)
{
	do
		gather_newborns(tr);
	while (leave_known(tr, passed));
}

/* New programs have not yet come to their first stop. */
static bool any_exec_stop(const struct tracer *tr)
{
	uint64_t key, value;
	size_t cursor = 0;

	while (cp_map_next(&tr->by_tid, &cursor, &key, &value)) {
		if (((const struct thread *)(uintptr_t)value)->exec_stop)
			return true;
	}
	return false;
}

/* Blocked in a system call of the program's, not in one that a slot makes. */
static bool is_elsewhere(struct tracer *tr, struct thread *t)
{
	unsigned long long args[6];
	uint64_t pc, sp;
	int64_t nr;

	return proc_call(tr, t, &nr, args) == PROC_BLOCKED && nr >= 0 &&
	       proc_where(tr, t, &pc, &sp) == PROC_BLOCKED && !space_area(t->process->space, pc);
}

/* Does the thread block the stand-in of SIGTRAP (sigmask.c), and may it be stopped to
 * block that itself again? */
static bool is_to_be_told(struct tracer *tr, struct thread *t)
{
	return !t->given_back && proc_blocked(t->tid) & CP_SIGTRAP_STAND_IN && ask_may_stop(tr, t);
}

/* Each thread that runs is stopped once: one that was on its way from a
 * breakpoint to its stop is known to have arrived, and is in no slot any more.
 * Who is blocked in a system call is not on its way. */
static void leave_pass(struct tracer *tr)
{
	uint64_t key, value;
	size_t cursor = 0;

	while (cp_map_next(&tr->by_tid, &cursor, &key, &value)) {
		struct thread *t = (struct thread *)(uintptr_t)value;

		if (!t->process->space->table->sites.count || t->clear)
			continue;
		if (is_elsewhere(tr, t) && !is_to_be_told(tr, t))
			t->clear = !t->process->space->armed;
		else
			interrupt_thread(tr, t, WANT_PASS);
	}
}

/* Areas of which it is known that nobody is in them may be used again at once. */
static void leave_areas(const struct tracer *tr)
{
	uint64_t key, value;
	size_t cursor = 0;

	while (cp_map_next(&tr->by_tid, &cursor, &key, &value)) {
		const struct thread *t = (const struct thread *)(uintptr_t)value;

		t->process->space->occupied |= !t->clear;
	}
	cursor = 0;
	while (cp_map_next(&tr->by_pid, &cursor, &key, &value))
		area_forget(((const struct process *)(uintptr_t)value)->space);
}

/* Serves the interrupts that are under way, so that nobody is left with one
 * that disturbs it, then ends. */
static void leave(struct tracer *tr)
{
	uint64_t deadline = cp_now() + LEAVE_NS;

	tr->ending = true;
	hot_end(tr);
	snapshot_unpark(tr);
	calibrate_end(tr);
	leave_spaces(tr, false);
	leave_pass(tr);
	tr->hz = tr->wall ? tr->hz : 0;
	for (;;) {
		gather(tr);
		held_release(tr);
		interrupt_forget(tr);
		leave_spaces(tr, !tr->wanted.count);
		if (!tr->wanted.count) /* those who were let go from a hit since */
			leave_pass(tr);
		if ((!tr->wanted.count && !any_exec_stop(tr)) || cp_now() > deadline)
			break;
		wait_for_something(tr);
	}
	leave_areas(tr);
	tick_flush(tr, cp_now());
	sample_totals(tr);
	emit(tr, CP_EVENT_LEFT, 0, 0);
	cp_ring_kick(tr->link, true);
}

static void *keep_memory(void *tracer)
{
	pthread_join(*(pthread_t *)tracer, NULL);
	_exit(0);
}

/* The kernel lets everybody go as this thread exits, and until then nobody
 * serves stops: a signal that the program ignores, and that wakes it only
 * because it is traced, would end its system call with EINTR. So whatever takes
 * time has been done before; who has stopped meanwhile is served; and nothing
 * comes in between, where we are allowed to ask for that. What takes longest in
 * an exit is to take down memory and files: that is left to a second thread. */
__attribute__((noreturn)) static void be_gone(struct tracer *tr)
{
	const struct sched_param first = { .sched_priority = 1 };
	pthread_t self = pthread_self(), second;
	bool alone;

	threads_close(tr);
	alone = pthread_create(&second, NULL, keep_memory, &self) != 0;
	if (sched_setscheduler(0, SCHED_FIFO, &first))
		sched_yield(); /* a whole slice, then */
	do
		gather(tr);
	while (tr->reports);
	for (;;)
		syscall(alone ? SYS_exit_group : SYS_exit, 0);
}

static void loop(struct tracer *tr)
{
	uint64_t now;

	tr->tail_ns = tr->tail_moved_ns = cp_now();
	while (!tr->ending) {
		take_requests(tr);
		if (tr->ending) /* before anybody who is held is let go */
			break;
		if (tr->reports || tr->hot || tr->full)
			gather(tr);
		now = cp_now();
		hot_look(tr, now);
		if (tr->hz && now >= tr->next_tick_ns && !tr->ending)
			tick(tr, now);
		if (!tr->ending)
			pause_look(tr, now);
		snapshot_check(tr, now);
		if (tr->held.count && !tr->ending)
			held_release(tr);
		if (tr->attached && tr->by_tid.count == tr->guests)
			break; /* the program is gone */
		if (controller_hangs(tr, now)) {
			cp_info("the controller hangs; letting the program go");
			tr->link->shared->abandoned = 1;
			break;
		}
		if (!tr->hot)
			wait_for_something(tr);
	}
	leave(tr);
}

/* Only the link's descriptors stay open, so that nobody waits for the end of
 * a pipe because of us. */
static void close_others(const struct cp_link *link)
{
	const int keep[] = { link->tracer_socket, link->kick };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), fd;

	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	if (cp_log_level == CP_LOG_OFF)
		dup2(null, STDERR_FILENO);
	for (fd = 3; fd < 1024; fd++) {
		if (fd != keep[0] && fd != keep[1])
			close(fd);
	}
	close_range(1024, ~0u, 0);
}

static int raise_descriptor_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return 0;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	getrlimit(RLIMIT_NOFILE, &limit);
	return limit.rlim_cur > 100000 ? 100000 : (int)limit.rlim_cur - 64;
}

/* As in <linux/sched/types.h>, which does not go with <sched.h>. */
struct sched_attributes {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime_ns, deadline_ns, period_ns;
};

/* A stopped thread waits for us, so we want the CPU soon and for a short time:
 * a higher priority where that is allowed, and the shortest slice, which the
 * kernel (6.12 and later) grants sooner. */
static void ask_for_quick_service(void)
{
	struct sched_attributes attr = {
		.size = sizeof(attr),
		.policy = SCHED_OTHER,
		.nice = -10,
		.runtime_ns = 100000,
	};

	if (!syscall(SYS_sched_setattr, 0, &attr, 0))
		return;
	attr.nice = getpriority(PRIO_PROCESS, 0);
	if (syscall(SYS_sched_setattr, 0, &attr, 0))
		cp_debug("tracer: sched_setattr: %m");
}

__attribute__((noreturn)) static void tracer_main(struct cp_link *link, pid_t controller)
{
	struct tracer tr = { .link = link,
			     .stops = &gather_stops,
			     .stack_max = CP_STACK_MAX,
			     .controller = controller };

	sigset_t all, child;

	setpgid(0, 0); /* the terminal's Ctrl-C is not for us */
	prctl(PR_SET_NAME, "cprof-tracer");
	prctl(PR_SET_TIMERSLACK, 1UL);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	ask_for_quick_service();
	close_others(link);
	cp_steal_fd(&link->controller_socket);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	cp_trap_code(cp_arch_host(), &tr.trap_size);
	tr.signal_fd = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
	tr.controller_pidfd = (int)syscall(SYS_pidfd_open, controller, 0);
	tr.fds_left = raise_descriptor_limit();
	sched_getaffinity(0, sizeof(tr.cpus), &tr.cpus);
	if (tr.signal_fd < 0 || tr.controller_pidfd < 0 || getppid() != controller)
		_exit(1);
	loop(&tr);
	be_gone(&tr);
}

struct cp_error *cp_tracer_spawn(struct cp_link *link, pid_t *pid_ret)
{
	pid_t controller = getpid(), pid = fork();

	if (pid < 0)
		return cp_error_new(CP_ERR_IO, errno, "start the tracer process");
	if (pid == 0)
		tracer_main(link, controller);
	cp_close_fd(&link->tracer_socket);
	link->tracer_socket = -1;
	*pid_ret = link->tracer = pid;
	return NULL;
}
