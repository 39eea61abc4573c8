/* SPDX-License-Identifier: MIT
 *
 * Children with PR_SET_PDEATHSIG must get it when their parent thread ends and
 * not when a profiler does: exactly once each. And the signal of an orphaned
 * grandchild, and a subreaper that gets to reap it.
 */
#include <sys/prctl.h>

#include "tracee.h"

static volatile sig_atomic_t got;

static void on_death(int sig)
{
	(void)sig;
	got++;
}

/* Waits for the signal, reports how often it came. */
static _Noreturn void grandchild(int ready, int go, int report)
{
	sigset_t set, old;
	int n;
	char c;

	signal(SIGUSR1, on_death);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, &old);
	prctl(PR_SET_PDEATHSIG, SIGUSR1);
	(void)!write(ready, "r", 1);
	/* Nothing may have come before the parent is told to go. */
	if (read(go, &c, 1) != 0)
		_exit(1);
	while (!got)
		sigsuspend(&old);
	sigprocmask(SIG_SETMASK, &old, NULL);
	usleep(500);
	n = got;
	(void)!write(report, &n, sizeof(n));
	_exit(17);
}

static void one_round(void)
{
	int ready[2], go[2], report[2], n = -1;
	pid_t parent;
	char c;

	TRY(pipe2(ready, O_CLOEXEC));
	TRY(pipe2(go, O_CLOEXEC));
	TRY(pipe2(report, O_CLOEXEC));
	TRY(parent = fork());
	if (!parent) {
		if (!fork()) {
			close(go[1]);
			grandchild(ready[1], go[0], report[1]);
		}
		close(go[1]);
		(void)!read(go[0], &c, 1);
		_exit(16);
	}
	close(go[0]);
	close(report[1]);
	CHECK(read(ready[0], &c, 1) == 1, "read: %s", strerror(errno));
	close(go[1]);
	CHECK(tracee_reap(parent) == 16 << 8, "parent's status");
	CHECK(read(report[0], &n, sizeof(n)) == sizeof(n), "the grandchild said nothing");
	CHECK(n == 1, "%d death signals, not one", n);
	CHECK(tracee_reap(-1) == 17 << 8, "grandchild's status");
	close(ready[0]);
	close(ready[1]);
	close(report[0]);
}

int main(int argc, char **argv)
{
	tracee_begin("pdeathsig", argc, argv, (struct tracee_options){ .rounds = 15 });
	TRY(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0));
	while (tracee_more())
		one_round();
	return tracee_ok("every death signal once");
}
