/* SPDX-License-Identifier: MIT
 *
 * While hits follow each other, the loop is as short as can be:
 *
 *     waitid ─► registers ─► memory ─► pc ─► go on ─► waitid ...
 *
 * without signalfd, poll and clocks in between. A timer's signal, once a
 * millisecond, ends a waitid() in which nothing happens, so that requests,
 * ticks and the controller are looked after. It ends when no hit has come for
 * a while.
 *
 * A stop is cheapest on the CPU of the thread that stops: then two switches of
 * context are all there is, while waking another CPU takes several times as
 * long. So as long as one thread alone hits, we go where it is.
 *
 * But who is let go there is put on another CPU if one is idle, for we are still
 * on its own. If the thread does not stay with us, we go elsewhere, and as long as
 * there is an idle CPU, look for its next stop for a moment before we sleep. Then
 * it need not wake us, and keeps its CPU.
 */
#include "tracer/stops/hot.h"

#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "tracer/known/proc.h"

#define LOOK_NS CP_NS_PER_MS
/* At a high rate of samples not more often either: the timer's signals, every 25 us at
 * 10 kHz, took three quarters of our time. */
#define LOOK_LEAST_NS (CP_NS_PER_MS / 10)
#define QUIET_NS (2 * CP_NS_PER_MS)
#define END_NS (10 * CP_NS_PER_MS)
#define TIMER_SIGNAL SIGRTMIN
/* Hits of one thread after which we move to its CPU, and look again where
 * that is. */
#define MOVE_AFTER 64
#define MOVE_AGAIN 4096
/* The next stop is looked for without sleeping for so long, if the last hits were no
 * further apart. */
#define SPIN_NS (CP_NS_PER_MS / 5)
#define BUSY_LOOKS 8 /* in a row: then there is no idle CPU any more */

static void wake_up(int sig)
{
	(void)sig; /* its coming is all: waitid() returns */
}

static bool make_timer(struct tracer *tr)
{
	struct sigaction action = { .sa_handler = wake_up };
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = TIMER_SIGNAL };
	sigset_t set;

	if (tr->has_timer)
		return true;
	event._sigev_un._tid = gettid();
	sigemptyset(&set);
	sigaddset(&set, TIMER_SIGNAL);
	tr->has_timer = !sigaction(TIMER_SIGNAL, &action, NULL) &&
			!timer_create(CLOCK_MONOTONIC, &event, &tr->timer) &&
			!sigprocmask(SIG_UNBLOCK, &set, NULL);
	return tr->has_timer;
}

static void set_timer(struct tracer *tr, uint64_t ns)
{
	struct itimerspec every = { cp_timespec(ns), cp_timespec(ns) };

	timer_settime(tr->timer, 0, &every, NULL);
}

static uint64_t look_period(const struct tracer *tr)
{
	uint64_t quarter = tr->hz ? tr->period_ns / 4 : LOOK_NS;

	quarter = quarter > LOOK_LEAST_NS ? quarter : LOOK_LEAST_NS;
	return quarter < LOOK_NS ? quarter : LOOK_NS;
}

static void begin(struct tracer *tr)
{
	if (tr->hot || tr->ending || !make_timer(tr))
		return;
	tr->hot = true;
	set_timer(tr, look_period(tr));
}

static void move_to(struct tracer *tr, pid_t tid)
{
	int cpu = proc_cpu_of(tid);
	cpu_set_t set;

	CPU_ZERO(&set);
	if (cpu < 0)
		return;
	CPU_SET(cpu, &set);
	tr->on_its_cpu = !sched_setaffinity(0, sizeof(set), &set);
}

static void move_anywhere(struct tracer *tr)
{
	if (tr->on_its_cpu || tr->apart)
		sched_setaffinity(0, sizeof(tr->cpus), &tr->cpus);
	tr->on_its_cpu = tr->apart = false;
	tr->hits_in_a_row = 0;
}

/* ---- away from it ---- */

static bool is_idle_somewhere(const struct tracer *tr)
{
	return proc_runnable() <= CPU_COUNT(&tr->cpus);
}

static void move_apart(struct tracer *tr, pid_t tid)
{
	int cpu = proc_cpu_of(tid);
	cpu_set_t set = tr->cpus;

	tr->strays |= tr->on_its_cpu && cpu >= 0 && cpu != sched_getcpu();
	if (!tr->hot || !tr->strays || cpu < 0 || !is_idle_somewhere(tr))
		return;
	CPU_CLR(cpu, &set);
	if (!CPU_COUNT(&set) || sched_setaffinity(0, sizeof(set), &set))
		return;
	tr->on_its_cpu = false;
	tr->apart = true;
	tr->busy_looks = 0;
}

static void stay_apart(struct tracer *tr)
{
	tr->busy_looks = is_idle_somewhere(tr) ? 0 : tr->busy_looks + 1;
	if (tr->busy_looks < BUSY_LOOKS)
		return;
	move_anywhere(tr);
	tr->strays = false;
}

void hot_spin(const struct tracer *tr)
{
	siginfo_t si = { 0 };
	uint64_t until;

	if (!tr->apart || tr->hit_gap_ns > SPIN_NS)
		return;
	until = cp_now() + SPIN_NS;
	while (!waitid(P_PID, (id_t)tr->hit_tid, &si,
		       WEXITED | WSTOPPED | WNOWAIT | WNOHANG | __WALL) &&
	       !si.si_pid && cp_now() < until)
		;
}

/* ---- hits ---- */

static void move(struct tracer *tr, pid_t tid)
{
	if (tr->strays || tr->on_its_cpu)
		move_apart(tr, tid);
	if (!tr->apart)
		move_to(tr, tid);
}

void hot_hit(struct tracer *tr, const struct thread *t, uint64_t now)
{
	tr->hit = true;
	tr->hit_gap_ns = now - tr->hit_ns;
	tr->hit_ns = now;
	if (t->tid != tr->hit_tid) {
		tr->hit_tid = t->tid;
		tr->strays = false;
		move_anywhere(tr);
		return;
	}
	tr->hits_in_a_row++;
	if (tr->hits_in_a_row == MOVE_AFTER || tr->hits_in_a_row == 2 * MOVE_AFTER ||
	    tr->hits_in_a_row % MOVE_AGAIN == MOVE_AGAIN - 1)
		move(tr, t->tid);
}

void hot_look(struct tracer *tr, uint64_t now)
{
	tr->look_ns = now + look_period(tr);
	if (tr->full || tr->held.count || (tr->hot && now - tr->hit_ns > END_NS))
		hot_end(tr);
	else if (!tr->hot && tr->hit && now - tr->hit_ns < QUIET_NS)
		begin(tr);
	if (tr->apart)
		stay_apart(tr);
	tr->hit = false;
}

void hot_end(struct tracer *tr)
{
	if (!tr->hot)
		return;
	set_timer(tr, 0);
	tr->hot = false;
	tr->reports = true; /* SIGCHLDs went unnoticed */
	move_anywhere(tr);
}
