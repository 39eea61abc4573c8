/* SPDX-License-Identifier: MIT
 *
 * Annotates what it does, and says so itself, one line each as annotations_dump
 * prints them: that is the expectation. Not a stress program: ./annotated MODE [ARG].
 *
 *   all       each kind of annotation once, and the scope macros
 *   threads   8 threads one after the other, 100 spans each, gone at once
 *   fork      a child that annotates, one that does not, and a grandchild
 *   exec      annotates, executes itself with "after"
 *   plugin    loads ARG, calls it, unloads it, 20 times
 *   shutdown  gives its ring up at the end
 *   signals   annotates in a signal handler that interrupts annotations
 *   kill      dies of SIGKILL after ARG instants
 *   late      waits for a line on standard input, then annotates, then waits
 *   fibers    ARG fibers that are not announced, each with a span over switches
 *   storm     ARG threads record as fast as they can, a million times each
 */
#define CPROF_TRACE_IMPLEMENTATION /* accepted, and of no effect */
#include <cprof/trace.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

static void say(const char *kind, const char *name, const char *object, long value)
{
	char line[256];
	int n = snprintf(line, sizeof(line), "%d %s %s %s %ld\n", (int)syscall(SYS_gettid), kind,
			 name, object, value);

	if (write(STDOUT_FILENO, line, (size_t)n) != n)
		_exit(1);
}

static int scopes(int x)
{
	CPROF_TRACE_BEGIN_FUNC_SCOPE_WITH_OBJECT("thing");
	say("begin", "scopes", "thing", 0);
	{
		CPROF_TRACE_BEGIN_LOCAL_SCOPE(part);
		say("begin", "part", "-", 0);
		{
			CPROF_TRACE_SCOPE("block");
			say("begin", "block", "-", 0);
		}
		say("end", "-", "-", 0);
		CPROF_TRACE_END_LOCAL_SCOPE(part);
		say("end", "-", "-", 0);
	}
	say("end", "-", "-", 0);
	return CPROF_TRACE_END_FUNC_SCOPE_WITH(x + 1);
}

static void *finish(void *id)
{
	cprof_trace_finish(*(uint64_t *)id);
	say("finish", "-", "-", 0);
	return NULL;
}

static int all(void)
{
	uint64_t id;
	pthread_t t;

	cprof_trace_thread_name("leading");
	say("thread-name", "leading", "-", 0);
	CPROF_TRACE_INSTANT("now");
	say("instant", "now", "-", 0);
	CPROF_TRACE_COUNTER("level", -42);
	say("counter", "level", "-", -42);
	id = cprof_trace_start("async", "cat", cprof_trace_intern("an object"));
	say("start", "async", "an object", 0);
	pthread_create(&t, NULL, finish, &id);
	pthread_join(t, NULL);
	cprof_trace_fiber_name(7, "seventh");
	say("fiber-name", "seventh", "-", 0);
	cprof_trace_fiber_switch(3, 7);
	say("fiber-switch", "3", "7", 0);
	return scopes(41) - 42;
}

static void *spans(void *unused)
{
	int i;

	for (i = 0; i < 100; i++) {
		uint64_t id = cprof_trace_begin("span", "c", NULL);

		cprof_trace_end(id);
	}
	return unused;
}

static int threads(void)
{
	pthread_t t;
	int i;

	for (i = 0; i < 8; i++) {
		pthread_create(&t, NULL, spans, NULL);
		pthread_join(t, NULL);
	}
	return 0;
}

static void mark(const char *name)
{
	CPROF_TRACE_INSTANT(name);
	say("instant", name, "-", 0);
}

static int fork_some(void)
{
	int status = 0;

	mark("parent");
	if (!fork()) {
		mark("child");
		if (!fork()) {
			mark("grandchild");
			_exit(0);
		}
		wait(NULL);
		_exit(0);
	}
	wait(&status);
	if (!fork())
		_exit(0);
	wait(NULL);
	mark("parent again");
	return status;
}

static int plugin(const char *path)
{
	void *library;
	int i;

	for (i = 0; i < 20; i++) {
		library = dlopen(path, RTLD_NOW);
		if (!library)
			return 1;
		((void (*)(int))dlsym(library, "annotate"))(i);
		say("counter", "in the plugin", "-", i);
		dlclose(library);
	}
	return 0;
}

