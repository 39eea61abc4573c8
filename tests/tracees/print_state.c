/* SPDX-License-Identifier: MIT
 *
 * Prints everything a process inherits, for comparison with a native run:
 * arguments, environment, descriptors, signal dispositions and masks, affinity,
 * limits, ids, directory, nice value, and standard input's bytes. Pids are not
 * printed, but their relations are (parent, group, session). --until and
 * --ready as in tracee.h would change the state, so it has no options.
 */
#include <dirent.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "tracee.h"

extern char **environ;

static void print_descriptors(void)
{
	char path[64], target[512];
	struct stat st;

	for (int fd = 0; fd < 1024; fd++) {
		ssize_t n;

		if (fcntl(fd, F_GETFD) == -1)
			continue;
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		n = readlink(path, target, sizeof(target) - 1);
		target[n > 0 ? n : 0] = 0;
		fstat(fd, &st);
		/* A pipe's number differs from run to run. */
		if (!strncmp(target, "pipe:", 5) || !strncmp(target, "socket:", 7))
			*strchr(target, '[') = 0;
		printf("fd %d %s cloexec=%d flags=%o type=%o\n", fd, target, fcntl(fd, F_GETFD),
		       (unsigned)fcntl(fd, F_GETFL), st.st_mode & S_IFMT);
	}
}

static void print_signals(void)
{
	struct sigaction action;
	sigset_t mask, pending;
	stack_t alt;

	sigprocmask(SIG_SETMASK, NULL, &mask);
	sigpending(&pending);
	for (int s = 1; s <= SIGRTMAX; s++) {
		if (sigaction(s, NULL, &action))
			continue;
		if (action.sa_handler != SIG_DFL || sigismember(&mask, s) ||
		    sigismember(&pending, s))
			printf("signal %d ignored=%d handled=%d blocked=%d pending=%d\n", s,
			       action.sa_handler == SIG_IGN,
			       action.sa_handler != SIG_IGN && action.sa_handler != SIG_DFL,
			       sigismember(&mask, s), sigismember(&pending, s));
	}
	sigaltstack(NULL, &alt);
	printf("altstack %s\n", alt.ss_flags & SS_DISABLE ? "none" : "set");
}

static void print_limits(void)
{
	struct rlimit limit;
	cpu_set_t cpus;

	for (int i = 0; i < 16; i++)
		if (!getrlimit((__rlimit_resource_t)i, &limit))
			printf("limit %d %llu %llu\n", i, (unsigned long long)limit.rlim_cur,
			       (unsigned long long)limit.rlim_max);
	CPU_ZERO(&cpus);
	sched_getaffinity(0, sizeof(cpus), &cpus);
	printf("affinity");
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &cpus))
			printf(" %d", i);
	printf("\nscheduler %d nice %d\n", sched_getscheduler(0), getpriority(PRIO_PROCESS, 0));
}

static void print_process(int argc, char **argv)
{
	char cwd[4096], name[32] = "";
	mode_t mask = umask(0);
	int signal = -1, child_subreaper = -1;

	umask(mask);
	prctl(PR_GET_NAME, name);
	prctl(PR_GET_PDEATHSIG, &signal);
	prctl(PR_GET_CHILD_SUBREAPER, &child_subreaper);
	for (int i = 0; i < argc; i++)
		printf("arg %d %s\n", i, argv[i]);
	for (char **e = environ; *e; e++)
		printf("env %s\n", *e);
	printf("cwd %s umask %o name %s\n", getcwd(cwd, sizeof(cwd)) ? cwd : "?", (unsigned)mask,
	       name);
	printf("uid %d %d gid %d %d\n", (int)getuid(), (int)geteuid(), (int)getgid(),
	       (int)getegid());
	printf("pdeathsig %d subreaper %d dumpable %d no_new_privs %d\n", signal, child_subreaper,
	       prctl(PR_GET_DUMPABLE), prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
	printf("session-leader %d group-leader %d parent-in-group %d\n", getsid(0) == getpid(),
	       getpgrp() == getpid(), getpgid(getppid()) == getpgrp());
	printf("children %d\n", waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD ? 0 : 1);
}

int main(int argc, char **argv)
{
	unsigned long sum = 0, bytes = 0;
	int c;

	print_process(argc, argv);
	print_descriptors();
	print_signals();
	print_limits();
	while ((c = getchar()) != EOF) {
		sum = sum * 31 + (unsigned long)c;
		bytes++;
	}
	printf("stdin %lu bytes %lx\n", bytes, sum);
	fprintf(stderr, "print_state: standard error is mine\n");
	return 0;
}
