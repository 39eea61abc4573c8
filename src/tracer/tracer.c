/* SPDX-License-Identifier: MIT
 *
 * The tracer process: its birth and its loop. Its end is leave.c.
 *
 *        ┌────────────────────────────────────────────────────┐
 *        ▼                                                    │
 *   requests ─► stops and exits ─► tick due? ─► held ones ─► wait for
 *   (socket)     (stops/)          (captures/tick.c)                 SIGCHLD, socket,
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
#include "base/stack.h"
#include "tracer/captures/perf.h"
#include "tracer/captures/sample.h"
#include "tracer/captures/perf_take.h"
#include "tracer/captures/tick.h"
#include "tracer/hits/batch.h"
#include "tracer/hits/code.h"
#include "tracer/hits/mapping.h"
#include "tracer/hits/gone.h"
#include "tracer/hits/pause.h"
#include "tracer/idle.h"
#include "tracer/known/lookup.h"
#include "tracer/known/proc.h"
#include "tracer/leave.h"
#include "tracer/lives/seize.h"
#include "tracer/memory/annotate.h"
#include "tracer/memory/space.h"
#include "tracer/progress.h"
#include "tracer/stops/gather.h"
#include "tracer/stops/held.h"
#include "tracer/stops/hot.h"
#include "tracer/stops/snapshot.h"

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
	CP_CLOSE int fd = -1;

	switch ((enum cp_request_type)rq->type) {
	case CP_REQUEST_WAKE:
		return;
	case CP_REQUEST_LAUNCH:
		seize_launch(tr, rq, &answer);
		break;
	case CP_REQUEST_ATTACH:
		seize_attach(tr, rq, &answer);
		break;
	case CP_REQUEST_SAMPLE:
		perf_set(tr, rq);
		tick_start(tr, rq);
		break;
	case CP_REQUEST_PERF:
		perf_open(tr, rq, &answer);
		break;
	case CP_REQUEST_WATCH:
		/* Births are waited for already where children are followed. */
		answer.errnum = tr->trace_flags & CP_TRACE_FOLLOW ? 0 : EINVAL;
		tr->trace_flags |= answer.errnum ? 0 : CP_TRACE_PROBES;
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
	case CP_REQUEST_RINGS:
		code_rings(tr, rq, &answer, &fd);
		break;
	case CP_REQUEST_CODE:
		code_place(tr, rq, &answer);
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
	case CP_REQUEST_TOTALS:
		sample_totals(tr);
		perf_totals(tr);
		break;
	case CP_REQUEST_DISARM_GROUP:
		batch_disarm_group(tr, rq);
		break;
	default:
		answer.errnum = EINVAL;
	}
	cp_link_answer(tr->link, &answer, fd);
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
			idle_until_request(tr);
	}
	if (gone)
		tr->ending = true;
}

static void loop(struct tracer *tr)
{
	uint64_t now;

	tr->tail_ns = tr->tail_moved_ns = cp_now();
	tr->asked = true;
	while (!tr->ending) {
		if (tr->asked || tr->hot)
			take_requests(tr);
		if (tr->ending) /* before anybody who is held is let go */
			break;
		if (tr->reports || tr->hot || tr->full)
			gather(tr);
		now = cp_now();
		hot_look(tr, now);
		if (tr->hz && now >= tr->next_tick_ns && !tr->ending)
			tick(tr, now);
		perf_look(tr, now);
		if (!tr->ending)
			pause_look(tr, now);
		if (!tr->ending)
			gone_look(tr, now);
		snapshot_check(tr, now);
		if (tr->held.count && !tr->ending)
			held_release(tr);
		if (tr->attached && tr->by_tid.count == tr->guests)
			break; /* the program is gone */
		progress_believe(tr, now);
		if (progress_ended(tr, now)) {
			cp_info("the controller hangs; letting the program go");
			tr->link->shared->abandoned = 1;
			break;
		}
		if (!tr->hot)
			idle_until_anything(tr);
	}
	leave(tr);
}

