/* SPDX-License-Identifier: MIT
 *
 * The wait loop: what stopped, why, and what happens next.
 *
 *   waitid(WNOWAIT) ──► exit?  ─────────────► reap, forget
 *         │
 *         └─ stop: status = signal | event << 8
 *              event 0            the program's signal is about to be delivered
 *              EVENT_STOP, SIGTRAP    our interrupt, or a newborn's first stop
 *              EVENT_STOP, other      group-stop: job control, PTRACE_LISTEN
 *              FORK VFORK CLONE       go on; the child reports by itself
 *              EXEC                   only the leader is left
 *              EXIT               (leaders, or all if asked) hold until the controller
 *                                 has read what it needs of the dying process
 *
 * A stop is never consumed by wait (WNOWAIT; resuming ends it): when a tracer
 * dies, the kernel still delivers the signal of a stop that was not consumed,
 * but drops that of one that was. So our SIGKILL loses no signal of the
 * program. What is left stopped on purpose (HELD) is consumed, or it would be
 * reported for ever; those are event stops and carry no signal.
 *
 * waitid(P_ALL) looks at one traced thread after the other, so n stops of n
 * threads are n²/2 looks. Threads that we interrupted ourselves are therefore
 * asked one by one, and P_ALL is for what comes unasked.
 *
 * An interrupt and another stop may come in either order, and the interrupt's
 * may never come: any stop ends a pending interrupt (kernel: ptrace_stop()
 * clears JOBCTL_TRAP_STOP). A thread or process that is gone (ESRCH) is an
 * event, not an error: its exit will be, or has been, reported.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "tracer/known/proc.h"
#include "tracer/captures/sampling.h"
#include "tracer/signals/trap.h"

/* Below this many threads P_ALL is as good as asking one by one. */
#define FEW_THREADS 64
/* Room for all that one stop or death reports, but for what asks for room itself. */
#define BRIM (UINT64_C(64) << 10)
/* Reports taken one after the other before the loop looks around. */
#define IN_A_ROW 1024u

#define HOLD_NS (2 * CP_NS_PER_S)
/* Reading a program or a library for the first time may take a while: as long
 * as the controller works on it, or for a time without, for slow disks. */
#define READ_HOLD_NS (120 * CP_NS_PER_S)
#define READ_REST_NS (10 * CP_NS_PER_S)
#define UNTIL_TOLD UINT64_MAX /* held until wait_hold_until() says how long */

static void let_go(struct thread *t, int signal)
{
	t->state = THREAD_RUNNING;
	t->user_stop = false;
	t->kept_ns = 0;
	t->let_go++;
	t->resumed_ns = cp_now();
	ptrace(PTRACE_CONT, t->tid, 0, (long)signal);
}

static void deliver(struct tracer *tr, struct thread *t, int signal);

/* From a stop at which it may have been held with a signal. */
static void resume(struct tracer *tr, struct thread *t)
{
	int signal = t->signal;

	t->signal = 0;
	if (signal)
		deliver(tr, t, signal);
	else
		let_go(t, 0);
}

static void listen_on(struct thread *t)
{
	t->state = THREAD_LISTENING;
	ptrace(PTRACE_LISTEN, t->tid, 0, 0);
}

void thread_interrupt(struct tracer *tr, struct thread *t, unsigned want)
{
	bool waiting = t->want != 0;

	if (t->state == THREAD_HELD)
		return;
	if (!waiting) {
		if (ptrace(PTRACE_INTERRUPT, t->tid, 0, 0))
			return;
		if (!cp_vec_push(&tr->wanted, t->tid))
			cp_debug("no memory to remember an interrupt");
	}
	t->want |= want;
}

/* A child that is not followed is freed of the breakpoints that came with its
 * parent's memory. If it shares that memory, nothing can be taken out, and it
 * has to stay: true. */
