/* SPDX-License-Identifier: MIT
 *
 * What the detours of a thread may read besides registers. Private to src/engine.
 */
#ifndef CP_ENGINE_CALLS_READING_H
#define CP_ENGINE_CALLS_READING_H

#include <cprof/cprof.h>

struct cp_event_hit;
struct engine_rings;

/* A thread has a ring from now on (CP_EVENT_RING), and its own stack was looked for. It
 * stands still. */
void engine_reading_begin(cprof_thread *t, const struct cp_event_hit *e);
/* Breakpoints were placed in a process: threads that are not watched yet are, or can't be. */
void engine_reading_watched(cprof_process *p);
/* A thread stopped in the place of a record. */
void engine_reading_stopped(const cprof_session *s, const struct cp_event_hit *e);
/* A process is about to have its system calls filtered, or may be: pointers are not followed
 * any more, but by stops. */
void engine_reading_forbid(cprof_process *p);
/* Stacks may be wanted since: of all threads with rings of these. */
void engine_reading_check(const cprof_session *s, struct engine_rings *rings);

#endif
