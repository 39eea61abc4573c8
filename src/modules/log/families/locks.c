/* SPDX-License-Identifier: MIT
 *
 * The recorder's part for locks: log:locks. A wait is recorded among the calls,
 * once, when it is over.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "modules/log/disarmed.h"
#include "modules/log/families.h"
#include "modules/log/numbers.h"
#include "modules/log/stack.h"

/* A wait for a lock that is not over. */
struct wait {
	const cprof_thread *waiter;
	struct cp_record_call call;
	cprof_value values[2];
	char *variable; /* owned */
};

struct locks {
	CP_VEC(struct wait) waits; /* that are not over */
};

static struct locks *locks(const cprof_profiler *log)
{
	return cp_recorder_state(log, &cp_recorder_locks);
}

static struct wait *find(const cprof_profiler *log, const cprof_thread *t)
{
	struct wait *w;

	cp_vec_for_each(&locks(log)->waits, w)
		if (w->waiter == t)
			return w;
	return NULL;
}

/* The wait is over: written, and forgotten. */
static void finish(cprof_profiler *log, struct wait *w, uint64_t now_ns, unsigned flags)
{
	struct locks *l = locks(log);

	w->values[0].symbol = w->variable;
	w->call.values = w->values;
	w->call.duration_ns = now_ns > w->call.ts_ns ? now_ns - w->call.ts_ns : 0;
	w->call.ts_ns += w->call.duration_ns;
	w->call.flags = (uint8_t)flags;
	if (log->writer && !log->paused)
		cp_recorder_call(log, &w->call);
	free(w->variable);
	*w = l->waits.items[--l->waits.count];
}

static void on_contention(cprof_profiler *log, const cprof_object *lock)
{
	cprof_thread *t = cprof_current_thread(), *owner;
	struct wait *left = t ? find(log, t) : NULL, w = { .waiter = t };
	cprof_contention c;
	cprof_call call;

	if (!cprof_current_call(&call) || !cprof_current_contention(&c) ||
	    !cp_recorder_event(log, &call, CP_RECORD_WAIT, &w.call))
		return;
	if (left) /* it was jumped out of */
		finish(log, left, c.begin_ns, CP_RECORD_WAIT_OPEN);
	w.call.ts_ns = c.begin_ns;
	w.call.value_count = 2;
	w.values[0] = (cprof_value){
		.kind = CPROF_VALUE_POINTER,
		.size = sizeof(cprof_addr),
		.name = "lock",
		.type = lock->type_name ? lock->type_name : "",
		.u.u = lock->address,
	};
	w.values[1] = (cprof_value){
		.kind = CPROF_VALUE_INT,
		.size = sizeof(c.owner),
		.name = "owner",
		.type = "pid_t",
		.u.i = c.owner,
	};
	owner = c.owner ? cprof_thread_from_tid(c.owner) : NULL;
	if (owner)
		cp_recorder_thread(log, owner); /* with its name */
	w.variable = c.variable ? strdup(c.variable) : NULL;
	w.call.function = cp_recorder_taker(log, log->stacks ? &w.call.stack : NULL);
	if (!cp_vec_push(&locks(log)->waits, w))
		free(w.variable);
}

static void end_wait(cprof_profiler *log, unsigned flags)
{
	cprof_thread *t = cprof_current_thread();
	struct wait *w = t ? find(log, t) : NULL;
	cprof_contention c;

	if (w && cprof_current_contention(&c))
		finish(log, w, c.begin_ns + c.waited_ns, flags);
}

static void on_failed(cprof_profiler *log, const cprof_object *lock)
{
	(void)lock;
	end_wait(log, CP_RECORD_WAIT_TIMED_OUT);
}

static void on_acquired(cprof_profiler *log, const cprof_object *lock)
{
	(void)lock;
	end_wait(log, 0);
}

static void on_exited(cprof_profiler *log, cprof_thread *t)
{
	struct wait *w = find(log, t);

	if (w)
		finish(log, w, cprof_thread_end(t) ? cprof_thread_end(t) : cp_now(),
		       CP_RECORD_WAIT_OPEN);
}

/* ---- the family ---- */

static void start(cprof_profiler *log)
{
	if (!cprof_profiler_enable_monitors())
		cprof_profiler_fail(log->handle, "locks cannot be watched here");
	cprof_profiler_set_monitor_contention_callback(log->handle, on_contention);
	cprof_profiler_set_monitor_failed_callback(log->handle, on_failed);
	cprof_profiler_set_monitor_acquired_callback(log->handle, on_acquired);
	cp_recorder_watch_disarmed(log);
}

static void end(cprof_profiler *log)
{
	struct locks *l = locks(log);

	while (l->waits.count)
		finish(log, &l->waits.items[l->waits.count - 1], cp_now(), CP_RECORD_WAIT_OPEN);
}

static void release(void *state)
{
	struct locks *l = state;
	struct wait *w;

	cp_vec_for_each(&l->waits, w)
		free(w->variable);
	cp_vec_free(&l->waits);
}

const struct cp_recorder_family cp_recorder_locks = {
	.option = "locks",
	.mono = (const char *const[]){ "monitor", NULL },
	.help = "  locks              waits for locks\n",
	.holds = CP_RECORD_HAS_LOCKS,
	.state_size = sizeof(struct locks),
	.start = start,
	.thread_exited = on_exited,
	.end = end,
	.release = release,
};
