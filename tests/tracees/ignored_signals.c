/* SPDX-License-Identifier: MIT
 *
 * Signals that the program ignores (SIGCHLD and SIGWINCH by default, SIGUSR1 and
 * SIGTSTP by SIG_IGN) or that come with SIG_DFL and nothing to do (SIGCONT) must
 * not end a blocking call. The kernel drops them before they wake anybody; under
 * ptrace they do wake the thread, and calls that never restart return EINTR
 * unless the tracer mends it. --size=N microseconds between two rounds.
 */
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/socket.h>

#include "tracee.h"

struct waiter {
	const char *name;
	pthread_t thread;
	atomic_bool inside;
	atomic_long interrupted;
	int fd[2], epoll, sem;
};

static atomic_bool stop;

static bool blocks(struct waiter *w, int kind)
{
	struct epoll_event event;
	struct sembuf down = { 0, -1, 0 };
	struct timespec hour = { 3600, 0 };
	sigset_t set;
	char c;

	switch (kind) {
	case 0:
		return epoll_wait(w->epoll, &event, 1, -1) == 1;
	case 1:
		return recv(w->fd[0], &c, 1, 0) == 1;
	case 2:
		return semtimedop(w->sem, &down, 1, &hour) == 0;
	default:
		sigemptyset(&set);
		sigaddset(&set, SIGUSR2);
		return sigtimedwait(&set, NULL, &hour) == SIGUSR2;
	}
}

static struct waiter waiters[] = { { .name = "epoll_wait" },
				   { .name = "recv+RCVTIMEO" },
				   { .name = "semtimedop" },
				   { .name = "sigtimedwait" } };

static void *wait_long(void *arg)
{
	struct waiter *w = arg;

	w->inside = true;
	while (!blocks(w, (int)(w - waiters))) {
		CHECK(errno == EINTR, "%s: %s", w->name, strerror(errno));
		w->interrupted++;
	}
	CHECK(stop, "%s ended before its time", w->name);
	return NULL;
}

static void prepare(struct waiter *w)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct timeval hour = { 3600, 0 };

	TRY(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, w->fd));
	TRY(setsockopt(w->fd[0], SOL_SOCKET, SO_RCVTIMEO, &hour, sizeof(hour)));
	TRY(w->epoll = epoll_create1(EPOLL_CLOEXEC));
	TRY(epoll_ctl(w->epoll, EPOLL_CTL_ADD, w->fd[0], &event));
	TRY(w->sem = semget(IPC_PRIVATE, 1, 0600));
	w->thread = tracee_thread_of(65536, wait_long, w);
	while (!w->inside)
		sched_yield();
}

static void one_round(void)
{
	static const int signals[] = { SIGCHLD, SIGWINCH, SIGUSR1, SIGURG, SIGTSTP, SIGCONT };

	static bool to_all;

	/* Not both at a time: who begins a sigtimedwait() while a signal to the
	 * process is on its way to another thread gets EINTR without a stop. */
	to_all = !to_all;
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		for (size_t w = 0; !to_all && w < sizeof(waiters) / sizeof(waiters[0]); w++)
			CHECK(!pthread_kill(waiters[w].thread, signals[i]), "pthread_kill");
		if (to_all)
			TRY(kill(getpid(), signals[i]));
	}
	usleep((useconds_t)opt.size);
}

static void release(struct waiter *w)
{
	struct sembuf up = { 0, 1, 0 };

	CHECK(write(w->fd[1], "x", 1) == 1, "write");
	TRY(semop(w->sem, &up, 1));
	pthread_kill(w->thread, SIGUSR2);
	pthread_join(w->thread, NULL);
	semctl(w->sem, 0, IPC_RMID);
}

int main(int argc, char **argv)
{
	char text[500] = "";
	size_t len = 0;
	sigset_t set;

	tracee_begin("ignored_signals", argc, argv,
		     (struct tracee_options){ .rounds = 100, .size = 1000 });
	signal(SIGUSR1, SIG_IGN);
	signal(SIGTSTP, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	for (size_t w = 0; w < sizeof(waiters) / sizeof(waiters[0]); w++)
		prepare(&waiters[w]);
	usleep(1000);
	while (tracee_more())
		one_round();
	stop = true;
	for (size_t w = 0; w < sizeof(waiters) / sizeof(waiters[0]); w++) {
		release(&waiters[w]);
		if (waiters[w].interrupted)
			len += (size_t)snprintf(text + len, sizeof(text) - len, " %s x%ld",
						waiters[w].name, (long)waiters[w].interrupted);
	}
	CHECK(!len, "EINTR by ignored signals:%s", text);
	return tracee_ok("ignored signals woke nobody");
}
