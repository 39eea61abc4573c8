/* SPDX-License-Identifier: MIT
 *
 * A program with a use of its own for SIGTRAP: breakpoint instructions that its
 * handler counts, SIGTRAP queued with a value, ignored, blocked, pending; and
 * children that die of it, since a breakpoint instruction with SIGTRAP blocked
 * or ignored is fatal; a handler that is for once; an exec that keeps it
 * ignored. What was set is what sigaction() says.
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

static NOIPA void queue_here(int n)
{
	union sigval v = { .sival_int = n };

	TRY(pthread_sigqueue(pthread_self(), SIGTRAP, v));
}

static NOIPA bool is_blocked(void)
{
	sigset_t set;

	sigprocmask(SIG_BLOCK, NULL, &set);
	return sigismember(&set, SIGTRAP);
}

static volatile sig_atomic_t usr1_blocked;

static void on_usr1(int sig)
{
	(void)sig;
	usr1_blocked = is_blocked();
}

/* A handler that runs with everything blocked. */
static void all_blocked(void)
{
	struct sigaction handler = { .sa_handler = on_usr1 };

	sigfillset(&handler.sa_mask);
	sigaction(SIGUSR1, &handler, NULL);
	usr1_blocked = 0;
	raise(SIGUSR1);
	CHECK(usr1_blocked, "SIGTRAP was not blocked in a handler that blocks all");
	CHECK(!is_blocked(), "SIGTRAP is blocked after a handler");
}

static void for_once(int n)
{
	struct sigaction handler = { .sa_flags = SA_SIGINFO | SA_RESETHAND | SA_NODEFER }, now;
	int before = queued;

	handler.sa_sigaction = on_trap;
	sigaction(SIGTRAP, &handler, NULL);
	queue_one(n);
	CHECK(queued == before + 1, "%d queued for a handler for once", queued - before);
	sigaction(SIGTRAP, NULL, &now);
	CHECK(now.sa_handler == SIG_DFL, "a handler for once is still there");
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

static void exec_ignoring(void)
{
	ignore_it();
	execl("/proc/self/exe", "sigtrap", "--mode=ignored", NULL);
}

static void default_it(void)
{
	signal(SIGTRAP, SIG_DFL);
}

static void one_round(int n)
{
	struct sigaction handler = { .sa_flags = SA_SIGINFO }, now;
	sigset_t pending, set;
	int before = queued, traps_before = traps, ignored;

	handler.sa_sigaction = on_trap;
	sigaddset(&handler.sa_mask, SIGUSR2);
	sigaction(SIGTRAP, &handler, NULL);
	sigaction(SIGTRAP, NULL, &now);
	CHECK(now.sa_sigaction == on_trap && now.sa_flags & SA_SIGINFO &&
		      sigismember(&now.sa_mask, SIGUSR2) && !sigismember(&now.sa_mask, SIGUSR1),
	      "the action is not the one that was set");
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
	block_it();
	queue_here(n + 2);
	CHECK(is_blocked(), "SIGTRAP is not blocked any more");
	CHECK(queued == before + 2, "blocked SIGTRAP was delivered to the thread");
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	CHECK(queued == before + 3 && value == n + 2, "the thread's SIGTRAP did not come");
	all_blocked();
	ignore_it();
	queue_one(n);
	raise(SIGTRAP);
	sigaction(SIGTRAP, NULL, &now);
	CHECK(now.sa_handler == SIG_IGN, "SIGTRAP is not ignored any more");
	CHECK(queued == before + 3, "ignored SIGTRAP was delivered");
	for_once(n);
	sigaction(SIGTRAP, &handler, NULL);
	CHECK(WTERMSIG(child_with(default_it)) == SIGTRAP, "default: did not die of SIGTRAP");
	CHECK(WTERMSIG(child_with(ignore_it)) == SIGTRAP, "ignored: did not die of SIGTRAP");
	CHECK(WTERMSIG(child_with(block_it)) == SIGTRAP, "blocked: did not die of SIGTRAP");
	ignored = child_with(exec_ignoring);
	CHECK(WEXITSTATUS(ignored) == 42, "ignored: not so after an exec: status %x", ignored);
}

int main(int argc, char **argv)
{
	tracee_begin("sigtrap", argc, argv, (struct tracee_options){ .rounds = 10 });
	if (opt.mode) {
		struct sigaction now;

		sigaction(SIGTRAP, NULL, &now);
		return now.sa_handler == SIG_IGN ? 42 : now.sa_handler == SIG_DFL ? 1 : 2;
	}
	while (tracee_more())
		one_round((int)tracee_round);
	return tracee_ok("every SIGTRAP went where it belongs");
}
