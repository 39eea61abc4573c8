/* SPDX-License-Identifier: MIT
 *
 * Coverage as a family: it places its breakpoints itself, and they make no events.
 */
#include "engine/families/cover_arm.h"
#include "engine/families/counting.h"
#include "engine/families/coverage.h"
#include "engine/families/cuts.h"
#include "engine/families/frontier.h"
#include "engine/families/known.h"
#include "engine/target/family.h"
#include "engine/target/sources.h"
#include "engine/target/state.h"

/* Slots for functions that are placed once they are reached. */
#define SPARE 512

/* How the image is to be placed, which is for good once it has an area. */
static void choose(cprof_image *image, const struct engine_cover *cover)
{
	if (image->area)
		return;
	/* Nobody may be inside yet. */
	image->cover.ahead = image->process->life.beginning && (cover->processes || cover->known) &&
			     image->process->session->coverage->mode == CPROF_COVERAGE_ONESHOT;
	image->cover.reserved = (uint32_t)cover->blocks.count + cover->watched_count;
	image->cover.spare = engine_counting_slots(cover);
	if (!image->cover.ahead)
		return;
	if (cover->frontier)
		image->cover.spare = (uint32_t)engine_frontier_size(cover) + SPARE;
	else
		image->cover.spare = image->cover.reserved;
	image->cover.reserved = 0;
}

static bool is_there(cprof_image *image)
{
	struct engine_cover *cover = engine_coverage_plan(image);

	if (!cover)
		return false;
	if (!cover->asked) {
		cover->asked = true;
		engine_cover_know(image->process->session, cprof_assembly_build_id(image->assembly),
				  cover);
	}
	engine_counting_plan(image->process->session, image->assembly, cover);
	choose(image, cover);
	return true;
}

static void make(cprof_image *image)
{
	engine_cover_make(image, image->assembly->cover);
}

static int place(cprof_image *image)
{
	int errnum = engine_cover_arm(image, image->assembly->cover);

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

static void end(cprof_process *p, unsigned what)
{
	(void)what;
	engine_counting_collect(p->session);
}

static void free_assembly(cprof_assembly *a)
{
	if (a->cover) {
		engine_cover_forget_made(a->cover);
		engine_frontier_free(a->cover->frontier);
		engine_counting_free(a->cover);
	}
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
	.make = make,
	.place = place,
	.refused = refuse,
	.inherited = engine_cuts_arm,
	.yield = engine_counting_yield,
	.has = has,
	.end = end,
	.fault = engine_on_fault,
	.opened = engine_cover_opened,
	.free_assembly = free_assembly,
	.explain = engine_cuts_warn,
	.free = free_all,
};
