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
/* The process's program is another one, or gone. */
void engine_jit_forget(cprof_process *p);
/* At the end: what could not be read. */
void engine_jit_warn(cprof_session *s);

#endif
