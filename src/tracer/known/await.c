/* SPDX-License-Identifier: MIT
 *
 * Waiting for the stop of one thread, which is not consumed (stops/stop.c).
 */
#include "tracer/known/await.h"

#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"
#include "tracer/known/proc.h"

#define AT_ONCE 32 /* looks, before others get the CPU for a while */
#define ENDS 8 /* such whiles, before it is asked whether the thread has ended */

int await_stop(pid_t tid, uint64_t ns)
{
	uint64_t deadline = cp_now() + ns;

	for (;;) {
		const struct timespec nap = { 0, 20000 };
		siginfo_t si = { 0 };

		if (waitid(P_PID, (id_t)tid, &si, WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL))
			return -1;
		if (si.si_pid && (si.si_code == CLD_TRAPPED || si.si_code == CLD_STOPPED))
			return si.si_status;
		if (si.si_pid || cp_now() > deadline)
			return -1;
		nanosleep(&nap, NULL);
	}
}

/* A call that waits in the kernel would wait for ever for the first thread of a process that
 * was killed: it has ended when its other threads were waited for, which nobody does
 * meanwhile. */
int await_certain(pid_t tid)
{
	const struct timespec nap = { 0, 20000 };
	unsigned n;

	for (n = 1;; n++) {
		siginfo_t si = { 0 };

		if (waitid(P_PID, (id_t)tid, &si, WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL))
			return -1;
		if (si.si_pid)
			return si.si_code == CLD_TRAPPED || si.si_code == CLD_STOPPED ? si.si_status
										      : -1;
		if (n % AT_ONCE)
			sched_yield();
		else if (n % (AT_ONCE * ENDS) == 0 && proc_has_ended(tid))
			return -1;
		else
			nanosleep(&nap, NULL);
	}
}

bool await_is_event(int status)
{
	return status >= 0 && status >> 8 == PTRACE_EVENT_STOP;
}

void await_consume(pid_t tid)
{
	siginfo_t si;

	waitid(P_PID, (id_t)tid, &si, WSTOPPED | WNOHANG | __WALL);
}
