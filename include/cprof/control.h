/* SPDX-License-Identifier: MIT
 *
 * cprof/control.h - a session that is steered while it runs: what it waits for besides
 * the program, and commands, as `cprof ctl` gives them.
 *
 *     static void on_command(cprof_profiler *p, const char *name, const char *argument)
 *     {
 *             if (!strcmp(name, "hits"))
 *                     cprof_command_answer(p->handle, "%lu until now", p->hits);
 *     }
 *
 * answers `cprof ctl PID hits`.
 */
#ifndef CPROF_CONTROL_H
#define CPROF_CONTROL_H

#include <cprof/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* While run() waits for the program, it waits for `fd` as well, and calls `cb` between
 * two events as long as that is readable; NULL: no longer. `cb` is not to wait for
 * anything; it may do what a heartbeat's callback may. OUT_OF_MEMORY: eight are watched
 * already; NOT_FOUND: it was not watched. */
typedef void (*cprof_readable_fn)(cprof_session *session, int fd, void *data);
CPROF_API cprof_status cprof_session_watch(cprof_session *session, int fd, cprof_readable_fn cb,
					   void *data);

/* Tells all profilers a command of who steers the session (the event `command`), and `fn`
 * what they answer to it; `module` is NAME, or "" of an embedder's own profiler. Both texts
 * are what somebody typed. NOT_FOUND: nobody knows it; FAIL: one refused it;
 * UNSUPPORTED_CALL_SEQUENCE but in a callback of cprof_session_watch(). [cb] */
typedef void (*cprof_answer_fn)(const char *module, const char *text, void *data);
CPROF_API cprof_status cprof_session_steer(cprof_session *session, const char *name,
					   const char *argument, cprof_answer_fn fn, void *data);

/* What a profiler answers in its `command` callback: that it was done, or why not, in
 * words for who gave it; several lines are put together. Who does not know a command
 * says nothing. Elsewhere they do nothing. */
CPROF_API void cprof_command_answer(cprof_profiler_handle handle, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
CPROF_API void cprof_command_refuse(cprof_profiler_handle handle, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#ifdef __cplusplus
}
#endif
#endif
