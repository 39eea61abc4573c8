/* SPDX-License-Identifier: MIT
 *
 * One process execs itself over and over, with threads running and blocked at
 * the moment. --mode=thread: a thread that is not the leader does it, which
 * then takes the leader's id. pid, arguments, environment and the descriptor
 * passed on are checked each time; --until is looked at between two execs.
 */
#include "tracee.h"

static char **args;
static long left, born;

static void *blocked(void *arg)
{
	char c;

	(void)arg;
	for (;;)
		(void)!read(*(int *)arg, &c, 1);
	return NULL;
}

static void *spinning(void *arg)
{
	volatile uint32_t *x = arg;

	for (;;)
		*x = tracee_mix(*x, 100);
	return NULL;
}

static void *go(void *arg)
{
	char text[64], *const env[] = { (char *)"CHAIN=kept", NULL };

	(void)arg;
	snprintf(text, sizeof(text), "--size=%ld", left * 1000000 + 1);
	for (int i = 1; args[i]; i++)
		if (!strncmp(args[i], "--size=", 7))
			args[i] = text;
	execve("/proc/self/exe", args, env);
	tracee_fail("execve: %s", strerror(errno));
}

int main(int argc, char **argv)
{
	static uint32_t number;
	static int fds[2];
	char pid[32];

	tracee_begin("exec_chain", argc, argv,
		     (struct tracee_options){ .rounds = 30, .mode = "leader" });
	/* --size carries the count of links left, and says "not the first". */
	left = opt.size ? opt.size / 1000000 : opt.rounds;
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	if (opt.size) {
		CHECK(!strcmp(getenv("CHAIN") ? getenv("CHAIN") : "", "kept"), "environment lost");
		CHECK(argc >= 2 && !strcmp(argv[argc - 1], "--depth=77"), "arguments lost");
		CHECK(tracee_tid() == getpid(), "not the leader after exec");
		CHECK(fcntl(9, F_GETFD) != -1 && read(9, &born, sizeof(born)) == sizeof(born),
		      "descriptor lost");
		CHECK(born == getpid(), "pid was %ld, is %s", born, pid);
	} else {
		tracee_ready();
		args = calloc((size_t)argc + 3, sizeof(*args));
		CHECK(args, "no memory");
		memcpy(args, argv, (size_t)argc * sizeof(*args));
		for (int i = 1; i < argc; i++)
			if (!strncmp(args[i], "--ready=", 8))
				args[i] = (char *)"--limit=120";
		args[argc] = (char *)"--size=";
		args[argc + 1] = (char *)"--depth=77";
	}
	if (!args)
		args = argv;
	if (opt.until ? tracee_told_to_stop() && opt.size : left-- <= 0)
		return tracee_ok("pid, arguments, environment, descriptors at every exec");
	TRY(pipe(fds));
	TRY(dup2(fds[0], 9));
	close(fds[0]);
	born = getpid();
	CHECK(write(fds[1], &born, sizeof(born)) == sizeof(born), "write: %s", strerror(errno));
	close(fds[1]);
	TRY(pipe2(fds, O_CLOEXEC));
	for (int i = 0; i < 2; i++) {
		tracee_thread(blocked, fds);
		tracee_thread(spinning, &number);
	}
	if (!strcmp(opt.mode, "thread")) {
		tracee_thread(go, NULL);
		blocked(fds);
	}
	go(NULL);
}
