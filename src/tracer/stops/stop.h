/* SPDX-License-Identifier: MIT
 *
 * The way of a stop: wait, why, what to do, go on.
 */
#ifndef CP_TRACER_STOP_H
#define CP_TRACER_STOP_H

#include <stdbool.h>
#include <sys/types.h>
#include <sys/wait.h>

struct tracer;

/* Handles one report, of a stop or a death, for `id` (all: P_ALL, 0). False: there was
 * none, or no room for it. */
bool stop_serve(struct tracer *tr, idtype_t type, id_t id);
bool stop_serve_one(struct tracer *tr, pid_t tid);

#endif
