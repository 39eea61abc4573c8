/* SPDX-License-Identifier: MIT
 *
 * Waiting for the stop of one thread, which is not consumed (stops/stop.c).
 */
#include "tracer/known/await.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"

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

int await_certain(pid_t tid)
{
	siginfo_t si = { 0 };

	while (waitid(P_PID, (id_t)tid, &si, WEXITED | WSTOPPED | WNOWAIT | __WALL))
		if (errno != EINTR)
			return -1;
	return si.si_code == CLD_TRAPPED || si.si_code == CLD_STOPPED ? si.si_status : -1;
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
