/* SPDX-License-Identifier: MIT
 *
 * What the tracer and the controller share. Between the two stands a wall:
 *
 *      controller                                   tracer
 *      ----------                                   ------
 *      requests      ──── socket (seqpacket) ────►  acts, answers
 *      hints         ──── shared: thread hints ──►  how much stack to copy
 *      reads events  ◄─── shared: ring ──────────   samples, births, deaths
 *      reads totals  ◄─── shared: stats ─────────   what it has done
 *
 * The tracer trusts nothing that it reads from here: hints are clamped, requests are
 * copied and checked. The memory is anonymous, so that nobody can resize it.
 *
 * The ring has one writer (the tracer) and one reader (the controller). It
 * is mapped twice in a row, so that an event is always contiguous.
 */
#ifndef CP_LINK_H
#define CP_LINK_H

#include <stdatomic.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/types.h"
#include "link/stats.h"

/* ---- events ---- */

enum cp_event_type {
	CP_EVENT_NONE,
	CP_EVENT_PROCESS, /* struct cp_event_process: a process is traced from now on */
	CP_EVENT_EXEC, /* pid runs another program; its other threads are gone */
	CP_EVENT_PROCESS_EXIT, /* struct cp_event_exit: reaped */
	CP_EVENT_THREAD, /* struct cp_event_thread: a thread is traced from now on */
	CP_EVENT_THREAD_EXIT, /* struct cp_event_exit */
	CP_EVENT_SAMPLE, /* struct cp_event_sample */
	CP_EVENT_REPEAT, /* struct cp_event_sample, no stack: its last one again, for so much more */
	CP_EVENT_HIT, /* struct cp_event_hit (sites.h): a breakpoint */
	CP_EVENT_RING, /* the same, with registers and stack, of no site: the thread has the ring
			  `target` up to its end or EXEC; another may have it once that is released */
	CP_EVENT_FULL, /* the same: its ring is full, and it waits until this is released */
	CP_EVENT_BASE, /* own base, or no stack, at a detour: held until this is released */
	CP_EVENT_DISARMED, /* struct cp_event_disarmed: called too often */
	CP_EVENT_PAUSE, /* struct cp_event_pause: what pauses begins or ends to */
	CP_EVENT_EXITING, /* at its exit stop: the leader, with annotations; CP_TRACE_EXITS: all */
	CP_EVENT_SIGNAL, /* struct cp_event_signal: about to be delivered (CP_TRACE_SIGNALS) */
	CP_EVENT_FAULT, /* struct cp_event_fault (coverage.h): the first here. Held until released */
	CP_EVENT_OPENED, /* struct cp_event_opened (the same): there is more to be placed */
	CP_EVENT_GONE, /* struct cp_event_gone (gone.h): breakpoints vanished with what had been written */
	CP_EVENT_SNAPSHOT_END, /* every thread asked for has been answered */
	CP_EVENT_LET_GO, /* struct cp_event_exit: of a thread that goes on untraced; LEFT follows */
	CP_EVENT_LEFT, /* nothing is traced any more; the last event */
};

struct cp_event {
	uint32_t size; /* of the whole event, a multiple of 8 */
	uint16_t type; /* enum cp_event_type */
	uint16_t flags;
	uint64_t ts_ns;
	int32_t pid, tid;
};

enum cp_birth { CP_BIRTH_LAUNCHED, CP_BIRTH_ATTACHED, CP_BIRTH_FORKED };

struct cp_event_process {
	struct cp_event e;
	int32_t parent, own; /* of a forked one, and its number in its own pid namespace; or 0 */
	uint32_t birth, pad; /* enum cp_birth */
	uint64_t sp; /* of a forked one on its parent's stack: where on it; else 0 */
};

struct cp_event_thread {
	struct cp_event e;
	uint32_t slot; /* in the hints; CP_NO_SLOT: none */
	uint32_t pad;
	uint64_t sp; /* where it was at its birth, of a forked process on its parent's stack;
		      * 0: it was there before us */
};

