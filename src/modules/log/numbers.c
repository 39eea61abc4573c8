/* SPDX-License-Identifier: MIT */
#include "modules/log/numbers.h"

static uint32_t add_process(cprof_profiler *log, cprof_process *p)
{
	const struct cp_record_process r = {
		.pid = cprof_process_pid(p),
		.ns_pid = cprof_process_ns_pid(p),
		.ppid = cprof_process_parent(p),
		.name = cprof_process_name(p),
		.exe = cprof_process_exe(p),
		.started_as = cprof_process_started_as(p),
		.start_ns = cprof_process_start(p),
	};

	return cp_record_process(log->writer, &r);
}

uint32_t cp_recorder_process(cprof_profiler *log, cprof_process *p)
{
	uint64_t *known = cp_map_get(&log->processes, (uintptr_t)p);
	uint32_t n;

	if (known)
		return (uint32_t)*known;
	n = add_process(log, p);
	cp_map_put(&log->processes, (uintptr_t)p, n);
	return n;
}

void cp_recorder_process_again(cprof_profiler *log, cprof_process *p)
{
	if (log->writer && cp_map_get(&log->processes, (uintptr_t)p))
		add_process(log, p);
}

static uint32_t add_thread(cprof_profiler *log, cprof_thread *t)
{
	const struct cp_record_thread r = {
		.process = cp_recorder_process(log, cprof_thread_process(t)),
		.tid = cprof_thread_tid(t),
		.ns_tid = cprof_thread_ns_tid(t),
		.name = cprof_thread_name(t),
		.start_ns = cprof_thread_start(t),
	};

	return cp_record_thread(log->writer, &r);
}

uint64_t *cp_recorder_thread(cprof_profiler *log, cprof_thread *t)
{
	uint64_t *known = cp_map_get(&log->threads, (uintptr_t)t);
	uint64_t entry;

	if (known)
		return known;
	entry = add_thread(log, t) | (uint64_t)CP_RECORD_NONE << 32;
	if (!cp_map_put(&log->threads, (uintptr_t)t, entry))
		return NULL;
	return cp_map_get(&log->threads, (uintptr_t)t);
}

void cp_recorder_thread_again(cprof_profiler *log, cprof_thread *t)
{
	if (log->writer && cp_map_get(&log->threads, (uintptr_t)t))
		add_thread(log, t);
}

uint32_t cp_recorder_assembly(cprof_profiler *log, const cprof_assembly *assembly)
{
	const struct cp_record_image r = {
		.path = cprof_assembly_path(assembly),
		.build_id = cprof_assembly_build_id(assembly),
		.debug_path = "",
	};

	return cp_record_image(log->writer, (uintptr_t)assembly, &r);
}

uint32_t cp_recorder_image(cprof_profiler *log, const cprof_image *image)
{
	return image ? cp_recorder_assembly(log, cprof_image_assembly(image)) : CP_RECORD_NONE;
}

uint32_t cp_recorder_function(cprof_profiler *log, const cprof_function *f)
{
	uint64_t *known = cp_map_get(&log->functions, (uintptr_t)f);
	const cprof_image *image = cprof_function_image(f);
	uint32_t location;

	if (known)
		return (uint32_t)*known;
	location = cp_record_location(log->writer, cp_recorder_image(log, image),
				      cprof_function_address(f) - cprof_image_base(image), 0);
	cp_map_put(&log->functions, (uintptr_t)f, location);
	return location;
}

bool cp_recorder_event(cprof_profiler *log, const cprof_call *call, enum cp_record_call_kind kind,
		       struct cp_record_call *ret)
{
	cprof_thread *t = cprof_current_thread();
	uint64_t *thread = log->writer && t ? cp_recorder_thread(log, t) : NULL;

	if (!thread)
		return false;
	*ret = (struct cp_record_call){
		.kind = (uint8_t)kind,
		.ts_ns = call->timestamp_ns,
		.thread = (uint32_t)*thread,
		.function = CP_RECORD_NONE,
		.depth = call->depth,
		.target = CP_RECORD_NONE,
		.stack = CP_RECORD_NONE,
	};
	return true;
}
