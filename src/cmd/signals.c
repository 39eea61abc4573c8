/* SPDX-License-Identifier: MIT */
#include "cmd/signals.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "base/types.h"

/* What a signal means at the moment. */
enum meaning {
	NOTHING,
	ENDS, /* cprof, at once: nothing was made yet */
	KEPT, /* for cp_signals_came(): there is something to undo */
	STOPS, /* the session */
	PASSED_ON, /* to CMD */
};

/* The handler's own, for it gets no argument. */
static struct {
	volatile sig_atomic_t meaning;
	cprof_session *volatile session;
	volatile sig_atomic_t command; /* the process to pass signals on to; 0: none */
	volatile sig_atomic_t came; /* the first that was KEPT; 0: none */
	volatile sig_atomic_t owner; /* cprof, not what it has forked */
	int status; /* of ENDS; 0: 128 + the signal */
	char rest[512]; /* what is said behind the signal's name */
	bool children_ignored; /* where cprof began */
} ending;

static const int all_signals[] = { SIGTERM, SIGHUP, SIGINT, SIGQUIT };

/* Called in a handler, too. */
int cp_signals_say(int signal)
{
	const char *name = cp_signal_name((unsigned)signal);
	const char *const parts[] = { "cprof: ended by ", name ? name : "a signal", ending.rest,
				      "\n" };
	char line[sizeof(ending.rest) + 32];
	size_t size = 0, i, n;

	for (i = 0; i < CP_ARRAY_SIZE(parts); i++) {
		n = strlen(parts[i]);
		memcpy(line + size, parts[i], n);
		size += n;
	}
	if (write(STDERR_FILENO, line, size) < 0) {
		/* nobody to tell */
	}
	return ending.status ? ending.status : 128 + signal;
}

static void on_end(int number)
{
	int saved = errno;

	if (getpid() != ending.owner) { /* forked, and nothing else yet */
		signal(number, SIG_DFL);
		raise(number);
		errno = saved;
		return;
	}
	switch ((enum meaning)ending.meaning) {
	case ENDS:
		_exit(cp_signals_say(number));
	case KEPT:
		if (!ending.came)
			ending.came = number;
		break;
	case STOPS:
		if (ending.session && number != SIGQUIT)
			cprof_session_stop(ending.session);
		break;
	case PASSED_ON:
		if (number == SIGTERM || number == SIGHUP)
			kill(ending.command, number);
		break;
	case NOTHING:
		break;
	}
	errno = saved;
}

static void handle(const int *signals, size_t count)
{
	struct sigaction old, action = { .sa_handler = on_end, .sa_flags = SA_RESTART };
	size_t i;

	ending.owner = getpid();
	for (i = 0; i < count; i++)
		if (!sigaction(signals[i], NULL, &old) && old.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
}

/* A reader that went away, a file that got too large: found out when writing. */
static void ignore_failed_writes(void)
{
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

void cp_signals_begin(void)
{
	struct sigaction old;

	ending.children_ignored = !sigaction(SIGCHLD, NULL, &old) && old.sa_handler == SIG_IGN;
	if (ending.children_ignored)
		signal(SIGCHLD, SIG_DFL);
}

bool cp_signals_children_ignored(void)
{
	return ending.children_ignored;
}

void cp_signals_prepare(const char *before, const char *raw, const char *after, int status)
{
	struct cp_buf name CP_CLEANUP(cp_buf_free) = { 0 };

	cp_escape(&name, CP_ESCAPE_TERMINAL, raw, strlen(raw));
	snprintf(ending.rest, sizeof(ending.rest), " before %s%.400s%s", before,
		 name.bytes ? name.bytes : "", after);
	ending.status = status;
	ending.came = 0;
	ending.meaning = ENDS;
	/* Who is attached to has nothing of SIGQUIT, whose core file may be wanted. */
	handle(all_signals, CP_ARRAY_SIZE(all_signals) - (status != 0));
}

void cp_signals_keep(void)
{
	ending.meaning = KEPT;
}

int cp_signals_came(void)
{
	return ending.came;
}

void cp_signals_stop(cprof_session *session)
{
	ending.session = session;
	ending.meaning = STOPS;
	handle(all_signals, CP_ARRAY_SIZE(all_signals) - 1);
	ignore_failed_writes();
}

void cp_signals_pass_on(pid_t command)
{
	ending.command = (sig_atomic_t)command;
	ending.meaning = PASSED_ON;
	handle(all_signals, CP_ARRAY_SIZE(all_signals));
	ignore_failed_writes();
	if (ending.came)
		kill(command, ending.came);
}

void cp_signals_stop_instead(cprof_session *session)
{
	ending.session = session;
	ending.meaning = STOPS;
}

void cp_signals_forget(void)
{
	ending.meaning = ending.command ? PASSED_ON : NOTHING;
	ending.session = NULL;
}
