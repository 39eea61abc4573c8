/* SPDX-License-Identifier: MIT
 *
 * The way of a stop, from top to bottom: wait, why, what to do, go on.
 *
 *   waitid(WNOWAIT) ──► exit?  ─────────────► reap, forget
 *         │
 *         └─ stop: status = signal | event << 8
 *              event 0            the program's signal is about to be delivered,
 *                                 or, with SIGTRAP, a breakpoint was hit
 *              SIGTRAP | 0x80         the border of a system call: ours, or one that is
 *                                     watched (calls/watch.c)
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
 * program. Only what is left stopped on purpose (held.c) is consumed.
 *
 * An interrupt and another stop may come in either order, and the interrupt's
 * may never come: any stop ends a pending interrupt (kernel: ptrace_stop()
 * clears JOBCTL_TRAP_STOP). A thread or process that is gone (ESRCH) is an
 * event, not an error: its exit will be, or has been, reported.
 */
#include "tracer/stops/stop.h"

#include <signal.h>
#include <sys/ptrace.h>

#include "base/clock.h"
#include "tracer/calls/finish.h"
#include "tracer/calls/restart.h"
#include "tracer/calls/watch.h"
#include "tracer/captures/capture.h"
#include "tracer/captures/perf_take.h"
#include "tracer/hits/detour.h"
#include "tracer/hits/fault.h"
#include "tracer/hits/gone.h"
#include "tracer/hits/hit.h"
#include "tracer/known/await.h"
#include "tracer/known/emit.h"
#include "tracer/known/lookup.h"
#include "tracer/known/proc.h"
#include "tracer/lives/adopt.h"
#include "tracer/lives/threads.h"
#include "tracer/memory/rings.h"
#include "tracer/memory/space.h"
#include "tracer/memory/unslot.h"
#include "tracer/signals/sigmask.h"
#include "tracer/signals/trap.h"
#include "tracer/stops/exec.h"
#include "tracer/stops/go.h"
#include "tracer/stops/held.h"
#include "tracer/stops/hot.h"
#include "tracer/stops/snapshot.h"
#include "tracer/stops/step.h"

/* Room for all that one stop or death reports, but for what asks for room itself. */
#define BRIM (UINT64_C(64) << 10)
/* For a thread to get a signal. */
#define GETS_NS (CP_NS_PER_MS / 5)

/* A stop that is being served. */
struct stop {
	struct thread *t;
	int signal, event;
	uint64_t seen_ns;
	unsigned want; /* WANT_* that it was captured for, until that is published */
	struct cp_event_sample *sample; /* NULL: none, or no room for it */
	uint16_t hit; /* CP_HIT_*, HIT_HOLD */
};

/* What comes next. */
enum next {
	NEXT_GO, /* it goes on */
	NEXT_GETS, /* the same, and nobody else does before it has got a signal */
	NEXT_SIGNAL, /* the same, with the program's signal */
	NEXT_HIT, /* the same, from a breakpoint, unless it is to be held */
	NEXT_LISTEN, /* it stays in a stop of job control */
	NEXT_STAYS, /* it is left stopped on purpose */
	NEXT_GONE, /* it is not traced any more */
	NEXT_FULL, /* it is served when there is room in the ring */
};

/* Why it has stopped. */
enum why {
	WHY_BORDER, /* of a system call that we made */
	WHY_TRAP, /* SIGTRAP: a breakpoint, or the program's own */
	WHY_SIGNAL, /* of the program's own */
	WHY_INTERRUPT, /* ours, or a newborn's first stop */
	WHY_GROUP, /* job control */
	WHY_BIRTH, /* of a child, or of a thread */
	WHY_EXEC,
	WHY_EXIT,
	WHY_EVENT, /* another one of the kernel's */
};

static bool serve(struct tracer *tr, struct thread *t, int status);
static void on_death(struct tracer *tr, struct thread *t, const siginfo_t *si);

