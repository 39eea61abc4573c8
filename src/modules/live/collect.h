/* SPDX-License-Identifier: MIT
 *
 * The profiler behind the live view: adds up what happens, for who looks meanwhile.
 */
#ifndef CP_MODULES_LIVE_COLLECT_H
#define CP_MODULES_LIVE_COLLECT_H

#include <cprof/cprof.h>

#include "live/live.h"

struct cp_live_wants {
	cprof_sample_mode mode; /* NONE: no samples */
	uint32_t hz;
	const char *trace; /* SPEC of the calls, borrowed for the start; NULL: none */
	const char *when; /* only those for which it holds, likewise; NULL: all */
	uint64_t max_rate; /* over UINT32_MAX: not said */
	bool allocations;
	uint64_t every; /* bytes from one to the next of a sample of them; 0: all */
	/* Called about once a second by a thread of the profiler's own, when all that happened
	 * in the seconds before has been added up; a last time before the session's end. */
	void (*tick)(void *data);
	void *data;
};

/* Makes the profiler, in the current session, before the target is launched or attached to.
 * `sums`, which is initialized, has to live until the session is destroyed. False: too late,
 * or no memory. */
bool cp_module_live_start(struct cp_live *sums, const struct cp_live_wants *wants);

#endif
