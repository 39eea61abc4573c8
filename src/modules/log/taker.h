/* SPDX-License-Identifier: MIT
 *
 * Who takes a lock or memory.
 */
#ifndef CP_MODULES_LOG_TAKER_H
#define CP_MODULES_LOG_TAKER_H

#include "modules/log/recorder.h"

/* Does a frame only take a lock or memory for who calls it? `ip`: in the function that it is
 * of; `address`: the same, link-time. Names take time, so that is found out once for each
 * location. */
bool cp_recorder_is_runtime(cprof_profiler *log, const cprof_image *image, cprof_addr ip,
			    uint64_t address, uint32_t location);

#endif
