/* SPDX-License-Identifier: MIT
 *
 * Where exceptions lead from covered blocks. Private to src/engine.
 */
#ifndef CP_ENGINE_FAMILIES_LANDINGS_H
#define CP_ENGINE_FAMILIES_LANDINGS_H

#include <cprof/cprof.h>

struct engine_cover;

/* Fills cover->landings, once. Without memory, or tables, exceptions lead nowhere. */
void engine_landings_find(const cprof_assembly *a, struct engine_cover *cover);

#endif
