/* SPDX-License-Identifier: MIT
 *
 * What the kernel says of a process and its threads. Private to src/engine.
 */
#ifndef CP_ENGINE_TARGET_TASKS_H
#define CP_ENGINE_TARGET_TASKS_H

#include <cprof/cprof.h>

struct cp_buf;

/* The first bytes of a file of the task in /proc, as text; false: the task is gone, or
 * has no such file. */
bool engine_read_task(int32_t pid, int32_t tid, const char *name, char *buf, size_t size);
/* A task of the process to look up in /proc: the one last heard of if it is still the
 * process's, or the leader. The number of a thread that ended may by now be that of a
 * thread elsewhere. */
int32_t engine_living_task(const cprof_process *p);
/* Reads what the kernel told the process's program at its start (auxv). */
void engine_read_auxv(const cprof_process *p, struct cp_buf *out);
/* Does the process run another program already than the one whose events are being
 * delivered? Then /proc and memory are not about that one. */
bool engine_is_replaced(const cprof_process *p);
/* The stack pointer of a thread that is in a system call; 0: it is in none. */
uint64_t engine_thread_sleeps_at(const cprof_thread *t);

#endif
