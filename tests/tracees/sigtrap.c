/* SPDX-License-Identifier: MIT
 *
 * A program with a use of its own for SIGTRAP: breakpoint instructions that its
 * handler counts, SIGTRAP queued with a value, ignored, blocked, pending; and
 * children that die of it, since a breakpoint instruction with SIGTRAP blocked
 * or ignored is fatal. The dispositions at the end are those at the beginning.
 */
#include <sys/resource.h>

#include "tracee.h"

static volatile sig_atomic_t traps, queued, value;

static void on_trap(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	if (info->si_code == SI_QUEUE) {
		queued++;
		value = info->si_value.sival_int;
	} else {
		traps++;
	}
}

static NOIPA void own_breakpoint(void)
{
#if defined(__x86_64__)
	__asm__ volatile("int3");
#elif defined(__aarch64__)
	traps++;
#endif
}

static void queue_one(int n)
{
	union sigval v = { .sival_int = n };

	TRY(sigqueue(getpid(), SIGTRAP, v));
}

static int child_with(void (*prepare)(void))
{
	struct rlimit none = { 0, 0 };
	pid_t pid;

	TRY(pid = fork());
	if (!pid) {
		setrlimit(RLIMIT_CORE, &none);
		prepare();
#if defined(__x86_64__)
		__asm__ volatile("int3");
#else
		__asm__ volatile("brk #0");
#endif
		_exit(3);
	}
	return tracee_reap(pid);
}

static void block_it(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

static void ignore_it(void)
{
	signal(SIGTRAP, SIG_IGN);
}

static void default_it(void)
{
	signal(SIGTRAP, SIG_DFL);
}

static void one_round(int n)
{
	struct sigaction handler = { .sa_flags = SA_SIGINFO }, now;
	sigset_t pending, set;
	int before = queued, traps_before = traps;

	handler.sa_sigaction = on_trap;
	sigaction(SIGTRAP, &handler, NULL);
	for (int i = 0; i < 100; i++)
		own_breakpoint();
	CHECK(traps == traps_before + 100, "%d of 100 own breakpoints", traps - traps_before);
	queue_one(n);
	CHECK(queued == before + 1 && value == n, "%d queued, value %d", queued - before, value);
	block_it();
	queue_one(n + 1);
	sigpending(&pending);
	CHECK(sigismember(&pending, SIGTRAP), "blocked SIGTRAP is not pending");
	CHECK(queued == before + 1, "blocked SIGTRAP was delivered");
	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	CHECK(queued == before + 2 && value == n + 1, "unblocked SIGTRAP did not come");
	ignore_it();
	queue_one(n);
	raise(SIGTRAP);
	sigaction(SIGTRAP, NULL, &now);
	CHECK(now.sa_handler == SIG_IGN, "SIGTRAP is not ignored any more");
	CHECK(queued == before + 2, "ignored SIGTRAP was delivered");
	sigaction(SIGTRAP, &handler, NULL);
	CHECK(WTERMSIG(child_with(default_it)) == SIGTRAP, "default: did not die of SIGTRAP");
	CHECK(WTERMSIG(child_with(ignore_it)) == SIGTRAP, "ignored: did not die of SIGTRAP");
	CHECK(WTERMSIG(child_with(block_it)) == SIGTRAP, "blocked: did not die of SIGTRAP");
}

int main(int argc, char **argv)
{
	tracee_begin("sigtrap", argc, argv, (struct tracee_options){ .rounds = 10 });
	while (tracee_more())
		one_round((int)tracee_round);
	return tracee_ok("every SIGTRAP went where it belongs");
}
