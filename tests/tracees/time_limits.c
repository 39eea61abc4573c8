/* SPDX-License-Identifier: MIT
 *
 * Waits with a time limit end at it, and not before, whatever signals that are
 * ignored come meanwhile: more of them than the limit has room for.
 */
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/sem.h>

#include "tracee.h"

struct waiter {
	const char *name;
	bool (*wait)(const struct timespec *limit);
	pthread_t thread;
};

static atomic_int waiting;
static int nothing, semaphore;

static bool by_epoll(const struct timespec *limit)
{
	struct epoll_event event;

	return epoll_wait(nothing, &event, 1, (int)(limit->tv_nsec / 1000000)) == 0;
}

static bool by_epoll_mask(const struct timespec *limit)
{
	struct epoll_event event;
	sigset_t set;

	sigemptyset(&set);
	return epoll_pwait(nothing, &event, 1, (int)(limit->tv_nsec / 1000000), &set) == 0;
}

static bool by_semaphore(const struct timespec *limit)
{
	struct sembuf down = { 0, -1, 0 };

	return semtimedop(semaphore, &down, 1, limit) == -1 && errno == EAGAIN;
}

static bool by_signal(const struct timespec *limit)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	return sigtimedwait(&set, NULL, limit) == -1 && errno == EAGAIN;
}

static bool by_poll(const struct timespec *limit)
{
	return poll(NULL, 0, (int)(limit->tv_nsec / 1000000)) == 0;
}

static bool by_sleep(const struct timespec *limit)
{
	return nanosleep(limit, NULL) == 0;
}

static struct waiter waiters[] = { { "epoll_wait", by_epoll, 0 },
				   { "epoll_pwait", by_epoll_mask, 0 },
				   { "semtimedop", by_semaphore, 0 },
				   { "sigtimedwait", by_signal, 0 },
				   { "poll", by_poll, 0 },
				   { "nanosleep", by_sleep, 0 } };
#define WAITERS (sizeof(waiters) / sizeof(waiters[0]))

static void *wait_once(void *arg)
{
	const struct timespec limit = { 0, opt.ms * 1000000 };
	const struct waiter *w = arg;
	uint64_t begin = tracee_clock(CLOCK_MONOTONIC);

	CHECK(w->wait(&limit), "%s: %s", w->name, strerror(errno));
	CHECK(tracee_clock(CLOCK_MONOTONIC) - begin >= (uint64_t)limit.tv_nsec,
	      "%s ended before its time", w->name);
	waiting--;
	return NULL;
}

int main(int argc, char **argv)
{
	sigset_t set;

	tracee_begin("time_limits", argc, argv, (struct tracee_options){ .rounds = 2, .ms = 200 });
	signal(SIGUSR1, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	TRY(nothing = epoll_create1(EPOLL_CLOEXEC));
	TRY(semaphore = semget(IPC_PRIVATE, 1, 0600));
	while (tracee_more()) {
		waiting = WAITERS;
		for (size_t i = 0; i < WAITERS; i++)
			waiters[i].thread = tracee_thread(wait_once, &waiters[i]);
		/* For as long as anybody waits. */
		while (waiting) {
			for (size_t i = 0; i < WAITERS; i++)
				pthread_kill(waiters[i].thread, SIGUSR1);
			usleep(5000);
		}
		for (size_t i = 0; i < WAITERS; i++)
			pthread_join(waiters[i].thread, NULL);
	}
	semctl(semaphore, 0, IPC_RMID);
	return tracee_ok("each limit was kept");
}
