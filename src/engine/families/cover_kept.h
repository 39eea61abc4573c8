/* SPDX-License-Identifier: MIT
 *
 * Blocks and branches of an object, kept for later runs. Private to src/engine.
 */
#ifndef CP_ENGINE_FAMILIES_COVER_KEPT_H
#define CP_ENGINE_FAMILIES_COVER_KEPT_H

#include "engine/families/coverage.h"

struct engine_plans;

/* Numbers of functions in the object's plans, ascending. */
struct engine_cover_chosen {
	CP_VEC(uint32_t) items;
};

/* Fills the empty *cover with what was planned of the same functions in an earlier run.
 * False: that is not known, and *cover is as it was. */
bool engine_cover_load(cprof_session *s, const cprof_assembly *a,
		       const struct engine_cover_chosen *chosen, struct engine_cover *cover);
/* Keeps what was planned of these functions. */
void engine_cover_save(cprof_session *s, const cprof_assembly *a,
		       const struct engine_cover_chosen *chosen, const struct engine_cover *cover);
/* Adds one more branch to those of the object: does it get counters of its own? */
bool engine_cover_watch(struct engine_cover *cover, const struct cp_probe_branch *b);

#endif
