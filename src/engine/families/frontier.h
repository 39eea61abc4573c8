/* SPDX-License-Identifier: MIT
 *
 * The sites that a process needs before it came to anything new. Private to src/engine.
 */
#ifndef CP_ENGINE_FAMILIES_FRONTIER_H
#define CP_ENGINE_FAMILIES_FRONTIER_H

#include "base/vec.h"
#include "engine/families/coverage.h"

struct engine_cover_sites {
	CP_VEC(struct engine_cover_site) items; /* by function, then address */
};

/* The sites at which what nobody reached can be entered next, those of blocks with
 * CP_SITE_HOLD where more has to be placed then. Valid until it is asked again; NULL
 * without memory. */
const struct engine_cover_sites *engine_frontier(const cprof_session *s,
						 struct engine_cover *cover);
/* How many there were when they were last asked for. */
size_t engine_frontier_size(const struct engine_cover *cover);
/* Adds all sites of the function that are still needed, and again that of `block`, which
 * has just been reached. False without memory. */
bool engine_frontier_open(const cprof_session *s, const struct engine_cover *cover,
			  const struct engine_covered *function, uint32_t block,
			  struct engine_cover_sites *ret);
void engine_frontier_free(struct engine_frontier *frontier);

#endif
