/* SPDX-License-Identifier: MIT
 *
 * Processes and threads by their numbers.
 */
#ifndef CP_TRACER_LOOKUP_H
#define CP_TRACER_LOOKUP_H

#include <sys/types.h>

struct process;
struct thread;
struct tracer;

/* NULL: it is not traced. */
struct thread *thread_find(struct tracer *tr, pid_t tid);
struct process *process_find(struct tracer *tr, pid_t pid);

#endif
