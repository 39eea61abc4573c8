/* SPDX-License-Identifier: MIT
 *
 * What the dynamic linker says is loaded. Private to src/engine.
 */
#ifndef CP_ENGINE_TARGET_LINKER_H
#define CP_ENGINE_TARGET_LINKER_H

#include <cprof/cprof.h>

#include "base/vec.h"

/* What the dynamic linker has in its list. */
struct engine_object {
	uint64_t bias;
	uint64_t rank;
	cprof_namespace *in;
	uint64_t map; /* where its struct link_map is */
};

struct engine_objects {
	CP_VEC(struct engine_object) list;
	bool any; /* there is a dynamic linker */
	bool working;
};

/* All that is in its lists now; the list is to be freed. */
void engine_linker_read(cprof_process *p, struct engine_objects *ret);
/* The namespace with its struct r_debug there, made when there is none; NULL without
 * memory. */
cprof_namespace *engine_namespace_at(cprof_process *p, uint64_t debug);
/* It is not at work in the process. False also without one. */
bool engine_linker_done(cprof_process *p);
/* Notes the places of images in its list (link_rank). */
void engine_rank_images(cprof_process *p);

#endif