static bool must_stay(struct tracer *tr, pid_t pid, pid_t parent)
{
	struct space *space;
	bool shared;

	if (!(tr->trace_flags & CP_TRACE_PROBES))
		return false;
	space = space_of_child(tr, pid, parent);
	if (!space)
		return false;
	shared = space->users > 1;
	if (!shared) {
		if (space->handler)
			sigmask_give_back(pid);
		sites_clean(space);
		annotate_end(space);
	}
	space_release(space);
	return shared;
}

/* A task that we did not know: a newborn, attached by its parent's options.
 * Its stop may come before the event of its parent. */
static struct thread *adopt(struct tracer *tr, pid_t tid)
{
	pid_t pid, parent;
	struct thread *t;

	if (!proc_group(tid, &pid, &parent))
		return NULL;
	if (pid == tid && !(tr->trace_flags & CP_TRACE_FOLLOW) && !must_stay(tr, pid, parent)) {
		/* clone() without CLONE_THREAD reports like a thread. */
		ptrace(PTRACE_DETACH, tid, 0, 0);
		return NULL;
	}
	t = thread_add(tr, pid, tid, CP_BIRTH_FORKED, parent);
	if (!t)
		return NULL;
	ptrace(PTRACE_SETOPTIONS, tid, 0, seize_options(tr, pid == tid));
	sigmask_stand_in(t);
	if (pid == tid)
		newborn_complete(tr, t);
	return t;
}

static void announce_exec(struct tracer *tr, struct thread *leader)
{
	emit(tr, CP_EVENT_EXEC, leader->tid, leader->tid);
	cp_ring_kick(tr->link, true);
}

/* One that has memory of its own now. */
static void leave_guest(struct tracer *tr, struct thread *leader)
{
	ptrace(PTRACE_DETACH, leader->tid, 0, 0L);
	thread_remove(tr, leader, -1);
}

/* False: it is traced no more. */
static bool on_exec(struct tracer *tr, struct thread *t)
{
	struct process *p = t->process;
	struct thread *leader = thread_find(tr, p->pid);

	siginfo_t si;

	/* Reported for the leader's id, whichever thread did it; the others
	 * are gone, and the one that did it has the leader's id now. Until the
	 * event is consumed, the kernel takes ptrace calls with that id for
	 * meant for the old leader and refuses them (ptrace_attach's
	 * looks_like_a_spurious_pid()). An event carries no signal to lose. */
	waitid(P_PID, (id_t)p->pid, &si, WSTOPPED | WNOHANG | __WALL);
	if (!leader)
		return true;
	process_exec(tr, p);
	if (p->launching) { /* until now it was us */
		p->launching = false;
		proc_cpu_use(tr, leader, &leader->seen);
		leader->run_base = leader->run_given = leader->seen.run_ns;
	}
	leader->restart.pending = false;
	leader->entered = leader->open_count = 0;
	starve_forget(leader);
	memset(leader->again, 0, sizeof(leader->again));
	if (p->space->handler)
		sigmask_give_back(p->pid);
	space_renew(p);
	slot_forget(tr, leader->slot);
	if (((!p->guest && tr->trace_flags & CP_TRACE_PROBES) || p->space->ignored) &&
	    !ptrace(PTRACE_INTERRUPT, p->pid, 0, 0)) {
		leader->exec_stop = true;
		return true;
	}
	if (p->guest) {
		leave_guest(tr, leader);
		return false;
	}
	announce_exec(tr, leader);
	return true;
}

/* Time that a thread was kept stopped, beside the stop itself. */
static uint64_t account_kept(struct tracer *tr, struct thread *t, uint64_t now)
{
	uint64_t ns = t->kept_ns && now > t->kept_ns ? now - t->kept_ns : 0;

	t->kept_ns = 0;
	t->stopped_ns += ns;
	tr->link->shared->stats.stopped_ns += ns;
	return ns;
}

