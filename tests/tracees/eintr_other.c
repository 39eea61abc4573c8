/* SPDX-License-Identifier: MIT
 *
 * Blocking calls that wait for time, locks, queues, signals, children: see
 * eintr.c.
 */
#include <linux/futex.h>
#include <mqueue.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>

#include "eintr.h"

static const struct timespec nap = { 0, NAP_NS };

static struct timespec later(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	t.tv_nsec += NAP_NS;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

/* --- sleeping; timeouts --- */

static long do_nanosleep(struct slot *s)
{
	(void)s;
	return result(nanosleep(&nap, NULL));
}

static long do_clock_nanosleep(struct slot *s)
{
	(void)s;
	return -clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
}

static long do_clock_nanosleep_abs(struct slot *s)
{
	struct timespec t = later(CLOCK_REALTIME);

	(void)s;
	return -clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &t, NULL);
}

static long do_usleep(struct slot *s)
{
	(void)s;
	return result(usleep(NAP_NS / 1000));
}

static long do_select_timeout(struct slot *s)
{
	struct timeval t = { 0, NAP_NS / 1000 };

	(void)s;
	return result(select(0, NULL, NULL, NULL, &t));
}

/* --- locks --- */

static bool make_sem(struct slot *s)
{
	return sem_init(&s->u.sem, 0, 0) == 0;
}

static long do_sem_wait(struct slot *s)
{
	return result(sem_wait(&s->u.sem));
}

static long do_sem_timedwait(struct slot *s)
{
	struct timespec t = later(CLOCK_REALTIME);

	return result(sem_timedwait(&s->u.sem, &t));
}

static void post(struct slot *s)
{
	sem_post(&s->u.sem);
}

static bool make_locked(struct slot *s)
{
	pthread_mutex_init(&s->u.mutex, NULL);
	pthread_cond_init(&s->cond, NULL);
	pthread_mutex_lock(&s->u.mutex);
	return true;
}

static long do_lock(struct slot *s)
{
	return -pthread_mutex_lock(&s->u.mutex);
}

static long do_timedlock(struct slot *s)
{
	struct timespec t = later(CLOCK_REALTIME);

	return -pthread_mutex_timedlock(&s->u.mutex, &t);
}

static void unlock(struct slot *s)
{
	pthread_mutex_unlock(&s->u.mutex);
}

static bool make_cond(struct slot *s)
{
	make_locked(s);
	unlock(s);
	return true;
}

static long do_cond_wait(struct slot *s)
{
	pthread_mutex_lock(&s->u.mutex);
	while (!stop)
		pthread_cond_wait(&s->cond, &s->u.mutex);
	pthread_mutex_unlock(&s->u.mutex);
	return 0;
}

static long do_cond_timedwait(struct slot *s)
{
	struct timespec t = later(CLOCK_REALTIME);
	int err;

	pthread_mutex_lock(&s->u.mutex);
	err = pthread_cond_timedwait(&s->cond, &s->u.mutex, &t);
	pthread_mutex_unlock(&s->u.mutex);
	return -err;
}

static void signal_cond(struct slot *s)
{
	pthread_mutex_lock(&s->u.mutex);
	pthread_cond_signal(&s->cond);
	pthread_mutex_unlock(&s->u.mutex);
}

static long do_futex(struct slot *s)
{
	return result(syscall(SYS_futex, &s->u.futex, FUTEX_WAIT, 0, NULL));
}

static long do_futex_timeout(struct slot *s)
{
	return result(syscall(SYS_futex, &s->u.futex, FUTEX_WAIT, 0, &nap));
}

static void wake(struct slot *s)
{
	while (!s->done)
		if (!syscall(SYS_futex, &s->u.futex, FUTEX_WAKE, 1))
			sched_yield();
}

/* --- System V and POSIX queues --- */

static bool make_semaphores(struct slot *s)
{
	s->id = semget(IPC_PRIVATE, 1, 0600);
	return s->id != -1;
}

