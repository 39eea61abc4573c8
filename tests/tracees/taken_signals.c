/* SPDX-License-Identifier: MIT
 *
 * A signal that the program ignores wakes one thread, and another takes it: the first
 * must not see its call end by EINTR. The first thread waits, in one call after the
 * other; threads that compute are stopped by samples, and take what wakes it. It is told
 * to wait on by a signal of its own first: a call that no signal came to yet, cprof does
 * not know.
 *
 * --ms=N		of such signals in a call
 * --size=N		begins with call N
 * --mode=handled	a signal with a handler ends each call, by EINTR, once that is told
 * --mode=unknown	nothing is told: short calls, as many as --size=N, of which the first two
 *			at most may end early; the others call step()
 * --mode=strayed	says how many of --size=N signals to all of it, with a handler, others
 *			than the first thread had; they call step()
 */
#include <dlfcn.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ipc.h>
#include <sys/sem.h>

#include "tracee.h"

#define BUSY 3

static const char *const names[] = { "epoll_wait", "epoll_wait for ever", "sigtimedwait",
				     "semtimedop", "semop" };
#define KINDS (sizeof(names) / sizeof(names[0]))

static int epoll, event, sem;
static atomic_uint waiting; /* in which call, from 1 */
static atomic_bool over;
static atomic_int handled;
static pid_t waiter;

/* Waits for what end_wait() does. */
static bool waits(unsigned kind)
{
	struct epoll_event ready;
	struct sembuf down = { 0, -1, 0 };
	struct timespec minute = { 60, 0 };
	uint64_t value;
	sigset_t set;

	switch (kind) {
	case 0:
	case 1:
		return epoll_wait(epoll, &ready, 1, kind ? -1 : 60000) == 1 &&
		       read(event, &value, sizeof(value)) == sizeof(value);
	case 2:
		sigemptyset(&set);
		sigaddset(&set, SIGUSR2);
		return sigtimedwait(&set, NULL, &minute) == SIGUSR2;
	case 3:
		return !semtimedop(sem, &down, 1, &minute);
	default:
		return !semop(sem, &down, 1);
	}
}

static void end_wait(unsigned kind)
{
	struct sembuf up = { 0, 1, 0 };
	uint64_t one = 1;

	if (kind < 2)
		TRY(write(event, &one, sizeof(one)));
	else if (kind == 2)
		TRY(syscall(SYS_tgkill, getpid(), waiter, SIGUSR2));
	else
		TRY(semop(sem, &up, 1));
}

/* Where the first thread sleeps; 0: it does not. */
static unsigned long long sleeps_at(void)
{
	char path[64], line[256] = "", *at;
	unsigned long long pc = 0;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", (int)waiter);
	TRY(fd = open(path, O_RDONLY | O_CLOEXEC));
	if (read(fd, line, sizeof(line) - 1) > 0 && line[0] >= '0' && line[0] <= '9') {
		at = strrchr(line, ' ');
		pc = at ? strtoull(at, NULL, 16) : 0;
	}
	close(fd);
	return pc;
}

static bool is_traced(void)
{
	char text[4096];
	int fd;
	ssize_t n;

	TRY(fd = open("/proc/thread-self/status", O_RDONLY | O_CLOEXEC));
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = 0;
	return !strstr(text, "TracerPid:\t0");
}

/* Waits until the call is under way; a traced one is in code of cprof's then. */
static void make_known(void)
{
	bool traced = is_traced();
	unsigned long long at;
	Dl_info info;

	do {
		if (traced)
			TRY(syscall(SYS_tgkill, getpid(), waiter, SIGWINCH));
		sched_yield();
		at = sleeps_at();
	} while (!at || (traced && dladdr((void *)(uintptr_t)at, &info)));
}

static void on_signal(int signal)
{
	(void)signal;
	handled++;
}

/* In the middle of a call. */
static void wake(void)
{
	long i;

	if (opt.mode) {
		tracee_wait();
		TRY(syscall(SYS_tgkill, getpid(), waiter, SIGUSR1));
		return;
	}
	for (i = 0; i < opt.ms; i++) {
		TRY(kill(getpid(), SIGWINCH));
		tracee_mix((uint32_t)i, 100000);
	}
}

static void *disturb(void *arg)
{
	unsigned kind;

	(void)arg;
	while (!over) {
		kind = atomic_exchange(&waiting, 0);
		if (!kind) {
			sched_yield();
			continue;
		}
		make_known();
		wake();
		if (!opt.mode)
			end_wait(kind - 1);
	}
	return NULL;
}

