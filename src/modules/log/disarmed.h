/* SPDX-License-Identifier: MIT
 *
 * Functions that are no longer watched, for they were called too often.
 */
#ifndef CP_MODULES_LOG_DISARMED_H
#define CP_MODULES_LOG_DISARMED_H

#include "modules/log/recorder.h"

/* Functions that are disarmed from now on are recorded: for families whose events
 * breakpoints raise. */
void cp_recorder_watch_disarmed(cprof_profiler *log);

#endif
