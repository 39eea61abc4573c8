/* SPDX-License-Identifier: MIT
 *
 * What the two ways of `calls` to show calls share.
 */
#ifndef CP_MODULES_CALLS_H
#define CP_MODULES_CALLS_H

#include <cprof/cprof.h>

#include "base/map.h"
#include "base/vec.h"
#include "modules/settings.h"
#include "transcript/calls.h"

/* A call that is not over. */
struct calls_open {
	const cprof_function *function;
	uint32_t depth;
	struct cp_line_call shown;
};

struct calls_thread {
	cprof_thread *thread;
	CP_VEC(struct calls_open) open; /* outermost first */
	struct cp_line_tail tail;
};

struct cprof_profiler {
	cprof_profiler_handle handle;
	char *output, *spec; /* owned */
	struct cp_text_output out;
	cprof_callspec *chosen; /* owned */
	bool args, result, json;
	uint64_t start_ns;
	struct cp_transcript lines;
	CP_VEC(struct calls_thread) threads;
	struct cp_map thread_numbers; /* cprof_thread * -> number */
};

#endif
