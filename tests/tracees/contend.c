/* SPDX-License-Identifier: MIT
 *
 * A thread that waits for a mutex which the main thread holds, for certain: it
 * is let go when the kernel says that the waiter sleeps on it. In each round
 * once in pthread_mutex_lock(), and once in pthread_mutex_timedlock() until
 * that gives up; with --mode=heap the mutex is no variable, with --mode=fork a
 * child does it, with --mode=free nobody waits, with --mode=exit the program ends
 * while somebody does. Says how often it waited, on
 * which mutex, and who held it.
 */
#include "tracee.h"

static pthread_mutex_t contended = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t *mutex = &contended;
static int to_waiter[2], to_holder[2];
static pid_t holder, waiter;
static long waits, timed_out;

static void tell(int fd)
{
	CHECK(write(fd, "x", 1) == 1, "write: %s", strerror(errno));
}

static void hear(int fd)
{
	ssize_t n;
	char c;

	while ((n = read(fd, &c, 1)) < 0 && errno == EINTR)
		;
	CHECK(n == 1, "read: %s", strerror(errno));
}

NOIPA static void waits_for_it(void)
{
	CHECK(!pthread_mutex_lock(mutex), "pthread_mutex_lock");
	waits++;
	pthread_mutex_unlock(mutex);
}

NOIPA static void gives_up(void)
{
	struct timespec until;
	int result;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += 20000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	result = pthread_mutex_timedlock(mutex, &until);
	CHECK(result == ETIMEDOUT, "pthread_mutex_timedlock: %s", strerror(result));
	timed_out++;
}

static void *run_waiter(void *arg)
{
	(void)arg;
	waiter = tracee_tid();
	tell(to_holder[1]);
	for (;;) {
		hear(to_waiter[0]);
		if (!mutex)
			return NULL;
		waits_for_it();
		tell(to_holder[1]);
		hear(to_waiter[0]);
		gives_up();
		tell(to_holder[1]);
	}
}

/* Until the waiter sleeps in futex(), on the mutex. */
static void await_sleep(void)
{
	char path[64], text[256], expected[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", (int)waiter);
	snprintf(expected, sizeof(expected), "%d 0x%lx ", SYS_futex, (unsigned long)mutex);
	for (;;) {
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

		CHECK(n >= 0, "%s: %s", path, strerror(errno));
		close(fd);
		text[n] = 0;
		if (!strncmp(text, expected, strlen(expected)))
			return;
		sched_yield();
	}
}

static void rounds(void)
{
	pthread_t thread;
	pthread_mutex_t *own = mutex;

	holder = tracee_tid();
	TRY(pipe2(to_waiter, O_CLOEXEC));
	TRY(pipe2(to_holder, O_CLOEXEC));
	thread = tracee_thread(run_waiter, NULL);
	hear(to_holder[0]);
	while (tracee_more()) {
		pthread_mutex_lock(mutex);
		tell(to_waiter[1]);
		await_sleep();
		if (!strcmp(opt.mode, "exit"))
			return;
		pthread_mutex_unlock(mutex);
		hear(to_holder[0]);
		pthread_mutex_lock(mutex);
		tell(to_waiter[1]);
		hear(to_holder[0]);
		pthread_mutex_unlock(mutex);
	}
	mutex = NULL;
	tell(to_waiter[1]);
	pthread_join(thread, NULL);
	tracee_line("ok", "waits %ld timed_out %ld lock 0x%lx holder %d waiter %d", waits,
		    timed_out, (unsigned long)own, (int)holder, (int)waiter);
}

/* ---- nobody waits ---- */

static void *try_it(void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < 100; i++)
		CHECK(pthread_mutex_trylock(mutex) == EBUSY, "it was free");
	return NULL;
}

static void nobody_waits(void)
{
	pthread_mutexattr_t attr;
	pthread_mutex_t again;
	pthread_t thread;
	long i;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&again, &attr);
	while (tracee_more()) {
		for (i = 0; i < 10000; i++) {
			pthread_mutex_lock(mutex);
			pthread_mutex_unlock(mutex);
			pthread_mutex_lock(&again);
			pthread_mutex_lock(&again);
			pthread_mutex_unlock(&again);
			pthread_mutex_unlock(&again);
		}
		pthread_mutex_lock(mutex);
		thread = tracee_thread(try_it, NULL);
		pthread_join(thread, NULL);
		pthread_mutex_unlock(mutex);
	}
	tracee_line("ok", "waits 0");
}

int main(int argc, char **argv)
{
	int status;
	pid_t child;

	tracee_begin("contend", argc, argv,
		     (struct tracee_options){ .rounds = 5, .mode = "static" });
	if (!strcmp(opt.mode, "free")) {
		nobody_waits();
		return 0;
	}
	if (!strcmp(opt.mode, "heap")) {
		mutex = malloc(sizeof(*mutex));
		CHECK(mutex, "malloc");
		pthread_mutex_init(mutex, NULL);
	}
	if (!strcmp(opt.mode, "fork")) {
		TRY(child = fork());
		if (child) {
			status = tracee_reap(child);
			return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
		}
	}
	rounds();
	return 0;
}
