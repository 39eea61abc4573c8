/* SPDX-License-Identifier: MIT
 *
 * A profiler that prints waits for locks as they come, one a line:
 *
 *     TID EVENT ADDRESS TYPE OWNER VARIABLE
 *
 * and "wrong: " before it where the stack does not say who takes the lock.
 * Its arguments: the file to print to, or "unasked,FILE": without asking for
 * the events.
 */
#include <cprof/cprof.h>
#include <stdio.h>
#include <string.h>

struct cprof_profiler {
	FILE *out;
};
static cprof_profiler prof;

static cprof_walk find_taker(const cprof_function *function, cprof_addr ip,
			     const cprof_frame_info *frame, size_t size,
			     const cprof_context *context, void *data)
{
	const char *name = function ? cprof_function_name(function) : "";
	bool *found = data;

	(void)ip;
	(void)frame;
	(void)size;
	(void)context;
	*found |= !strncmp(name, "waits_for_it", 12) || !strncmp(name, "gives_up", 8);
	return CPROF_WALK_CONTINUE;
}

static void print(const char *event, const cprof_object *object)
{
	cprof_contention c;

	bool found = false;

	cprof_do_stack_snapshot(cprof_current_thread(), find_taker, CPROF_SNAPSHOT_DEFAULT, &found,
				NULL, 0);
	if (!found || !cprof_current_contention(&c) ||
	    (c.waited_ns == 0) != !strcmp(event, "contention"))
		fprintf(prof.out, "wrong: ");
	fprintf(prof.out, "%d %s %#llx %s %d %s\n", cprof_thread_tid(cprof_current_thread()), event,
		(unsigned long long)object->address, object->type_name, c.owner,
		c.variable ? c.variable : "-");
}

static void contention(cprof_profiler *p, const cprof_object *object)
{
	(void)p;
	print("contention", object);
}

static void failed(cprof_profiler *p, const cprof_object *object)
{
	(void)p;
	print("failed", object);
}

static void acquired(cprof_profiler *p, const cprof_object *object)
{
	(void)p;
	print("acquired", object);
}

static void cleanup(cprof_profiler *p)
{
	cprof_contention c;

	if (cprof_current_contention(&c))
		fprintf(p->out, "wrong: there is no wait\n");
	fclose(p->out);
}

CPROF_PROFILER_INIT(monitors)
{
	const char *args = cprof_profiler_desc_args(desc);
	bool unasked = !strncmp(args, "unasked,", 8);
	cprof_profiler_handle h = cprof_profiler_create(&prof);

	prof.out = fopen(unasked ? args + 8 : args, "w");
	if (!prof.out) {
		cprof_profiler_fail(h, "monitors: no file to print to");
		return;
	}
	cprof_profiler_set_cleanup_callback(h, cleanup);
	cprof_profiler_set_monitor_contention_callback(h, contention);
	cprof_profiler_set_monitor_failed_callback(h, failed);
	cprof_profiler_set_monitor_acquired_callback(h, acquired);
	if (!unasked && !cprof_profiler_enable_monitors())
		cprof_profiler_fail(h, "monitors: not available");
}
