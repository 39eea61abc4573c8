/* SPDX-License-Identifier: MIT
 *
 * Filters asked once more while the program runs: breakpoints come and go,
 * between two events.
 */
#include "engine/probes/refilter.h"

#include "engine/probes/arm.h"
#include "engine/probes/disarm.h"
#include "engine/probes/plans.h"
#include "engine/probes/sites.h"
#include "engine/target/family.h"
#include "engine/target/state.h"

static void turn_off(cprof_session *s, const struct engine_numbers *off)
{
	struct engine_traced *t;
	size_t i;

	for (i = 0; i < off->count; i++) {
		t = s->calls->traced.items[off->items[i]];
		t->flags = 0;
		t->disarmed = true;
		engine_disarm(s, off->items[i]);
	}
}

/* Plans an object once, and places its sites in all processes that have it mapped. */
static void refilter_assembly(cprof_session *s, cprof_image *image)
{
	struct engine_refilter r = { 0 };
	size_t i, k;

	if (engine_plan_again(image, &r)) {
		turn_off(s, &r.off);
		for (i = 0; r.changed.count && i < s->processes.count; i++) {
			for (k = 0; k < s->processes.items[i]->images.count; k++) {
				cprof_image *other = s->processes.items[i]->images.items[k];

				if (other->mapped && other->armed &&
				    other->assembly == image->assembly)
					engine_arm_changed(other, &r.changed, &r.all);
			}
		}
	}
	cp_vec_free(&r.off);
	cp_vec_free(&r.changed);
	cp_vec_free(&r.all);
}

/* Has an earlier image the same object? */
static bool done_before(const cprof_session *s, const cprof_image *image)
{
	size_t i, k;

	for (i = 0; i < s->processes.count; i++) {
		for (k = 0; k < s->processes.items[i]->images.count; k++) {
			const cprof_image *other = s->processes.items[i]->images.items[k];

			if (other == image)
				return false;
			if (other->mapped && other->armed && other->assembly == image->assembly)
				return true;
		}
	}
	return false;
}

static void refilter_all(cprof_session *s)
{
	size_t i, k;

	for (i = 0; i < s->processes.count; i++) {
		for (k = 0; k < s->processes.items[i]->images.count; k++) {
			cprof_image *one = s->processes.items[i]->images.items[k];

			if (one->mapped && one->armed && !done_before(s, one))
				refilter_assembly(s, one);
		}
	}
}

void engine_refilter(cprof_session *s)
{
	struct engine_calls *c = s->calls;
	cprof_image *image;
	size_t i;

	if (c && c->begins_late) {
		c->begins_late = false;
		for (i = 0; i < s->processes.count; i++)
			s->processes.items[i]->arm_again = !s->processes.items[i]->end_ns;
		engine_arm_again(s);
	}
	while (c && c->refilters.count) {
		image = c->refilters.items[--c->refilters.count];
		c->changes++;
		if (!image)
			refilter_all(s);
		else if (image->mapped && image->armed)
			refilter_assembly(s, image);
	}
}

/* Filters are asked later: the callback may run in the middle of ending calls, and open
 * calls must not change meanwhile. */
cprof_status cprof_profiler_refilter(cprof_image *image)
{
	cprof_session *s = cprof_session_current();

	if (!s || s->ended)
		return CPROF_E_UNSUPPORTED_CALL_SEQUENCE;
	if (!s->started) /* filters have not been asked at all yet */
		return CPROF_OK;
	if (!s->calls || !s->probes)
		return CPROF_E_NOT_SUPPORTED;
	if (image && !image->armed)
		return CPROF_E_NOT_FOUND;
	return cp_vec_push(&s->calls->refilters, image) ? CPROF_OK : CPROF_E_OUT_OF_MEMORY;
}
