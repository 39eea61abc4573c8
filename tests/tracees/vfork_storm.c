/* SPDX-License-Identifier: MIT
 *
 * vfork: children that _exit, that exec, that fail to exec, that write to the
 * parent's memory before; from several threads at once.
 */
#include "tracee.h"

static int child_main(int argc, char **argv)
{
	return argc == 3 && !strcmp(argv[1], "--child") ? atoi(argv[2]) : 255;
}

static void once(int i)
{
	char number[16];
	char *const args[] = { (char *)"vfork_storm", (char *)"--child", number, NULL };
	char *const env[] = { NULL };
	volatile int seen = 0;
	int status;
	pid_t pid;

	snprintf(number, sizeof(number), "%d", i & 0x3f);
	pid = vfork();
	if (pid == 0) {
		seen = i + 1;
		if (i % 3 == 0)
			_exit(i & 0x3f);
		execve(i % 3 == 1 ? "/proc/self/exe" : "/nonexistent/program", args, env);
		_exit(errno == ENOENT ? 64 : 65);
	}
	CHECK(pid > 0, "vfork: %s", strerror(errno));
	CHECK(seen == i + 1, "vfork returned before its child had run");
	status = tracee_reap(pid);
	CHECK(status == (i % 3 == 2 ? 64 : i & 0x3f) << 8, "status 0x%x of child %d",
	      (unsigned)status, i);
}

static void *forker(void *arg)
{
	for (int i = 0; i < 6; i++)
		once((int)(uintptr_t)arg + i);
	return NULL;
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "--child"))
		return child_main(argc, argv);
	tracee_begin("vfork_storm", argc, argv,
		     (struct tracee_options){ .rounds = 8, .threads = 3 });
	while (tracee_more()) {
		pthread_t threads[TRACEE_THREADS];

		for (long i = 0; i < opt.threads; i++)
			threads[i] = tracee_thread(forker, (void *)(i * 7));
		for (long i = 0; i < opt.threads; i++)
			pthread_join(threads[i], NULL);
	}
	return tracee_ok("every status, memory shared until exec");
}