/* Leaves a thread stopped for `ns` at most. False: without memory. */
static bool keep(struct tracer *tr, struct thread *t, struct held held, uint64_t ns)
{
	uint64_t now = cp_now();
	siginfo_t si;

	held.tid = t->tid;
	held.deadline_ns = now + ns;
	if (!cp_vec_push(&tr->held, held))
		return false;
	waitid(P_PID, (id_t)t->tid, &si, WSTOPPED | WNOHANG | __WALL);
	t->state = THREAD_HELD;
	t->kept_ns = now;
	return true;
}

/* Leaves a thread stopped until the controller has passed what is in the ring
 * now. False: it can't be, or it has. */
static bool hold(struct tracer *tr, struct thread *t, uint64_t until_tail, uint64_t ns)
{
	const struct held held = { .until_tail = until_tail, .reading = ns == READ_HOLD_NS };

	if (tr->link->shared->tail >= until_tail || tr->ending || !keep(tr, t, held, ns))
		return false;
	if (held.reading) {
		tr->work_until_ns = t->kept_ns + READ_HOLD_NS;
		tr->rest_until_ns = t->kept_ns + READ_REST_NS;
	}
	cp_ring_kick(tr->link, true);
	return true;
}

/* The first stop of a new program, before its first instruction: breakpoints
 * may be wanted in it. */
static bool hold_exec(struct tracer *tr, struct thread *t)
{
	t->exec_stop = false;
	if (t->process->space->ignored)
		trap_ignore(tr, t);
	if (t->process->guest) {
		leave_guest(tr, t);
		return false;
	}
	t->user_stop = hold(tr, t, tr->link->shared->head, READ_HOLD_NS);
	if (!t->user_stop)
		let_go(t, 0);
	return true;
}

/* The leader is about to exit: its process's memory goes with it, so let the
 * controller first look up what the samples so far refer to, and read what the
 * program announced last. */
static bool hold_exit(struct tracer *tr, struct thread *t)
{
	uint64_t until = t->process->sample_end;

	if (t->process->space->annotated.count ||
	    (tr->trace_flags & CP_TRACE_EXITS && !t->process->guest)) {
		emit(tr, CP_EVENT_EXITING, t->process->pid, t->tid);
		until = tr->link->shared->head;
	}
	return hold(tr, t, until, HOLD_NS);
}

static bool is_expected(const struct tracer *tr, pid_t newborn)
{
	size_t i;

	for (i = 0; i < tr->newborns.count; i++)
		if (tr->newborns.items[i] == newborn)
			return true;
	return false;
}

static bool stays(const struct tracer *tr, const struct held *h, uint64_t now)
{
	bool waits =
		h->newborn ? is_expected(tr, h->newborn) : tr->link->shared->tail < h->until_tail;

	return waits && now < h->deadline_ns && !tr->ending;
}

/* Those who may go; of those that wait for a child alone, if `parents`. */
static void release(struct tracer *tr, bool parents)
{
	uint64_t now = cp_now();
	size_t i = 0;

	while (i < tr->held.count) {
		struct held *h = &tr->held.items[i];
		struct thread *t = thread_find(tr, h->tid);
		bool held = t && t->state == THREAD_HELD;

		if (held && ((parents && !h->newborn) || stays(tr, h, now))) {
			i++;
			continue;
		}
		if (held) {
			tr->link->shared->stats.unready += h->reading && now >= h->deadline_ns;
			account_kept(tr, t, now);
			resume(tr, t);
		}
		*h = tr->held.items[--tr->held.count];
	}
}

void wait_release_held(struct tracer *tr)
{
	release(tr, false);
}

/* Not a thread of another one. */
static bool is_process(pid_t tid)
{
	return !syscall(SYS_tgkill, tid, tid, 0);
}

/* Has it been reaped? Its number may not be used again before that. */
static bool is_gone(pid_t tid)
{
	siginfo_t si;

	return waitid(P_PID, (id_t)tid, &si, WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL);
}

static bool is_birth(int event)
{
	return event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK ||
	       event == PTRACE_EVENT_CLONE;
}

