/* SPDX-License-Identifier: MIT
 *
 * Forks in the middle of calls, and says of each process what it enters and
 * leaves: "PID +FUNCTION DEPTH", "PID -FUNCTION DEPTH". What is left otherwise
 * has no such line.
 *
 *	--mode=fork	the child returns from all that was open
 *	--mode=twice	and forks before that
 *	--mode=exit	the child ends, exec: executes another program, jump: longjmp
 *	--mode=vfork	the child runs on its parent's stack, and ends
 *	--mode=clone	the child has a stack of its own, spawn: likewise, posix_spawn
 *	--mode=thread	a thread forks, coroutine: on a stack beside its thread's own
 *	--mode=rests	a coroutine forks, whose child rests there after its first call until
 *			standard input ends; thread_rests: a thread's
 */
#include <sched.h>
#include <setjmp.h>
#include <spawn.h>
#include <ucontext.h>

#include "tracee.h"

#define STACK 65536
#define BEGIN int at = enter(__func__)
#define END leave(__func__, at)

static int depth;
static jmp_buf far;
static const char *mode;
static char stack[STACK] __attribute__((aligned(64)));
static ucontext_t home, aside;

static void say(char what, const char *name, int at)
{
	char line[80];
	int n = snprintf(line, sizeof(line), "%d %c%s %d\n", (int)getpid(), what, name, at);

	CHECK(write(1, line, (size_t)n) == n, "write: %s", strerror(errno));
}

static int enter(const char *name)
{
	say('+', name, depth);
	return depth++;
}

static void leave(const char *name, int at)
{
	say('-', name, at);
	depth = at;
}

static bool is(const char *name)
{
	return !strcmp(mode, name);
}

static NOIPA int leaf(int n)
{
	BEGIN;
	END;
	return n + 1;
}

static NOIPA int in_clone(void *arg)
{
	depth = 0;
	BEGIN;
	(void)arg;
	leaf(1);
	END;
	return 0;
}

static pid_t make_child(void)
{
	static char name[] = "true";
	char *argv[] = { name, NULL };
	pid_t child = -1;

	if (is("clone"))
		child = clone(in_clone, stack + STACK, SIGCHLD, NULL);
	else if (is("spawn"))
		CHECK(!posix_spawn(&child, "/bin/true", NULL, NULL, argv, NULL), "posix_spawn");
	else
		child = fork();
	return child;
}

static void wait_for(pid_t child)
{
	CHECK(child > 0 && waitpid(child, NULL, 0) == child, "waitpid: %s", strerror(errno));
}

/* What the child does first; some do no more. */
static void act(int n)
{
	pid_t child;

	if (is("exit") || is("exec"))
		leaf(n);
	if (is("exit"))
		_exit(0);
	if (is("exec"))
		execl("/bin/true", "true", NULL);
	if (is("jump"))
		longjmp(far, 1);
	if (is("rests") || is("thread_rests")) {
		leaf(n);
		while (read(0, &child, 1) > 0)
			;
	}
	if (!is("twice"))
		return;
	child = fork();
	if (child)
		wait_for(child);
}

static NOIPA int split(int given)
{
	BEGIN;
	volatile int n = given;
	pid_t child;

	if (is("vfork")) {
		child = vfork();
		if (!child) {
			leaf(n);
			_exit(0);
		}
	} else {
		child = make_child();
		if (!child)
			act(n);
	}
	if (child)
		wait_for(child);
	n += leaf(n);
	END;
	return child ? n : -n;
}

static NOIPA int middle(int n)
{
	BEGIN;
	n = split(n) + 1;
	END;
	return n;
}

static NOIPA int outer(int given)
{
	BEGIN;
	volatile int n = given;

	if (!setjmp(far))
		n = middle(n) * 2;
	depth = at + 1;
	leaf(7);
	END;
	return n;
}

static NOIPA void on_the_side(void)
{
	depth = 0;
	BEGIN;
	outer(5);
	END;
}

static void switch_aside(void)
{
	getcontext(&aside);
	aside.uc_stack.ss_sp = stack;
	aside.uc_stack.ss_size = STACK;
	aside.uc_link = &home;
	makecontext(&aside, on_the_side, 0);
	swapcontext(&home, &aside);
}

static NOIPA void *in_thread(void *arg)
{
	depth = 0;
	BEGIN;
	if (is("thread_rests"))
		switch_aside();
	else
		outer(5);
	depth = at + 1;
	END;
	return arg;
}

static NOIPA int base(int n)
{
	BEGIN;
	if (is("thread") || is("thread_rests"))
		pthread_join(tracee_thread(in_thread, NULL), NULL);
	else if (is("coroutine") || is("rests"))
		switch_aside();
	else
		outer(n);
	depth = at + 1;
	END;
	return n;
}

int main(int argc, char **argv)
{
	tracee_begin("inherit", argc, argv, (struct tracee_options){ .rounds = 1, .mode = "fork" });
	mode = opt.mode;
	base(5);
	return 0;
}
