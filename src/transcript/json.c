/* SPDX-License-Identifier: MIT */
#include "transcript/json.h"

void cp_json_event_begin(struct cp_json *j, const struct cp_json_event *event)
{
	cp_json_begin(j, NULL, '{');
	cp_json_u64(j, "ts_ns", event->ns);
	cp_json_i64(j, "pid", event->pid);
	if (event->ns_pid != event->pid)
		cp_json_i64(j, "ns_pid", event->ns_pid);
	cp_json_i64(j, "tid", event->tid);
	if (event->ns_tid != event->tid)
		cp_json_i64(j, "ns_tid", event->ns_tid);
	cp_json_str(j, "event", event->name);
	if (!event->function)
		return;
	cp_json_str(j, "function", event->function);
	cp_json_str(j, "image", event->image);
	cp_json_u64(j, "depth", event->depth);
}

void cp_json_event_unwound(struct cp_json *j, bool ended, bool unsure, bool lost)
{
	if (ended)
		cp_json_bool(j, "ended", true);
	if (unsure)
		cp_json_bool(j, "unsure", true);
	if (lost)
		cp_json_bool(j, "lost", true);
}

void cp_json_event_times(struct cp_json *j, uint64_t duration_ns, uint64_t overhead_ns,
			 uint64_t uncertain_ns, uint64_t cpu_ns)
{
	cp_json_u64(j, "duration_ns", duration_ns);
	cp_json_u64(j, "overhead_ns", overhead_ns);
	if (uncertain_ns)
		cp_json_u64(j, "uncertain_ns", uncertain_ns);
	if (cpu_ns)
		cp_json_u64(j, "cpu_ns", cpu_ns);
}

void cp_json_event_end(struct cp_json *j)
{
	cp_json_end(j, '}');
	cp_buf_u8(j->out, '\n');
}
