/* SPDX-License-Identifier: MIT
 *
 * The session: from the first link to the last callback. Its loop empties the
 * ring and turns captured events into profiler events:
 *
 *   ring event ──► tables (who is it?) ──► engine_raise() ──► profilers
 *
 * The ring is looked at 50 times a second while it has something in it; once it was
 * found empty, the controller sleeps until the tracer kicks.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "engine/api/elt.h"
#include "engine/api/profiler.h"
#include "engine/api/services.h"
#include "engine/calls/blocks.h"
#include "engine/calls/calls.h"
#include "engine/calls/records.h"
#include "engine/families/coverage.h"
#include "engine/families/loaded.h"
#include "engine/frames/frame_values.h"
#include "engine/frames/places.h"
#include "engine/frames/snapshot.h"
#include "engine/probes/arm.h"
#include "engine/probes/hide.h"
#include "engine/probes/plans.h"
#include "engine/probes/refilter.h"
#include "engine/probes/rescue.h"
#include "engine/probes/trace.h"
#include "engine/session/capture.h"
#include "engine/session/delivery.h"
#include "engine/session/explain.h"
#include "engine/session/launch.h"
#include "engine/session/lifecycle.h"
#include "engine/session/linger.h"
#include "engine/session/watched.h"
#include "engine/probes/haste.h"
#include "engine/probes/rings.h"
#include "engine/target/above.h"
#include "engine/target/family.h"
#include "engine/target/functions.h"
#include "engine/target/images.h"
#include "engine/target/memory.h"
#include "engine/target/process.h"
#include "engine/target/profilers.h"
#include "engine/target/state.h"
#include "link/coverage.h"
#include "tracer/tracer.h"

#define BUSY_POLL_MS 20
#define IDLE_POLL_MS 1000
#define RECORDS_POLL_MS 1 /* where detours write, rings are full soon */
#define RINGS_POLL_MS 4 /* where they may begin to */
#define RECORDS_AT_ONCE 65536u
#define BEAT_NS (CP_NS_PER_S / 10) /* between two signs of life to detours */
#define DRAIN_NS (20 * CP_NS_PER_MS)
#define LEAVE_TIMEOUT_NS (8 * CP_NS_PER_S)
#define HOLD_SPARE_NS (100 * CP_NS_PER_MS)

/* The kernel's out-of-memory killer shall take the controller first: the tracer must
 * not go while the program hangs on it. Called when CMD and the tracer are forked
 * already. */
static void offer_to_oom_killer(void)
{
	CP_CLOSE int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd >= 0 && write(fd, "800", 3) < 0)
		cp_debug("oom_score_adj: %m");
}

static void on_maps(cprof_process *p)
{
	engine_arm_process(p);
	engine_tell_images(p);
}

static void on_read(const cprof_process *p, uint64_t address, uint8_t *bytes, size_t size)
{
	if (p->session->calls)
		engine_hide_breakpoints(p, address, bytes, size);
}

static const struct engine_above above = { .mapped = on_maps, .read = on_read };

cprof_session *cprof_session_create(void)
{
	cprof_session *s = NULL;
	struct cp_error *err;

	if (!cprof_session_current() || !cprof_session_current()->calling.what)
		s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->child_go = s->child_error = s->stop_fd = -1;
	s->wait_status = -1;
	s->hz = 100;
	s->debuginfod.ask = true;
	s->limits = cp_value_limits_default;
	s->cpu_at_start_ns = cp_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	s->frames = malloc(CP_MAX_FRAMES * sizeof(*s->frames));
	s->unwind_cache = cp_unwind_cache_create();
	s->families = engine_families;
	s->above = &above;
	s->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	err = cp_link_create(&s->link);
	if (!err)
		err = cp_tracer_spawn(&s->link, &s->tracer);
	if (err || !s->frames || s->stop_fd < 0) {
		cp_error_free(err);
		cprof_session_destroy(s);
		return NULL;
	}
	engine_make_current(s);
	return s;
}