/* Closes those from `first` on, before `end`. */
static void close_range_of(int first, int end)
{
	if (first >= end || !close_range((unsigned)first, (unsigned)end - 1, 0))
		return;
	for (; first < end; first++) /* a filter of system calls may not know that one */
		close(first);
}

/* Only the link's descriptors stay open, so that nobody waits for the end of
 * a pipe because of us. */
static void close_others(const struct cp_link *link)
{
	int low = link->tracer_socket < link->kick ? link->tracer_socket : link->kick;
	int high = link->tracer_socket < link->kick ? link->kick : link->tracer_socket;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	if (cp_log_level == CP_LOG_OFF)
		dup2(null, STDERR_FILENO);
	close_range_of(STDERR_FILENO + 1, low);
	close_range_of(low + 1, high);
	close_range_of(high + 1, high < 1024 ? 1024 : high + 1);
	close_range(high < 1024 ? 1024 : (unsigned)high + 1, ~0u, 0);
}

#define DESCRIPTORS 65536 /* as many as anybody needs */

/* Of the tracer alone: CMD keeps its own. Half of them are for threads, which can do without;
 * a process can't. */
static int raise_descriptor_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return 0;
	if (limit.rlim_max < DESCRIPTORS) {
		struct rlimit more = { DESCRIPTORS, DESCRIPTORS };

		setrlimit(RLIMIT_NOFILE, &more); /* root may */
		getrlimit(RLIMIT_NOFILE, &limit);
	}
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	getrlimit(RLIMIT_NOFILE, &limit);
	return limit.rlim_cur > 2 * DESCRIPTORS ? DESCRIPTORS : (int)limit.rlim_cur / 2;
}

/* Of the tracer alone, too: its core file would have the rings in it. */
static void leave_no_core(void)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_CORE, &limit)) {
		limit.rlim_cur = 0;
		setrlimit(RLIMIT_CORE, &limit);
	}
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

struct start {
	struct cp_link *link;
	pid_t controller;
};

/* Does not return. */
static int tracer_main(void *opaque)
{
	const struct start *start = opaque;
	struct cp_link *link = start->link;
	struct tracer tr = { .link = link,
			     .stops = &gather_stops,
			     .stack_max = CP_STACK_MAX,
			     .controller = start->controller };

	sigset_t all, child;

	setpgid(0, 0); /* the terminal's Ctrl-C is not for us */
	prctl(PR_SET_NAME, "cprof-tracer");
	prctl(PR_SET_TIMERSLACK, 1UL);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	signal(SIGCHLD, SIG_DFL); /* who ignores it, as cprof's parent may, is told of no stop */
	ask_for_quick_service();
	close_others(link);
	cp_steal_fd(&link->controller_socket);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	cp_trap_code(cp_arch_host(), &tr.trap_size);
	tr.signal_fd = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
	tr.controller_pidfd = (int)syscall(SYS_pidfd_open, tr.controller, 0);
	tr.fds_all = tr.fds_left = raise_descriptor_limit();
	leave_no_core();
	sched_getaffinity(0, sizeof(tr.cpus), &tr.cpus);
	if (tr.signal_fd < 0 || tr.controller_pidfd < 0 || getppid() != tr.controller)
		_exit(1);
	loop(&tr);
	leave_at_last(&tr);
}

struct cp_error *cp_tracer_spawn(struct cp_link *link, pid_t *pid_ret)
{
	struct start start = { .link = link, .controller = getpid() };
	pid_t pid = fork();

	if (pid < 0)
		return cp_error_new(CP_ERR_IO, errno, "start the tracer process");
	if (pid == 0)
		_exit(cp_stack_call(tracer_main, &start));
	cp_close_fd(&link->tracer_socket);
	link->tracer_socket = -1;
	*pid_ret = link->tracer = pid;
	return NULL;
}