static enum next at_border(struct tracer *tr, struct stop *s);
static enum next at_trap(struct tracer *tr, struct stop *s);
static enum next at_signal(struct tracer *tr, struct stop *s);
static enum next at_interrupt(struct tracer *tr, struct stop *s);
static enum next at_group_stop(struct tracer *tr, struct stop *s);
static enum next at_birth(struct tracer *tr, struct stop *s);
static enum next at_exec(struct tracer *tr, struct stop *s);
static enum next at_exit(struct tracer *tr, struct stop *s);
static enum next at_event(struct tracer *tr, struct stop *s);

/* What to do. */
/* clang-format off */
static enum next (*const reactions[])(struct tracer *tr, struct stop *s) = {
	[WHY_BORDER] = at_border,
	[WHY_TRAP] = at_trap,
	[WHY_SIGNAL] = at_signal,
	[WHY_INTERRUPT] = at_interrupt,
	[WHY_GROUP] = at_group_stop,
	[WHY_BIRTH] = at_birth,
	[WHY_EXEC] = at_exec,
	[WHY_EXIT] = at_exit,
	[WHY_EVENT] = at_event,
};
/* clang-format on */

static void go(struct tracer *tr, struct stop *s, enum next next);

/* ---- wait ---- */

/* It comes before others go on, and take what it was woken for. */
static bool watched_stopped(struct tracer *tr)
{
	siginfo_t si = { 0 };

	if (!tr->watched)
		return false;
	if (waitid(P_PID, (id_t)tr->watched, &si, WEXITED | WSTOPPED | WNOWAIT | WNOHANG | __WALL))
		tr->watched = 0; /* it is gone */
	return si.si_pid != 0;
}

bool stop_serve(struct tracer *tr, idtype_t type, id_t id)
{
	int options = WEXITED | WSTOPPED | WNOWAIT | __WALL;
	siginfo_t si = { 0 };
	struct thread *t;

	if (type == P_ALL && watched_stopped(tr))
		return stop_serve(tr, P_PID, (id_t)tr->watched);
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
		held_newborn_seen(tr, si.si_pid);
	if (si.si_code == CLD_EXITED || si.si_code == CLD_KILLED || si.si_code == CLD_DUMPED) {
		on_death(tr, t, &si);
		return true;
	}
	if (!t)
		t = adopt(tr, si.si_pid);
	if (t)
		return serve(tr, t, si.si_status);
	ptrace(PTRACE_CONT, si.si_pid, 0, 0L);
	return true;
}

bool stop_serve_one(struct tracer *tr, pid_t tid)
{
	return stop_serve(tr, P_PID, (id_t)tid);
}

static void on_death(struct tracer *tr, struct thread *t, const siginfo_t *si)
{
	int status = si->si_status;
	siginfo_t reaped;

	if (si->si_code == CLD_EXITED)
		status = (status & 0xff) << 8;
	else if (si->si_code == CLD_DUMPED)
		status |= 0x80;
	/* schedstat can be read of a zombie, so account before reaping. */
	if (t)
		thread_remove(tr, t, status);
	waitid(P_PID, (id_t)si->si_pid, &reaped, WEXITED | WNOHANG | __WALL);
}

/* ---- why ---- */

static enum why why_of(int status)
{
	if (status == (SIGTRAP | 0x80)) /* no signal, though it looks like one */
		return WHY_BORDER;
	switch (status >> 8) {
	case 0:
		return status == SIGTRAP ? WHY_TRAP : WHY_SIGNAL;
	case PTRACE_EVENT_STOP:
		return (status & 0xff) == SIGTRAP ? WHY_INTERRUPT : WHY_GROUP;
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE:
		return WHY_BIRTH;
	case PTRACE_EVENT_EXEC:
		return WHY_EXEC;
	case PTRACE_EVENT_EXIT:
		return WHY_EXIT;
	default:
		return WHY_EVENT;
	}
}

