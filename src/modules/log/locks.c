/* SPDX-License-Identifier: MIT
 *
 * The recorder's part for locks: log:locks. A wait is recorded among the calls,
 * once, when it is over.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "modules/log/recorder.h"

static struct log_wait *find(cprof_profiler *log, const cprof_thread *t)
{
	size_t i;

	for (i = 0; i < log->waits.count; i++)
		if (log->waits.items[i].waiter == t)
			return &log->waits.items[i];
	return NULL;
}

/* It is over: written, and forgotten. */
static void finish(cprof_profiler *log, struct log_wait *w, uint64_t now_ns, unsigned flags)
{
	w->values[0].symbol = w->variable;
	w->call.values = w->values;
	w->call.duration_ns = now_ns > w->call.ts_ns ? now_ns - w->call.ts_ns : 0;
	w->call.ts_ns += w->call.duration_ns;
	w->call.flags = (uint8_t)flags;
	if (log->writer)
		cp_record_call(log->writer, &w->call);
	free(w->variable);
	*w = log->waits.items[--log->waits.count];
}

static void on_contention(cprof_profiler *log, const cprof_object *lock)
{
	cprof_thread *t = cprof_current_thread(), *owner;
	uint64_t *thread = log->writer && t ? log_thread(log, t) : NULL;
	struct log_wait *left = t ? find(log, t) : NULL, w = { .waiter = t };
	cprof_contention c;
	cprof_call call;

	if (!thread || !cprof_current_call(&call) || !cprof_current_contention(&c))
		return;
	if (left) /* it was jumped out of */
		finish(log, left, c.begin_ns, CP_RECORD_WAIT_OPEN);
	w.call = (struct cp_record_call){
		.kind = CP_RECORD_WAIT,
		.ts_ns = c.begin_ns,
		.thread = (uint32_t)*thread,
		.depth = call.depth,
		.target = CP_RECORD_NONE,
		.stack = CP_RECORD_NONE,
		.value_count = 2,
	};
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
		log_thread(log, owner); /* with its name */
	w.variable = c.variable ? strdup(c.variable) : NULL;
	w.call.function = log_taker(log, log->stacks ? &w.call.stack : NULL);
	if (!cp_vec_push(&log->waits, w))
		free(w.variable);
}

static void end(cprof_profiler *log, unsigned flags)
{
	cprof_thread *t = cprof_current_thread();
	struct log_wait *w = t ? find(log, t) : NULL;
	cprof_contention c;

	if (w && cprof_current_contention(&c))
		finish(log, w, c.begin_ns + c.waited_ns, flags);
}

static void on_failed(cprof_profiler *log, const cprof_object *lock)
{
	(void)lock;
	end(log, CP_RECORD_WAIT_TIMED_OUT);
}

static void on_acquired(cprof_profiler *log, const cprof_object *lock)
{
	(void)lock;
	end(log, 0);
}

void log_locks_exited(cprof_profiler *log, const cprof_thread *t)
{
	struct log_wait *w = find(log, t);

	if (w)
		finish(log, w, cprof_thread_end(t) ? cprof_thread_end(t) : cp_now(),
		       CP_RECORD_WAIT_OPEN);
}

void log_locks_end(cprof_profiler *log)
{
	while (log->waits.count)
		finish(log, &log->waits.items[log->waits.count - 1], cp_now(), CP_RECORD_WAIT_OPEN);
}

bool log_locks_option(cprof_profiler *log, const char *key, const char *value)
{
	if (strcmp(key, "locks") != 0 || value)
		return false;
	log->locks = true;
	return true;
}

void log_locks_start(cprof_profiler *log)
{
	if (!log->locks)
		return;
	if (!cprof_profiler_enable_monitors())
		cprof_profiler_fail(log->handle, "locks cannot be watched here");
	cprof_profiler_set_monitor_contention_callback(log->handle, on_contention);
	cprof_profiler_set_monitor_failed_callback(log->handle, on_failed);
	cprof_profiler_set_monitor_acquired_callback(log->handle, on_acquired);
}

uint32_t log_locks_hold(const cprof_profiler *log)
{
	return log->locks ? CP_RECORD_HAS_LOCKS : 0;
}