struct cp_event_exit {
	struct cp_event e;
	int32_t status; /* as wait(2) has it; -1: let go, still running */
	char name[20]; /* the thread's last; "": not known */
	uint64_t cpu_ns; /* CPU time of the thread */
};

struct cp_event_signal {
	struct cp_event e;
	int32_t signal;
	int32_t code; /* si_code */
	uint64_t address; /* of a fault; else 0 */
};

#define CP_SAMPLE_BLOCKED 1u /* not stopped: only pc and sp are known, regs is empty */
#define CP_SAMPLE_SNAPSHOT 2u /* taken for a snapshot, not by the clock */
#define CP_SAMPLE_NO_STACK 4u /* the thread could not be read or stopped in time */
#define CP_SAMPLE_HOLD 8u /* of a snapshot that holds who ran */
#define CP_SAMPLE_WAITED 16u /* for a CPU, or for us: stands for time in which it did not run */

struct cp_event_sample {
	struct cp_event e;
	uint32_t slot; /* of the thread in the hints; CP_NO_SLOT: none */
	uint32_t count; /* ticks it stands for */
	uint64_t weight_ns;
	uint64_t pc, sp;
	uint64_t stack_base;
	uint32_t stack_size;
	uint32_t regs_size; /* NT_PRSTATUS, 0 when blocked */
	uint32_t xstate_size; /* 0 unless asked for */
	char state; /* as in /proc/PID/stat: R, S, D, T, t; 0 unknown */
	uint8_t pad[3];
	/* On a signal handler's stack: the one that it interrupted, too. */
	uint64_t below_base;
	uint32_t below_size;
	uint32_t pad2;
	/* then regs, xstate, stack, stack below, each padded to 8 bytes */
};

static inline size_t cp_align8(size_t n)
{
	return (n + 7) & ~(size_t)7;
}

/* Pieces of a sample; NULL: outside of the event. */
const uint8_t *cp_event_regs(const struct cp_event_sample *s);
const uint8_t *cp_event_xstate(const struct cp_event_sample *s);
const uint8_t *cp_event_stack(const struct cp_event_sample *s);
const uint8_t *cp_event_below(const struct cp_event_sample *s);

/* ---- shared memory ---- */

#define CP_NO_SLOT UINT32_MAX
#define CP_LINK_SLOTS 65536
#define CP_LINK_RING (UINT64_C(32) << 20)
#define CP_LINK_RESERVE (UINT64_C(1) << 20) /* kept free for births and deaths */
#define CP_LINK_COUNTERS (1u << 24) /* of 8 bytes each; memory only where they are used */
#define CP_COUNT_GAVE_UP UINT64_MAX
/* The counter of a block whose site is ONCE: the block was also left at its end. */
#define CP_COUNT_WHOLE (UINT64_C(1) << 62)
#define CP_STACK_MAX (1u << 20) /* most that is copied of a stack */
#define CP_LINK_PLACES 16384 /* a power of two */

struct cp_link_shared {
	_Alignas(64) _Atomic uint64_t head; /* bytes written, by the tracer */
	_Alignas(64) _Atomic uint64_t tail; /* bytes read, by the controller */
	_Alignas(64) _Atomic uint32_t asleep; /* the controller wants a kick */
	_Atomic uint64_t wake_at; /* where the tail is to be for a WAKE of the tracer; 0: none */
	_Atomic uint32_t abandoned; /* by the tracer: the controller did not read its events */
	_Atomic uint64_t working_ns; /* of a launched program, else 0: its code is worked out */
	_Atomic uint64_t beat_ns, beat_ticks; /* when it last said that it reads; for so long */
	struct cp_link_stats stats;
	/* By slot: the address where the thread's stack ends, as the last
	 * walk found it; 0 unknown. Written by the controller. */
	_Atomic uint64_t stack_end[CP_LINK_SLOTS];
	/* The thread's own stack lies between this and stack_end; 0 unknown. */
	_Atomic uint64_t stack_low[CP_LINK_SLOTS];
	/* The address at which, on an alternate signal stack, the kernel keeps, each time, the
	 * stack pointer that it interrupted, as a walk found it there; 0 unknown. */
	_Atomic uint64_t stack_link[CP_LINK_SLOTS];
	/* Hits that a walk found to be on the thread's own stack (cp_hit_place()), each
	 * where its number says. Written by the controller. */
	_Atomic uint64_t places[CP_LINK_PLACES];
	/* By slot: the time of the last hit of which it has said on which stack it is.
	 * Written by the controller. */
	_Atomic uint64_t placed_ns[CP_LINK_SLOTS];
};

