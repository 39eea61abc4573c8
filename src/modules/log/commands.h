/* SPDX-License-Identifier: MIT
 *
 * What who steers the session says to the recorder.
 */
#ifndef CP_MODULES_LOG_COMMANDS_H
#define CP_MODULES_LOG_COMMANDS_H

#include "modules/log/recorder.h"

/* The `command` callback. */
void cp_recorder_command(cprof_profiler *log, const char *name, const char *argument);

#endif
