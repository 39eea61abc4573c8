/* SPDX-License-Identifier: MIT
 *
 * Starting CMD. Private to src/engine.
 */
#ifndef CP_ENGINE_SESSION_LAUNCH_H
#define CP_ENGINE_SESSION_LAUNCH_H

#include <cprof/cprof.h>

struct cp_error;

/* What the tracer is asked for at launch and attach: CP_TRACE_*. */
unsigned engine_trace_flags(const cprof_session *s);
/* Starts a child for CMD, which waits until engine_release_child(). */
struct cp_error *engine_launch(cprof_session *s, const char *path, char *const argv[],
			       char *const envp[]);
/* Lets the child become CMD. */
void engine_release_child(cprof_session *s);
/* engine_fail() for a CMD that can't be executed (s->exec_errno). */
cprof_status engine_fail_exec(cprof_session *s);
/* Takes CMD's status if it has ended; true then. */
bool engine_reap_child(cprof_session *s, bool wait);

#endif
