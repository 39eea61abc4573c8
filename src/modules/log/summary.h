/* SPDX-License-Identifier: MIT
 *
 * Calls of which the recorder keeps no events, but what they add up to
 * (log:summary).
 */
#ifndef CP_MODULES_LOG_SUMMARY_H
#define CP_MODULES_LOG_SUMMARY_H

#include "modules/log/recorder.h"
#include "record/sums.h"

/* Begins as zeros. */
struct cp_recorder_summary {
	struct cp_sums sums;
	uint64_t first_ns; /* when it was first written; 0: it was not */
	size_t bytes, last; /* written in all, and the last time */
};

/* The next event, of the thread that the API is asked about. */
void cp_recorder_summary_add(cprof_profiler *log, struct cp_recorder_summary *s,
			     const struct cp_record_call *call);
/* The next events of a thread, as cp_record_call_block() takes them. */
void cp_recorder_summary_add_block(cprof_profiler *log, struct cp_recorder_summary *s,
				   cprof_thread *t, const struct cp_call_costs *costs,
				   const struct cp_call_entry *entries, size_t count);
/* A thread's calls are over. */
void cp_recorder_summary_forget(cprof_profiler *log, struct cp_recorder_summary *s,
				cprof_thread *t);
/* Writes what changed, if it is time. */
void cp_recorder_summary_beat(cprof_profiler *log, struct cp_recorder_summary *s);
/* All that is open is over. */
void cp_recorder_summary_end(cprof_profiler *log, struct cp_recorder_summary *s);
void cp_recorder_summary_deinit(struct cp_recorder_summary *s);

#endif
