/* SPDX-License-Identifier: MIT
 *
 * What the tracer knows: processes, threads, what is under way. Private to it.
 */
#ifndef CP_TRACER_STATE_H
#define CP_TRACER_STATE_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "base/map.h"
#include "base/vec.h"
#include "link/link.h"
#include "tracer/hits/calibrate.h"
#include "tracer/hits/heap_sample.h"
#include "tracer/known/own.h"
#include "tracer/known/starve.h"

#define PRSTATUS_MAX 512 /* room for any ISA's NT_PRSTATUS */

/* What a thread is doing as far as ptrace is concerned. */
enum thread_state {
	THREAD_RUNNING, /* running or blocked, not in a ptrace stop */
	THREAD_LISTENING, /* in a group-stop (job control), PTRACE_LISTENed */
	THREAD_HELD, /* stopped on purpose until the controller caught up */
};

#define WANT_SAMPLE 1u /* capture at the next stop: the clock ticked */
#define WANT_SNAPSHOT 2u /* capture at the next stop: a snapshot was asked for */
#define WANT_PASS 4u /* just to know that it is not on its way to a stop */

#define THREAD_OPENS 64 /* open calls of a thread that are kept */
#define THREAD_FIRSTS 32 /* open calls of a thread of which the first argument is kept */

/* A system call that was made to start again (restart.c). */
struct restart {
	bool pending; /* not yet known to have started again */
	int64_t nr;
	uint64_t pc, sp;
};

struct thread {
	struct process *process;
	pid_t tid;
	enum thread_state state;
	unsigned want; /* WANT_*: a PTRACE_INTERRUPT is under way if not 0 */
	uint32_t slot; /* in the shared hints */
	uint32_t index; /* in process->threads */
	int schedstat_fd, syscall_fd; /* -1: not open */
	bool hot; /* was running at the last look */
	bool active; /* in process->active, at active_index */
	uint32_t active_index;
	uint32_t looks_left; /* at which it may not have moved before it is left alone */
	bool sampled; /* has a sample of its own */
	bool pooled; /* has taken over what exited threads left */
	struct cpu_use seen; /* at the last look */
	uint64_t run_base; /* CPU time when it was first traced */
	uint64_t run_given; /* CPU time handed out in weights, or before us */
	uint64_t wall_ns; /* time up to which its wall clock samples go */
	uint64_t wall_ticks; /* process->wall_ticks up to which they go */
	uint64_t resumed_ns; /* when we last let it go from a stop */
	uint64_t link; /* its stack_link at the last capture */
	struct restart restart;
	bool reaped; /* while PTRACE_SEIZE waited (seize.c); exit_status as wait(2) has it */
	int exit_status;
	bool exec_stop; /* has executed, and is to be held at its next stop */
	int signal; /* HELD with this one, which it gets when it goes on; 0: none */
	uint32_t
		entered; /* 1 + the counter of the block that it hit last; 0: who knows where it is */
	bool user_stop; /* HELD where it can do system calls for us (inject.c) */
	bool clear; /* as we leave: in no slot, and no breakpoint will lead it to one */
	uint32_t stops; /* served, and what they took */
	uint64_t stopped_ns;
	uint32_t let_go; /* times it went on from a stop */
	struct own own;
	uint64_t detour; /* the trap by way of which it was sent to its slot; 0: none */
	uint64_t kept_ns; /* stopped since, waiting for room in the ring or held; 0: not */
	struct { /* hits there will be ones that were seen before; pc 0: none */
		uint64_t pc, sp;
	} again[8];
	bool passed; /* was held once */
	/* First arguments of open calls (CP_GROUP_KEEPS), the last of them in a ring;
	 * a stack grows downwards, so what is below an entry is over. */
	struct {
		uint64_t sp, value;
	} firsts[THREAD_FIRSTS];
	uint32_t first_count;
	/* Open calls (CP_GROUP_OPENS) on its own stack, the last ones (opens.c). */
	struct {
		uint64_t sp;
		uint32_t group; /* in the space */
	} opens[THREAD_OPENS];
	uint32_t open_count, looked;
	uint64_t asked_ns; /* time of the last hit that the controller has to place */
	struct heap_call heap;
	bool given_back; /* at the end: blocks SIGTRAP itself again (sigmask.c) */
	uint64_t sigmask; /* at its last hit */
	uint32_t looks; /* left, at whether SIGTRAP is still handled (trap.c) */
	uint32_t hits;
	struct starve starve;
};

