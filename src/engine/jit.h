/* SPDX-License-Identifier: MIT
 *
 * Code made at run time and registered for debuggers. Private to src/engine.
 */
#ifndef CP_ENGINE_JIT_H
#define CP_ENGINE_JIT_H

#include "engine/internal.h"

/* functions.c: what a line of a perf map names. Other code may have been at the
 * same address: it is the same function where name and size are the same, too. */
const cprof_function *engine_function_of_map(cprof_session *s, const cprof_image *image,
					     const char *name, uint64_t start, uint64_t size);

#endif