cprof_status cprof_session_launch(cprof_session *s, const char *path, char *const argv[],
				  char *const envp[], unsigned flags)
{
	if (!s || !path || !argv || !*argv)
		return CPROF_E_INVALID_ARGUMENT;
	if (s->target)
		return engine_fail(s, cp_error_new(CP_ERR_USAGE, 0, "the session has a target"));
	if (flags & CPROF_SESSION_KILL_ON_EXIT)
		return CPROF_E_NOT_SUPPORTED;
	s->flags = flags;
	engine_watch_decide(s);
	return engine_fail(s, engine_launch(s, path, argv, envp));
}

/* Start time of a process, which tells whether its number was given to another one. */
static uint64_t start_time(pid_t pid)
{
	char ticks[24];

	return cp_file_stat_field(pid, 22, ticks, sizeof(ticks)) ? strtoull(ticks, NULL, 10) : 0;
}

static struct cp_error *attach(cprof_session *s, pid_t pid)
{
	struct cp_request rq = {
		.type = CP_REQUEST_ATTACH,
		.flags = engine_trace_flags(s),
	};
	struct cp_answer answer;
	uint64_t started;

	CP_TRY(engine_check_target(pid, &pid));
	started = start_time(pid);
	rq.pid = pid;
	CP_TRY(cp_link_call(&s->link, &rq, &answer, NULL));
	if (answer.errnum)
		return engine_explain_attach(pid, &answer);
	if (start_time(pid) != started)
		return cp_error_new(CP_ERR_GONE, 0, "process %d ended while attaching", (int)pid);
	if (rq.flags & CP_TRACE_PROBES)
		CP_TRY(engine_check_alone(pid, s->tracer));
	/* Takes out what a killed cprof left where the tracer could not. Not before it is ours. */
	engine_restore(s, pid);
	s->target = pid;
	s->attached = true;
	s->probes = rq.flags & CP_TRACE_PROBES;
	s->command = engine_read_command(pid);
	cp_info("attached to %u threads of process %d", answer.threads, (int)pid);
	return engine_choose_capture(s, pid);
}

cprof_status cprof_session_attach(cprof_session *s, int32_t pid, unsigned flags)
{
	if (!s)
		return CPROF_E_INVALID_ARGUMENT;
	if (s->target)
		return engine_fail(s, cp_error_new(CP_ERR_USAGE, 0, "the session has a target"));
	if (flags & CPROF_SESSION_KILL_ON_EXIT)
		return CPROF_E_NOT_SUPPORTED;
	s->flags = flags;
	engine_watch_decide(s);
	return engine_fail(s, attach(s, pid));
}

/* ---- events ---- */

static void heartbeat(cprof_session *s, uint64_t now)
{
	if (s->sampling_changed && atomic_exchange(&s->sampling_changed, false))
		engine_send_sampling(s);
	engine_each_family(s, f, poll)
		f->poll(s, now);
	if (now - s->beat_ns >= BEAT_NS) {
		s->beat_ns = now;
		engine_records_beat(s, false);
	}
	if (now - s->heartbeat_ns >= CP_NS_PER_S) {
		s->heartbeat_ns = now;
		engine_each_family(s, f, second)
			f->second(s);
		engine_look_around(s);
		engine_raise0(s, heartbeat);
	}
	engine_refilter(s); /* the next event, which would do it, may be far */
}

/* What detours recorded up to now. True: there was something. */
static bool take_records(cprof_session *s, uint64_t now)
{
	size_t told = engine_records_take(s, now < s->last_ns ? now : s->last_ns, RECORDS_AT_ONCE);

	s->behind |= told == RECORDS_AT_ONCE;
	s->recorded = told;
	return told != 0;
}

/* Handles what is in the ring, but not for ever: a program may do more than can be
 * handled, and the session has an end to mind. Sets s->behind when something is left.
 * True: there was something in the ring. */
static bool drain(cprof_session *s)
{
	uint64_t now = cp_now(), until = now + DRAIN_NS;
	const struct cp_event *e;
	bool any = false, bad = false;

	s->behind = false;
	if (s->link.populated)
		cp_link_populate(&s->link);
	while ((e = cp_ring_peek(&s->link, &bad)) && now < until) {
		engine_deliver(s, e);
		any = true;
		now = cp_now();
		heartbeat(s, now);
	}
	if (!e)
		any |= take_records(s, now);
	s->behind |= e != NULL;
	if (bad && !s->tracer_left) {
		engine_fail(s, cp_error_new(CP_ERR_FORMAT, 0, "the tracer's events make no sense"));
		s->tracer_left = true;
	}
	return any;
}

