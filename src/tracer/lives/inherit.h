/* SPDX-License-Identifier: MIT
 *
 * The address spaces of processes that are born, or execute.
 */
#ifndef CP_TRACER_INHERIT_H
#define CP_TRACER_INHERIT_H

#include <sys/types.h>

struct process;
struct space;
struct tracer;

/* For a process that was born: shares the space of another one that is traced,
 * copies it, or has a new one. NULL without memory. */
struct space *inherit_space(struct tracer *tr, pid_t pid, pid_t parent);
/* A process replaced its memory (exec). */
void inherit_nothing(struct process *p);

#endif
