/* SPDX-License-Identifier: MIT */
#ifndef CP_MODULES_LOG_VERBOSE_H
#define CP_MODULES_LOG_VERBOSE_H

#include "modules/log/recorder.h"

/* log:verbose; once is enough. False without memory. */
bool cp_recorder_be_verbose(cprof_profiler *log);

#endif