static void drain_all(cprof_session *s)
{
	do
		drain(s);
	while (s->behind);
}

/* Handles what is in the ring now, and not what comes meanwhile, which may be more for
 * ever. */
static void drain_present(cprof_session *s)
{
	uint64_t head = s->link.shared->head;

	do
		drain(s);
	while (s->behind && s->link.shared->tail < head);
}

/* What could not be placed. A thread has to be asked for that, which none can be that stands
 * at a breakpoint, waiting for room in the ring. From one time to the next there is a second
 * for events, however long it takes. */
static void arm_again(cprof_session *s)
{
	if (cp_now() - s->armed_ns < CP_NS_PER_S)
		return;
	if (engine_arm_waits(s)) {
		drain_present(s);
		engine_arm_again(s);
	}
	s->armed_ns = cp_now();
}

/* ---- the loop ---- */

static bool tracer_alive(cprof_session *s)
{
	int status;

	if (s->tracer && waitpid(s->tracer, &status, WNOHANG) == s->tracer)
		s->tracer = 0;
	return s->tracer != 0;
}

/* How long nothing may be looked at. Who writes records kicks nobody: a ring where that
 * waits is soon full, and where it does not, what follows is lost. */
static int time_to_poll(const cprof_session *s, bool busy)
{
	int timeout = busy ? BUSY_POLL_MS : IDLE_POLL_MS;

	if (!s->calls || !s->calls->rings.count)
		return timeout;
	if (s->recorded)
		return RECORDS_POLL_MS;
	return engine_rings_wait(s) ? BUSY_POLL_MS : RINGS_POLL_MS;
}

static void wait_for_events(cprof_session *s, bool busy, uint64_t deadline)
{
	struct pollfd fds[3 + ENGINE_WATCHED_MAX] = {
		{ .fd = s->link.kick, .events = POLLIN },
		{ .fd = s->stop_fd, .events = POLLIN },
		{ .fd = s->link.controller_socket, .events = POLLIN },
	};
	nfds_t fd_count = 3 + engine_watched_add(s, fds + 3);
	int timeout = time_to_poll(s, busy);
	uint64_t now = cp_now(), count, ns;
	struct timespec wait;

	engine_each_family(s, f, wait)
		timeout = f->wait(s, timeout);
	if (deadline && deadline < now + (uint64_t)timeout * CP_NS_PER_MS)
		timeout = deadline > now ? (int)((deadline - now) / CP_NS_PER_MS) + 1 : 0;
	ns = (uint64_t)timeout * CP_NS_PER_MS;
	if (s->behind)
		ns = 0;
	else if ((timeout <= 0 || !engine_records_hurry(s, &ns)) && !busy) {
		s->link.shared->asleep = 1;
		/* The tracer may have written to the ring just before `asleep` was set. */
		if (s->link.shared->head != s->link.shared->tail)
			ns = 0;
	}
	wait = cp_timespec(ns);
	ppoll(fds, fd_count, timeout < 0 && ns ? NULL : &wait, NULL);
	engine_watched_see(s, fds + 3);
	s->link.shared->asleep = 0;
	if (fds[1].revents && read(s->stop_fd, &count, sizeof(count)) < 0)
		cp_debug("stop: %m");
	if (fds[0].revents && read(s->link.kick, &count, sizeof(count)) < 0)
		cp_debug("kick: %m");
}

static void ask_to_leave(cprof_session *s)
{
	struct cp_request rq = { .type = CP_REQUEST_LEAVE };
	struct cp_answer answer;

	if (s->tracer_left)
		return;
	/* What the program has in the place of our breakpoints by now is not to be touched. */
	engine_arm_all(s);
	cp_error_free(cp_link_call(&s->link, &rq, &answer, NULL));
}

static void warn_unready(cprof_session *s)
{
	uint64_t n = s->link.shared->stats.unready;

	if (n)
		engine_warn(s,
			    "the program was not read in time at %" PRIu64
			    " of its starts or loads "
			    "of libraries: calls and coverage of what it ran first there are "
			    "missing",
			    n);
}

