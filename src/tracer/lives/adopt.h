/* SPDX-License-Identifier: MIT
 *
 * Tasks that come attached, by the options of who made them.
 */
#ifndef CP_TRACER_ADOPT_H
#define CP_TRACER_ADOPT_H

#include <sys/types.h>

struct thread;
struct tracer;

/* A task that we did not know is at its first stop, which may come before the event
 * of its parent. NULL: it goes on untraced, or is gone. */
struct thread *adopt(struct tracer *tr, pid_t tid);

#endif
