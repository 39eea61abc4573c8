/* SPDX-License-Identifier: MIT
 *
 * Profilers are strangers' code that runs in cprof's process. When one of them
 * crashes, does not return or ends the process, cprof says which it was, and
 * in which callback; the program is the tracer's to let go.
 */
#ifndef CP_CMD_GUARD_H
#define CP_CMD_GUARD_H

#include <cprof/session.h>

/* From now on, until cp_guard_end(). `failure` is the exit status of a cprof
 * that can do nothing but end. One session at a time. */
void cp_guard_begin(cprof_session *session, int failure);
/* Called, on whatever signal, before anything is said of a profiler that went wrong, or of us:
 * the terminal may be in use. NULL: nothing. */
void cp_guard_set_restore(void (*restore)(void));
/* Destroys the session as well: profilers clean up in there. */
void cp_guard_end(cprof_session *session);

#endif
