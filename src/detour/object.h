/* SPDX-License-Identifier: MIT
 *
 * What windows are planned by in one ELF object: its text, its landing pads and its
 * call frame information.
 */
#ifndef CP_DETOUR_OBJECT_H
#define CP_DETOUR_OBJECT_H

#include "detour/plan.h"

struct cp_detour_object;

/* All borrowed, until it is destroyed. The landing pads are added to `functions`, if
 * they have none yet. */
CP_ERROR cp_detour_object_create(const struct cp_arch *arch, struct cp_decoder *decoder,
				 struct cp_image *image, struct cp_probe_functions *functions,
				 struct cp_detour_object **ret);
void cp_detour_object_destroy(struct cp_detour_object *object);

/* What cp_detour_plan_function() takes; as long as the object. */
struct cp_detour_planner *cp_detour_object_planner(struct cp_detour_object *object);

#endif
