/* SPDX-License-Identifier: MIT
 *
 * The least that a breakpoint at a function's entry and one at its return can
 * cost under ptrace: a loop that emulates `push %rbx` and `ret` and records
 * nothing.   bare [--pin] ENTRY RET CMD [ARG...]
 * ENTRY and RET are offsets in the file of CMD, a position-independent
 * program without threads. --pin: both on one CPU.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

static uint64_t base_of(pid_t pid)
{
	char path[64];
	unsigned long long base = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%llx", &base) != 1)
		exit(3);
	fclose(f);
	return base;
}

static void arm(pid_t pid, uint64_t at)
{
	long word = ptrace(PTRACE_PEEKDATA, pid, at, 0);

	ptrace(PTRACE_POKEDATA, pid, at, (word & ~0xffL) | 0xcc);
}

static void step(pid_t pid, uint64_t entry, struct user_regs_struct *u)
{
	if (u->rip == entry + 1) {
		u->rsp -= 8;
		ptrace(PTRACE_POKEDATA, pid, u->rsp, u->rbx);
	} else {
		u->rip = (uint64_t)ptrace(PTRACE_PEEKDATA, pid, u->rsp, 0);
		u->rsp += 8;
	}
}

static int loop(pid_t pid, uint64_t entry, uint64_t ret)
{
	struct user_regs_struct u;
	int status, signal;

	for (;;) {
		if (waitpid(pid, &status, __WALL) != pid || !WIFSTOPPED(status))
			return WIFEXITED(status) ? WEXITSTATUS(status) : 4;
		signal = WSTOPSIG(status);
		if (signal == SIGTRAP) {
			ptrace(PTRACE_GETREGS, pid, 0, &u);
			if (u.rip == entry + 1 || u.rip == ret + 1) {
				step(pid, entry, &u);
				ptrace(PTRACE_SETREGS, pid, 0, &u);
			}
			signal = 0;
		}
		ptrace(PTRACE_CONT, pid, 0, (long)signal);
	}
}

int main(int argc, char **argv)
{
	int pin = argc > 1 && !strcmp(argv[1], "--pin"), status;
	uint64_t base, entry, ret;
	cpu_set_t one;
	pid_t pid;

	argv += 1 + pin;
	if (argc < 4 + pin)
		return 2;
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	if (pin)
		sched_setaffinity(0, sizeof(one), &one);
	pid = fork();
	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		execv(argv[2], argv + 2);
		_exit(127);
	}
	waitpid(pid, &status, __WALL);
	base = base_of(pid);
	entry = base + strtoull(argv[0], NULL, 0);
	ret = base + strtoull(argv[1], NULL, 0);
	arm(pid, entry);
	arm(pid, ret);
	ptrace(PTRACE_CONT, pid, 0, 0);
	return loop(pid, entry, ret);
}