/* False: there is no room for it. */
static bool serve(struct tracer *tr, struct thread *t, int status)
{
	struct stop s = { .t = t, .signal = status & 0xff, .event = status >> 8 };
	enum why why = why_of(status);
	enum next next;

	if (t->kept_ns)
		tr->link->shared->stats.full_ns += go_count_kept(tr, t, cp_now());
	next = reactions[why](tr, &s);
	if (why != WHY_BORDER)
		tr->full = next == NEXT_FULL;
	go(tr, &s, next);
	return next != NEXT_FULL;
}

/* ---- what to do ---- */

/* Captures if that was asked for at the next stop. From here until it is published
 * nothing else may be written to the ring. */
static void capture(struct tracer *tr, struct stop *s)
{
	s->want = s->t->want;
	s->t->want = 0;
	if (s->want & (WANT_SAMPLE | WANT_SNAPSHOT))
		s->sample = capture_stopped(tr, s->t, s->want);
}

static void publish(struct tracer *tr, struct stop *s)
{
	go_finish(tr, s->t, s->sample, s->want, s->seen_ns);
	s->want = 0;
}

static enum next at_border(struct tracer *tr, struct stop *s)
{
	bool gets;

	if (!s->t->watch.calls)
		return NEXT_GO;
	s->seen_ns = cp_now();
	gets = watch_border(tr, s->t);
	go_count(tr, s->t, cp_now() - s->seen_ns);
	return gets ? NEXT_GETS : NEXT_GO;
}

static enum next at_trap(struct tracer *tr, struct stop *s)
{
	s->seen_ns = cp_now();
	switch (hit_serve(tr, s->t, s->seen_ns, &s->hit)) {
	case HIT_FULL:
		return NEXT_FULL;
	case HIT_DONE:
		return NEXT_HIT;
	case HIT_NONE:
		break;
	}
	return at_signal(tr, s);
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

static enum next at_signal(struct tracer *tr, struct stop *s)
{
	bool told;

	if (step_goes_on(s->t, s->signal) || detour_fault(s->t, s->signal)) {
		s->seen_ns = cp_now();
		return NEXT_HIT;
	}
	if (detour_base_fault(tr, s->t, s->signal)) {
		s->seen_ns = cp_now();
		s->hit = HIT_HOLD;
		return NEXT_HIT;
	}
	told = finish_told(s->t, s->signal);
	if (!told && !report_signal(tr, s->t, s->signal) && !tr->ending)
		return NEXT_FULL;
	s->seen_ns = cp_now();
	if (!told)
		watch_signal(tr, s->t, s->signal);
	tr->link->shared->stats.signals++;
	if (tr->counts && fault_tell(tr, s->t, s->signal, s->seen_ns)) {
		s->t->signal = s->signal;
		s->hit = HIT_HOLD;
		return NEXT_HIT;
	}
	capture(tr, s);
	if (told) {
		restart_told(tr, s->t);
		watch_calls(s->t, s->signal);
	}
	return told ? NEXT_GO : NEXT_SIGNAL;
}

/* A stop as we leave, which tells that the thread is on no way to another. */
static void pass(struct thread *t)
{
	if (proc_will_get(t->tid, SIGTRAP)) {
		t->want = WANT_PASS; /* not yet, then: it comes next */
		return;
	}
	unslot_thread(t);
	rings_forget(t->process->space->rings, t->tid);
	trap_left(t);
	watch_end(t);
	t->clear = !t->process->space->armed;
}

static enum next first_of_program(struct tracer *tr, struct thread *t)
{
	switch (exec_begin(tr, t)) {
	case EXEC_GOES:
		return NEXT_GO;
	case EXEC_HELD:
		return NEXT_STAYS;
	case EXEC_GONE:
		break;
	}
	return NEXT_GONE;
}

static enum next at_interrupt(struct tracer *tr, struct stop *s)
{
	struct thread *t = s->t;

