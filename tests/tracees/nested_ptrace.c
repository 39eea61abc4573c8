/* SPDX-License-Identifier: MIT
 *
 * A tracer itself: counts the system calls and the single steps of a child of
 * its own. Who is traced can't be traced a second time, so it fails under a
 * profiler that follows children, and says so with EPERM; let go, they work.
 * --mode=self: PTRACE_TRACEME as a program against debuggers does it; the line
 * tells whether it was traced.
 */
#include <sys/ptrace.h>

#include "tracee.h"

static void self_check(void)
{
	if (ptrace(PTRACE_TRACEME, 0, 0, 0) == -1) {
		CHECK(errno == EPERM, "PTRACE_TRACEME: %s", strerror(errno));
		(void)tracee_ok("traced");
	} else {
		(void)tracee_ok("not traced");
	}
}

static void check_child(void)
{
	long calls = 0;
	int status;
	pid_t pid;

	TRY(pid = fork());
	if (!pid) {
		if (ptrace(PTRACE_TRACEME, 0, 0, 0) == -1)
			_exit(errno == EPERM ? 200 : 201);
		raise(SIGSTOP);
		for (int i = 0; i < 10; i++)
			syscall(SYS_getppid);
		_exit(5);
	}
	status = tracee_reap(-1);
	CHECK(!WIFEXITED(status), "PTRACE_TRACEME: %s",
	      WEXITSTATUS(status) == 200 ? "EPERM" : "failed");
	CHECK(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP, "status 0x%x", (unsigned)status);
	TRY(ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL));
	for (int i = 0; i < 50; i++) {
		TRY(ptrace(PTRACE_SINGLESTEP, pid, 0, 0));
		TRY(waitpid(pid, &status, 0));
		CHECK(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP, "step %d: 0x%x", i,
		      (unsigned)status);
	}
	for (;;) {
		TRY(ptrace(PTRACE_SYSCALL, pid, 0, 0));
		TRY(waitpid(pid, &status, 0));
		if (!WIFSTOPPED(status))
			break;
		CHECK(WSTOPSIG(status) == (SIGTRAP | 0x80), "stopped by %d", WSTOPSIG(status));
		calls++;
	}
	CHECK(status == 5 << 8, "child's status 0x%x", (unsigned)status);
	CHECK(calls >= 2, "%ld system call stops", calls);
}

int main(int argc, char **argv)
{
	tracee_begin("nested_ptrace", argc, argv, (struct tracee_options){ .rounds = 20 });
	if (opt.mode) {
		tracee_ready();
		self_check();
		return 0;
	}
	while (tracee_more())
		check_child();
	return tracee_ok("traced its own children");
}
