/* SPDX-License-Identifier: MIT
 *
 * The recorder's part for what the program itself announces (cprof/trace.h).
 *
 *   log:annotations    spans, instants, counters, fibers
 */
#include <cprof/trace_format.h>
#include <string.h>

#include "modules/log/families.h"
#include "modules/log/numbers.h"
#include "record/annotations.h"

struct annotations {
	uint64_t lost;
};

/* The first kinds are the types of events. */
_Static_assert(CP_RECORD_SPAN_BEGIN == (int)CPROF_TRACE_EVENT_BEGIN &&
		       CP_RECORD_FIBER_SWITCH == (int)CPROF_TRACE_EVENT_FIBER_SWITCH &&
		       CP_RECORD_FIBER_NAME == (int)CPROF_TRACE_EVENT_FIBER_NAME,
	       "the recording has the types of trace.h");

/* A thread that is gone, or never was: events that a program submits are of
 * whom it likes. Its number is then as the program knows it. */
static uint32_t other_thread(cprof_profiler *log, cprof_process *p, uint32_t tid)
{
	uint32_t process = cp_recorder_process(log, p), known;

	known = cp_record_find_thread(log->writer, process, (int32_t)tid);
	if (known != CP_RECORD_NONE)
		return known;
	return cp_record_thread(log->writer, &(struct cp_record_thread){
						     .process = process,
						     .tid = (int32_t)tid,
						     .ns_tid = (int32_t)tid,
						     .name = "",
					     });
}

static struct annotations *annotations(const cprof_profiler *log)
{
	return cp_recorder_state(log, &cp_recorder_annotations);
}

static void on_annotation(cprof_profiler *log, const struct cprof_trace_event *event,
			  const char *name, const char *category, const char *object)
{
	cprof_thread *t = cprof_current_thread();
	uint64_t *thread = log->writer && t ? cp_recorder_thread(log, t) : NULL;
	struct cp_record_annotation a = {
		.ts_ns = event->timestamp,
		.kind = (uint8_t)event->type,
		.name = name,
		.category = category,
		.object = object,
	};

	if (!log->writer || !cprof_current_process() || event->type >= CP_RECORD_ANNOTATION_KINDS)
		return;
	if (event->type == CPROF_TRACE_EVENT_FIBER_SWITCH) {
		a.id = (uint64_t)event->u.fiber.from_fiber << 32 | event->u.fiber.to_fiber;
		a.flags = event->u.fiber.reserved[0] & 1 ? CP_RECORD_ANNOTATION_NOTICED : 0;
	} else {
		a.id = event->u.span.id;
		a.value = event->u.span.value;
	}
	if (event->type == CP_RECORD_ANNOTATIONS_LOST)
		annotations(log)->lost +=
			event->u.span.value > 0 ? (uint64_t)event->u.span.value : 0;
	a.thread = thread ? (uint32_t)*thread
			  : other_thread(log, cprof_current_process(), event->thread_id);
	cp_record_annotation(log->writer, &a);
}

static void start(cprof_profiler *log)
{
	if (!cprof_profiler_enable_annotations())
		cprof_profiler_fail(log->handle, "annotations cannot be read here");
	cprof_profiler_set_annotation_callback(log->handle, on_annotation);
}

static void totals(const cprof_profiler *log, struct cp_record_totals *t)
{
	t->annotations_lost = annotations(log)->lost;
}

const struct cp_recorder_family cp_recorder_annotations = {
	.option = "annotations",
	.help = "  annotations        what the program announces itself\n",
	.holds = CP_RECORD_HAS_ANNOTATIONS,
	.state_size = sizeof(struct annotations),
	.start = start,
	.totals = totals,
};