struct cp_link {
	struct cp_link_shared *shared;
	uint8_t *ring; /* CP_LINK_RING bytes, twice */
	uint8_t *plan; /* CP_LINK_PLAN bytes (sites.h), written by the controller */
	_Atomic uint64_t *counters; /* CP_LINK_COUNTERS, of coverage; written by the tracer */
	int tracer_socket, controller_socket; /* each side closes the other's */
	int kick; /* eventfd: tells the controller to look at the ring */
	uint64_t serial; /* of the last request */
	uint64_t populated; /* bytes of the ring, by the controller */
	pid_t tracer; /* 0: not known */
};

CP_ERROR cp_link_create(struct cp_link *ret);
void cp_link_deinit(struct cp_link *link);
/* Takes the memory that is written to next, not while threads are held. To be called
 * again as the ring fills: all of it at once is 30 ms. */
void cp_link_populate(struct cp_link *link);

/* ---- ring, tracer's side ---- */

/* Room for an event of up to `size` bytes that leaves `keep` bytes free; NULL
 * when there is none. */
void *cp_ring_reserve(struct cp_link *link, size_t size, size_t keep);
/* Publishes the reserved event; its `size` field says how long it became. */
void cp_ring_commit(struct cp_link *link, const struct cp_event *event);
/* Wakes the controller: when it sleeps and there is something to read, or at once with
 * `now`. */
void cp_ring_kick(struct cp_link *link, bool now);

/* ---- ring, controller's side ---- */

/* The oldest event, or NULL; valid until cp_ring_release(). An event that
 * makes no sense (a broken tracer) reads as NULL with *bad_ret set. */
const struct cp_event *cp_ring_peek(struct cp_link *link, bool *bad_ret);
void cp_ring_release(struct cp_link *link, const struct cp_event *event);
/* Looks ahead, without taking anything: the event at position *at (as `head`
 * counts), which moves behind it; NULL: none yet, or *bad_ret. */
const struct cp_event *cp_ring_look(struct cp_link *link, uint64_t *at, bool *bad_ret);

/* ---- requests ---- */

enum cp_request_type {
	CP_REQUEST_LAUNCH, /* seize `pid`, our own child that waits to exec */
	CP_REQUEST_ATTACH, /* seize all threads of `pid` */
	CP_REQUEST_SAMPLE, /* sample from now on; hz 0: no more */
	CP_REQUEST_PERF, /* prepare samples without stops of all that is traced: perf.h */
	CP_REQUEST_WATCH, /* breakpoints will be placed from now on, as if LAUNCH had had PROBES */
	CP_REQUEST_SNAPSHOT, /* capture every thread once, or thread `pid`: ESRCH, EBUSY */
	CP_REQUEST_MEMORY, /* answer with a read-only descriptor of `pid`'s memory */
	CP_REQUEST_MAP, /* map `size` bytes of slots in `pid`, near `address`; answers address */
	CP_REQUEST_RINGS, /* what detours need in `pid`: code.h */
	CP_REQUEST_CODE,
	CP_REQUEST_ARM, /* the batch at `first` of the plan area, `size` bytes, in `pid` */
	CP_REQUEST_DISARM, /* the sites in [address, address + size) of `pid`; FORGET: without
			      touching them, and slots of the area at `first` (or 0) are free */
	CP_REQUEST_DISARM_GROUP, /* group `first` in all processes */
	CP_REQUEST_TOTALS, /* bring what is added up at the end up to date in the statistics */
	CP_REQUEST_ANNOTATE, /* set our bit in the root at `address` of `pid` (cprof/trace_format.h)
				until we leave; EFAULT: there is no root */
	CP_REQUEST_LEAVE, /* let everything go and end */
	CP_REQUEST_WAKE, /* look again at who is held; not answered */
};