/* Its first stop is sure to come, or its death, unless that has been; 0: it has. */
static pid_t expect_newborn(struct tracer *tr, const struct thread *parent)
{
	unsigned long tid;

	if (!(tr->trace_flags & (CP_TRACE_PROBES | CP_TRACE_FOLLOW)) ||
	    ptrace(PTRACE_GETEVENTMSG, parent->tid, 0, &tid) || thread_find(tr, (pid_t)tid) ||
	    is_gone((pid_t)tid))
		return 0;
	if (!cp_vec_push(&tr->newborns, (pid_t)tid)) {
		cp_debug("no memory to remember a newborn");
		return 0;
	}
	return (pid_t)tid;
}

/* A child has breakpoints that came with its parent's memory, and what is known of
 * them is known of its parent. So that one neither ends nor executes anything until
 * the child was seen: there also is nobody left when nobody is known. */
static bool hold_birth(struct tracer *tr, struct thread *t)
{
	pid_t newborn = expect_newborn(tr, t);

	return newborn && !tr->ending && is_process(newborn) &&
	       keep(tr, t, (struct held){ .newborn = newborn }, HOLD_NS);
}

static void forget_newborn(struct tracer *tr, pid_t tid)
{
	size_t i = 0;

	while (i < tr->newborns.count) {
		if (tr->newborns.items[i] == tid)
			tr->newborns.items[i] = tr->newborns.items[--tr->newborns.count];
		else
			i++;
	}
}

void wait_newborns(struct tracer *tr)
{
	while (tr->newborns.count) {
		pid_t tid = tr->newborns.items[0];
		siginfo_t si;

		if (waitid(P_PID, (id_t)tid, &si, WEXITED | WSTOPPED | WNOWAIT | __WALL) ||
		    !wait_serve_one(tr, tid))
			forget_newborn(tr, tid);
	}
	release(tr, true);
}

static void on_event(struct tracer *tr, struct thread *t, int event)
{
	if (event == PTRACE_EVENT_EXEC && !on_exec(tr, t))
		return;
	if (event == PTRACE_EVENT_EXIT && hold_exit(tr, t))
		return;
	if (is_birth(event)) {
		sigmask_stand_in(t);
		if (hold_birth(tr, t))
			return;
	}
	let_go(t, 0);
}

static void count_stop(struct tracer *tr, struct thread *t, uint64_t ns)
{
	struct cp_link_stats *stats = &tr->link->shared->stats;

	t->stops++;
	t->stopped_ns += ns;
	stats->stops++;
	stats->stopped_ns += ns;
	stats->hold[cp_histogram_bucket(ns)]++;
}

/* What was asked for at this stop is done: accounts for it and publishes. */
static void served(struct tracer *tr, struct thread *t, struct cp_event_sample *sample,
		   unsigned want, uint64_t seen)
{
	if (!want)
		return;
	count_stop(tr, t, cp_now() - seen);
	if (sample)
		capture_finish(tr, t, sample, want);
}

void wait_hit_done(struct tracer *tr, struct thread *t, uint64_t seen_ns, unsigned flags)
{
	struct cp_event_sample *sample = NULL;
	unsigned want = t->want;
	uint64_t now;

	t->want = 0;
	if (want & ~WANT_PASS)
		sample = capture_stopped(tr, t);
	if (flags & (HIT_HOLD | CP_HIT_WANTS_RETURN) &&
	    hold(tr, t, tr->link->shared->head, flags & HIT_HOLD ? READ_HOLD_NS : HOLD_NS))
		t->user_stop = !t->signal;
	else
		resume(tr, t);
	/* It may be running, on our CPU even, before we are again. */
	now = t->state == THREAD_HELD ? cp_now() : t->resumed_ns;
	if (t->kept_ns)
		t->kept_ns = now;
	count_stop(tr, t, now - seen_ns);
	tr->link->shared->stats.hit_ns += now - seen_ns;
	if (sample)
		capture_finish(tr, t, sample, want);
	cp_ring_kick(tr->link, false);
	hot_hit(tr, t, now);
}

