/* SPDX-License-Identifier: MIT */
#include "modules/log/marks.h"

#include "base/clock.h"
#include "modules/log/numbers.h"
#include "record/annotations.h"

static bool take_first(cprof_thread *t, void *data)
{
	*(cprof_thread **)data = t;
	return false;
}

/* A thread of the program, the one that leads it if that lives. */
static cprof_thread *any_thread(void)
{
	cprof_thread *t = cprof_thread_from_tid(cprof_session_target(cprof_session_current()));

	if (!t)
		cprof_for_each_thread(take_first, &t);
	return t;
}

bool cp_recorder_mark(cprof_profiler *log, const char *text, const char *category)
{
	cprof_thread *t = any_thread();
	uint64_t *thread = log->writer && t ? cp_recorder_thread(log, t) : NULL;
	struct cp_record_annotation a = {
		.ts_ns = cp_now(),
		.kind = CP_RECORD_INSTANT,
		.name = text,
		.category = category,
	};

	if (!thread)
		return false;
	a.thread = (uint32_t)*thread;
	cp_record_annotation(log->writer, &a);
	return true;
}