static long do_semop(struct slot *s)
{
	struct sembuf down = { 0, -1, 0 };

	return result(semop(s->id, &down, 1));
}

static long do_semtimedop(struct slot *s)
{
	struct sembuf down = { 0, -1, 0 };
	struct timespec hour = { 3600, 0 };

	return result(semtimedop(s->id, &down, 1, &hour));
}

static void up(struct slot *s)
{
	struct sembuf more = { 0, 1, 0 };

	TRY(semop(s->id, &more, 1));
}

static void remove_semaphores(struct slot *s)
{
	up(s);
	while (!s->done)
		sched_yield();
	semctl(s->id, 0, IPC_RMID);
}

struct message {
	long type;
	char text[1024];
};

static bool make_queue(struct slot *s)
{
	s->id = msgget(IPC_PRIVATE, 0600);
	return s->id != -1;
}

static bool full_queue(struct slot *s)
{
	struct message m = { .type = 1 };

	if (!make_queue(s))
		return false;
	while (!msgsnd(s->id, &m, sizeof(m.text), IPC_NOWAIT))
		;
	return errno == EAGAIN;
}

static long do_msgrcv(struct slot *s)
{
	struct message m;

	return result(msgrcv(s->id, &m, sizeof(m.text), 0, 0));
}

static long do_msgsnd(struct slot *s)
{
	struct message m = { .type = 1 };

	return result(msgsnd(s->id, &m, sizeof(m.text), 0));
}

static void remove_queue(struct slot *s)
{
	while (!s->done)
		sched_yield();
	msgctl(s->id, IPC_RMID, NULL);
}

static void send_message(struct slot *s)
{
	struct message m = { .type = 1 };

	TRY(msgsnd(s->id, &m, 10, 0));
	remove_queue(s);
}

static void take_message(struct slot *s)
{
	struct message m;

	TRY(msgrcv(s->id, &m, sizeof(m.text), 0, 0));
	remove_queue(s);
}

static bool make_mq(struct slot *s)
{
	struct mq_attr attr = { .mq_maxmsg = 1, .mq_msgsize = 16 };
	char name[64];

	snprintf(name, sizeof(name), "/eintr-%d-%s", (int)getpid(), s->call->name);
	s->fd[0] = mq_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600, &attr);
	if (s->fd[0] == -1)
		return false;
	mq_unlink(name);
	return true;
}

static bool full_mq(struct slot *s)
{
	return make_mq(s) && mq_send(s->fd[0], "x", 1, 0) == 0;
}

static long do_mq_receive(struct slot *s)
{
	char c[16];

	return result(mq_receive(s->fd[0], c, sizeof(c), NULL));
}

static long do_mq_timedreceive(struct slot *s)
{
	struct timespec t = later(CLOCK_REALTIME);
	char c[16];

	return result(mq_timedreceive(s->fd[0], c, sizeof(c), NULL, &t));
}

static long do_mq_send(struct slot *s)
{
	return result(mq_send(s->fd[0], "y", 1, 0));
}

static void mq_put(struct slot *s)
{
	TRY(mq_send(s->fd[0], "x", 1, 0));
}

static void mq_take(struct slot *s)
{
	char c[16];

	TRY(mq_receive(s->fd[0], c, sizeof(c), NULL));
}

/* --- signals --- */

static sigset_t usr1(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	return set;
}

static long do_sigtimedwait(struct slot *s)
{
	struct timespec hour = { 3600, 0 };
	sigset_t set = usr1();

	(void)s;
	return result(sigtimedwait(&set, NULL, &hour));
}

static long do_sigwaitinfo(struct slot *s)
{
	sigset_t set = usr1();
	siginfo_t info;

	(void)s;
	return result(sigwaitinfo(&set, &info));
}

/* glibc's sigwait() hides EINTR; the bare call would show it. */
static long do_sigwait(struct slot *s)
{
	sigset_t set = usr1();
	int sig;

	(void)s;
	return sigwait(&set, &sig) ? -errno : sig;
}