static volatile sig_atomic_t handled;

static void handler(int signal)
{
	(void)signal;
	CPROF_TRACE_INSTANT("handled");
	handled++;
}

static int signals(void)
{
	int i, sent = 0;

	signal(SIGUSR1, handler);
	if (!fork()) {
		for (i = 0; i < 500; i++) {
			kill(getppid(), SIGUSR1);
			usleep(100);
		}
		_exit(0);
	}
	while (!waitpid(-1, NULL, WNOHANG)) {
		CPROF_TRACE_INSTANT("ordinary");
		sent++;
	}
	printf("%d ordinary\n%d handled\n", sent, (int)handled);
	return 0;
}

static void *record(void *rounds)
{
	long i;

	for (i = 0; i < (long)rounds; i++)
		CPROF_TRACE_COUNTER("storm", i);
	return NULL;
}

static int storm(int count, long rounds)
{
	pthread_t t[64];
	int i;

	for (i = 0; i < count && i < 64; i++)
		pthread_create(&t[i], NULL, record, (void *)rounds);
	while (i--)
		pthread_join(t[i], NULL);
	printf("%llu recorded\n", (unsigned long long)cprof_trace_root_v1.head);
	return 0;
}

static int late(void)
{
	char line[8];
	int i;

	mark("unseen");
	printf("before: enabled %u recorded %llu ring %s\n", cprof_trace_root_v1.enabled,
	       (unsigned long long)cprof_trace_root_v1.head,
	       cprof_trace_root_v1.events ? "yes" : "no");
	while (fgets(line, sizeof(line), stdin))
		for (i = 0; i < 10; i++)
			mark("seen");
	printf("enabled %u\n", cprof_trace_root_v1.enabled);
	return 0;
}

static ucontext_t home, fibers[16];
static char stacks[16][65536];
static int fiber_count, current;

static void go_to(int to)
{
	int from = current;
	char a[8], b[8];

	snprintf(a, sizeof(a), "%d", from);
	snprintf(b, sizeof(b), "%d", to);
	say("fiber-switch", a, b, 1);
	current = to;
	swapcontext(from ? &fibers[from] : &home, to ? &fibers[to] : &home);
}

static void fiber(void)
{
	CPROF_TRACE_BEGIN_FUNC_SCOPE();
	say("begin", "fiber", "-", 0);
	go_to(current < fiber_count ? current + 1 : 0);
	CPROF_TRACE_END_FUNC_SCOPE();
	say("end", "-", "-", 0);
	go_to(0);
}

static int switch_fibers(int count)
{
	int i;

	fiber_count = count < 16 ? count : 15;
	for (i = 1; i <= fiber_count; i++) {
		getcontext(&fibers[i]);
		fibers[i].uc_stack.ss_sp = stacks[i];
		fibers[i].uc_stack.ss_size = sizeof(stacks[i]);
		makecontext(&fibers[i], fiber, 0);
	}
	go_to(1);
	for (i = 1; i <= fiber_count; i++)
		go_to(i);
	mark("at home");
	return 0;
}

static int die(int count)
{
	int i;

	for (i = 0; i < count; i++)
		mark("before");
	return kill(getpid(), SIGKILL);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "all", *arg = argc > 2 ? argv[2] : "2";

	if (!strcmp(mode, "exec")) {
		mark("before");
		usleep(200000); /* it has to be read before: an exec takes the memory */
		execl("/proc/self/exe", argv[0], "after", NULL);
	}
	if (!strcmp(mode, "after")) {
		mark("after");
		return 0;
	}
	if (!strcmp(mode, "shutdown")) {
		mark("last");
		cprof_trace_shutdown();
		return 0;
	}
	return !strcmp(mode, "threads")	  ? threads()
	       : !strcmp(mode, "fork")	  ? fork_some()
	       : !strcmp(mode, "plugin")  ? plugin(arg)
	       : !strcmp(mode, "signals") ? signals()
	       : !strcmp(mode, "kill")	  ? die(atoi(arg))
	       : !strcmp(mode, "fibers")  ? switch_fibers(atoi(arg))
	       : !strcmp(mode, "late")	  ? late()
	       : !strcmp(mode, "storm")	  ? storm(atoi(arg), argc > 3 ? atol(argv[3]) : 1000000)
					  : all();
}
