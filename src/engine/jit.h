/* SPDX-License-Identifier: MIT
 *
 * Code made at run time and registered for debuggers. Private to src/engine.
 */
#ifndef CP_ENGINE_JIT_H
#define CP_ENGINE_JIT_H

#include "engine/internal.h"

/* Something stands at `pc`: if that is in memory of no file, what is
 * registered is looked at, now and then. */
void engine_jit_notice(cprof_process *p, uint64_t pc);
/* The registered code at `pc`, for the time of what is being delivered; NULL. */
const struct engine_text *engine_jit_find(const cprof_process *p, uint64_t pc);
/* Does anybody want to know of code made at run time? */
bool engine_jit_wanted(const cprof_session *s);
/* A breakpoint at `pc` was hit: something was registered there, or is not any
 * more. Raises the events. */
void engine_on_jit(cprof_process *p, uint64_t pc);
/* Now and then, for those who want events; when attaching for all there is. */
void engine_jit_look(cprof_process *p);
/* The mappings were read: memory of no file that may be executed. */
void engine_jit_chunks(cprof_process *p);
/* Raises the events of what was found meanwhile, where no callback runs. */
void engine_jit_tell(cprof_process *p);
/* functions.c: what a line of a perf map names. Other code may have been at the
 * same address: it is the same function where name and size are the same, too. */
const cprof_function *engine_function_of_map(cprof_session *s, const cprof_image *image,
					     const char *name, uint64_t start, uint64_t size);
/* The process's program is another one, or gone. */
void engine_jit_forget(cprof_process *p);
/* At the end: what could not be read. */
void engine_jit_warn(cprof_session *s);

#endif