struct process {
	pid_t pid;
	int task_fd; /* /proc/PID/task */
	bool launching; /* our own child that has not yet become CMD */
	bool guest; /* not followed, but shares memory with breakpoints: not reported */
	struct space *space; /* its memory (space.h) */
	CP_VEC(struct thread *) threads;
	CP_VEC(struct thread *) active; /* those that run or moved lately (tick.c) */
	uint64_t cpu_seen; /* process CPU clock at the last tick */
	uint32_t quiet_ticks; /* in a row at which it had not moved */
	int64_t unexplained; /* of it, not used by threads looked at */
	uint64_t others_from_ns; /* when all threads may be looked at again */
	uint64_t exit_pool; /* CPU time of exited threads that no sample carries */
	uint64_t wall_ticks;
	uint64_t sample_end; /* ring position after its last sample */
	uint32_t samples; /* since it executed its program */
};

struct held {
	pid_t tid;
	pid_t newborn; /* its child that has to be seen first; or 0, and then */
	uint64_t until_tail; /* ring position the controller must have passed */
	uint64_t deadline_ns;
	bool reading; /* the controller reads what the thread is about to run */
};

/* Stopped for a snapshot, and not yet captured. */
struct parked {
	pid_t tid;
	unsigned want;
	uint64_t since_ns;
};

struct tracer {
	struct cp_link *link;
	int signal_fd, controller_pidfd;
	struct cp_map by_tid; /* tid -> struct thread * */
	struct cp_map by_pid; /* pid -> struct process * */
	CP_VEC(pid_t) wanted; /* threads interrupted and not yet seen */
	CP_VEC(pid_t) newborns; /* announced by their parents and not yet seen */
	CP_VEC(struct held) held;
	CP_VEC(uint32_t) free_slots;
	uint32_t slots_used;
	int fds_left; /* descriptors that may still be kept open */
	unsigned trace_flags; /* CP_TRACE_* */
	bool attached; /* something is or was traced */
	bool descendants; /* all of it are children of the controller's, or theirs */
	int tried_calls; /* whether a filter lets calls through (inject.c); -1 no, 0 not tried */
	uint32_t guests; /* threads of processes that are not followed */
	bool reports; /* SIGCHLD came: somebody stopped or exited */
	bool ending; /* leave as soon as no thread is stopped */
	/* sampling (sample.c) */
	uint32_t hz, stack_max;
	bool wall;
	unsigned capture; /* CP_CAPTURE_* */
	uint64_t pause_due_ns; /* when a pause ends (pause.c); 0: there is none */
	uint64_t period_ns, start_ns, next_tick_ns, random;
	uint64_t tick_ns; /* when the last tick was due; we may have been late for it */
	uint64_t ticks_done; /* whole periods since start_ns, so far */
	uint64_t ticks_due; /* those since the last tick */
	uint64_t flush_ns; /* when repeats were last written */
	uint64_t exit_pool; /* of processes that are gone */
	uint32_t hot_threads; /* seen running at the last tick */
	uint32_t hot_cpu_age;
	cpu_set_t cpus; /* ours at the start */
	/* snapshot */
	bool snapshot, parking; /* parking: its first part, who stops is parked */
	uint64_t snapshot_deadline, park_deadline;
	CP_VEC(struct parked) parked;
	CP_VEC(pid_t) unread; /* sleepers that it still has to read */
	/* the controller's progress */
	pid_t controller;
	uint64_t tail_seen, tail_ns, tail_moved_ns;
	uint64_t controller_cpu; /* its CPU time when it was last found slow */
	uint64_t rest_until_ns, work_until_ns; /* until when it may do other things */
	/* The sample that is being captured, at the ring's head: unpublished, so an
	 * event that is emitted meanwhile takes its place, and it is lost. */
	const struct cp_event_sample *open;
	/* breakpoints (hit.c, hot.c) */
	bool counts; /* some are of coverage */
	size_t trap_size;
	bool full, more; /* a hit waits for room in the ring; the rest of a batch is to come */
	uint64_t waiters_due_ns; /* when to look again who else waits */
	struct calibration calibration;
	bool hot; /* hits follow each other: stops are waited for in waitid() */
	timer_t timer; /* gets us out of it */
	bool has_timer, hit; /* a hit since the last look around */
	uint64_t look_ns; /* when to look around */
	uint64_t hit_ns, hit_gap_ns; /* the last hit; between the one before and that */
	pid_t hit_tid;
	uint32_t hits_in_a_row; /* of that thread */
	bool on_its_cpu; /* we have moved to where that thread runs */
	bool strays; /* it moved away from there */
	bool apart; /* we keep away from it, and wait without sleeping */
	unsigned busy_looks; /* since then, in a row, that saw no idle CPU */
};

