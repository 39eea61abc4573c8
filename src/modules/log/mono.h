/* SPDX-License-Identifier: MIT
 *
 * Options by the names of Mono's log profiler, as far as they are no family's own.
 */
#ifndef CP_MODULES_LOG_MONO_H
#define CP_MODULES_LOG_MONO_H

#include "modules/log/recorder.h"

/* False and *known_ret: its value makes no sense, or why not was said. */
bool cp_recorder_mono_option(cprof_profiler *log, const char *key, const char *value,
			     bool *known_ret);
/* Their part of log:help. */
extern const char cp_recorder_mono_help[];

#endif
