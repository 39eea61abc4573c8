/* SPDX-License-Identifier: MIT */
#include "cmd/signals.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>

#include "base/types.h"

/* The handler's own, for it gets no argument. */
static struct {
	cprof_session *volatile session; /* to be stopped */
	volatile sig_atomic_t command; /* without one: the process to pass signals on to; 0: none */
} ending;

static void on_end(int signal)
{
	int saved = errno;

	if (ending.session)
		cprof_session_stop(ending.session);
	else if (ending.command && (signal == SIGTERM || signal == SIGHUP))
		kill(ending.command, signal);
	errno = saved;
}

static void handle(const int *signals, size_t count)
{
	struct sigaction old, action = { .sa_handler = on_end, .sa_flags = SA_RESTART };
	size_t i;

	for (i = 0; i < count; i++)
		if (!sigaction(signals[i], NULL, &old) && old.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
	/* A reader that went away, a file that got too large: found out when writing. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

void cp_signals_stop(cprof_session *session)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };

	ending.session = session;
	handle(signals, CP_ARRAY_SIZE(signals));
}

void cp_signals_pass_on(pid_t command)
{
	static const int signals[] = { SIGTERM, SIGHUP, SIGINT, SIGQUIT };

	ending.command = (sig_atomic_t)command;
	handle(signals, CP_ARRAY_SIZE(signals));
}

void cp_signals_stop_instead(cprof_session *session)
{
	ending.session = session;
}

void cp_signals_forget(void)
{
	ending.session = NULL;
}