static void send_usr1(struct slot *s)
{
	pthread_kill(s->thread, SIGUSR1);
}

static long ended_by_handler(struct slot *s, int before)
{
	if (s->handled == before)
		return -EINTR; /* nobody called a handler: that is the leak */
	return 0;
}

static long do_pause(struct slot *s)
{
	int before = s->handled;

	pause();
	return ended_by_handler(s, before);
}

static long do_sigsuspend(struct slot *s)
{
	int before = s->handled;
	sigset_t none;

	sigemptyset(&none);
	sigsuspend(&none);
	return ended_by_handler(s, before);
}

static void send_usr2(struct slot *s)
{
	while (!s->done) {
		pthread_kill(s->thread, SIGUSR2);
		usleep(1000);
	}
}

/* --- children --- */

static bool make_child(struct slot *s)
{
	TRY(s->child = fork());
	if (!s->child)
		for (;;)
			pause();
	return true;
}

static long do_wait4(struct slot *s)
{
	int status;
	long r = result(wait4(s->child, &status, 0, NULL));

	return r == s->child ? 0 : r;
}

static long do_waitid(struct slot *s)
{
	siginfo_t info;

	return result(waitid(P_PID, (id_t)s->child, &info, WEXITED));
}

static void kill_child(struct slot *s)
{
	kill(s->child, SIGKILL);
}

/* clang-format off */
const struct call other_calls[] = {
	{ "select(30)", NULL, do_select_timeout, NULL, 0 },
	{ "nanosleep", NULL, do_nanosleep, NULL, 0 },
	{ "clock_nanosleep", NULL, do_clock_nanosleep, NULL, 0 },
	{ "clock_nanosleep+ABSTIME", NULL, do_clock_nanosleep_abs, NULL, 0 },
	{ "usleep", NULL, do_usleep, NULL, 0 },
	{ "sem_wait", make_sem, do_sem_wait, post, 0 },
	{ "sem_timedwait", make_sem, do_sem_timedwait, NULL, -ETIMEDOUT },
	{ "mutex_lock", make_locked, do_lock, unlock, 0 },
	{ "mutex_timedlock", make_locked, do_timedlock, NULL, -ETIMEDOUT },
	{ "cond_wait", make_cond, do_cond_wait, signal_cond, 0 },
	{ "cond_timedwait", make_cond, do_cond_timedwait, NULL, -ETIMEDOUT },
	{ "futex", NULL, do_futex, wake, 0 },
	{ "futex+timeout", NULL, do_futex_timeout, NULL, -ETIMEDOUT },
	{ "semop", make_semaphores, do_semop, remove_semaphores, 0 },
	{ "semtimedop", make_semaphores, do_semtimedop, remove_semaphores, 0 },
	{ "msgrcv", make_queue, do_msgrcv, send_message, 10 },
	{ "msgsnd", full_queue, do_msgsnd, take_message, 0 },
	{ "mq_receive", make_mq, do_mq_receive, mq_put, 1 },
	{ "mq_timedreceive", make_mq, do_mq_timedreceive, NULL, -ETIMEDOUT },
	{ "mq_send", full_mq, do_mq_send, mq_take, 0 },
	{ "sigtimedwait", NULL, do_sigtimedwait, send_usr1, SIGUSR1 },
	{ "sigwaitinfo", NULL, do_sigwaitinfo, send_usr1, SIGUSR1 },
	{ "sigwait", NULL, do_sigwait, send_usr1, SIGUSR1 },
	{ "pause", NULL, do_pause, send_usr2, 0 },
	{ "sigsuspend", NULL, do_sigsuspend, send_usr2, 0 },
	{ "wait4", make_child, do_wait4, kill_child, 0 },
	{ "waitid", make_child, do_waitid, kill_child, 0 },
};
/* clang-format on */

const size_t other_call_count = sizeof(other_calls) / sizeof(other_calls[0]);