/* Registers of a capture as they really are: not when slots are hidden. */
static const void *sample_regs(const struct thread *t, const struct cp_event_sample *sample)
{
	const struct space *space = t->process->space;

	return space->table->areas.count || space->finisher ? NULL : capture_regs(sample);
}

/* Stays stopped until all that a snapshot asked for are. */
static bool park(struct tracer *tr, struct thread *t, unsigned want, uint64_t seen)
{
	siginfo_t si;

	if (t->state == THREAD_LISTENING || t->exec_stop || !snapshot_park(tr, t, want, seen))
		return false;
	waitid(P_PID, (id_t)t->tid, &si, WSTOPPED | WNOHANG | __WALL);
	t->want = 0;
	t->state = THREAD_HELD;
	return true;
}

void wait_unpark(struct tracer *tr, struct thread *t, const struct parked *parked)
{
	struct cp_event_sample *sample = capture_stopped(tr, t);

	restart_repair(tr, t, sample_regs(t, sample));
	if (!(tr->capture & CP_CAPTURE_HOLD && hold(tr, t, UNTIL_TOLD, CP_CAPTURE_HOLD_NS)))
		let_go(t, 0);
	served(tr, t, sample, parked->want, parked->since_ns);
}

void wait_hold_until(struct tracer *tr, uint64_t tail)
{
	size_t i;

	for (i = 0; i < tr->held.count; i++)
		if (tr->held.items[i].until_tail == UNTIL_TOLD)
			tr->held.items[i].until_tail = tail;
}

/* The signal that the program gets: SIGTRAP has ours as its handler. */
static int own_signal(struct thread *t, int signal)
{
	siginfo_t si;

	if (!t->process->space->handler)
		return signal;
	trap_look(t); /* its handler may run with SIGTRAP blocked */
	if (signal != SIGTRAP)
		return signal;
	/* Where ours is gone, it is the program's end (arch/x86_64/handler.c). */
	if (trap_ignored(t) && !ptrace(PTRACE_GETSIGINFO, t->tid, 0, &si) && si.si_code <= 0 &&
	    proc_catches(t->tid, SIGTRAP))
		return 0;
	trap_delivered(t);
	return signal;
}

/* A signal that the program gets, where those are asked for. False: there is no
 * room for it now. */
static bool report_signal(struct tracer *tr, const struct thread *t, int signal)
{
	struct cp_event_signal e = {
		.e = { .type = CP_EVENT_SIGNAL,
		       .ts_ns = cp_now(),
		       .pid = t->process->pid,
		       .tid = t->tid },
		.signal = signal,
	};
	siginfo_t si;

	if (!(tr->trace_flags & CP_TRACE_SIGNALS) || t->process->guest)
		return true;
	if (!cp_ring_reserve(tr->link, sizeof(e), CP_LINK_RESERVE))
		return false;
	if (!ptrace(PTRACE_GETSIGINFO, t->tid, 0, &si)) {
		e.code = si.si_code;
		if (si.si_code > 0 && (signal == SIGSEGV || signal == SIGBUS || signal == SIGILL ||
				       signal == SIGFPE || signal == SIGTRAP))
			e.address = (uintptr_t)si.si_addr;
	}
	emit_event(tr, &e.e, sizeof(e));
	return true;
}

/* A stop as we leave, which tells that the thread is on no way to another. */
static void pass(struct thread *t)
{
	if (proc_will_get(t->tid, SIGTRAP)) {
		t->want = WANT_PASS; /* not yet, then: it comes next */
		return;
	}
	hit_leave_slot(t);
	trap_left(t);
	t->clear = !t->process->space->armed;
}

/* A signal of the program's own. In a slot, whoever goes on as if nothing had been
 * stays there: it would come to its breakpoint again. */
static void deliver(struct tracer *tr, struct thread *t, int signal)
{
	t->entered = 0;
	if (signal == SIGTRAP && trap_is_blocked(tr, t)) {
		restart_repair(tr, t, NULL);
		let_go(t, 0);
		return;
	}
	hit_leave_slot(t);
	starve_signal(t, signal, cp_now());
	restart_signal(tr, t, signal);
	let_go(t, own_signal(t, signal));
}

