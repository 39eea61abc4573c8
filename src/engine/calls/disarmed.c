/* SPDX-License-Identifier: MIT
 *
 * Functions and families whose sites were hit too often: the tracer has taken the
 * breakpoints out, in one process.
 */
#include "engine/calls/disarmed.h"

#include "engine/calls/calls.h"
#include "engine/probes/disarm.h"
#include "engine/probes/objects.h"
#include "engine/probes/plans.h"
#include "engine/probes/sites.h"
#include "engine/target/family.h"
#include "engine/target/profilers.h"
#include "engine/target/state.h"

/* Warns of the function where no profiler has method_disarmed, which would say so.
 * Once: there may be many. */
static void warn_of_rate(cprof_session *s, const cprof_function *f, uint32_t rate)
{
	const struct cprof_profiler_desc *p;

	for (p = s->profilers; p; p = p->next)
		if (p->method_disarmed)
			return;
	if (s->calls->rate_warned)
		return;
	s->calls->rate_warned = true;
	if (!rate)
		engine_warn(s,
			    "%s is called by a signal handler that left its thread no time for "
			    "anything "
			    "else: its calls are not told from then on",
			    cprof_function_name(f));
	else
		engine_warn(s,
			    "%s was called %u times within a second: its calls are not told from "
			    "then on, "
			    "nor are those of others so often called (--max-rate)",
			    cprof_function_name(f), rate);
}

void engine_calls_raise_disarmed(cprof_session *s, const cprof_function *f, uint32_t rate,
				 uint64_t ts_ns)
{
	s->calls->now_ns = ts_ns;
	engine_calls_set_current(s->calls, &(struct cp_call){ .enter_ns = ts_ns });
	engine_raise(s, method_disarmed, f, rate);
	s->calls->has_current = false;
}

/* Functions with a role of the family's, which nobody else traces. */
static void disarm_roles(cprof_session *s, enum engine_family_id id)
{
	uint32_t i;

	for (i = 0; i < s->calls->traced.count; i++) {
		struct engine_traced *t = s->calls->traced.items[i];

		if (t->family != id || engine_traced_by_others(t))
			continue;
		t->disarmed = true;
		engine_disarm(s, i);
	}
	s->calls->changes++;
}

/* Sites of a family's own, or functions with a role of it, were hit too often: the family is
 * not watched any more. */
static void disarm_family(cprof_session *s, enum engine_family_id id,
			  const struct cp_event_disarmed *e)
{
	const struct engine_family *f = id < ENGINE_FAMILIES ? s->families[id] : NULL;
	const cprof_function *function;
	struct cp_answer answer;
	uint32_t i;

	if (!f || !f->disarmed || s->disarmed >> id & 1)
		return;
	s->disarmed |= 1u << id;
	for (i = 0; i < s->calls->own_groups[id]; i++) {
		struct cp_request rq = { .type = CP_REQUEST_DISARM_GROUP,
					 .first = ENGINE_GROUP_OWN(id, i) };

		cp_error_free(cp_link_call(&s->link, &rq, &answer, NULL));
	}
	disarm_roles(s, id);
	s->current.thread = cprof_thread_from_tid(e->e.tid);
	function = f->disarmed(s);
	if (function)
		engine_calls_raise_disarmed(s, function, e->rate, e->e.ts_ns);
	if (!f->things)
		return;
	if (e->rate)
		engine_warn(s,
			    "%s were %s more than %u times a second: those that followed are not "
			    "told (--max-rate)",
			    f->things, f->done, s->calls->rate_globbed);
	else
		engine_warn(s,
			    "%s %s in a signal handler left its thread no time for anything else: "
			    "those that followed are not told",
			    f->things, f->done);
}

void engine_on_disarmed(cprof_session *s, const struct cp_event_disarmed *e)
{
	struct engine_calls *c = s->calls;
	cprof_process *p = s->current.process;
	const cprof_function *f = NULL;
	struct engine_traced *t;
	size_t i;

	if (c && e->group >= ENGINE_GROUP_OWN(0, 0))
		disarm_family(s, (e->group - ENGINE_GROUP_OWN(0, 0)) >> 16, e);
	if (!c || e->group >= c->traced.count)
		return;
	t = c->traced.items[e->group];
	if (t->disarmed)
		return;
	if (t->family && s->families[t->family]->disarmed && !engine_traced_by_others(t)) {
		disarm_family(s, t->family, e);
		return;
	}
	t->disarmed = true;
	c->changes++;
	c->now_ns = e->e.ts_ns;
	s->current.thread = cprof_thread_from_tid(e->e.tid);
	engine_disarm(s, e->group);
	for (i = 0; i < p->images.count && !f; i++) {
		const cprof_image *image = p->images.items[i];

		if (image->armed && image->assembly == t->assembly)
			f = engine_traced_function(s, image, e->group);
	}
	if (f) {
		warn_of_rate(s, f, e->rate);
		engine_calls_raise_disarmed(s, f, e->rate, c->now_ns);
	}
}
