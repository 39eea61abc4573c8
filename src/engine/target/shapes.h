/* SPDX-License-Identifier: MIT
 *
 * What a process's values are read by: see shapes.c. Private to src/engine.
 */
#ifndef CP_ENGINE_TARGET_SHAPES_H
#define CP_ENGINE_TARGET_SHAPES_H

#include <cprof/cprof.h>

struct cp_shapes;
/* The declarations of libraries' types, for values of that process; it owns them. NULL
 * without memory. */
const struct cp_shapes *engine_shapes(cprof_process *p);

#endif
