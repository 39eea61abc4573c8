/* SPDX-License-Identifier: MIT
 *
 * What the program allocates. Private to src/engine.
 */
#ifndef CP_ENGINE_HEAP_H
#define CP_ENGINE_HEAP_H

#include "engine/internal.h"

/* Does anybody want to see it? */
bool engine_heap_enabled(const cprof_session *s);

#endif
