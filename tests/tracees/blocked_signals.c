/* SPDX-License-Identifier: MIT
 *
 * Threads that block every signal, as the workers of servers do, and call
 * functions all the time; some change their masks, one waits in between. A handler runs with
 * everything blocked, children are spawned, in whose making the C library
 * blocks everything. What masks and actions were set is what the program is
 * told that they are.
 *
 * --threads=N (4). --mode=work: no children; --mode=reset: SIGTRAP is set to its
 * default again and again; --mode=once: no children, and SIGTRAP has a handler that is
 * for once; --mode=vfork, spawns, aborts: children by vfork, by posix_spawn, and calls of
 * abort() that a handler leaves and that end a child, one after the other without a
 * rest, with all signals blocked in who makes them. --size=1: a profiler may come and go meanwhile, so
 * SIGTRAP and SIGSTKFLT are left out where it is compared what is blocked.
 */
#include <setjmp.h>
#include <spawn.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/resource.h>

#include "tracee.h"

extern char **environ;

static atomic_bool stop;
static sigset_t all; /* as the C library gives it back */
static atomic_uint handled;

static NOIPA uint32_t leaf(uint32_t x)
{
	return tracee_mix(x, 3);
}

static NOIPA uint32_t work(uint32_t x)
{
	for (int i = 0; i < 20; i++)
		x = leaf(x);
	return x;
}

static NOIPA bool same_set(const sigset_t *a, const sigset_t *b)
{
	for (int s = 1; s < 65; s++)
		if (sigismember(a, s) != sigismember(b, s) &&
		    !(opt.size && (s == SIGTRAP || s == SIGSTKFLT)))
			return false;
	return true;
}

static NOIPA void expect(const sigset_t *is, const sigset_t *wanted, const char *what)
{
	CHECK(same_set(is, wanted), "%s: signals %#lx, not %#lx", what, *(const unsigned long *)is,
	      *(const unsigned long *)wanted);
}

/* One that never asks. */
static void *quiet(void *arg)
{
	uint32_t x = (uint32_t)(uintptr_t)arg;

	while (!stop)
		x = work(x);
	return (void *)(uintptr_t)x;
}

/* One that waits for others most of the time, as a server's worker. Should a profiler be
 * killed as it comes, one wait may be interrupted. */
static void *idle(void *arg)
{
	uint32_t x = (uint32_t)(uintptr_t)arg;
	int fd = epoll_create1(EPOLL_CLOEXEC), got;
	struct epoll_event event;

	while (!stop) {
		got = epoll_wait(fd, &event, 1, 3);
		CHECK(!got || (got < 0 && errno == EINTR && opt.size), "epoll_wait: %d, %s", got,
		      strerror(errno));
		x = work(x);
	}
	close(fd);
	return (void *)(uintptr_t)x;
}

/* One that asks, and changes it. */
static void *busy(void *arg)
{
	uint32_t x = (uint32_t)(uintptr_t)arg;
	sigset_t none, trap, old, all_but;

	sigemptyset(&none);
	sigemptyset(&trap);
	sigaddset(&trap, SIGTRAP);
	all_but = all;
	sigdelset(&all_but, SIGTRAP);
	while (!stop) {
		x = work(x);
		pthread_sigmask(SIG_SETMASK, NULL, &old);
		expect(&old, &all, "blocking all");
		pthread_sigmask(SIG_UNBLOCK, &trap, &old);
		expect(&old, &all, "still blocking all");
		x = work(x);
		pthread_sigmask(SIG_SETMASK, &trap, &old);
		expect(&old, &all_but, "without SIGTRAP");
		x = work(x);
		pthread_sigmask(SIG_SETMASK, &none, &old);
		expect(&old, &trap, "SIGTRAP alone");
		x = work(x);
		pthread_sigmask(SIG_BLOCK, &all, &old);
		expect(&old, &none, "none");
	}
	return (void *)(uintptr_t)x;
}

static NOIPA void on_usr1(int sig)
{
	(void)sig;
	handled += 1 + !work(1);
}

static void handle(void)
{
	struct sigaction now;
	unsigned before = handled;

	raise(SIGUSR1);
	CHECK(handled != before, "no handler ran");
	sigaction(SIGUSR1, NULL, &now);
	expect(&now.sa_mask, &all, "in a handler");
}

