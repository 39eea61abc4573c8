/* SPDX-License-Identifier: MIT
 *
 * Every way to end: return, exit, _exit, exit by another thread, the last
 * thread's pthread_exit, abort, a fault, kill by itself, by its parent, by a
 * sibling thread, while other threads run, block, begin and end. waitid must
 * tell each exactly.
 */
#include <sys/resource.h>

#include "tracee.h"

enum way {
	WAY_EXIT,
	WAY_EXIT_BUSY,
	WAY_THREAD_EXITS,
	WAY_LEADER_LEAVES,
	WAY_ABORT,
	WAY_SEGV,
	WAY_SELF_KILL,
	WAY_TERM_BY_PARENT,
	WAY_KILL_BY_PARENT,
	WAY_EXIT_IN_CREATION,
	WAYS,
};

static volatile int *volatile nowhere;

static void *spin(void *arg)
{
	volatile uint32_t x = (uint32_t)(uintptr_t)arg;

	for (;;)
		x = tracee_mix(x, 100);
	return NULL;
}

static void *block(void *arg)
{
	(void)arg;
	for (;;)
		pause();
	return NULL;
}

static void *exits(void *arg)
{
	_exit((int)(uintptr_t)arg);
}

static void *short_one(void *arg)
{
	return arg;
}

static void *last(void *arg)
{
	pthread_join(*(pthread_t *)arg, NULL);
	tracee_mix(1, 5000);
	return NULL;
}

static _Noreturn void child(enum way way, int ready)
{
	static pthread_t leader;

	if (way != WAY_EXIT && way != WAY_LEADER_LEAVES)
		for (int i = 0; i < 3; i++) {
			tracee_thread(spin, NULL);
			tracee_thread(block, NULL);
		}
	(void)!write(ready, "r", 1);
	switch (way) {
	case WAY_EXIT:
	case WAY_EXIT_BUSY:
		_exit(40 + (int)way);
	case WAY_THREAD_EXITS:
		tracee_thread(exits, (void *)(uintptr_t)(40 + way));
		block(NULL);
		break;
	case WAY_LEADER_LEAVES:
		leader = pthread_self();
		tracee_thread(last, &leader);
		pthread_exit(NULL);
	case WAY_ABORT:
		abort();
	case WAY_SEGV:
		*nowhere = 1;
		break;
	case WAY_SELF_KILL:
		/* Another thread may take it, and this one go on for a moment. */
		kill(getpid(), SIGUSR2);
		block(NULL);
		break;
	case WAY_TERM_BY_PARENT:
	case WAY_KILL_BY_PARENT:
		block(NULL);
		break;
	case WAY_EXIT_IN_CREATION:
		for (int i = 0; i < 8; i++)
			tracee_thread(short_one, NULL);
		_exit(40 + (int)way);
	case WAYS:
		break;
	}
	_exit(99);
}

static void once(enum way way)
{
	static const int signals[WAYS] = { [WAY_ABORT] = SIGABRT,
					   [WAY_SEGV] = SIGSEGV,
					   [WAY_SELF_KILL] = SIGUSR2,
					   [WAY_TERM_BY_PARENT] = SIGTERM,
					   [WAY_KILL_BY_PARENT] = SIGKILL };
	siginfo_t info = { 0 };
	int fds[2], want;
	pid_t pid;
	char c;

	TRY(pipe2(fds, O_CLOEXEC));
	TRY(pid = fork());
	if (!pid)
		child(way, fds[1]);
	close(fds[1]);
	(void)!read(fds[0], &c, 1);
	close(fds[0]);
	if (way == WAY_TERM_BY_PARENT || way == WAY_KILL_BY_PARENT)
		kill(pid, signals[way]);
	TRY(waitid(P_PID, (id_t)pid, &info, WEXITED));
	want = signals[way] ? signals[way] : way == WAY_LEADER_LEAVES ? 0 : 40 + (int)way;
	CHECK(info.si_code == (signals[way] ? CLD_KILLED : CLD_EXITED) && info.si_status == want,
	      "way %d: si_code %d, status %d, not %d", (int)way, info.si_code, info.si_status,
	      want);
}

int main(int argc, char **argv)
{
	struct rlimit none = { 0, 0 };

	tracee_begin("exit_storm", argc, argv, (struct tracee_options){ .rounds = 6 });
	setrlimit(RLIMIT_CORE, &none);
	while (tracee_more())
		for (int way = 0; way < WAYS; way++)
			once((enum way)way);
	return tracee_ok("%d ways to end, every status", WAYS);
}
