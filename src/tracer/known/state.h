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
#include "tracer/known/broken_off.h"
#include "tracer/known/costs.h"
#include "tracer/known/own.h"
#include "tracer/known/place.h"
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
#define WANT_WATCH 8u /* just to go on from it (calls/watch.c) */

#define THREAD_OPENS 64 /* open calls of a thread that are kept */
#define THREAD_FIRSTS 32 /* open calls of a thread of which the first argument is kept */

/* A call that allocates, of a thread (hits/heap_sample.c). */
struct heap_call {
	/* The call that is followed; sp 0: none. */
	uint64_t sp, caller;
	uint64_t size, previous; /* of realloc(): a chosen block, or 0 */
	uint64_t where; /* that the answer is written to; 0: it is the result */
	bool chosen; /* not only `previous` was */
	/* The last one that was begun, followed or not. */
	uint64_t last_sp, last_caller;
	uint32_t last_group;
};

struct perf;
struct rings;

/* A thread as the kernel's own interrupt samples it (captures/perf_take.c). */
struct perf_thread {
	bool stops; /* sampled by stops instead, for a while */
	bool cut; /* a stack was deeper than what is copied, since the last judgement */
	uint32_t pending; /* samples that wait in the rings, counted before they are told */
	uint64_t share_ns; /* what each of those weighs */
	uint64_t looked_ns, run_ns; /* its CPU time at the last look, and judgement */
	uint64_t sampled_ns; /* what samples told of since that */
};

/* A thread's time by the wall clock (captures/wall.c). */
struct wall {
	uint64_t ns, ticks; /* time up to which it is accounted for; process->wall_ticks up to
			       which samples go */
	/* The thread by then. */
	struct cpu_use use;
	uint64_t stopped_ns;
	uint32_t let_go;
	uint64_t asleep_ns, beside_ns; /* of it, what no sample stands for yet */
	uint64_t owed_ns; /* CPU time that there was no time for */
	bool slept; /* the last sample was of a sleep */
};

struct thread {
	struct process *process;
	pid_t tid;
	enum thread_state state;
	unsigned want; /* WANT_*: a PTRACE_INTERRUPT is under way if not 0 */
	uint32_t slot; /* in the shared hints */
	uint32_t index; /* in process->threads */
	int schedstat_fd, syscall_fd, stat_fd, status_fd; /* -1: not open */
	bool hot; /* was running at the last look */
	bool active; /* in process->active, at active_index */
	uint32_t active_index;
	uint32_t looks_left; /* at which it may not have moved before it is left alone */
	bool sampled; /* has a sample of its own */
	bool pooled; /* has taken over what exited threads left */
	struct cpu_use seen; /* at the last look */
	uint64_t run_base; /* CPU time when it was first traced */
	uint64_t run_given; /* CPU time handed out in weights, or before us */
	struct perf_thread perf;
	struct wall wall;
	struct on_cpu place;
	uint64_t resumed_ns; /* when we last let it go from a stop */
	uint64_t link; /* its stack_link at the last capture */
	struct restart restart;
	struct nap nap; /* the last one */
	struct watch watch;
	bool reaped; /* while PTRACE_SEIZE waited (lives/seize.c); exit_status as wait(2) has it */
	int exit_status;
	bool exec_stop; /* has executed, and is to be held at its next stop */
	int signal; /* HELD with this one, which it gets when it goes on; 0: none */
	uint32_t entered; /* 1 + the counter of the block that it hit last; 0: it may be anywhere */
	bool user_stop; /* HELD where it can do system calls for us (calls/ask.c) */
	bool clear; /* as we leave: in no slot, and no breakpoint will lead it to one */
	uint32_t stops; /* served, and what they took */
	uint64_t stopped_ns;
	uint32_t let_go; /* times it went on from a stop */
	struct own own;
	uint64_t detour; /* the trap by way of which it was sent to its slot; 0: none */
	uint64_t kept_ns; /* stopped since, waiting for room in the ring or held; 0: not */
	bool waits; /* held for its detours' ring: until there is room, or the controller knows it */
	/* Places where a hit that was captured already will come again: a signal handler ran
	 * before the instruction was executed (known/again.h). pc 0: none */
	struct {
		uint64_t pc, sp, registers;
	} again[8];
	/* Where it was told of last in the place of a detour's record (hits/foreign.c). */
	uint64_t foreign_pc, foreign_sp, foreign_head; /* of its ring */
	bool passed; /* was held once */
	/* First arguments of open calls (CP_GROUP_KEEPS), the last of them in a ring;
	 * a stack grows downwards, so what is below an entry is over. */
	struct {
		uint64_t sp, value;
	} firsts[THREAD_FIRSTS];
	uint32_t first_count;
	/* Open calls (CP_GROUP_OPENS) on its own stack, the last ones (hits/opens.c). */
	struct {
		uint64_t sp;
		uint32_t group; /* in the space */
	} opens[THREAD_OPENS];
	uint32_t open_count, looked;
	uint64_t asked_ns; /* time of the last hit that the controller has to place */
	struct heap_call heap;
	bool given_back; /* at the end: blocks SIGTRAP itself again (signals/sigmask.c) */
	/* Its stand-in means SIGTRAP; and until it does, what was blocked when breakpoints came,
	 * of which that signal of the program's own is given back. */
	bool stands_in;
	uint64_t first_mask;
	uint64_t sigmask; /* at its last hit */
	uint32_t looks; /* left, at whether SIGTRAP is still handled (signals/trap.c) */
	uint32_t hits;
	struct starve starve;
	struct rings *rings; /* that its ring is one of (memory/rings.h); NULL: it has none */
	uint32_t ring;
};