static void spawn(void)
{
	char path[] = "/bin/true", *argv[] = { path, NULL };
	int status, err;
	pid_t pid;

	err = posix_spawn(&pid, path, NULL, NULL, argv, environ);
	CHECK(!err, "posix_spawn: %s", strerror(err));
	status = tracee_reap(pid);
	CHECK(!status, "a child ended with %#x", status);
}

/* Half of them without executing anything. */
static void fork_in_place(long n)
{
	char path[] = "/bin/true", *const argv[] = { path, NULL };
	int status;
	pid_t pid = vfork();

	if (!pid) {
		if (n % 2)
			execve(path, argv, environ);
		_exit(n % 2);
	}
	CHECK(pid > 0, "vfork: %s", strerror(errno));
	status = tracee_reap(pid);
	CHECK(!status, "a child of vfork ended with %#x", status);
}

static sigjmp_buf back;

static NOIPA void on_abrt(int sig)
{
	(void)sig;
	siglongjmp(back, (int)work(1) | 1);
}

static void leave_abort(void)
{
	const struct sigaction leave = { .sa_handler = on_abrt };
	sigset_t now;

	sigaction(SIGABRT, &leave, NULL);
	if (!sigsetjmp(back, 1))
		abort();
	signal(SIGABRT, SIG_DFL);
	pthread_sigmask(SIG_SETMASK, NULL, &now);
	expect(&now, &all, "behind a handler that was left");
}

static void abort_in_child(void)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		const struct rlimit no_core = { 0, 0 };

		setrlimit(RLIMIT_CORE, &no_core);
		abort();
	}
	CHECK(pid > 0, "fork: %s", strerror(errno));
	status = tracee_reap(pid);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT,
	      "a child that called abort() ended with %#x", status);
}

/* --mode=vfork, spawns, aborts; false: another one. */
static bool makes(long n)
{
	if (!strcmp(opt.mode, "vfork"))
		fork_in_place(n);
	else if (!strcmp(opt.mode, "spawns"))
		spawn();
	else if (strcmp(opt.mode, "aborts"))
		return false;
	else if (n % 4)
		leave_abort();
	else
		abort_in_child();
	return true;
}

static void make_all(void)
{
	sigset_t before;
	long i;

	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (i = 0; i < 8; i++)
		if (!makes(i))
			break;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void reset(void)
{
	struct sigaction now;

	signal(SIGTRAP, SIG_DFL);
	sigaction(SIGTRAP, NULL, &now);
	CHECK(now.sa_handler == SIG_DFL, "SIGTRAP has a handler");
}

static void handle_once(void)
{
	struct sigaction action = { .sa_handler = on_usr1, .sa_flags = SA_RESETHAND };

	sigaction(SIGTRAP, &action, NULL);
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_usr1 };
	pthread_t threads[TRACEE_THREADS];
	sigset_t none;
	long i;

	tracee_begin("blocked_signals", argc, argv,
		     (struct tracee_options){ .threads = 4, .rounds = 20, .mode = "" });
	sigemptyset(&none);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	pthread_sigmask(SIG_SETMASK, NULL, &all);
	sigfillset(&action.sa_mask);
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGUSR1, NULL, &action);
	sigaction(SIGUSR1, &action, NULL);
	if (!strcmp(opt.mode, "once"))
		handle_once();
	for (i = 0; i < opt.threads; i++)
		threads[i] = tracee_thread(i % 2 ? busy : i ? idle : quiet, (void *)i);
	pthread_sigmask(SIG_SETMASK, &none, NULL);
	/* The kernel leaves out those two that can't be blocked. */
	sigdelset(&action.sa_mask, SIGKILL);
	sigdelset(&action.sa_mask, SIGSTOP);
	while (tracee_more()) {
		struct timespec nap = { 0, 1000000 };

		handle();
		make_all();
		if (strcmp(opt.mode, "work") && strcmp(opt.mode, "once"))
			spawn();
		if (!strcmp(opt.mode, "reset"))
			reset();
		else
			nanosleep(&nap, NULL);
	}
	stop = true;
	for (i = 0; i < opt.threads; i++)
		pthread_join(threads[i], NULL);
	return tracee_ok("%ld threads, %u signals", opt.threads, handled ? 1 : 0);
}
