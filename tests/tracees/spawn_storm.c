/* SPDX-License-Identifier: MIT
 *
 * posix_spawn with file actions, attributes and a failing exec; what the child
 * printed, and with which signals and group, is checked.
 */
#include <spawn.h>

#include "tracee.h"

static int child_main(char **argv)
{
	sigset_t mask;
	char line[64];
	int n;

	sigprocmask(SIG_SETMASK, NULL, &mask);
	n = snprintf(line, sizeof(line), "%s mask=%d group=%d", argv[2],
		     sigismember(&mask, SIGUSR1), getpgrp() == getpid());
	return write(STDOUT_FILENO, line, (size_t)n) == n ? 33 : 1;
}

static void once(int i)
{
	char number[16], want[64], got[64];
	char *const args[] = { (char *)"spawn_storm", (char *)"--child", number, NULL };
	char *const env[] = { NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t mask;
	ssize_t n;
	int fds[2];
	pid_t pid;

	snprintf(number, sizeof(number), "child %d", i);
	TRY(pipe2(fds, O_CLOEXEC));
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, fds[1], STDOUT_FILENO);
	posix_spawnattr_init(&attr);
	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR1);
	posix_spawnattr_setsigmask(&attr, &mask);
	posix_spawnattr_setpgroup(&attr, 0);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
	CHECK(!posix_spawn(&pid, "/proc/self/exe", &files, &attr, args, env), "posix_spawn");
	close(fds[1]);
	snprintf(want, sizeof(want), "%s mask=1 group=1", number);
	n = read(fds[0], got, sizeof(got) - 1);
	got[n > 0 ? n : 0] = 0;
	CHECK(!strcmp(got, want), "child printed \"%s\", not \"%s\"", got, want);
	close(fds[0]);
	CHECK(tracee_reap(pid) == 33 << 8, "child's status");
	CHECK(posix_spawn(&pid, "/nonexistent", NULL, NULL, args, env) == ENOENT,
	      "spawning nothing did not fail with ENOENT");
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "--child"))
		return child_main(argv);
	tracee_begin("spawn_storm", argc, argv, (struct tracee_options){ .rounds = 30 });
	while (tracee_more())
		once((int)tracee_round);
	CHECK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD, "a child too many");
	return tracee_ok("every child's output, mask, group and status");
}
