/* SPDX-License-Identifier: MIT
 *
 * Job control as a shell does it: a child with several threads is stopped by
 * SIGSTOP, SIGTSTP (handled, then by itself) and SIGTTIN, seen stopped, found
 * not to run, continued and seen to run; each stop and each continuation must
 * be reported by waitpid exactly once.
 */
#include <stdatomic.h>
#include <sys/mman.h>

#include "tracee.h"

struct shared {
	atomic_long progress, tstp, cont;
};

static struct shared *shared;

static void on_tstp(int sig)
{
	(void)sig;
	shared->tstp++;
	kill(getpid(), SIGSTOP);
}

static void on_cont(int sig)
{
	(void)sig;
	shared->cont++;
}

static void *work(void *arg)
{
	(void)arg;
	for (;;) {
		tracee_mix(1, 2000);
		shared->progress++;
	}
	return NULL;
}

static void *block(void *arg)
{
	(void)arg;
	for (;;)
		usleep(500);
	return NULL;
}

static _Noreturn void child(void)
{
	struct sigaction tstp = { .sa_handler = on_tstp, .sa_flags = SA_RESTART };
	struct sigaction cont = { .sa_handler = on_cont, .sa_flags = SA_RESTART };

	sigaction(SIGTSTP, &tstp, NULL);
	sigaction(SIGCONT, &cont, NULL);
	tracee_thread(block, NULL);
	tracee_thread(block, NULL);
	work(NULL);
	_exit(1);
}

static void await_progress(const char *after)
{
	long seen = shared->progress;

	while (shared->progress < seen + 3)
		usleep(100);
	(void)after;
}

static void cycle(pid_t pid, int sig)
{
	long seen, tstp = shared->tstp, cont = shared->cont;
	int status;

	TRY(kill(pid, sig));
	TRY(waitpid(pid, &status, WUNTRACED));
	CHECK(WIFSTOPPED(status), "signal %d: status 0x%x, not stopped", sig, (unsigned)status);
	CHECK(WSTOPSIG(status) == (sig == SIGTSTP ? SIGSTOP : sig), "stopped by %d, not %d",
	      WSTOPSIG(status), sig);
	CHECK(shared->tstp == tstp + (sig == SIGTSTP), "SIGTSTP's handler ran %ld times",
	      shared->tstp - tstp);
	seen = shared->progress;
	usleep(2000);
	CHECK(shared->progress == seen, "runs while it is stopped");
	CHECK(waitpid(pid, &status, WUNTRACED | WNOHANG) == 0, "stopped twice");
	TRY(kill(pid, SIGCONT));
	TRY(waitpid(pid, &status, WCONTINUED));
	CHECK(WIFCONTINUED(status), "status 0x%x, not continued", (unsigned)status);
	await_progress("SIGCONT");
	while (shared->cont == cont)
		usleep(100);
	CHECK(shared->cont == cont + 1, "SIGCONT's handler ran %ld times", shared->cont - cont);
	CHECK(waitpid(pid, &status, WUNTRACED | WCONTINUED | WNOHANG) == 0, "0x%x reported too",
	      (unsigned)status);
}

int main(int argc, char **argv)
{
	pid_t pid;

	tracee_begin("job_control", argc, argv, (struct tracee_options){ .rounds = 8 });
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	TRY(pid = fork());
	if (!pid) {
		/* A group of its own, or the kernel drops SIGTTIN as orphaned. */
		setpgid(0, 0);
		child();
	}
	await_progress("fork");
	while (tracee_more()) {
		cycle(pid, SIGSTOP);
		cycle(pid, SIGTSTP);
		cycle(pid, SIGTTIN);
	}
	kill(pid, SIGKILL);
	CHECK(WTERMSIG(tracee_reap(pid)) == SIGKILL, "did not die of SIGKILL");
	return tracee_ok("every stop and every continuation once");
}
