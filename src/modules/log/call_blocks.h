/* SPDX-License-Identifier: MIT
 *
 * The recorder's part for calls that come by the thousand: what a recording's blocks are made
 * of.
 */
#ifndef CP_MODULES_LOG_CALL_BLOCKS_H
#define CP_MODULES_LOG_CALL_BLOCKS_H

#include "modules/log/recorder.h"
#include "record/call_block.h"

/* Of functions that are called millions of times, where they are in the recording. */
#define CP_RECORDER_NEAR 1024
#define CP_RECORDER_FORMS 64

/* Calls that came together. */
struct cp_recorder_call_blocks {
	uint32_t most; /* depth of calls; 0: any */
	bool is_summary; /* nobody asks who called */
	bool arguments, result; /* are kept */
	CP_VEC(struct cp_call_entry) entries;
	size_t events; /* that these are */
	struct cp_call_costs costs; /* of these */
	struct cp_call_costs bare; /* without values; 0: not asked yet */
	struct {
		const cprof_function *function;
		uint32_t location;
	} near[CP_RECORDER_NEAR];
	struct { /* of values that are numbers */
		const cprof_value *form;
		bool texts; /* there can be some */
	} forms[CP_RECORDER_FORMS];
	struct { /* the last call that no traced code made */
		const cprof_function *function;
		const cprof_image *from;
		bool is_callback;
	} last;
};

/* Makes entries of events, in place of those before. Their values are the events'. False
 * without memory. */
bool cp_recorder_call_blocks_take(cprof_profiler *log, struct cp_recorder_call_blocks *blocks,
				  const cprof_call_event *events, size_t count);
/* Another recording begins, with numbers of its own. */
void cp_recorder_call_blocks_forget(struct cp_recorder_call_blocks *blocks);

#endif
