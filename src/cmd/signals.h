/* SPDX-License-Identifier: MIT
 *
 * Signals that end a recording, or that are the program's.
 *
 *     run      prepare ─► keep ─► fork ─► pass_on ─► forget
 *     attach   prepare ───────────────► stop ──────► forget
 */
#ifndef CP_CMD_SIGNALS_H
#define CP_CMD_SIGNALS_H

#include <cprof/session.h>
#include <stdbool.h>
#include <sys/types.h>

/* Where cprof begins: who ignores SIGCHLD, which is inherited, hears of no child's end, nor of
 * a stop. cprof does not; was it so, for CMD to find? */
void cp_signals_begin(void);
bool cp_signals_children_ignored(void);

/* From now on Ctrl-C, SIGTERM, SIGHUP, and of run Ctrl-\, end cprof at once, with a word about
 * it: "ended by SIGTERM before BEFORE RAW AFTER". `raw` is untrusted; all are copied. The exit
 * status is `status`, or if that is 0, 128 and the signal. */
void cp_signals_prepare(const char *before, const char *raw, const char *after, int status);
/* There will be something to undo: the first of them is kept, ... */
void cp_signals_keep(void);
/* ... and is this one; 0: none came. */
int cp_signals_came(void);
/* Says that this signal was the end, as above; answers the exit status. */
int cp_signals_say(int signal);
/* Ctrl-C, SIGTERM and SIGHUP stop the session. */
void cp_signals_stop(cprof_session *session);
/* SIGTERM and SIGHUP are passed on to CMD, also one that was kept; Ctrl-C and Ctrl-\ the
 * terminal sends to it as well. To be called after CMD was forked: it must not inherit what is
 * ignored from now on. */
void cp_signals_pass_on(pid_t command);
/* CMD has ended: from now on these stop the session. */
void cp_signals_stop_instead(cprof_session *session);
/* The session ends: there is nothing to stop. */
void cp_signals_forget(void);

#endif
