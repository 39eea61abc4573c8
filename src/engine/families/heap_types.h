/* SPDX-License-Identifier: MIT
 *
 * What type a block is allocated for, by the stack of the event being delivered. Private to
 * src/engine.
 */
#ifndef CP_ENGINE_FAMILIES_HEAP_TYPES_H
#define CP_ENGINE_FAMILIES_HEAP_TYPES_H

#include <cprof/cprof.h>

struct engine_heap_types;
struct engine_heap_types *engine_heap_types_create(void); /* NULL: no memory */
void engine_heap_types_free(struct engine_heap_types *types); /* NULL is fine */

/* Fills in the object's type and its name, good as long as `types`, where the stack tells
 * them. */
void engine_heap_type(cprof_session *s, struct engine_heap_types *types, cprof_object *object);

#endif
