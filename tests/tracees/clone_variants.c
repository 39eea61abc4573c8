/* SPDX-License-Identifier: MIT
 *
 * clone() as libraries don't call it: sharing memory without being a thread,
 * another exit signal or none, CLONE_VFORK with a stack of its own, shared and
 * separate descriptor tables, CLONE_PARENT, CLONE_UNTRACED, clone3 with a pidfd.
 */
#include <sched.h>

#include "tracee.h"

#define STACK 65536

struct job {
	volatile int seen;
	int close_fd;
	int status;
};

static char stack[STACK] __attribute__((aligned(64)));
static volatile sig_atomic_t exits;

static void on_exit_signal(int sig)
{
	(void)sig;
	exits++;
}

static int body(void *arg)
{
	struct job *job = arg;

	job->seen = (int)tracee_mix(42, 3000);
	if (job->close_fd)
		close(job->close_fd);
	return job->status;
}

static void variant(const char *what, int flags, int wait_flags)
{
	struct job job = { .close_fd = dup(0), .status = 21 };
	bool vm = flags & CLONE_VM, files = flags & CLONE_FILES;
	int status = -1;
	pid_t pid;

	TRY(pid = clone(body, stack + STACK, flags, &job));
	CHECK(waitpid(pid, &status, wait_flags) == pid, "%s: waitpid: %s", what, strerror(errno));
	CHECK(status == 21 << 8, "%s: status 0x%x", what, (unsigned)status);
	CHECK((job.seen != 0) == vm, "%s: memory %sshared", what, vm ? "not " : "");
	CHECK((fcntl(job.close_fd, F_GETFD) == -1) == files, "%s: descriptors %sshared", what,
	      files ? "not " : "");
	if (!files)
		close(job.close_fd);
}

/* The child of a child made with CLONE_PARENT is ours to reap. */
static int makes_sibling(void *arg)
{
	struct job *job = arg;

	job->seen = clone(body, stack + STACK / 2, CLONE_PARENT | CLONE_VM | SIGCHLD, arg);
	return 0;
}

static void sibling(void)
{
	struct job job = { .status = 22 };
	pid_t pid;

	TRY(pid = clone(makes_sibling, stack + STACK, CLONE_VM | CLONE_VFORK | SIGCHLD, &job));
	CHECK(tracee_reap(pid) == 0, "CLONE_PARENT: status of the first child");
	CHECK(tracee_reap(-1) == 22 << 8, "CLONE_PARENT: status of the sibling");
}

#ifdef SYS_clone3
/* struct clone_args of <linux/sched.h>, which clashes with <sched.h>. */
struct clone3_args {
	uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
};

static void with_pidfd(void)
{
	int pidfd = -1;
	struct clone3_args args = {
		.flags = CLONE_PIDFD,
		.pidfd = (uint64_t)(uintptr_t)&pidfd,
		.exit_signal = SIGCHLD,
	};
	siginfo_t info = { 0 };
	long pid = syscall(SYS_clone3, &args, sizeof(args));

	if (pid == 0)
		_exit(23);
	if (pid == -1 && errno == ENOSYS)
		return;
	CHECK(pid > 0, "clone3: %s", strerror(errno));
	CHECK(!waitid((idtype_t)3 /* P_PIDFD */, (id_t)pidfd, &info, WEXITED),
	      "waitid(P_PIDFD): %s", strerror(errno));
	CHECK(info.si_pid == pid && info.si_status == 23, "clone3: wrong child, or status %d",
	      info.si_status);
	close(pidfd);
}
#endif

int main(int argc, char **argv)
{
	struct sigaction restart = { .sa_handler = on_exit_signal, .sa_flags = SA_RESTART };
	int rounds = 0;

	tracee_begin("clone_variants", argc, argv, (struct tracee_options){ .rounds = 20 });
	sigaction(SIGUSR1, &restart, NULL);
	while (tracee_more()) {
		rounds++;
		variant("plain", SIGCHLD, 0);
		variant("CLONE_VM", CLONE_VM | SIGCHLD, 0);
		variant("CLONE_VM|CLONE_FILES|CLONE_FS",
			CLONE_VM | CLONE_FILES | CLONE_FS | SIGCHLD, 0);
		variant("CLONE_VM|CLONE_SIGHAND", CLONE_VM | CLONE_SIGHAND | SIGCHLD, 0);
		variant("CLONE_VM|CLONE_VFORK", CLONE_VM | CLONE_VFORK | SIGCHLD, 0);
		variant("CLONE_FILES", CLONE_FILES | SIGCHLD, 0);
		variant("exit signal SIGUSR1", SIGUSR1, __WCLONE);
		variant("no exit signal", 0, __WCLONE);
		variant("CLONE_VM, no exit signal", CLONE_VM, __WALL);
		variant("CLONE_UNTRACED", CLONE_UNTRACED | SIGCHLD, 0);
		sibling();
#ifdef SYS_clone3
		with_pidfd();
#endif
	}
	CHECK(exits == rounds, "%d of %d exit signals", (int)exits, rounds);
	return tracee_ok("every status, sharing and exit signal");
}
