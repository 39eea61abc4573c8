/* SPDX-License-Identifier: MIT
 *
 * The handler of SIGTRAP that stays in a program whose tracer was killed: a trap that the
 * tracer had served is none any more, one of the program's own is.
 */
#include "test.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arch/arch.h"
#include "arch/insn.h"

enum { GOOD = 7 };

#ifdef __x86_64__

struct kernel_sigaction {
	void (*handler)(int);
	unsigned long flags;
	void (*restorer)(void);
	uint64_t mask;
};

static void install(void)
{
	size_t size, entry, restorer, area;
	const uint8_t *code = cp_trap_handler(cp_arch_host(), &size, &entry, &restorer, &area);
	uint8_t *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct kernel_sigaction action = { .flags = SA_SIGINFO | SA_NODEFER | 0x04000000 };

	if (!code || p == MAP_FAILED)
		_exit(1);
	memcpy(p, code, size);
	action.handler = (void (*)(int))(uintptr_t)(p + entry);
	action.restorer = (void (*)(void))(uintptr_t)(p + restorer);
	if (syscall(SYS_rt_sigaction, SIGTRAP, &action, NULL, 8))
		_exit(1);
}

/* Behind the breakpoint, and somewhere else. */
extern const char after_trap[], elsewhere[];
__asm__(".pushsection .text\n"
	"	.globl meet_trap\n"
	"meet_trap:\n"
	"	int3\n"
	"after_trap:\n"
	"	movl $1, %eax\n"
	"	ret\n"
	"	nop\n"
	"elsewhere:\n"
	"	movl $7, %eax\n"
	"	ret\n"
	".popsection\n");
int meet_trap(void);

/* The tracer of a program that comes to a breakpoint: it moves it, if it is to, and is gone.
 * As in cprof, the stop stays to be waited for until the thread is to go on. */
static void trace(pid_t program, bool moves)
{
	struct user_regs_struct regs;
	siginfo_t si;

	if (ptrace(PTRACE_SEIZE, program, 0, 0) || kill(program, SIGCONT))
		_exit(1);
	for (;;) {
		if (waitid(P_PID, (id_t)program, &si, WSTOPPED | WNOWAIT | __WALL))
			_exit(1);
		if (si.si_status == SIGTRAP)
			break;
		waitid(P_PID, (id_t)program, &si, WSTOPPED | __WALL);
		ptrace(PTRACE_CONT, program, 0, 0);
	}
	if (ptrace(PTRACE_GETREGS, program, 0, &regs))
		_exit(1);
	if (moves)
		regs.rip = (uintptr_t)elsewhere;
	ptrace(PTRACE_SETREGS, program, 0, &regs);
	kill(getpid(), SIGKILL);
}

static int run(bool moves)
{
	pid_t program = fork(), tracer;
	int status = 0;

	if (!program) {
		prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
		install();
		raise(SIGSTOP);
		_exit(meet_trap());
	}
	waitpid(program, &status, WUNTRACED);
	tracer = fork();
	if (!tracer)
		trace(program, moves);
	waitpid(tracer, &status, 0);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	CHECK(waitpid(program, &status, 0) == program);
	return status;
}

static void test_served(void)
{
	int status = run(true);

	CHECK(WIFEXITED(status));
	CHECK_U64((uint64_t)WEXITSTATUS(status), GOOD);
}

static void test_own(void)
{
	int status = run(false);

	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGTRAP);
}

int main(void)
{
	test_served();
	test_own();
	TEST_MAIN_END;
}
#else
int main(void)
{
	return 77;
}
#endif
