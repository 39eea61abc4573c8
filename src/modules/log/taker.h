/* SPDX-License-Identifier: MIT
 *
 * Who takes a lock or memory.
 */
#ifndef CP_MODULES_LOG_TAKER_H
#define CP_MODULES_LOG_TAKER_H

#include "modules/log/recorder.h"

/* Does a frame only take a lock or memory for who calls it? `address`: link-time. */
bool cp_recorder_is_runtime(cprof_profiler *log, const cprof_image *image,
			    const cprof_function *function, uint64_t address, uint32_t location);

#endif