/* What was made again was known to be under way; what was not can't be told. */
static void warn_taken(cprof_session *s)
{
	uint64_t n = s->link.shared->stats.taken;

	if (n)
		engine_warn(
			s,
			"%" PRIu64 " times a signal that the program ignores woke one thread and "
			"was taken by another: those calls were made again, but others may have "
			"ended by EINTR or come back short",
			n);
}

static void wait_for_tracer(cprof_session *s)
{
	int status;

	/* The tracer ends by itself when the controller's end of the socket closes. */
	cp_close_fd(&s->link.controller_socket);
	s->link.controller_socket = -1;
	while (s->tracer && waitpid(s->tracer, &status, 0) < 0 && errno == EINTR)
		;
	s->tracer = 0;
}

/* Lets everything go and handles what is still in the ring, however long that takes;
 * gives up only when nothing comes any more. */
static void finish(cprof_session *s)
{
	uint64_t deadline;

	if (s->ended)
		return;
	s->ended = true;
	if (!s->tracer_left)
		s->left_ns = cp_now();
	ask_to_leave(s);
	deadline = cp_now() + LEAVE_TIMEOUT_NS;
	while (!s->tracer_left && tracer_alive(s) && cp_now() < deadline) {
		if (drain(s))
			deadline = cp_now() + LEAVE_TIMEOUT_NS;
		if (!s->tracer_left)
			wait_for_events(s, true, deadline);
	}
	if (!s->tracer_left)
		s->last_ns = cp_now();
	drain_all(s);
	engine_records_beat(s, true);
	engine_records_take(s, s->tracer_left ? UINT64_MAX : s->last_ns, SIZE_MAX);
	engine_blocks_tell_all(s);
	if (s->tracer_left)
		wait_for_tracer(s); /* the tracer's end is what lets go */
	else
		engine_arm_restore(s);
	engine_each_family(s, f, last)
		f->last(s);
	if (!s->tracer_left)
		engine_fail(s, cp_error_hint(cp_error_new(CP_ERR_GONE, 0,
							  "the tracer process ended unexpectedly"),
					     "what was recorded until then is kept; the program "
					     "runs on"));
	engine_calls_end(s);
	engine_each_family(s, f, explain)
		f->explain(s);
	engine_haste_warn(s);
	engine_calls_warn(s);
	warn_unready(s);
	warn_taken(s);
	if (s->link.shared->abandoned)
		engine_warn(s, "events were not handled for seconds: the program was let go before "
			       "its end");
	engine_raise0(s, runtime_shutdown_begin);
	engine_raise0(s, runtime_shutdown_end);
}

/* Have CMD, or what was attached to, and all processes that are waited for ended? */
static bool target_ended(cprof_session *s)
{
	if (s->tracer_left || !tracer_alive(s))
		return true;
	if (!s->child || !engine_reap_child(s, false))
		return false;
	if (s->life.linger.ns && !s->life.linger.until_ns)
		drain_present(s);
	return !engine_lingers(s);
}

/* When the session ends at the latest: `deadline`, or when waiting for left processes
 * is over; 0: never. */
static uint64_t next_end(const cprof_session *s, uint64_t deadline)
{
	uint64_t until = s->life.linger.until_ns;

	return !until || until == UINT64_MAX || (deadline && deadline < until) ? deadline : until;
}

static void start(cprof_session *s)
{
	size_t i;

	s->started = true;
	engine_settle_capture(s);
	s->heartbeat_ns = s->armed_ns = s->begin_ns = cp_now();
	s->last_ns = UINT64_MAX;
	for (i = 0; i < s->processes.count; i++)
		s->processes.items[i]->start_ns = s->begin_ns;
	offer_to_oom_killer();
	s->memory_late = engine_coverage_wanted(s) && !s->sampling && !engine_calls_wanted(s) &&
			 !(s->asked & ~(1u << ENGINE_FAMILY_LOADER));
	if (s->sampling || engine_calls_wanted(s))
		cp_link_populate(&s->link);
	if (!s->child) { /* a launched program raises runtime_initialized at its exec */
		drain_present(s);
		for (i = 0; i < s->processes.count; i++) /* while there is a tracer to ask */
			engine_open_memory(s->processes.items[i]);
		engine_arm_all(s);
		engine_refilter(s);
		engine_look_around(s);
		engine_initialized(s);
	}
	engine_send_sampling(s);
	engine_release_child(s);
}

