/* SPDX-License-Identifier: MIT
 *
 * Private to src/engine.
 */
#ifndef CP_ENGINE_FAMILIES_HEAP_SIZE_H
#define CP_ENGINE_FAMILIES_HEAP_SIZE_H

#include <cprof/cprof.h>

struct engine_map_call;

/* A call that another family watches has changed mappings. True: gc_resize was raised. */
bool engine_heap_size_follow(cprof_session *s, const struct engine_map_call *c);

#endif
