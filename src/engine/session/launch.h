/* SPDX-License-Identifier: MIT
 *
 * Starting CMD. Private to src/engine.
 */
#ifndef CP_ENGINE_SESSION_LAUNCH_H
#define CP_ENGINE_SESSION_LAUNCH_H

#include <cprof/cprof.h>

struct cp_error;

/* CP_TRACE_*, for launch and attach. */
unsigned engine_trace_flags(const cprof_session *s);
/* Starts CMD in a child of ours, which waits until it is let go. */
struct cp_error *engine_launch(cprof_session *s, const char *path, char *const argv[],
			       char *const envp[]);
/* Lets the child become CMD. */
void engine_release_child(cprof_session *s);
/* engine_fail(): CMD is nothing that can be executed (s->exec_errno). */
cprof_status engine_fail_exec(cprof_session *s);
/* Takes CMD's status when it has ended; true then. */
bool engine_reap_child(cprof_session *s, bool wait);

#endif
