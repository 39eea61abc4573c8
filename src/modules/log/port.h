/* SPDX-License-Identifier: MIT
 *
 * A port at which a heapshot is asked for, as Mono's profiler has it.
 */
#ifndef CP_MODULES_LOG_PORT_H
#define CP_MODULES_LOG_PORT_H

#include "modules/log/recorder.h"

/* Listens at once, so that a port that can't be had is found out before the program starts. */
CP_ERROR cp_recorder_port_open(cprof_profiler *log, uint16_t port);
/* Safe to call again, and without a port. */
void cp_recorder_port_close(cprof_profiler *log);

#endif