/* FOLLOW: children too. PROBES: breakpoints may be placed (ARM is refused
 * without), so hold at each exec until the controller has released the event. EXITS:
 * threads stop on their way out and are held until the controller has released that
 * event. SIGNALS: each delivery is an event. CPU (with ARM): hits tell CPU time.
 *
 * MAP, RINGS, CODE and ARM run system calls inside the program. Their errors: EAGAIN, no
 * thread could be had now; EACCES, a seccomp filter forbids it; else the call's own. ARM:
 * EINVAL, the batch makes no sense; ESTALE, a site has other bytes than the batch expects. */
#define CP_TRACE_FOLLOW 1u
#define CP_TRACE_PROBES 2u
#define CP_TRACE_EXITS 4u
#define CP_TRACE_SIGNALS 8u
#define CP_TRACE_CPU 16u
/* ARM: the batch comes in pieces, one request each, all but the last one with MORE
 * and all but the first with NEXT. Breakpoints come with the last one; where one
 * fails, those behind it do, too. */
#define CP_ARM_NEXT 32u
#define CP_ARM_MORE 64u
/* ARM: coverage; from now on faults are told of, in all processes. */
#define CP_ARM_COUNTS 128u
#define CP_DISARM_FORGET 1u
#define CP_DISARM_SITE 2u /* number `first` at `address` */
#define CP_MAP_LEFT 1u /* the area at `address`, which was left; EEXIST: not that one */
#define CP_MAP_MANY 2u /* map.h */

#define CP_CAPTURE_XSTATE 1u /* vector registers too */
#define CP_CAPTURE_STOP 2u /* SNAPSHOT: interrupt blocked threads as well */
#define CP_CAPTURE_LINKED 4u /* SNAPSHOT: only threads with a stack_link */
/* SNAPSHOT: who is stopped stays so until SNAPSHOT_END is released; at most so long. */
#define CP_CAPTURE_HOLD 8u
#define CP_CAPTURE_HOLD_NS (2 * UINT64_C(1000000000))

struct cp_request {
	uint32_t type;
	int32_t pid;
	uint32_t flags; /* CP_TRACE_*, CP_CAPTURE_* or CP_PERF_* */
	uint32_t hz;
	uint32_t wall; /* clock: 1 wall, 0 cpu */
	uint32_t stack_max; /* most bytes of a stack to copy, 0: CP_STACK_MAX */
	uint64_t address, size; /* MAP, ARM, DISARM */
	uint64_t first; /* ARM: offset in the plan area; DISARM: see there */
	uint64_t hint; /* RINGS: where all of them are, if there is room; 0: anywhere */
	uint64_t serial; /* set by cp_link_call() */
};

struct cp_answer {
	uint32_t type; /* of the request */
	int32_t errnum; /* 0: done */
	int32_t tracer; /* EPERM: pid of another tracer, or 0 */
	uint32_t threads; /* ATTACH: seized; ARM: sites armed, with the last piece all of them */
	uint64_t address; /* MAP */
	uint64_t serial; /* of the request: one that was given up may be answered yet */
};

/* Sends a request and waits for its answer (at most 10 s). The error is about the link itself: a
 * tracer that is gone is CP_ERR_GONE. `fd_ret` (or NULL): a descriptor that came with it, or -1. */
CP_ERROR cp_link_call(struct cp_link *link, const struct cp_request *request, struct cp_answer *ret,
		      int *fd_ret);
/* The two halves of it, for requests that the tracer finds waiting when it has
 * answered the one before. Answers have to be asked for in the same order. */
CP_ERROR cp_link_send(struct cp_link *link, const struct cp_request *request, uint64_t *serial_ret);
CP_ERROR cp_link_wait(struct cp_link *link, uint64_t serial, struct cp_answer *ret, int *fd_ret);

/* Tracer's side: false when there is nothing to read; *gone_ret when the
 * controller has closed its end. */
bool cp_link_receive(struct cp_link *link, struct cp_request *ret, bool *gone_ret);
void cp_link_answer(struct cp_link *link, const struct cp_answer *answer, int fd);

#endif
