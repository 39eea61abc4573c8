/* SPDX-License-Identifier: MIT
 *
 * Types of images, and what the API calls them. Private to src/engine.
 */
#ifndef CP_ENGINE_TARGET_TYPES_H
#define CP_ENGINE_TARGET_TYPES_H

#include <cprof/cprof.h>

#include "image/types.h"

/* A type as profilers have it is the node that src/image has of it. */
static inline const cprof_type *engine_type_told(const struct cp_type *type)
{
	return (const cprof_type *)type;
}
static inline const struct cp_type *engine_type_of(const cprof_type *type)
{
	return (const struct cp_type *)type;
}

/* The type of that name in the assembly; NULL: it has none. Reads debug information. */
const struct cp_type *engine_type_named(const cprof_assembly *a, const char *name);

#endif
