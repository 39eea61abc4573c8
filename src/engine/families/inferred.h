/* SPDX-License-Identifier: MIT
 *
 * Blocks that need no breakpoint of their own. Private to src/engine.
 */
#ifndef CP_ENGINE_FAMILIES_INFERRED_H
#define CP_ENGINE_FAMILIES_INFERRED_H

#include <cprof/cprof.h>

#include "engine/families/coverage.h"

struct engine_cover;
struct engine_covered;

/* Does what is watched of the branch, the last instruction of its block, say whether the
 * block was reached? */
bool engine_cover_inferred(const cprof_session *s, const struct engine_cover *cover,
			   uint32_t branch);
/* Makes of the site of such a block one that is only placed when branches wait for somebody
 * to come there (CP_SITE_LATER). False: none can, or what the block leads to has no site. */
bool engine_cover_later(const cprof_session *s, const struct engine_cover *cover, uint32_t branch,
			struct engine_cover_site *site);
/* Finds the blocks that branches may wait for. Without memory there are none. */
void engine_cover_await(struct engine_cover *cover);
static inline bool engine_cover_is_later(const struct engine_cover_site *site)
{
	return site->flags & CP_SITE_COUNT && site->flags & CP_SITE_LATER;
}

/* Counts the blocks of a function that were not counted themselves. */
void engine_cover_infer(const cprof_session *s, const struct engine_cover *cover,
			const struct engine_covered *function);
void engine_cover_infer_all(const cprof_session *s, const struct engine_cover *cover);
/* An instruction in the block failed: if nothing else says so, it was reached. */
void engine_cover_enter(const cprof_session *s, const struct engine_cover *cover,
			const struct engine_covered *function, uint32_t block);

#endif
