/* SPDX-License-Identifier: MIT */
#include "modules/log/disarmed.h"

#include "modules/log/numbers.h"

static void on_disarmed(cprof_profiler *log, const cprof_function *f, uint32_t rate)
{
	struct cp_record_call r;
	cprof_call call;
	size_t i;

	log->disarmed++;
	if (!cprof_current_call(&call) || !cp_recorder_event(log, &call, CP_RECORD_DISARMED, &r))
		return;
	r.function = cp_recorder_function(log, f);
	r.depth = 0;
	r.count = rate;
	cp_recorder_call(log, &r);
	for (i = 0; i < log->part_count; i++)
		if (log->parts[i].on && log->parts[i].family->disarmed)
			log->parts[i].family->disarmed(log, &r);
}

void cp_recorder_watch_disarmed(cprof_profiler *log)
{
	cprof_profiler_set_method_disarmed_callback(log->handle, on_disarmed);
}