struct process {
	pid_t pid;
	int task_fd; /* /proc/PID/task */
	bool launching; /* our own child that has not yet become CMD */
	bool guest; /* not followed, but shares memory with breakpoints: not reported */
	struct space *space; /* its memory (memory/space.h) */
	CP_VEC(struct thread *) threads;
	CP_VEC(struct thread *) active; /* those that run or moved lately (captures/tick.c) */
	uint64_t cpu_seen; /* process CPU clock at the last tick */
	uint32_t quiet_ticks; /* in a row at which it had not moved */
	int64_t unexplained; /* of it, not used by threads looked at */
	uint64_t others_from_ns; /* when all threads may be looked at again */
	uint64_t program; /* which file it executes: proc_program() */
	uint64_t exit_pool; /* CPU time of its exited threads that no sample carries */
	uint64_t wall_ticks;
	uint64_t explained_ns; /* the last tick after which it was known who had moved */
	uint64_t sample_end; /* ring position after its last sample */
	uint32_t samples; /* since it executed its program */
	/* The last stops for signals that may have been to all of it, and that it ignores, or
	 * does not (calls/watch.c). */
	uint64_t ignored_ns, acted_ns;
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

struct tracer;

/* What lower floors need of the way of a stop (stops/stop.c): while they wait for one
 * thread, others stop, and are served as ever. */
struct stops {
	/* One thread's stop. False: there was none, or no room for it. */
	bool (*serve_one)(struct tracer *tr, pid_t tid);
	/* Has newborns report, and lets go who was held for them. */
	void (*serve_newborns)(struct tracer *tr);
};

/* Where code is that injections need in a mapping of a file (calls/guard.c). */
#define GUARD_FILES 16
#define GUARD_KINDS 3
struct guard_file {
	uint64_t key[4]; /* inode, device, offset, size */
	uint64_t at[GUARD_KINDS]; /* 1 + from where it is mapped; 0: there is none */
	unsigned kinds; /* a bit for each that was looked for */
};

struct tracer {
	struct cp_link *link; /* borrowed */
	const struct stops *stops;
	int signal_fd, controller_pidfd;
	struct cp_map by_tid; /* tid -> struct thread * */
	struct cp_map by_pid; /* pid -> struct process * */
	CP_VEC(pid_t) wanted; /* threads interrupted and not yet seen */
	CP_VEC(pid_t) newborns; /* announced by their parents and not yet seen */
	CP_VEC(struct held) held;
	uint64_t held_ns; /* when somebody was last held */
	CP_VEC(uint32_t) free_slots;
	uint32_t slots_used;
	int fds_left; /* descriptors that may still be kept open for threads, of `fds_all` */
	int fds_all;
	unsigned trace_flags; /* CP_TRACE_* */
	bool attached; /* something is or was traced */
	/* PTRACE_SEIZE is under way: said to a signal handler (lives/seize.c), and ptrace() is a
	 * "leaf" to the compiler, during which nobody here can look at it. */
	volatile bool seizing;
	bool descendants; /* all of it are children of the controller's, or theirs */
	struct guard_file guard_files[GUARD_FILES];
	unsigned guard_next; /* of them */
	int tried_calls; /* whether a filter lets calls through (calls/seccomp.c); -1 no, 0 not tried */
	uint32_t guests; /* threads of processes that are not followed */
	bool reports; /* SIGCHLD came: somebody stopped or exited */
	pid_t watched; /* in a call at whose end it stops (calls/watch.c), the last one; 0: none */
	bool asked; /* there may be a request */
	bool ending; /* leave as soon as no thread is stopped */
	/* sampling (captures/tick.c) */
	uint32_t hz, stack_max;
	bool wall;
	unsigned capture; /* CP_CAPTURE_* */
	uint64_t gone_due_ns; /* when sites are looked at next (hits/gone.c) */
	uint64_t pause_due_ns; /* when a pause ends (hits/pause.c); 0: there is none */
	uint64_t period_ns, start_ns, next_tick_ns, random;
	uint64_t tick_ns; /* when the last tick was due; we may have been late for it */
	uint64_t ticks_done; /* whole periods since start_ns, so far */
	uint64_t ticks_due; /* those since the last tick */
	uint64_t flush_ns; /* when repeats were last written */
	double unseen_ns; /* what a stop takes of a thread's time unseen (captures/wall.c) */
	struct cp_map exit_pools; /* of processes that are gone, by their program */
	uint64_t paused_pool; /* CPU time used while samples were paused */
	uint64_t ended_cpu_ns; /* CPU time of exited threads */
	uint64_t excess_ns; /* that samples of threads which are gone stood for too much */
	uint64_t lost_pool; /* of threads, in the kernel, where samples may not look */
	struct perf *perf; /* samples without stops (captures/perf_state.h); NULL: none */
	uint32_t hot_threads; /* seen running at the last tick */
	struct on_cpus places;
	cpu_set_t cpus; /* ours at the start */
	/* snapshot */
	bool snapshot, parking; /* parking: its first part, who stops is parked */
	uint64_t snapshot_deadline, park_deadline;
	CP_VEC(struct parked) parked;
	CP_VEC(pid_t) unread; /* sleepers that it still has to read */
	/* the controller's progress */
	pid_t controller;
	uint64_t tail_seen, tail_ns, tail_moved_ns;
	/* Its CPU time when it was last found slow, and first since it read (0: it was not yet). */
	uint64_t controller_cpu, moved_cpu;
	uint64_t rest_until_ns, work_until_ns; /* until when it may do other things */
	uint64_t believed_ns; /* when it was last looked at for who waits for room */
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

#endif