	s->seen_ns = cp_now();
	if (snapshot_park(tr, t, t->want, s->seen_ns))
		return NEXT_STAYS;
	if (t->exec_stop && !t->process->guest)
		exec_announce(tr, t);
	capture(tr, s);
	/* Ours, or a notice of job control that only the traced get; but the end of a
	 * group-stop ends calls untraced, too. */
	if (t->state != THREAD_LISTENING)
		restart_repair(tr, t, capture_regs(t, s->sample));
	if (s->want & WANT_PASS)
		pass(t);
	return t->exec_stop ? first_of_program(tr, t) : NEXT_GO;
}

static enum next at_group_stop(struct tracer *tr, struct stop *s)
{
	s->seen_ns = cp_now();
	capture(tr, s);
	return NEXT_LISTEN;
}

/* Events of the kernel's: a sample comes before what they write to the ring. */
static enum next at_event(struct tracer *tr, struct stop *s)
{
	s->seen_ns = cp_now();
	capture(tr, s);
	publish(tr, s);
	return NEXT_GO;
}

static enum next at_birth(struct tracer *tr, struct stop *s)
{
	at_event(tr, s);
	sigmask_stand_in(s->t);
	return held_for_birth(tr, s->t) ? NEXT_STAYS : NEXT_GO;
}

static enum next at_exec(struct tracer *tr, struct stop *s)
{
	at_event(tr, s);
	return exec_done(tr, s->t) ? NEXT_GO : NEXT_GONE;
}

/* The leader is about to exit: its process's memory goes with it, so let the
 * controller first look up what the samples so far refer to, and read what the
 * program announced last. */
static enum next at_exit(struct tracer *tr, struct stop *s)
{
	const struct process *p = s->t->process;
	uint64_t until;

	perf_take(tr);
	at_event(tr, s);
	if (s->t->tid == p->pid)
		gone_look_last(tr, p);
	until = p->sample_end;
	if (p->space->annotated.count || (tr->trace_flags & CP_TRACE_EXITS && !p->guest)) {
		emit(tr, CP_EVENT_EXITING, p->pid, s->t->tid);
		until = tr->link->shared->head;
	}
	return held_until(tr, s->t, until, HELD_NS) ? NEXT_STAYS : NEXT_GO;
}

/* ---- go on ---- */

/* A hit was captured, and the thread's registers are set. */
static void go_from_hit(struct tracer *tr, struct stop *s)
{
	struct thread *t = s->t;
	uint64_t hold_ns = s->hit & HIT_HOLD ? HELD_READ_NS : HELD_NS, now;

	capture(tr, s);
	if (s->hit & (HIT_HOLD | CP_HIT_WANTS_RETURN) &&
	    held_until(tr, t, tr->link->shared->head, hold_ns))
		t->user_stop = !t->signal;
	else
		go_resume(tr, t);
	/* The thread may be running, on our CPU even, before we are again. */
	now = t->state == THREAD_HELD ? cp_now() : t->resumed_ns;
	if (t->kept_ns)
		t->kept_ns = now;
	go_count(tr, t, now - s->seen_ns);
	tr->link->shared->stats.hit_ns += now - s->seen_ns;
	if (s->sample)
		capture_finish(tr, t, s->sample, s->want);
	cp_ring_kick(tr->link, false);
	hot_hit(tr, t, now);
}

/* Lets go, and only then does the accounting. */
static void go(struct tracer *tr, struct stop *s, enum next next)
{
	switch (next) {
	case NEXT_GO:
		go_on(s->t, 0);
		break;
	case NEXT_GETS:
		go_on(s->t, 0);
		await_stop(s->t->tid, GETS_NS);
		break;
	case NEXT_SIGNAL:
		go_with(tr, s->t, s->signal);
		break;
	case NEXT_HIT:
		go_from_hit(tr, s);
		return;
	case NEXT_LISTEN:
		go_listen(s->t);
		break;
	case NEXT_STAYS:
		break;
	case NEXT_FULL:
		s->t->kept_ns = cp_now();
		return;
	case NEXT_GONE:
		return;
	}
	publish(tr, s);
}
