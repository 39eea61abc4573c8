/* SPDX-License-Identifier: MIT
 *
 * What debug information tells of the places that frames are at. It is read once
 * for a place, and kept with the assembly.
 */
#ifndef CP_ENGINE_FRAMES_PLACES_H
#define CP_ENGINE_FRAMES_PLACES_H

#include <cprof/cprof.h>

#include "image/callsite.h"
#include "inspect/inspect.h"

struct cp_call_site;
struct cp_signature;
struct cp_value_limits;
struct engine_places;

/* The variables of the inlined call that is frame `level` at link-time `at`; NULL
 * without memory. */
const struct cp_signature *engine_inlined_signature(cprof_assembly *a, uint64_t at, uint32_t level,
						    const struct cp_value_limits *limits);
/* The call that returns to link-time `address`; NULL: nothing is told of it. */
const struct cp_call_site *engine_call_site(cprof_assembly *a, uint64_t address);
/* cp_image_tail_call(), of functions at link-time addresses; NULL: nothing is told. */
const struct cp_call_site *engine_tail_call(cprof_assembly *a, uint64_t from, uint64_t to);
/* cp_image_never_comes_back(), of the function at link-time `entry`. */
bool engine_never_comes_back(cprof_assembly *a, uint64_t entry);
void engine_places_free(struct engine_places *places);

/* Arguments and locals of a function, read once; NULL: not known */
const struct cp_signature *engine_function_signature(const cprof_function *function);

#endif
