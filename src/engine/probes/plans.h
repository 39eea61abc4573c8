/* SPDX-License-Identifier: MIT
 *
 * Which functions are traced, and where. Private to src/engine.
 */
#ifndef CP_ENGINE_PROBES_PLANS_H
#define CP_ENGINE_PROBES_PLANS_H

#include <cprof/cprof.h>

#include "engine/probes/refilter.h"
#include "engine/probes/sites.h"

struct cp_buf;
struct cp_decoder;
struct cp_probe_function;
struct engine_calls;

/* The watches must be planned before the image that they are in. */
enum engine_plan_what { ENGINE_PLAN_ALL, ENGINE_PLAN_STUBS, ENGINE_PLAN_OTHERS };

/* The filters once more, of an image that was planned: functions that are not
 * wanted any more, those that are and were not, or for something else, and all
 * that are wanted. False: no memory, or nothing can be traced there. */
struct engine_refilter {
	struct engine_numbers off, changed, all;
};

void engine_plans_free(struct engine_plans *plans);
bool engine_plan_image(cprof_image *image, enum engine_plan_what what,
		       struct engine_numbers *numbers);
bool engine_plan_again(cprof_image *image, struct engine_refilter *r);

#endif