/* In the mode `handled` the call has to end early. */
static bool is_right(bool ended, int error)
{
	return opt.mode ? !ended && error == EINTR && atomic_exchange(&handled, 0) == 1 : ended;
}

static void *compute(void *arg)
{
	while (!over)
		tracee_mix(1, 10000);
	return arg;
}

__attribute__((noinline)) static void step(void)
{
	tracee_mix(1, 10);
}

static void *call(void *arg)
{
	while (!over)
		step();
	return arg;
}

static void *send(void *arg)
{
	while (!over) {
		TRY(kill(getpid(), SIGWINCH));
		step();
		tracee_mix(2, 200000);
	}
	return arg;
}

/* Calls that nobody knows of when the signal comes that ends them. */
static int wait_unknown(void)
{
	struct epoll_event ready;
	pthread_t threads[BUSY];
	unsigned i, early = 0;

	TRY(epoll = epoll_create1(EPOLL_CLOEXEC));
	for (i = 0; i < BUSY; i++)
		threads[i] = tracee_thread(i ? call : send, NULL);
	for (i = 0; i < opt.size; i++)
		early += epoll_wait(epoll, &ready, 1, 10) < 0;
	over = true;
	for (i = 0; i < BUSY; i++)
		pthread_join(threads[i], NULL);
	if (early > 2)
		tracee_fail("%u of %lu calls ended early", early, (unsigned long)opt.size);
	return tracee_ok("calls are as long as they are to be");
}

static atomic_uint strayed;

static void on_any(int signal)
{
	(void)signal;
	strayed += tracee_tid() != waiter;
	handled++;
}

static atomic_bool joins;

/* One after the other, so that none is two in one. */
static void *wait_and_send(void *arg)
{
	unsigned i;

	while (!joins)
		step();
	for (i = 0; i < opt.size; i++) {
		TRY(kill(getpid(), SIGUSR2));
		while (handled <= (int)i)
			step();
	}
	over = true;
	return arg;
}

static int count_strayed(void)
{
	const struct sigaction action = { .sa_handler = on_any, .sa_flags = SA_RESTART };
	pthread_t threads[BUSY];
	unsigned i;

	waiter = tracee_tid();
	TRY(sigaction(SIGUSR2, &action, NULL));
	/* Who creates a thread blocks signals meanwhile. */
	for (i = 0; i < BUSY; i++)
		threads[i] = tracee_thread(i < BUSY - 1 ? call : wait_and_send, NULL);
	joins = true;
	for (i = 0; i < BUSY; i++)
		pthread_join(threads[i], NULL);
	return tracee_ok("others had %u", strayed);
}

int main(int argc, char **argv)
{
	const struct sigaction action = { .sa_handler = on_signal };
	struct sched_param none = { 0 };
	struct epoll_event in = { .events = EPOLLIN };
	pthread_t threads[BUSY];
	sigset_t set;
	unsigned i, rounds = 0;
	bool ended;

	tracee_begin("taken_signals", argc, argv,
		     (struct tracee_options){ .rounds = 1, .ms = 200 });
	if (opt.mode && !strcmp(opt.mode, "unknown"))
		return wait_unknown();
	if (opt.mode && !strcmp(opt.mode, "strayed"))
		return count_strayed();
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	TRY(sigaction(SIGUSR1, &action, NULL));
	waiter = tracee_tid();
	TRY(epoll = epoll_create1(EPOLL_CLOEXEC));
	TRY(event = eventfd(0, EFD_CLOEXEC));
	TRY(epoll_ctl(epoll, EPOLL_CTL_ADD, event, &in));
	TRY(sem = semget(IPC_PRIVATE, 1, 0600));
	threads[0] = tracee_thread(disturb, NULL);
	for (i = 1; i < BUSY; i++)
		threads[i] = tracee_thread(compute, NULL);
	/* Who is woken is long on the way. */
	TRY(sched_setscheduler(0, SCHED_IDLE, &none));
	while (opt.mode ? !rounds++ : tracee_more()) /* there, ready is who waits */
		for (i = (unsigned)opt.size; i < KINDS; i++) {
			waiting = i + 1;
			ended = waits(i);
			if (!is_right(ended, errno)) {
				semctl(sem, 0, IPC_RMID);
				tracee_fail("%s: %s", names[i],
					    ended ? "it ended" : strerror(errno));
			}
		}
	over = true;
	for (i = 0; i < BUSY; i++)
		pthread_join(threads[i], NULL);
	semctl(sem, 0, IPC_RMID);
	return tracee_ok("no call saw what woke it");
}