cprof_status cprof_session_run(cprof_session *s, uint64_t timeout_ns)
{
	uint64_t deadline;
	bool busy = true;

	if (!s)
		return CPROF_E_INVALID_ARGUMENT;
	if (!s->target || s->started)
		return CPROF_E_UNSUPPORTED_CALL_SEQUENCE;
	start(s);
	s->placing_ns = cp_now() - s->begin_ns;
	deadline = timeout_ns ? cp_now() + timeout_ns : 0; /* from when breakpoints are placed */
	s->steered.runs = true;
	while (!target_ended(s) && !s->stop_asked && !s->exec_errno) {
		wait_for_events(s, busy, next_end(s, deadline));
		busy = drain(s);
		engine_watched_tell(s);
		heartbeat(s, cp_now());
		arm_again(s);
		if (deadline && cp_now() >= deadline)
			break;
	}
	s->steered.runs = false;
	s->run_ns = cp_now() - s->begin_ns;
	finish(s);
	if (s->exec_errno)
		return engine_fail_exec(s);
	return s->error && !cprof_session_profiler_failed(s) ? CPROF_E_FAIL : CPROF_OK;
}

/* ---- snapshots of everything ---- */

/* Tells a thread of the snapshot. In the first round, a thread that lacks the stack
 * below a signal handler's is put off: the tracer now knows where that is. The second
 * round (`again`) tells those. */
static void tell_thread(cprof_session *s, const struct cp_event_sample *sample, bool again,
			cprof_thread *t, cprof_thread_fn cb, void *data)
{
	bool captured = !(sample->e.flags & CP_SAMPLE_NO_STACK);

	if (again && !t->ask_again)
		return;
	s->current = (struct engine_current){
		.process = t->process,
		.thread = t,
		.sample = sample,
	};
	engine_use_sample(&s->current, sample);
	if (sample->e.flags & CP_SAMPLE_HOLD && !s->settled_until_ns)
		s->settled_until_ns = sample->e.ts_ns + CP_CAPTURE_HOLD_NS - HOLD_SPARE_NS;
	t->told = true;
	t->ask_again = !again && captured && engine_lacks_stack(s);
	s->ask_again |= t->ask_again;
	if (!t->ask_again)
		cb(t, captured, data);
	s->current = (struct engine_current){ 0 };
}

static bool next_snapshot_event(cprof_session *s, bool again, cprof_thread_fn cb, void *data)
{
	bool bad = false, more = true;
	const struct cp_event *e;

	while (more && (e = cp_ring_peek(&s->link, &bad))) {
		cprof_thread *t = cprof_thread_from_tid(e->tid);

		if (e->type == CP_EVENT_SNAPSHOT_END || e->type == CP_EVENT_LEFT) {
			s->tracer_left = e->type == CP_EVENT_LEFT;
			more = false;
		} else if (e->type == CP_EVENT_SAMPLE && t) {
			tell_thread(s, (const struct cp_event_sample *)e, again, t, cb, data);
		} else {
			engine_dispatch(s, e);
		}
		cp_ring_release(&s->link, e);
	}
	return more && !bad;
}

/* Threads that neither stopped in time nor ended. */
static void tell_missing(cprof_session *s, cprof_thread_fn cb, void *data)
{
	uint64_t key, value;
	size_t cursor = 0;

	while (cp_map_next(&s->by_tid, &cursor, &key, &value)) {
		cprof_thread *t = (cprof_thread *)(uintptr_t)value;

		if (!t->told || t->ask_again)
			cb(t, false, data);
		t->told = t->ask_again = false;
	}
}

static struct cp_error *take_snapshot(cprof_session *s, unsigned flags, cprof_thread_fn cb,
				      void *data)
{
	struct cp_request rq = { .type = CP_REQUEST_SNAPSHOT, .flags = flags };
	bool again = flags & CP_CAPTURE_LINKED;
	struct cp_answer answer;

	CP_TRY(cp_link_call(&s->link, &rq, &answer, NULL));
	while (next_snapshot_event(s, again, cb, data) && tracer_alive(s))
		wait_for_events(s, false, 0);
	s->settled_until_ns = 0;
	return NULL;
}

