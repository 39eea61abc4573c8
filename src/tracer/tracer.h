/* SPDX-License-Identifier: MIT
 *
 * The tracer: the one process that holds ptrace. It stops threads, copies
 * registers and stacks, and lets go; it parses no file of the program, loads
 * nothing and allocates nothing at a stop. It ends by itself when the
 * controller asks, dies or hangs, and the kernel then lets go of every thread
 * without stopping it.
 */
#ifndef CP_TRACER_H
#define CP_TRACER_H

#include <sys/types.h>

#include "base/error.h"

struct cp_link;

/* Forks the tracer process. It is a child of the caller, who reaps it; it
 * closes every descriptor but the link's and (with a debug log) standard
 * error. To be called before the caller has threads or has loaded modules. */
CP_ERROR cp_tracer_spawn(struct cp_link *link, pid_t *pid_ret);

#endif
