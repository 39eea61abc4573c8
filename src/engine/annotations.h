/* SPDX-License-Identifier: MIT
 *
 * The program's own annotations (cprof/trace.h): found, switched on, read.
 * Private to src/engine.
 *
 *   image ── ELF note ──► root ──► ring ──► annotation, fiber_switch
 *                          ▲
 *                tracer ───┘ sets our bit, clears it when it leaves
 *
 * Rings are read through the memory descriptor, and nobody is stopped for it:
 * often enough that they don't overflow, before a library is unmapped, before
 * a thread is forgotten, and while a process that exits is held.
 */
#ifndef CP_ENGINE_ANNOTATIONS_H
#define CP_ENGINE_ANNOTATIONS_H

#include <cprof/trace_format.h>

#include "engine/internal.h"

/* All but the first do nothing where annotations were not asked for. */
bool engine_annotations_wanted(const cprof_session *s);
/* The mappings were read: new images may have rings, others may be gone. */
void engine_annotations_look(cprof_process *p);
/* Reads what is there now; `last`: nobody will write any more. */
void engine_annotations_read(cprof_process *p, bool last);
/* The same where its end is near (ENGINE_END_*), and the thread that brings it is held. */
#define ENGINE_END_UNLOAD 1u
#define ENGINE_END_EXEC 2u
#define ENGINE_END_EXIT 4u
void engine_annotations_settle(cprof_process *p, unsigned end, bool last);
/* That end has come, and the memory is gone. */
void engine_annotations_gone(cprof_process *p, unsigned end);
/* Reads all rings that are due. */
void engine_annotations_poll(cprof_session *s, uint64_t now);
/* Milliseconds until then, at most `ms`. */
int engine_annotations_wait(const cprof_session *s, int ms);
void engine_annotations_raise(cprof_process *p, cprof_thread *t, const cprof_trace_event *e);
/* A child has its parent's rings, and nothing of its own in them. */
void engine_annotations_inherit(cprof_process *p, const cprof_process *parent);
/* The process is gone, or executes another program. */
void engine_annotations_forget(cprof_process *p);
/* The session ends: takes what is left. */
void engine_annotations_end(cprof_session *s);
/* The tracer is gone and has not switched them off. */
void engine_annotations_restore(cprof_session *s);
void engine_annotations_free(cprof_session *s);

/* fibers.c: switches that the program does not announce */
void engine_fibers_announced(cprof_process *p); /* it does */
void engine_fibers_forget(cprof_process *p);

#endif
