/* SPDX-License-Identifier: MIT */
#include "modules/log/marks.h"

#include <stdio.h>

#include "base/buf.h"
#include "base/cleanup.h"
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

/* Its number in the recording; CP_RECORD_NONE: there is none. */
static uint32_t any_number(cprof_profiler *log)
{
	cprof_thread *t = any_thread();
	uint64_t *thread = log->writer && t ? cp_recorder_thread(log, t) : NULL;

	return thread ? (uint32_t)*thread : CP_RECORD_NONE;
}

bool cp_recorder_mark(cprof_profiler *log, const char *text, const char *category)
{
	const struct cp_record_annotation a = {
		.ts_ns = cp_now(),
		.kind = CP_RECORD_INSTANT,
		.thread = any_number(log),
		.name = text,
		.category = category,
	};

	if (a.thread == CP_RECORD_NONE)
		return false;
	cp_record_annotation(log->writer, &a);
	return true;
}

void cp_recorder_mark_of(cprof_profiler *log, const char *what, const char *of)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	cp_buf_printf(&text, "%s: %s", what, of);
	if (text.bytes)
		cp_recorder_mark(log, text.bytes, "cprof");
}

bool cp_recorder_mark_heapshot(cprof_profiler *log, uint64_t ts_ns, unsigned number,
			       uint32_t thread)
{
	uint32_t any = any_number(log);
	char text[32];
	const struct cp_record_annotation a = {
		.ts_ns = ts_ns,
		.kind = CP_RECORD_INSTANT,
		.flags = CP_RECORD_ANNOTATION_HEAPSHOT,
		.thread = any != CP_RECORD_NONE ? any : thread,
		.name = text,
		.category = "cprof",
	};

	if (!log->writer || a.thread == CP_RECORD_NONE)
		return false;
	snprintf(text, sizeof(text), "heapshot %u", number);
	cp_record_annotation(log->writer, &a);
	return true;
}
