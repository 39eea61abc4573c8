/* SPDX-License-Identifier: MIT
 *
 * A process that may do nothing but read, write, access, clock_gettime, poll and
 * leave: any other system call (an injected mmap, a restart_syscall after an
 * interrupted sleep) kills it. Its children live in SECCOMP_MODE_STRICT.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>

#include "tracee.h"

#define ALLOW(nr) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static void lock_down(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		ALLOW(SYS_read),
		ALLOW(SYS_write),
#ifdef SYS_access
		ALLOW(SYS_access),
#endif
#ifdef SYS_poll
		ALLOW(SYS_poll),
#endif
		ALLOW(SYS_faccessat),
		ALLOW(SYS_ppoll),
		ALLOW(SYS_exit),
		ALLOW(SYS_exit_group),
		ALLOW(SYS_rt_sigreturn),
		ALLOW(SYS_clock_gettime),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	TRY(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	TRY(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
}

/* Answers each number with its square until the pipe ends. */
static void strict_child(int in, int out)
{
	uint32_t n;

	prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	while (read(in, &n, sizeof(n)) == sizeof(n)) {
		n *= n;
		if (write(out, &n, sizeof(n)) != sizeof(n))
			break;
	}
	syscall(SYS_exit, 0);
}

int main(int argc, char **argv)
{
	int ask[2], answer[2];
	pid_t pid;

	tracee_begin("seccomp", argc, argv, (struct tracee_options){ .rounds = 2000 });
	TRY(pipe2(ask, O_CLOEXEC));
	TRY(pipe2(answer, O_CLOEXEC));
	tracee_ready();
	TRY(pid = fork());
	if (!pid) {
		close(ask[1]);
		strict_child(ask[0], answer[1]);
	}
	close(answer[1]);
	lock_down();
	while (tracee_more()) {
		uint32_t n = (uint32_t)tracee_round, square;

		tracee_mix(n, 2000);
		CHECK(write(ask[1], &n, sizeof(n)) == sizeof(n), "write: %s", strerror(errno));
		CHECK(read(answer[0], &square, sizeof(square)) == sizeof(square),
		      "the strict child is gone");
		CHECK(square == n * n, "wrong answer");
	}
	return tracee_ok("lived under its filter");
}
