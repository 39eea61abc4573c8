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

/* Stubs are planned after the other functions, when the libraries that they lead to are
 * mapped. */
enum engine_plan_what { ENGINE_PLAN_ALL, ENGINE_PLAN_STUBS, ENGINE_PLAN_OTHERS };

/* What changed when filters were asked again: `off` are functions that are not wanted
 * any more, `changed` those that were not wanted, or not for the same, and `all` those
 * that are wanted. */
struct engine_refilter {
	struct engine_numbers off, changed, all;
};

/* Frees what is known of an object's functions. */
void engine_plans_free(struct engine_plans *plans);
/* Plans what filters want of the functions of `image`, and what families watch: numbers
 * of traced functions go to *numbers. False: nothing is wanted. */
bool engine_plan_image(cprof_image *image, enum engine_plan_what what,
		       struct engine_numbers *numbers);
/* Plans an image anew by what filters want now. False: no memory, or nothing can be
 * traced there. */
bool engine_plan_again(cprof_image *image, struct engine_refilter *r);

#endif
