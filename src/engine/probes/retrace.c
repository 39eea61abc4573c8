/* SPDX-License-Identifier: MIT
 *
 * Which calls are wanted, said anew while the session runs.
 */
#include "base/map.h"
#include "engine/probes/objects.h"
#include "engine/probes/sites.h"
#include "engine/probes/trace.h"
#include "engine/target/images.h"
#include "engine/target/state.h"
#include "probe/match.h"
#include "tracer/known/sharers.h"

/* A session that had no breakpoints gets some. */
static cprof_status begin_late(cprof_session *s)
{
	struct cp_request rq = { .type = CP_REQUEST_WATCH };
	struct cp_answer answer;
	struct cp_error *err;

	if (s->probes)
		return CPROF_OK;
	if (!(s->flags & CPROF_SESSION_FOLLOW_FORKS)) /* who is let go would keep them */
		return CPROF_E_NOT_SUPPORTED;
	if (s->attached && sharers_find(s->target, s->tracer, NULL, 0))
		return CPROF_E_INCONSISTENT_WITH_FLAGS;
	err = cp_link_call(&s->link, &rq, &answer, NULL);
	cp_error_free(err);
	if (err || answer.errnum)
		return CPROF_E_NOT_SUPPORTED;
	s->probes = s->calls->begins_late = true;
	return CPROF_OK;
}

static void drop_traces(struct engine_calls *c, cprof_profiler_handle owner)
{
	size_t i, kept = 0;

	for (i = 0; i < c->traces.count; i++) {
		if (c->traces.items[i].owner == owner)
			cprof_callspec_free(c->traces.items[i].spec);
		else
			c->traces.items[kept++] = c->traces.items[i];
	}
	c->traces.count = kept;
	c->retraced++;
}

cprof_status cprof_profiler_retrace(cprof_profiler_handle handle, const cprof_callspec *spec,
				    unsigned flags)
{
	cprof_callspec *own = (cprof_callspec *)(uintptr_t)spec;
	cprof_session *s = cprof_session_current();
	struct engine_calls *c;
	cprof_status status;

	if (!handle || (spec && !flags))
		return CPROF_E_INVALID_ARGUMENT;
	if (!s || !s->started || s->ended)
		return CPROF_E_UNSUPPORTED_CALL_SEQUENCE;
	c = spec ? engine_calls_get(s) : s->calls;
	if (!c)
		return spec ? CPROF_E_OUT_OF_MEMORY : CPROF_OK;
	if (!cp_vec_reserve(&c->traces, c->traces.count + 1))
		return CPROF_E_OUT_OF_MEMORY;
	status = spec ? begin_late(s) : CPROF_OK;
	if (status)
		return status;
	if (own)
		own->references++; /* it may be the one that goes */
	drop_traces(c, handle);
	if (own)
		c->traces.items[c->traces.count++] = (struct engine_trace){ handle, own, flags };
	return s->probes ? cprof_profiler_refilter(NULL) : CPROF_OK;
}

static uint64_t count_in(const cprof_image *image, const cprof_callspec *spec)
{
	struct engine_plans *plans = engine_plans_of(image->assembly);
	const struct cp_probe_image of = engine_probe_image(image);
	uint64_t count = 0;
	size_t i;

	if (!plans || !cp_probe_wants_image(spec->spec, &of) ||
	    !engine_plans_read(image->assembly, plans))
		return 0;
	for (i = 0; i < plans->functions.count; i++)
		count += cp_probe_match(spec->spec, &of, &plans->functions.items[i]) != CP_SPEC_NO;
	return count;
}

uint64_t cprof_callspec_count(const cprof_callspec *spec)
{
	cprof_session *s = cprof_session_current();
	const struct engine_text *text;
	struct cp_map seen = { 0 };
	uint64_t count = 0, key;
	size_t i;

	for (i = 0; spec && s && i < s->processes.count; i++) {
		cprof_process *p = s->processes.items[i];

		if (!p->maps_read)
			engine_maps_look(p);
		cp_vec_for_each(&p->texts, text) {
			key = (uintptr_t)text->image->assembly;
			if (!cp_map_get(&seen, key) && cp_map_put(&seen, key, 1))
				count += count_in(text->image, spec);
		}
	}
	cp_map_free(&seen);
	return count;
}

char *cprof_callspec_near(const char *entry)
{
	cprof_session *s = cprof_session_current();
	struct cp_buf near = { 0 };

	if (s && engine_plan_near(s, entry, &near))
		return near.bytes;
	cp_buf_free(&near);
	return NULL;
}
