/* SPDX-License-Identifier: MIT
 *
 * What /proc says of a thread. Private to src/tracer.
 */
#ifndef CP_TRACER_PROC_H
#define CP_TRACER_PROC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "tracer/known/state.h"

/* What a file of /proc/TID says, up to size - 1 bytes of it, and a 0 behind. False, and "", when
 * it can't be read. */
bool proc_read(pid_t tid, const char *name, char *buf, size_t size);
/* A task of the process of which that is true; 0: there is none. */
pid_t proc_find_task(pid_t pid, bool (*is_it)(pid_t tid));
/* The name that it has, or had when it ended and is not reaped; "" when it can't be read. */
void proc_name(const struct thread *t, char *name, size_t size);
/* False, and *ret is untouched, when it can't be read. */
bool proc_cpu_use(struct tracer *tr, struct thread *t, struct cpu_use *ret);
static inline bool has_run(const struct cpu_use *before, const struct cpu_use *now)
{
	return now->slices != before->slices || now->run_ns != before->run_ns;
}
enum proc_state { PROC_GONE, PROC_RUNNING, PROC_BLOCKED };
/* pc and sp are set when PROC_BLOCKED. */
enum proc_state proc_where(struct tracer *tr, struct thread *t, uint64_t *pc_ret, uint64_t *sp_ret);
/* The system call that a thread is blocked in; -1: it is in none, but was
 * stopped by ptrace, or waits for memory. */
enum proc_state proc_call(struct tracer *tr, struct thread *t, int64_t *nr_ret,
			  unsigned long long args_ret[6]);
/* Filters of system calls. */
struct proc_filters {
	int mode; /* SECCOMP_MODE_*, 0: none */
	int count; /* 0: not told, as before Linux 5.9 */
	uint64_t ignored; /* beside them, in the same text: bits of signals that are ignored */
};
struct proc_filters proc_filters_of(pid_t tid);
/* Where a task belongs. */
struct proc_group {
	pid_t pid, parent; /* its process, and that one's parent */
	pid_t own; /* its own number, in its own pid namespace; 0: not told */
};
/* Of any task; false when it is gone. */
bool proc_group(pid_t tid, struct proc_group *ret);
/* True when `signal` would do nothing to the process: ignored, or not caught
 * and ignored by default. */
bool proc_ignores(pid_t tid, int signal);
/* Has the process a handler for `signal`? */
bool proc_catches(pid_t tid, int signal);
/* The same, of a thread that is asked for often. */
bool proc_thread_catches(struct tracer *tr, struct thread *t, int signal);
/* Is `signal` on its way to the stopped thread, and will stop it again? Forced by
 * a breakpoint that was hit, it is never blocked. */
bool proc_will_get(pid_t tid, int signal);
/* Is a signal on its way to the stopped thread that is not blocked, and that does
 * something? */
bool proc_will_get_any(pid_t tid);
/* A descriptor of a thread's: O_* it was opened with, or set to, and what it is. */
struct proc_file {
	unsigned flags, mode;
	uint64_t device;
};
bool proc_file(const struct thread *t, int fd, struct proc_file *ret);
/* Do both have the same descriptors? */
bool proc_same_files(pid_t a, pid_t b);
/* Is `signal` waiting, for the thread or its process? */
bool proc_is_pending(pid_t tid, int signal);
/* Bits of signals that the thread blocks, and that its process has handlers for. */
uint64_t proc_blocked(pid_t tid);
uint64_t proc_caught(pid_t tid);
/* Exited, and at most to be reaped: no stop of it comes any more. */
bool proc_has_ended(pid_t tid);
/* The errno for what failed in a process: ESRCH where it is because the process is killed,
 * exits, or has ended; else `errnum`. */
int proc_why(pid_t pid, int errnum);
pid_t proc_tracer_of(pid_t tid);
int proc_cpu_of(pid_t tid);
/* The same, of one that is asked for often: its file is kept open while there is room. */
int proc_cpu_of_thread(struct tracer *tr, struct thread *t);
/* How many tasks of the whole machine run or wait for a CPU, we too. */
int proc_runnable(void);
uint64_t proc_cpu_clock(pid_t pid);
/* A number for the file that a process executes, the same for the same file; 0: it can't be
 * told. */
uint64_t proc_program(pid_t pid);

#endif