cprof_status cprof_session_snapshot(cprof_session *s, unsigned flags, cprof_thread_fn cb,
				    void *data)
{
	unsigned capture = (flags & CPROF_SNAPSHOT_STOP_BLOCKED ? CP_CAPTURE_STOP : 0) |
			   (flags & CPROF_SNAPSHOT_HOLD ? CP_CAPTURE_HOLD : 0) |
			   (flags & CPROF_SNAPSHOT_FLOATING ? CP_CAPTURE_XSTATE : 0);
	struct cp_error *err;

	if (!s || !cb)
		return CPROF_E_INVALID_ARGUMENT;
	if (!s->target || s->child)
		return CPROF_E_UNSUPPORTED_CALL_SEQUENCE;
	s->started = s->snapshotting = true;
	s->ask_again = false;
	drain_all(s);
	err = take_snapshot(s, capture, cb, data);
	if (!err && s->ask_again)
		err = take_snapshot(s, capture | CP_CAPTURE_LINKED, cb, data);
	if (!err)
		tell_missing(s, cb, data);
	s->snapshotting = false;
	return err ? engine_fail(s, err) : CPROF_OK;
}

/* ---- the end ---- */

static void profilers_free(cprof_session *s)
{
	struct cprof_profiler_desc *p;
	size_t i;

	for (p = s->profilers; p; p = p->next) {
#define CLEAR_(name, parameters) atomic_store(&p->name, (cprof_##name##_fn)NULL);
		CPROF_PROFILER_EVENTS(CLEAR_)
#undef CLEAR_
	}
	engine_counters_free(s);
	while ((p = s->profilers)) {
		s->calling = (struct engine_calling){ p->desc, "cleanup" };
		if (p->cleanup)
			p->cleanup(p->prof);
		s->calling = (struct engine_calling){ NULL, NULL };
		s->profilers = p->next;
		engine_elt_free(p->elt);
		free(p);
	}
	for (i = 0; i < s->loaded.count; i++)
		free(s->loaded.items[i]);
	cp_vec_free(&s->loaded);
}

cprof_status cprof_session_detach(cprof_session *s)
{
	if (!s)
		return CPROF_E_INVALID_ARGUMENT;
	if (!s->target || (s->started && !s->ended && s->calling.what))
		return CPROF_E_UNSUPPORTED_CALL_SEQUENCE;
	if (s->started) {
		finish(s);
		return s->error && !cprof_session_profiler_failed(s) ? CPROF_E_FAIL : CPROF_OK;
	}
	s->started = s->ended = true; /* no event was raised, and none will be */
	wait_for_tracer(s);
	engine_release_child(s);
	return CPROF_OK;
}

static void free_assembly(const cprof_session *s, cprof_assembly *a)
{
	if (!a)
		return;
	engine_each_family(s, f, free_assembly)
		f->free_assembly(a);
	engine_places_free(a->places);
	engine_plans_free(a->plans);
	engine_assembly_free(a);
}

void cprof_session_destroy(cprof_session *s)
{
	size_t i;

	if (!s || s->calling.what)
		return;
	if (s->started)
		finish(s);
	wait_for_tracer(s);
	profilers_free(s);
	engine_release_child(s);
	engine_each_family(s, f, free)
		f->free(s);
	engine_calls_free(s);
	engine_functions_free(s);
	engine_tables_free(s);
	for (i = 0; i < s->assemblies.count; i++)
		free_assembly(s, s->assemblies.items[i]);
	for (i = 0; i < s->jits.count; i++)
		free_assembly(s, s->jits.items[i]);
	cp_vec_free(&s->assemblies);
	cp_vec_free(&s->jits);
	cp_interner_free(&s->assembly_keys);
	cp_unwind_cache_destroy(s->unwind_cache);
	for (i = 0; s->command && s->command[i]; i++)
		free(s->command[i]);
	free(s->command);
	free(s->capturing.reason);
	for (i = 0; i < s->warnings.count; i++)
		free(s->warnings.items[i]);
	cp_vec_free(&s->warnings);
	cp_vec_free(&s->steered.watched);
	engine_frames_free(s);
	cp_close_fd(&s->stop_fd);
	cp_link_deinit(&s->link);
	cp_error_free(s->error);
	engine_make_past(s);
	free(s);
}
