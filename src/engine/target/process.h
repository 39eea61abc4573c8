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

/* The process that has number `pid` now; NULL: none. */
cprof_process *engine_process(cprof_session *s, int32_t pid);
/* A process was born; NULL without memory. */
cprof_process *engine_process_add(cprof_session *s, const struct cp_event_process *event);
/* The process executed another program. */
void engine_process_exec(cprof_process *p);
/* The process ended, or was let go: its number may become another's. */
void engine_process_gone(cprof_session *s, cprof_process *p);
/* A thread was born; NULL without memory. */
cprof_thread *engine_thread_add(cprof_session *s, cprof_process *p, int32_t tid, uint64_t ts_ns);
/* The thread ended. Profilers may still hold pointers to it. */
void engine_thread_gone(cprof_session *s, cprof_thread *t);
/* The thread has this name now; it is told where it is another one than before. */
void engine_thread_named(cprof_session *s, cprof_thread *t, const char *name);
/* The same of a thread that lives, whose name was just read: it is not read again soon. */
void engine_thread_named_now(cprof_session *s, cprof_thread *t, const char *name);
/* Reads the thread's name again when that was not done lately; at ts_ns 0 in any case. */
void engine_thread_refresh_name(cprof_session *s, cprof_thread *t, uint64_t ts_ns);
/* Frees all processes and threads. */
void engine_tables_free(cprof_session *s);
/* Frees what was known of the dynamic linker's lists in a process. */
void engine_life_free(struct engine_process_life *life);
/* Frees the thread's open calls of dlopen. */
void engine_thread_life_free(struct engine_thread_life *life);

/* The arguments that the process began with, or what it wrote over them; NULL-terminated. NULL
 * without memory. The caller frees each and the list. */
char **engine_read_command(int32_t pid);

#endif
