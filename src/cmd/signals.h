/* SPDX-License-Identifier: MIT
 *
 * Signals that end a recording, or that are the program's.
 */
#ifndef CP_CMD_SIGNALS_H
#define CP_CMD_SIGNALS_H

#include <cprof/session.h>
#include <sys/types.h>

/* Ctrl-C, SIGTERM and SIGHUP stop the session. */
void cp_signals_stop(cprof_session *session);
/* SIGTERM and SIGHUP are passed on to CMD; Ctrl-C and Ctrl-\ the terminal sends to it as
 * well. To be called after CMD was forked: it must not inherit anything of this. */
void cp_signals_pass_on(pid_t command);
/* CMD has ended: from now on these stop the session. */
void cp_signals_stop_instead(cprof_session *session);
/* The session ends: there is nothing to stop. */
void cp_signals_forget(void);

#endif
