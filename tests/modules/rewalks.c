/* SPDX-License-Identifier: MIT
 *
 * Walks the stack at each enter of the program's functions several times: as it was
 * captured, by frame pointers, and within the callback of another walk. What was captured is
 * the same each time, and begins with the function. Into the file that its arguments name,
 * at the end:
 *
 *     events N, frames N, differ N, other functions N
 */
#include <cprof/cprof.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define FRAMES_MOST 512

struct frames {
	const cprof_function *first;
	cprof_addr ips[FRAMES_MOST];
	size_t count;
	struct frames *within; /* walked at the first frame; NULL: not */
};

struct cprof_profiler {
	FILE *out;
	uint64_t events, frames, differ, others;
};
static cprof_profiler prof;

static cprof_walk note(const cprof_function *f, cprof_addr ip, const cprof_frame_info *frame,
		       size_t context_size, const cprof_context *context, void *data)
{
	struct frames *to = data;

	(void)frame;
	(void)context_size;
	(void)context;
	if (!to->count)
		to->first = f;
	if (!to->count && to->within)
		cprof_do_stack_snapshot(cprof_current_thread(), note, 0, to->within, NULL, 0);
	if (to->count < FRAMES_MOST)
		to->ips[to->count++] = ip;
	return CPROF_WALK_CONTINUE;
}

static bool same(const struct frames *a, const struct frames *b)
{
	return a->count == b->count && a->first == b->first &&
	       !memcmp(a->ips, b->ips, a->count * sizeof(*a->ips));
}

static void enter(cprof_profiler *p, const cprof_function *f, cprof_call_context *context)
{
	static struct frames first, again, within, pointers, last;
	cprof_thread *t = cprof_current_thread();

	(void)context;
	first.count = again.count = within.count = pointers.count = last.count = 0;
	again.within = &within;
	cprof_do_stack_snapshot(t, note, 0, &first, NULL, 0);
	cprof_do_stack_snapshot(t, note, 0, &again, NULL, 0);
	cprof_do_stack_snapshot(t, note, CPROF_SNAPSHOT_FRAME_POINTERS, &pointers, NULL, 0);
	cprof_do_stack_snapshot(t, note, 0, &last, NULL, 0);
	p->events++;
	p->frames += first.count;
	p->differ += !same(&first, &again) || !same(&first, &within) || !same(&first, &last);
	p->others += first.first != f;
}

static void end(cprof_profiler *p)
{
	fprintf(p->out,
		"events %" PRIu64 ", frames %" PRIu64 ", differ %" PRIu64
		", other functions %" PRIu64 "\n",
		p->events, p->frames, p->differ, p->others);
	fclose(p->out);
}

CPROF_PROFILER_INIT(rewalks)
{
	cprof_profiler_handle handle = cprof_profiler_create(&prof);
	cprof_callspec *spec = cprof_callspec_parse("program", NULL);

	prof.out = fopen(cprof_profiler_desc_args(desc), "w");
	if (!handle || !prof.out || !spec)
		return;
	cprof_profiler_trace(handle, spec,
			     CPROF_CALL_INSTRUMENTATION_ENTER | CPROF_CALL_INSTRUMENTATION_STACK);
	cprof_callspec_free(spec);
	cprof_profiler_set_method_enter_callback(handle, enter);
	cprof_profiler_set_runtime_shutdown_end_callback(handle, end);
}
