/* SPDX-License-Identifier: MIT
 *
 * The beginnings and ends of threads and processes.
 */
#ifndef CP_TRACER_THREADS_H
#define CP_TRACER_THREADS_H

#include <stdint.h>
#include <sys/types.h>

#include "link/link.h"

struct proc_group;
struct process;
struct thread;
struct tracer;

/* A new thread of `pid`, whose process is made when it is not yet known. `group`: where a
 * forked one belongs, else NULL. NULL without memory. Emits PROCESS and THREAD events. */
struct thread *thread_add(struct tracer *tr, pid_t pid, pid_t tid, enum cp_birth birth,
			  const struct proc_group *group);
/* Forgets a thread, and its process with the last one; `status` as wait(2)
 * has it. */
void thread_remove(struct tracer *tr, struct thread *t, int status);
/* After an exec only the leader is left. */
void process_exec(struct tracer *tr, struct process *p);
/* Closes all files of threads; none is kept open from now on. */
void threads_close(struct tracer *tr);
/* Tells of all that are left how they are let go (CP_EVENT_LET_GO). */
void threads_tell_end(struct tracer *tr);
/* Nothing is known any more of the stacks of the thread that has the slot. */
void slot_forget(struct tracer *tr, uint32_t slot);

#endif
