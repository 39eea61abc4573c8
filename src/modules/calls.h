/* SPDX-License-Identifier: MIT
 *
 * What the two ways of `calls` to show calls share.
 */
#ifndef CP_MODULES_CALLS_H
#define CP_MODULES_CALLS_H

#include <cprof/cprof.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/vec.h"
#include "modules/settings.h"

#define NO_LINE UINT64_MAX

/* A line that is not written yet. */
struct calls_line {
	struct cp_buf text;
	bool open; /* may go on */
	uint32_t thread;
};

/* A call that is not over. */
struct calls_open {
	const cprof_function *function;
	uint32_t depth, indent;
	uint64_t line; /* that it can go on; NO_LINE: calls in it came first */
	uint64_t before_ns; /* time of the calls whose tail call it is */
	bool at_most; /* that is a bound */
	bool inherited; /* its enter is of its process's parent */
};

/* A tail call whose target may come next. */
struct calls_tail {
	uint64_t line; /* NO_LINE: none */
	uint32_t depth, indent;
	const cprof_function *target; /* NULL: unknown */
	uint64_t ns;
	bool at_most;
};

struct calls_thread {
	cprof_thread *thread;
	CP_VEC(struct calls_open) open; /* outermost first */
	struct calls_tail tail;
};

struct cprof_profiler {
	cprof_profiler_handle handle;
	char *output, *spec; /* owned */
	struct cp_text_output out;
	cprof_callspec *chosen; /* owned */
	bool args, result, json;
	uint64_t start_ns;
	CP_VEC(struct calls_line) queue; /* those from `head` on */
	size_t head;
	uint64_t first; /* number of the line at `head` */
	CP_VEC(struct calls_thread) threads;
	struct cp_map thread_numbers; /* cprof_thread * -> number */
};

#endif
