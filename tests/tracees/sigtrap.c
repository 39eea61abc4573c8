/* SPDX-License-Identifier: MIT
 *
 * A program with a use of its own for SIGTRAP: breakpoint instructions that its
 * handler counts, SIGTRAP queued with a value, ignored, blocked, pending; and
 * children that die of it, since a breakpoint instruction with SIGTRAP blocked
 * or ignored is fatal, also where one that was sent waits; a handler that is for
 * once; one that runs with SIGTRAP blocked or not, on the alternate stack or not, as
 * it was asked for; an exec that keeps it ignored. What was set is what sigaction()
 * says.
 */
#include <sys/mman.h>
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

/* Set again each time, and never asked for in between. */
static void for_once_again(void)
{
	struct sigaction handler = { .sa_flags = SA_SIGINFO | SA_RESETHAND };
	int before = traps;

	handler.sa_sigaction = on_trap;
	for (int i = 0; i < 20; i++) {
		sigaction(SIGTRAP, &handler, NULL);
		raise(SIGTRAP);
		sigaction(SIGTRAP, &handler, NULL);
		own_breakpoint();
	}
	CHECK(traps == before + 40, "%d of 40 signals for handlers for once", traps - before);
}

#define STACK ((size_t)16 << 10)
#define DEEP ((size_t)100 << 10)

static volatile sig_atomic_t nested, deepest, on_stack;
static volatile uintptr_t handler_frame;
static char *alternate;

/* Needs more stack than the alternate one has. */
static NOIPA char use_stack(char x)
{
	volatile char room[DEEP];

	for (size_t i = 0; i < sizeof(room); i += 1024)
		room[i] = x;
	return room[x & 1023];
}

static void on_nested(int sig)
{
	stack_t stack;

	nested++;
	deepest = nested > deepest ? nested : deepest;
	handler_frame = (uintptr_t)__builtin_frame_address(0);
	sigaltstack(NULL, &stack);
	if (stack.ss_flags & SS_ONSTACK)
		on_stack++;
	else
		use_stack((char)sig);
	traps++;
	if (traps % 3)
		raise(SIGTRAP);
	CHECK(is_blocked() == (deepest == 1), "deepest %d, but SIGTRAP is%s blocked", deepest,
	      deepest == 1 ? " not" : "");
	nested--;
}

/* Three signals, two of them sent by the handler of the one before. */
static void as_flags_say(int flags)
{
	struct sigaction handler = { .sa_handler = on_nested, .sa_flags = flags };
	int stacked = flags & SA_ONSTACK ? 3 : 0, deep = flags & SA_NODEFER ? 3 : 1;
	uintptr_t here = (uintptr_t)__builtin_frame_address(0), first;

	sigaction(SIGTRAP, &handler, NULL);
	for (int i = 0; i < 2; i++) {
		traps = nested = deepest = on_stack = 0;
		if (i)
			raise(SIGTRAP);
		else
			own_breakpoint();
#if defined(__x86_64__)
		CHECK(traps == 3 && deepest == deep && on_stack == stacked,
		      "flags %#x: %d signals, %d nested, %d on the alternate stack",
		      (unsigned)flags, traps, deepest, on_stack);
#endif
		first = handler_frame;
		CHECK(stacked || here - first < DEEP, "flags %#x: the handler is %#lx away",
		      (unsigned)flags, (unsigned long)(here - first));
	}
}

/* A page that can't be touched lies below. */
static void flags_of_handlers(void)
{
	stack_t stack = { .ss_size = STACK }, none = { .ss_flags = SS_DISABLE };

	alternate = mmap(NULL, STACK + 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(alternate != MAP_FAILED, "no memory for a stack");
	TRY(mprotect(alternate + 4096, STACK, PROT_READ | PROT_WRITE));
	stack.ss_sp = alternate + 4096;
	TRY(sigaltstack(&stack, NULL));
	as_flags_say(0);
	as_flags_say(SA_NODEFER);
	as_flags_say(SA_ONSTACK);
	as_flags_say(SA_ONSTACK | SA_NODEFER);
	TRY(sigaltstack(&none, NULL));
	munmap(alternate, STACK + 4096);
	as_flags_say(0);
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

static void default_waits(void)
{
	sigset_t set;

	signal(SIGTRAP, SIG_DFL);
	sigfillset(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	raise(SIGTRAP);
}

static void one_waits(void)
{
	block_it();
	raise(SIGTRAP);
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
	for_once_again();
	flags_of_handlers();
	sigaction(SIGTRAP, &handler, NULL);
	CHECK(WTERMSIG(child_with(default_it)) == SIGTRAP, "default: did not die of SIGTRAP");
	CHECK(WTERMSIG(child_with(ignore_it)) == SIGTRAP, "ignored: did not die of SIGTRAP");
	CHECK(WTERMSIG(child_with(block_it)) == SIGTRAP, "blocked: did not die of SIGTRAP");
	CHECK(WTERMSIG(child_with(default_waits)) == SIGTRAP,
	      "blocked, one waits: did not die of SIGTRAP");
	CHECK(WTERMSIG(child_with(one_waits)) == SIGTRAP,
	      "handled, one waits: did not die of SIGTRAP");
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
