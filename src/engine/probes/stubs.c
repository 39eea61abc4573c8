/* SPDX-License-Identifier: MIT */
#include "engine/probes/stubs.h"

#include "engine/probes/objects.h"
#include "engine/probes/plans.h"
#include "engine/probes/sites.h"
#include "engine/target/family.h"
#include "engine/target/images.h"
#include "engine/target/state.h"
#include "probe/library_calls.h"

bool engine_is_entered(cprof_session *s, const cprof_image *image,
		       const struct cp_probe_function *f)
{
	cprof_assembly *a = image->assembly;
	struct cp_probe_functions *all = &a->plans->functions;

	if (!all->calls_found && engine_decoder(s->calls)) {
		engine_plans_pads(a, a->plans);
		cp_error_free(cp_probe_find_library_calls(s->calls->decoder, a->image, all));
	}
	return cp_probe_is_entered(all, (size_t)(f - all->items));
}

bool engine_is_out_of_reach(cprof_session *s, const cprof_image *image,
			    const struct cp_probe_function *f)
{
	bool program = engine_is_program(image), wanted = false;
	const struct engine_trace *t;
	const char *started_as;

	if (!(f->flags & CP_PROBE_SLOT))
		return false;
	started_as = engine_image_started_as(image);
	cp_vec_for_each(&s->calls->traces, t)
		wanted |= cp_spec_wants_stubs(t->spec->spec, image->assembly->path, program) ||
			  (started_as && cp_spec_wants_stubs(t->spec->spec, started_as, program));
	return wanted && !engine_is_entered(s, image, f);
}

void engine_note_library_calls(const struct engine_calls *c, const struct engine_traced *t,
			       uint32_t number)
{
	uint32_t i;

	for (i = 0; t->function->kind == CP_PROBE_PLT && i < t->entry_count && i < t->site_count;
	     i++)
		cp_map_put(&t->assembly->plans->library_calls,
			   c->sites.items[t->first_site + i].address, number);
}

bool engine_calls_library(const cprof_image *image, const struct engine_site *site)
{
	const struct engine_plans *plans = image->assembly->plans;

	return plans && cp_map_get(&plans->library_calls, site->address);
}

const cprof_function *engine_library_called(cprof_session *s, const cprof_image *image,
					    const struct engine_site *site)
{
	const struct engine_plans *plans = image->assembly->plans;
	const uint64_t *number = plans ? cp_map_get(&plans->library_calls, site->address) : NULL;

	if (!number || s->calls->traced.items[*number]->disarmed)
		return NULL;
	return engine_traced_function(s, image, (uint32_t)*number);
}

const cprof_function *engine_library_function(cprof_session *s, const struct engine_hit *hit)
{
	return hit->image ? engine_library_called(s, hit->image, &s->calls->sites.items[hit->site])
			  : NULL;
}