/* Captures if that was asked for, repairs what the interrupt disturbed, lets
 * go, and only then does the accounting. From the capture to its end nothing
 * else may be written to the ring: a new program is announced before it, other
 * events come after it. */
static void serve(struct tracer *tr, struct thread *t, int signal, int event)
{
	struct cp_event_sample *sample = NULL;
	unsigned want = t->want;
	uint64_t seen = cp_now();
	bool ours = event == PTRACE_EVENT_STOP && signal == SIGTRAP;

	if (ours && park(tr, t, want, seen))
		return;
	if (ours && t->exec_stop && !t->process->guest)
		announce_exec(tr, t);
	t->want = 0;
	if (want & ~WANT_PASS)
		sample = capture_stopped(tr, t);
	if (ours) {
		/* Ours, or a notice of job control that only the traced get;
		 * but the end of a group-stop ends calls untraced, too. */
		if (t->state != THREAD_LISTENING)
			restart_repair(tr, t, sample_regs(t, sample));
		if (want & WANT_PASS)
			pass(t);
		if (!t->exec_stop)
			let_go(t, 0);
		else if (!hold_exec(tr, t))
			return;
	} else if (event == PTRACE_EVENT_STOP) {
		listen_on(t);
	} else if (!event) {
		tr->link->shared->stats.signals++;
		deliver(tr, t, signal);
	}
	served(tr, t, sample, want, seen);
	if (event && event != PTRACE_EVENT_STOP)
		on_event(tr, t, event);
}

static int exit_status(const siginfo_t *si)
{
	if (si->si_code == CLD_EXITED)
		return (si->si_status & 0xff) << 8;
	return si->si_status | (si->si_code == CLD_DUMPED ? 0x80 : 0);
}

static void on_exit_reported(struct tracer *tr, struct thread *t, pid_t tid, int status)
{
	siginfo_t si;

	/* schedstat can be read of a zombie, so account before reaping. */
	if (t)
		thread_remove(tr, t, status);
	waitid(P_PID, (id_t)tid, &si, WEXITED | WNOHANG | __WALL);
}

/* Its stop stays unserved until there is room for what it has to report. */
static bool wait_for_room(struct tracer *tr, struct thread *t)
{
	tr->full = true;
	t->kept_ns = cp_now();
	return false;
}

/* Who else waits for room: only the first of them is ever asked to. Looking
 * takes no more than a tenth of the time, so a wait can seem a little shorter
 * than it was. */
static void look_for_waiters(struct tracer *tr)
{
	uint64_t key, value, now = cp_now();
	size_t cursor = 0;

	if (now < tr->waiters_due_ns)
		return;
	while (cp_map_next(&tr->by_tid, &cursor, &key, &value)) {
		struct thread *t = (struct thread *)(uintptr_t)value;
		siginfo_t si = { 0 };

		if (!t->kept_ns && t->state != THREAD_HELD &&
		    !waitid(P_PID, (id_t)t->tid, &si, WSTOPPED | WNOWAIT | WNOHANG | __WALL) &&
		    si.si_pid)
			t->kept_ns = now;
	}
	tr->waiters_due_ns = now + 10 * (cp_now() - now);
}

/* A hit, or something else to be served. False: it has to wait. */
static bool serve_stop(struct tracer *tr, struct thread *t, int status)
{
	if (t->kept_ns)
		tr->link->shared->stats.full_ns += account_kept(tr, t, cp_now());
	if (status == (SIGTRAP | 0x80)) { /* no signal, though it looks like one */
		let_go(t, 0);
		return true;
	}
	if (status == SIGTRAP) {
		switch (hit_serve(tr, t)) {
		case HIT_FULL:
			return wait_for_room(tr, t);
		case HIT_DONE:
			tr->full = false;
			return true;
		case HIT_NONE:
			break;
		}
	}
	if (!(status >> 8) && !report_signal(tr, t, status & 0xff))
		return wait_for_room(tr, t);
	tr->full = false;
	if (!(status >> 8) && tr->counts && fault_serve(tr, t, status & 0xff))
		return true;
	serve(tr, t, status & 0xff, status >> 8);
	return true;
}

