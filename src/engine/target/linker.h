/* SPDX-License-Identifier: MIT
 *
 * What the dynamic linker says is loaded. Private to src/engine.
 */
#ifndef CP_ENGINE_TARGET_LINKER_H
#define CP_ENGINE_TARGET_LINKER_H

#include <cprof/cprof.h>

#include "base/vec.h"

/* An object in the dynamic linker's list. */
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

/* Reads all that is in the dynamic linker's lists; ret->list is to be freed. */
void engine_linker_read(cprof_process *p, struct engine_objects *ret);
/* The namespace whose struct r_debug is at `debug`, made when it was not known; NULL
 * without memory. */
cprof_namespace *engine_namespace_at(cprof_process *p, uint64_t debug);
/* Is the dynamic linker done with its lists? False also where there is none. */
bool engine_linker_done(cprof_process *p);
/* Notes the places of images in the dynamic linker's list (link_rank). */
void engine_rank_images(cprof_process *p);

#endif
