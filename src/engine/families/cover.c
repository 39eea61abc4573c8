/* SPDX-License-Identifier: MIT
 *
 * Coverage as a family: it places its breakpoints itself, and they make no events.
 */
#include "engine/families/cover_arm.h"
#include "engine/families/coverage.h"
#include "engine/families/cuts.h"
#include "engine/families/known.h"
#include "engine/target/family.h"
#include "engine/target/sources.h"
#include "engine/target/state.h"

static bool is_there(cprof_image *image)
{
	return engine_coverage_plan(image) != NULL;
}

static int place(cprof_image *image)
{
	cprof_assembly *a = image->assembly;
	int errnum;

	if (!a->cover->processes) /* this is the first one */
		engine_cover_know(image->process->session, cprof_assembly_build_id(a), a->cover);
	errnum = engine_cover_arm(image, a->cover);
	if (!errnum)
		engine_cuts_arm(image);
	return errnum;
}

static void refuse(cprof_image *image)
{
	engine_cover_refuse_all(image->process->session, image->assembly->cover);
}

static bool has(const cprof_image *image, uint64_t address)
{
	return image->assembly->cover && engine_cover_has(image->assembly->cover, address);
}

static void free_assembly(cprof_assembly *a)
{
	engine_cover_free(a->cover);
	engine_sources_free(a->sources);
}

static void free_all(cprof_session *s)
{
	if (s->coverage)
		engine_known_free(s->coverage);
	engine_coverage_free(s);
}

const struct engine_family engine_coverage_family = {
	.name = "coverage",
	.breakpoints = true,
	.enabled = engine_coverage_wanted,
	.things = "coverage",
	.done = "measured",
	.places = is_there,
	.place = place,
	.refused = refuse,
	.inherited = engine_cuts_arm,
	.has = has,
	.fault = engine_on_fault,
	.free_assembly = free_assembly,
	.explain = engine_cuts_warn,
	.free = free_all,
};