/* Handles one report for `id` (all: P_ALL, 0). False: there was none. */
static bool gather_one(struct tracer *tr, idtype_t type, id_t id)
{
	int options = WEXITED | WSTOPPED | WNOWAIT | __WALL;
	siginfo_t si = { 0 };
	struct thread *t;

	if (!tr->hot || type != P_ALL)
		options |= WNOHANG;
	else
		hot_spin(tr);
	if (waitid(type, id, &si, options) || !si.si_pid)
		return false;
	if (!tr->ending && !cp_ring_reserve(tr->link, BRIM, 0)) {
		tr->full = true;
		return false;
	}
	t = thread_find(tr, si.si_pid);
	if (!t)
		forget_newborn(tr, si.si_pid);
	if (si.si_code == CLD_EXITED || si.si_code == CLD_KILLED || si.si_code == CLD_DUMPED) {
		on_exit_reported(tr, t, si.si_pid, exit_status(&si));
		return true;
	}
	if (!t)
		t = adopt(tr, si.si_pid);
	if (t)
		return serve_stop(tr, t, si.si_status);
	ptrace(PTRACE_CONT, si.si_pid, 0, 0L);
	return true;
}

bool wait_serve_one(struct tracer *tr, pid_t tid)
{
	return gather_one(tr, P_PID, (id_t)tid);
}

void gather_done(struct tracer *tr)
{
	size_t i = 0;

	while (i < tr->wanted.count) {
		const struct thread *t = thread_find(tr, tr->wanted.items[i]);

		if (t && t->want)
			i++;
		else
			tr->wanted.items[i] = tr->wanted.items[--tr->wanted.count];
	}
}

/* Returns how many of them had stopped. */
static size_t gather_wanted(struct tracer *tr)
{
	size_t i = 0, before = tr->wanted.count;

	while (i < tr->wanted.count) {
		pid_t tid = tr->wanted.items[i];
		struct thread *t = thread_find(tr, tid);

		if (t && t->want && !gather_one(tr, P_PID, (id_t)tid)) {
			i++;
			continue;
		}
		t = thread_find(tr, tid);
		if (!t || !t->want)
			tr->wanted.items[i] = tr->wanted.items[--tr->wanted.count];
	}
	return before - tr->wanted.count;
}

/* Asks every thread once, when many are reporting at the same time. */
static void gather_all_known(struct tracer *tr)
{
	CP_VEC(pid_t) tids = { 0 };
	uint64_t key, value;
	size_t cursor = 0, i;

	while (cp_map_next(&tr->by_tid, &cursor, &key, &value)) {
		if (!cp_vec_push(&tids, (pid_t)key))
			break;
	}
	for (i = 0; i < tids.count; i++)
		gather_one(tr, P_PID, (id_t)tids.items[i]);
	cp_vec_free(&tids);
}

void wait_gather(struct tracer *tr)
{
	unsigned in_a_row = 0;

	/* While they come in numbers, there are more by now. */
	tr->reports = true;
	if (tr->by_tid.count > FEW_THREADS && gather_wanted(tr) > FEW_THREADS)
		return;
	/* Not without end: there are requests, ticks and a controller to mind. */
	while (in_a_row++ < IN_A_ROW && gather_one(tr, P_ALL, 0)) {
		if (tr->hot && (tr->hit_ns >= tr->look_ns || tr->held.count || !tr->by_tid.count))
			break;
		if (in_a_row % FEW_THREADS == 0 && tr->by_tid.count > FEW_THREADS)
			gather_all_known(tr);
	}
	if (tr->full)
		look_for_waiters(tr);
	tr->reports = in_a_row > IN_A_ROW;
	if (tr->by_tid.count <= FEW_THREADS)
		gather_done(tr);
}
