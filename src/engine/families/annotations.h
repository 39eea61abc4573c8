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
#ifndef CP_ENGINE_FAMILIES_ANNOTATIONS_H
#define CP_ENGINE_FAMILIES_ANNOTATIONS_H

#include <cprof/cprof.h>
#include <cprof/trace_format.h>

bool engine_annotations_wanted(const cprof_session *s);
/* Reads the annotations that are in the process's rings now; `last`: the program will
 * write no more. */
void engine_annotations_read(cprof_process *p, bool last);
void engine_annotations_raise(cprof_process *p, cprof_thread *t, const cprof_trace_event *e);

#endif
