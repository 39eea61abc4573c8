/* SPDX-License-Identifier: MIT
 *
 * Births, deaths and what lies between, as the tracer tells it. Private to src/engine.
 */
#ifndef CP_ENGINE_SESSION_LIFECYCLE_H
#define CP_ENGINE_SESSION_LIFECYCLE_H

#include <cprof/cprof.h>

struct cp_event_exit;
struct cp_event_process;
struct cp_event_signal;
struct cp_event_thread;

/* Asks all families what they want; before launch or attach. */
void engine_watch_decide(cprof_session *s);
/* Handle what the tracer tells of lives. s->current has the process, and the thread if
 * there is one. */
void engine_on_process(cprof_session *s, const struct cp_event_process *e);
void engine_on_exec(cprof_session *s, cprof_process *p, uint64_t ts_ns);
void engine_on_process_exit(cprof_session *s, cprof_process *p, const struct cp_event_exit *e);
void engine_on_thread(cprof_session *s, cprof_process *p, const struct cp_event_thread *e);
void engine_on_thread_exit(cprof_session *s, cprof_thread *t, const struct cp_event_exit *e);
/* The tracer leaves, and the thread goes on. */
void engine_on_let_go(cprof_session *s, cprof_thread *t, const struct cp_event_exit *e);
void engine_on_exiting(cprof_session *s, cprof_thread *t, uint64_t ts_ns);
void engine_on_signal(cprof_session *s, const struct cp_event_signal *e);
/* Once a second: reads names that may have changed, and has families look at processes. */
void engine_look_around(cprof_session *s);

#endif
