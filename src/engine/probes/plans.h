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

/* Stubs come behind the rest, when their libraries are there. */
enum engine_plan_what { ENGINE_PLAN_ALL, ENGINE_PLAN_STUBS, ENGINE_PLAN_OTHERS };

/* What changed when filters were asked again: functions that are not wanted any more,
 * those that are and were not, or for something else, and all that are wanted. */
struct engine_refilter {
	struct engine_numbers off, changed, all;
};

/* What is known of an object's functions. */
void engine_plans_free(struct engine_plans *plans);
/* Plans what filters want of the functions of `image`, and what families watch:
 * numbers of traced functions go to *numbers. False: nothing. */
bool engine_plan_image(cprof_image *image, enum engine_plan_what what,
		       struct engine_numbers *numbers);
/* The same once more, of an image that was planned. False: no memory, or nothing can
 * be traced there. */
bool engine_plan_again(cprof_image *image, struct engine_refilter *r);

#endif
