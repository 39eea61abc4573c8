/* SPDX-License-Identifier: MIT
 *
 * Processes and threads. Private to src/engine.
 */
#ifndef CP_ENGINE_TARGET_PROCESS_H
#define CP_ENGINE_TARGET_PROCESS_H

#include <cprof/cprof.h>

struct cp_event_process;
struct engine_process_life;
struct engine_thread_life;

/* The tables */
cprof_process *engine_process(cprof_session *s, int32_t pid);
cprof_process *engine_process_add(cprof_session *s, const struct cp_event_process *event);
void engine_process_exec(cprof_process *p);
void engine_process_gone(cprof_session *s, cprof_process *p);
cprof_thread *engine_thread_add(cprof_session *s, cprof_process *p, int32_t tid, uint64_t ts_ns);
void engine_thread_gone(cprof_session *s, cprof_thread *t);
/* Reads the thread's name again when that was not done lately (at ts_ns 0: in
 * any case). */
void engine_thread_refresh_name(cprof_session *s, cprof_thread *t, uint64_t ts_ns);
void engine_tables_free(cprof_session *s);
void engine_life_free(struct engine_process_life *life);
void engine_thread_life_free(struct engine_thread_life *life);

#endif
