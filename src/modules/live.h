/* SPDX-License-Identifier: MIT
 *
 * The profiler behind the live view: adds up what happens, for who looks meanwhile.
 */
#ifndef CP_MODULES_LIVE_H
#define CP_MODULES_LIVE_H

#include <cprof/cprof.h>

#include "live/live.h"

struct cp_live_wants {
	cprof_sample_mode mode; /* NONE: no samples */
	uint32_t hz;
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
