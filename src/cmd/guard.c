/* SPDX-License-Identifier: MIT
 *
 * What runs here runs in signal handlers: it calls nothing that isn't
 * async-signal-safe, and reads one record (engine/target/profilers.h) that says whose
 * callback is being called.
 *
 * A crash is cprof's end: the tracer is told and leaves, a child of ours is left to
 * crash as it would have without us, for whoever wants the core, and CMD's end is
 * waited for, so that nobody finds it in the background.
 * A callback that does not return is the tracer's finding: it leaves, and ends;
 * its SIGCHLD is where we hear of it. The callback may still come back, then
 * all goes on to an orderly end. When it does not, and CMD has ended (or it was
 * an attach), we wait PATIENCE seconds more and end.
 *
 * A program that ends first takes the tracer with it, and nobody is left to find
 * anything: from then on we look every PATIENCE seconds whether events are read.
 * So we do before there is a tracer, for a module that is still in its init.
 */
#include "cmd/guard.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "engine/api/services.h"

#define PATIENCE 10
#define WORKS_MOST 5 /* times PATIENCE that one event may keep a processor busy */
#define STACK_SIZE 65536

static struct {
	cprof_session *volatile session;
	pid_t pid; /* ours, not that of a child that a module forks */
	volatile sig_atomic_t failure, told;
	struct sigaction old_child;
	uint64_t done, cpu_ns; /* when we looked last: how far things were, CPU time */
	int works;
	bool looks, late; /* late: after CMD's end */
	bool registered; /* for the end of the process */
	void (*volatile restore)(void); /* the terminal; or NULL */
	_Alignas(16) char stack[STACK_SIZE];
} guard;

/* ---- one line ---- */

struct line {
	char text[512];
	size_t size;
};

static void add(struct line *l, const char *text, size_t size)
{
	if (size > sizeof(l->text) - l->size - 1)
		size = sizeof(l->text) - l->size - 1;
	memcpy(l->text + l->size, text, size);
	l->size += size;
}

static void add_text(struct line *l, const char *text)
{
	add(l, text, strlen(text));
}

static void say(struct line *l)
{
	add(l, "\n", 1);
	if (guard.restore)
		guard.restore();
	if (write(STDERR_FILENO, l->text, l->size) < 0)
		return;
}

/* "the profiler NAME VERB its callback EVENT"; false: no profiler's code runs. */
static bool add_culprit(struct line *l, const char *verb)
{
	struct engine_calling calling = engine_calling_now(guard.session);

	if (!calling.what)
		return false;
	add_text(l, "cprof: the profiler ");
	if (calling.desc)
		add(l, calling.desc, strcspn(calling.desc, ":"));
	add_text(l, verb);
	add_text(l, strcmp(calling.what, "init") != 0 ? "its callback " : "its function ");
	add_text(l, calling.what);
	return true;
}

/* Says what becomes of the program: init runs before it is started. */
static void add_outcome(struct line *l)
{
	const char *what = guard.session ? engine_calling_now(guard.session).what : NULL;

	add_text(l, what && !strcmp(what, "init") ? "; nothing was started"
						  : "; the program runs on without it");
}

/* ---- crashes ---- */

/* SA_RESETHAND: what happens next to the child is what always did. */
__attribute__((noreturn)) static void end_after(int signal)
{
	cprof_session *s = guard.session;
	pid_t command = s && engine_let_go_now(s) ? (pid_t)cprof_session_pid(s) : 0, child;

	guard.session = NULL;
	alarm(0);
	child = gettid() == getpid() && getpid() == guard.pid ? _Fork() : 0;
	if (!child)
		raise(signal);
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	while (command && waitpid(command, NULL, 0) < 0 && errno == EINTR)
		;
	_exit((int)guard.failure);
}

static void on_crash(int signal)
{
	struct line l = { .size = 0 };

	/* Callbacks are called on the first thread alone. */
	if (gettid() != getpid() || !add_culprit(&l, " crashed in "))
		add_text(&l, "cprof: cprof itself crashed");
	add_text(&l, " (");
	add_text(&l, cp_signal_name((unsigned)signal));
	add_text(&l, ")");
	add_outcome(&l);
	say(&l);
	end_after(signal);
}

static void on_exit_of_process(void)
{
	struct line l = { .size = 0 };

	if (!guard.session || getpid() != guard.pid || gettid() != getpid() ||
	    !add_culprit(&l, " ended cprof in "))
		return;
	add_outcome(&l);
	say(&l);
	_exit((int)guard.failure);
}

/* ---- callbacks that don't return ---- */

static void on_alarm(int signal)
{
	struct line l = { .size = 0 };

	(void)signal;
	if (!add_culprit(&l, " still has not returned from "))
		return;
	add_text(&l, ": cprof ends without it");
	say(&l);
	_exit((int)guard.failure);
}

