/* SPDX-License-Identifier: MIT
 *
 * What the program allocates. Private to src/engine.
 */
#ifndef CP_ENGINE_FAMILIES_HEAP_H
#define CP_ENGINE_FAMILIES_HEAP_H

#include <cprof/cprof.h>

/* Does anybody want allocations? */
bool engine_heap_enabled(const cprof_session *s);

#endif
