/* SPDX-License-Identifier: MIT
 *
 * A bit of all that can happen, one after the other, so that every observer of
 * it sees the same order: constructor, threads, fork, vfork and exec, signals,
 * libraries (one of them missing, one in a namespace of its own), callbacks,
 * names, exec of itself. Functions traced_* are those that somebody calls.
 */
#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <sched.h>
#include <setjmp.h>
#include <sys/prctl.h>

#include "tracee.h"

static char exe[PATH_MAX], plugin[PATH_MAX + 16];
static volatile int *volatile nowhere = (int *)16;
static sigjmp_buf back;
static volatile sig_atomic_t constructed, handled, compared;

NOIPA __attribute__((constructor)) static void traced_constructor(void)
{
	constructed++;
}

NOIPA static void traced_atexit(void)
{
	handled++;
}

/* A thread is gone for good when its entry in /proc is. */
static void await_gone(pid_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d", (int)tid);
	while (!access(path, F_OK))
		sched_yield();
}

static void *traced_start(void *tid)
{
	*(volatile pid_t *)tid = (pid_t)syscall(SYS_gettid);
	CHECK(!prctl(PR_SET_NAME, "worker"), "prctl: %s", strerror(errno));
	return NULL;
}

NOIPA static void *traced_start_and_leave(void *tid)
{
	*(volatile pid_t *)tid = (pid_t)syscall(SYS_gettid);
	pthread_exit(NULL);
}

static void run_thread(void *(*start)(void *))
{
	volatile pid_t tid = 0;
	pthread_t thread;

	CHECK(!pthread_create(&thread, NULL, start, (void *)(uintptr_t)&tid), "pthread_create");
	CHECK(!pthread_join(thread, NULL), "pthread_join");
	await_gone(tid);
}

static void await_child(pid_t pid, int want)
{
	int status = 0;

	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid, "waitpid: %s", strerror(errno));
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == want, "child: status %d", status);
}

static void children(void)
{
	char *const argv[] = { exe, (char[]){ "child" }, NULL };
	pid_t pid = fork();

	if (!pid)
		_exit(3);
	await_child(pid, 3);
	pid = vfork();
	if (!pid) {
		execv(exe, argv);
		_exit(1);
	}
	await_child(pid, 4);
}

NOIPA static void traced_handler(int sig, siginfo_t *si, void *context)
{
	(void)context;
	handled++;
	if (sig != SIGSEGV)
		return;
	CHECK(si->si_addr == (void *)16, "fault at %p", si->si_addr);
	siglongjmp(back, 1);
}

static void signals(void)
{
	struct sigaction action = { .sa_sigaction = traced_handler, .sa_flags = SA_SIGINFO };

	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGSEGV, &action, NULL);
	raise(SIGUSR1);
	if (!sigsetjmp(back, 1))
		*nowhere = 1;
	CHECK(handled == 2, "%d signals handled", (int)handled);
}

static void libraries(void)
{
	void *lib = dlopen(plugin, RTLD_NOW);

	CHECK(lib, "dlopen: %s", dlerror());
	CHECK(!dlclose(lib), "dlclose: %s", dlerror());
	CHECK(!dlopen("/nonexistent/libnone.so", RTLD_NOW), "loaded nothing");
	lib = dlmopen(LM_ID_NEWLM, plugin, RTLD_NOW);
	CHECK(lib, "dlmopen: %s", dlerror());
	CHECK(!dlclose(lib), "dlclose: %s", dlerror());
}

NOIPA static int traced_compare(const void *a, const void *b)
{
	compared++;
	return *(const int *)a - *(const int *)b;
}

int main(int argc, char **argv)
{
	char *const again[] = { exe, (char[]){ "last" }, NULL };
	int numbers[2] = { 2, 1 };
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	char copy[PATH_MAX];

	if (argc > 1 && !strcmp(argv[1], "child"))
		_exit(4);
	CHECK(n > 0 && constructed == 1, "readlink: %s", strerror(errno));
	exe[n] = 0;
	if (argc > 1 && !strcmp(argv[1], "last")) {
		atexit(traced_atexit);
		prctl(PR_SET_NAME, "renamed");
		tracee_name = "happenings";
		return tracee_ok("all of it");
	}
	tracee_begin("happenings", argc, argv, (struct tracee_options){ .rounds = 1 });
	strcpy(copy, exe);
	snprintf(plugin, sizeof(plugin), "%s/libplugin.so", dirname(copy));
	while (tracee_more()) {
		run_thread(traced_start);
		run_thread(traced_start_and_leave);
		children();
		handled = 0;
		signals();
		libraries();
		qsort(numbers, 2, sizeof(*numbers), traced_compare);
		CHECK(compared > 0, "nothing was compared");
	}
	execv(exe, again);
	return 1;
}
