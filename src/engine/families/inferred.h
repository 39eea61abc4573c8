/* SPDX-License-Identifier: MIT
 *
 * Blocks that need no breakpoint of their own. Private to src/engine.
 */
#ifndef CP_ENGINE_FAMILIES_INFERRED_H
#define CP_ENGINE_FAMILIES_INFERRED_H

#include <cprof/cprof.h>

struct engine_cover;
struct engine_covered;

/* Does what is watched of the branch, the last instruction of its block, say whether the
 * block was reached? */
bool engine_cover_inferred(const cprof_session *s, const struct engine_cover *cover,
			   uint32_t branch);
/* Counts the blocks of a function that were not counted themselves. */
void engine_cover_infer(const cprof_session *s, const struct engine_cover *cover,
			const struct engine_covered *function);
void engine_cover_infer_all(const cprof_session *s, const struct engine_cover *cover);
/* An instruction in the block failed: if nothing else says so, it was reached. */
void engine_cover_enter(const cprof_session *s, const struct engine_cover *cover,
			const struct engine_covered *function, uint32_t block);

#endif
