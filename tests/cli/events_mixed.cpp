/* SPDX-License-Identifier: MIT
 *
 * Threads, forks, libraries, exceptions and signals, one within the other and
 * one after the other, so that every observer sees the same order.
 *
 *     events_mixed PLUGIN
 */
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdexcept>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *plugin;
static volatile int *volatile nowhere = (int *)16;
static sigjmp_buf back;
static volatile sig_atomic_t failed;

static void check(bool ok)
{
	failed = failed || !ok;
}

static void handler(int sig)
{
	if (sig == SIGSEGV)
		siglongjmp(back, 1);
}

static void child()
{
	pid_t pid = fork();
	int status = 0;

	if (!pid)
		_exit(3);
	check(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 3);
}

static void throws(int depth)
{
	if (!depth)
		throw std::runtime_error("bottom");
	throws(depth - 1);
}

/* In the handler of the first one: a signal, and the same one thrown again. */
static void twice()
{
	try {
		throws(2);
	} catch (const std::exception &) {
		raise(SIGUSR1);
		throw;
	}
}

static void library()
{
	void *lib = dlopen(plugin, RTLD_NOW);

	check(lib != nullptr);
	try {
		raise(SIGUSR2);
		twice();
	} catch (const std::runtime_error &) {
		child();
	}
	check(!dlclose(lib));
}

static void fault()
{
	if (!sigsetjmp(back, 1))
		*nowhere = 1;
}

static void *work(void *tid)
{
	*(volatile pid_t *)tid = (pid_t)syscall(SYS_gettid);
	try {
		child();
		throws(0);
	} catch (...) {
		fault();
	}
	library();
	return nullptr;
}

/* A thread is gone for good when its entry in /proc is. */
static void thread()
{
	volatile pid_t tid = 0;
	pthread_t t;
	char path[64];

	check(!pthread_create(&t, nullptr, work, (void *)&tid) && !pthread_join(t, nullptr));
	snprintf(path, sizeof(path), "/proc/self/task/%d", (int)tid);
	while (!access(path, F_OK))
		sched_yield();
}

int main(int, char **argv)
{
	plugin = argv[1];
	for (int sig : { SIGUSR1, SIGUSR2, SIGSEGV })
		signal(sig, handler);
	child();
	thread();
	library();
	try {
		thread();
		twice();
	} catch (const std::exception &) {
		fault();
	}
	raise(SIGUSR1);
	return failed;
}
