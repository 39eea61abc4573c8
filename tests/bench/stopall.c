/* SPDX-License-Identifier: MIT
 *
 * The least that stopping every thread of a process takes: seize each, then
 * interrupt each, then wait for each, then let all go, and nothing else. Prints
 * the milliseconds of the four.   stopall PID
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#define THREADS_MAX 32768

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
	static pid_t tids[THREADS_MAX];
	double began = now_ms(), seized, asked, stopped;
	struct dirent *e;
	char path[64];
	int n = 0, i;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", argc > 1 ? atoi(argv[1]) : 0);
	dir = opendir(path);
	while (dir && n < THREADS_MAX && (e = readdir(dir))) {
		tids[n] = atoi(e->d_name);
		n += tids[n] > 0 && !ptrace(PTRACE_SEIZE, tids[n], 0, 0);
	}
	seized = now_ms();
	for (i = 0; i < n; i++)
		ptrace(PTRACE_INTERRUPT, tids[i], 0, 0);
	asked = now_ms();
	for (i = 0; i < n; i++)
		waitpid(tids[i], NULL, __WALL);
	stopped = now_ms();
	for (i = 0; i < n; i++)
		ptrace(PTRACE_DETACH, tids[i], 0, 0);
	printf("%d threads: seize %.0f ms, ask %.0f, stop %.0f, let go %.0f\n", n, seized - began,
	       asked - seized, stopped - asked, now_ms() - stopped);
	return n == 0;
}
