/* SPDX-License-Identifier: MIT
 *
 * Sites of families' own. Private to src/engine.
 */
#ifndef CP_ENGINE_PROBES_OWN_H
#define CP_ENGINE_PROBES_OWN_H

#include <cprof/cprof.h>

#include "engine/target/family.h"

struct engine_calls;
struct engine_own;
struct engine_site;

/* Sites of a family's own in the image, found when first asked for; NULL: none. They
 * live as long as the assembly. */
const struct engine_own *engine_plan_own(cprof_image *image, enum engine_family_id family);
/* Plans a site of a family's own at a link-time address, of the kind of `like`. The
 * site's number + 1, or 0: no instruction is there. */
uint32_t engine_own_site(struct engine_calls *c, cprof_assembly *a, uint64_t address,
			 const struct engine_site *like);
/* Adds site `site` to `own`, in the group `number` of the family: the last group if
 * that is its number, else a new one. False without memory. */
bool engine_own_add(struct engine_own *own, uint32_t site, uint32_t number, uint8_t often);

#endif