static void look_later(void)
{
	guard.cpu_ns = cp_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	alarm(PATIENCE);
}

/* Looks by the tracer's rule: what is to be done is not done, and nothing works on it. */
static void look(int signal, uint64_t done)
{
	guard.works = done == guard.done ? guard.works + 1 : 0;
	if (done == guard.done &&
	    (guard.works > WORKS_MOST ||
	     cp_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - guard.cpu_ns < CP_NS_PER_S / 10))
		on_alarm(signal);
	guard.done = done;
	look_later();
}

/* While modules are loaded: one that is still in its init. */
static void on_look_early(int signal)
{
	struct engine_calling calling;

	if (!guard.session || engine_has_started(guard.session))
		return;
	calling = engine_calling_now(guard.session);
	look(signal, calling.what ? (uintptr_t)calling.desc : 0);
}

static void on_look(int signal)
{
	uint64_t read;

	if (guard.session && engine_has_unread(guard.session, &read))
		look(signal, read);
}

/* Begins to look now and then, unless somebody else has an alarm of his own. */
static void begin_to_look(void (*handler)(int), uint64_t done)
{
	struct sigaction old, action = { .sa_handler = handler, .sa_flags = SA_RESTART };

	if (sigaction(SIGALRM, NULL, &old) ||
	    (old.sa_handler != SIG_DFL && old.sa_handler != on_look_early))
		return;
	guard.looks = true;
	guard.done = done;
	guard.works = 0;
	sigaction(SIGALRM, &action, NULL);
	look_later();
}

static void begin_to_look_late(void)
{
	uint64_t read = 0;

	if (guard.late)
		return;
	guard.late = true;
	engine_has_unread(guard.session, &read);
	begin_to_look(on_look, read);
}

static bool has_ended(pid_t command)
{
	siginfo_t si = { 0 };

	return !command || (!waitid(P_PID, (id_t)command, &si, WEXITED | WNOHANG | WNOWAIT) &&
			    si.si_pid == command);
}

static void default_action(int signal, void (*handler)(int))
{
	struct sigaction action = { .sa_handler = handler };

	sigaction(signal, &action, NULL);
}

static void on_child(int signal)
{
	struct line l = { .size = 0 };
	int saved = errno;
	pid_t command;

	(void)signal;
	command = guard.session ? (pid_t)cprof_session_pid(guard.session) : 0;
	if (!guard.session || !engine_was_abandoned(guard.session)) {
		if (guard.session && engine_has_started(guard.session) && has_ended(command))
			begin_to_look_late();
		errno = saved;
		return;
	}
	if (!guard.told && add_culprit(&l, " does not return from ")) {
		guard.told = 1;
		add_text(&l, "; the program was let go and runs on");
		say(&l);
		default_action(SIGALRM, on_alarm);
		default_action(SIGINT, SIG_DFL);
		default_action(SIGTERM, SIG_DFL);
		default_action(SIGHUP, SIG_DFL);
	}
	if (guard.told && has_ended(command))
		alarm(PATIENCE);
	errno = saved;
}

/* ---- the guard ---- */

/* Leaves alone what somebody else, such as a sanitizer, has taken. */
static void take(int signal)
{
	struct sigaction old, action = { .sa_handler = on_crash,
					 .sa_flags = SA_ONSTACK | (int)SA_RESETHAND | SA_NODEFER };

	if (!sigaction(signal, NULL, &old) && old.sa_handler == SIG_DFL)
		sigaction(signal, &action, NULL);
}

void cp_guard_begin(cprof_session *session, int failure)
{
	static const int signals[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT };
	const stack_t stack = { .ss_sp = guard.stack, .ss_size = sizeof(guard.stack) };
	struct sigaction child = { .sa_handler = on_child, .sa_flags = SA_RESTART | SA_NOCLDSTOP };
	size_t i;

	guard.failure = failure;
	guard.told = 0;
	guard.session = session;
	guard.pid = getpid();
	sigaltstack(&stack, NULL);
	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		take(signals[i]);
	sigaction(SIGCHLD, &child, &guard.old_child);
	begin_to_look(on_look_early, 0);
	if (!guard.registered)
		atexit(on_exit_of_process);
	guard.registered = true;
}

void cp_guard_set_restore(void (*restore)(void))
{
	guard.restore = restore;
}

void cp_guard_end(cprof_session *session)
{
	sigaction(SIGCHLD, &guard.old_child, NULL);
	if (guard.looks) {
		alarm(0);
		default_action(SIGALRM, SIG_DFL);
	}
	guard.looks = guard.late = false;
	cprof_session_destroy(session);
	guard.session = NULL;
}