/* threads.c: the tables */
struct thread *thread_find(struct tracer *tr, pid_t tid);
/* A new thread of `pid`, whose process is made when it is not yet known.
 * NULL without memory. Emits PROCESS and THREAD events. */
struct thread *thread_add(struct tracer *tr, pid_t pid, pid_t tid, enum cp_birth birth,
			  pid_t parent);
struct process *process_find(struct tracer *tr, pid_t pid);
/* Forgets a thread, and its process with the last one; `status` as wait(2)
 * has it. */
void thread_remove(struct tracer *tr, struct thread *t, int status);
/* After an exec only the leader is left. */
void process_exec(struct tracer *tr, struct process *p);
/* Closes all files of threads; none is kept open from now on. */
void tables_close(struct tracer *tr);
/* Nothing is known any more of the stacks of the thread that has the slot. */
void slot_forget(struct tracer *tr, uint32_t slot);

/* seize.c */
/* PTRACE_O_* for a thread; a group's leader has one more. */
long seize_options(const struct tracer *tr, bool leader);
void seize_launch(struct tracer *tr, const struct cp_request *rq, struct cp_answer *ret);
void seize_attach(struct tracer *tr, const struct cp_request *rq, struct cp_answer *ret);

/* wait.c */
/* Handles every stop and exit there is at the moment. */
void wait_gather(struct tracer *tr);
/* One thread's stop. False: there was none, or no room for it. */
bool wait_serve_one(struct tracer *tr, pid_t tid);
/* Has newborns report, and lets go who was held for them. */
void wait_newborns(struct tracer *tr);
/* A hit was captured and the thread's registers are set: lets it go, or holds
 * it, and accounts for the time since `seen_ns`. `flags`: CP_HIT_*, HIT_HOLD. */
#define HIT_HOLD 0x8000u
void wait_hit_done(struct tracer *tr, struct thread *t, uint64_t seen_ns, unsigned flags);
/* At a signal that it is about to get: true where that is to be told of first; the
 * thread is held, or went on. */
bool fault_serve(struct tracer *tr, struct thread *t, int signal);
/* Forgets interrupts that were served or whose threads are gone. */
void gather_done(struct tracer *tr);
/* Lets held threads go whose time has come. */
void wait_release_held(struct tracer *tr);
/* Those held for a snapshot go when the ring was read so far. */
void wait_hold_until(struct tracer *tr, uint64_t tail);
/* Captures a thread that was parked, and lets it go, unless it is to be held. */
void wait_unpark(struct tracer *tr, struct thread *t, const struct parked *parked);
/* Interrupts a thread so that it is captured at its next stop. */
void thread_interrupt(struct tracer *tr, struct thread *t, unsigned want);

/* regs.c */
/* NT_PRSTATUS of a stopped thread; false when it is gone, or has another set. */
bool regs_read(pid_t tid, void *to);
bool regs_write(pid_t tid, void *from);

/* restart.c */
/* At a stop that we caused: makes an interrupted system call start again.
 * `captured`: the thread's registers if they are at hand, or NULL. */
void restart_repair(struct tracer *tr, struct thread *t, const void *captured);
/* At the delivery of `signal`, which may be the program's own. */
void restart_signal(struct tracer *tr, struct thread *t, int signal);
/* What interrupting a thread in system call `nr` would do to it: the less, the
 * better; 2: nothing, it starts again as if nothing had been. */
int restart_harm(int64_t nr, const unsigned long long args[6]);

/* hot.c */
/* While hits follow each other closely, waits for one stop a system call. */
void hot_begin(struct tracer *tr);
void hot_hit(struct tracer *tr, const struct thread *t, uint64_t now);
/* Waits a moment for who hits, where that is quicker than to sleep. */
void hot_spin(const struct tracer *tr);
/* Looks whether hits still come; after each time round. */
void hot_look(struct tracer *tr, uint64_t now);
void hot_end(struct tracer *tr);

/* capture.c */
void emit(struct tracer *tr, enum cp_event_type type, pid_t pid, pid_t tid);
void emit_event(struct tracer *tr, struct cp_event *event, size_t size);

#endif
