/* SPDX-License-Identifier: MIT
 *
 * Recordings one after the other: each is complete, the oldest are removed.
 */
#ifndef CP_MODULES_LOG_ROTATE_H
#define CP_MODULES_LOG_ROTATE_H

#include "modules/log/recorder.h"

/* Takes "60s:10" or "60s". False: it makes no sense. */
bool cp_recorder_rotate_take(cprof_profiler *log, const char *value);
/* Can what is recorded be ended and begun anew? If not, that is said: to who steers, in
 * `command`, else as the profiler's failure. */
bool cp_recorder_may_rotate(cprof_profiler *log, const char *command);
/* Ends the recording, which gets another name, and begins a new one. A thread of its own
 * completes the old one. False, and nothing has changed, or the recorder has failed:
 * *err_ret says why. *name_ret is borrowed. */
bool cp_recorder_rotate(cprof_profiler *log, const char **name_ret, struct cp_error **err_ret);
/* Once a second: is it time? */
void cp_recorder_rotate_beat(cprof_profiler *log);
/* Is the last one not complete yet? */
bool cp_recorder_rotate_runs(cprof_profiler *log);
/* Waits until it is, and forgets all names. */
void cp_recorder_rotate_wait(cprof_profiler *log);

#endif
