/* SPDX-License-Identifier: MIT
 *
 * Forks, from the main thread and from others at once; children that fork;
 * every exit status and every byte they sent is checked.
 */
#include "tracee.h"

struct family {
	int pipe;
	uint32_t seed;
};

static void child(int fd, uint32_t seed)
{
	uint32_t sum = tracee_mix(seed, 2000);
	pid_t grandchild;

	TRY(grandchild = fork());
	if (!grandchild)
		_exit((int)(sum >> 8 & 0x7f));
	if (tracee_reap(grandchild) != (int)(sum >> 8 & 0x7f) << 8)
		_exit(255);
	if (write(fd, &sum, sizeof(sum)) != sizeof(sum))
		_exit(254);
	_exit((int)(sum & 0x7f));
}

static void *forker(void *arg)
{
	uint32_t seed = (uint32_t)(uintptr_t)arg, sum;
	int status, fds[2];
	pid_t pid;

	for (uint32_t i = 0; i < 4; i++) {
		TRY(pipe2(fds, O_CLOEXEC));
		TRY(pid = fork());
		if (!pid)
			child(fds[1], seed + i);
		close(fds[1]);
		CHECK(read(fds[0], &sum, sizeof(sum)) == sizeof(sum), "child sent nothing");
		CHECK(sum == tracee_mix(seed + i, 2000), "child computed something else");
		status = tracee_reap(pid);
		CHECK(status == (int)(sum & 0x7f) << 8, "child's status is 0x%x", (unsigned)status);
		close(fds[0]);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	tracee_begin("fork_storm", argc, argv,
		     (struct tracee_options){ .rounds = 8, .threads = 4 });
	while (tracee_more()) {
		pthread_t threads[TRACEE_THREADS];

		for (long i = 0; i < opt.threads; i++)
			threads[i] = tracee_thread(forker, (void *)(i * 100 + tracee_round));
		for (long i = 0; i < opt.threads; i++)
			pthread_join(threads[i], NULL);
	}
	CHECK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD, "a child too many");
	return tracee_ok("every status, every byte");
}
