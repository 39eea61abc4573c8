/* SPDX-License-Identifier: MIT
 *
 * Which calls are wanted: what profilers say before the session runs.
 */
#include "engine/probes/trace.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "engine/probes/fetches.h"
#include "engine/probes/rings.h"
#include "engine/probes/objects.h"
#include "engine/probes/plans.h"
#include "engine/probes/sites.h"
#include "engine/probes/windows.h"
#include "engine/probes/valued.h"
#include "engine/probes/valued_site.h"
#include "engine/target/family.h"
#include "engine/target/images.h"
#include "engine/target/state.h"
#include "probe/near.h"
#include "inspect/chosen.h"
#include "inspect/condition_way.h"
#include "inspect/shape_ops.h"

#define GLOBBED_RATE 5000 /* calls a second of a function that was not named in full */

struct engine_calls *engine_calls_get(cprof_session *s)
{
	struct engine_calls *c;

	if (!s || s->calls)
		return s ? s->calls : NULL;
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	c->rate_globbed = GLOBBED_RATE;
	c->arena = cp_value_arena_create();
	if (!c->arena) {
		free(c);
		return NULL;
	}
	s->calls = c;
	return c;
}

void engine_calls_free(cprof_session *s)
{
	struct engine_calls *c = s->calls;
	size_t i;

	if (!c)
		return;
	for (i = 0; i < s->processes.count; i++)
		engine_rings_forget(s->processes.items[i]);
	for (i = 0; i < c->traces.count; i++)
		cprof_callspec_free(c->traces.items[i].spec);
	for (i = 0; i < c->fetches.count; i++)
		cprof_callspec_free(c->fetches.items[i].spec);
	for (i = 0; i < c->traced.count; i++) {
		cp_signature_destroy(c->traced.items[i]->signature);
		engine_fetches_drop(c->traced.items[i]);
		engine_windows_drop(c->traced.items[i]);
		free(c->traced.items[i]->condition_lacks);
		free(c->traced.items[i]);
	}
	free(c->untold_why);
	cp_declared_destroy(c->declared);
	free(c->callers);
	cp_vec_free(&c->traces);
	cp_vec_free(&c->fetches);
	cp_vec_free(&c->traced);
	cp_vec_free(&c->sites);
	for (i = 0; i < c->forms.count; i++)
		engine_valued_free(c->forms.items[i]);
	cp_vec_free(&c->forms);
	cp_vec_free(&c->chain);
	cp_vec_free(&c->refilters);
	cp_vec_free(&c->rings);
	cp_vec_free(&c->yielded);
	cp_condition_destroy(c->condition);
	cp_chosen_destroy(c->arguments);
	cp_decoder_destroy(c->decoder);
	cp_value_arena_destroy(c->arena);
	free(c);
	s->calls = NULL;
}

bool engine_calls_wanted(const cprof_session *s)
{
	return s->calls && (s->calls->traces.count || s->calls->filters);
}

bool engine_probes_wanted(const cprof_session *s)
{
	return engine_calls_wanted(s) || engine_families_break(s);
}

bool engine_plan_near(const cprof_session *s, const char *entry, struct cp_buf *out)
{
	struct cp_near near = { 0 };
	struct cp_spec *spec;
	struct cp_error *err = cp_spec_parse(entry, &spec);
	size_t i, k;
	bool any;

	cp_error_free(err);
	if (err)
		return false; /* the entry only excludes */
	for (i = 0; i < s->processes.count; i++) {
		for (k = 0; k < s->processes.items[i]->images.count; k++) {
			const cprof_image *image = s->processes.items[i]->images.items[k];
			struct cp_probe_image of;

			if (!image->assembly->plans || !image->assembly->plans->read)
				continue;
			of = engine_probe_image(image);
			cp_near_try(&near, spec, &of);
			cp_inlined_try(&near.inlined, entry, &of);
		}
	}
	any = cp_near_text(&near, out);
	cp_near_free(&near);
	cp_spec_destroy(spec);
	return any;
}

/* An entry of a SPEC that meant nothing. A program that runs longer than it is looked at may
 * load or start later what has it. */
static void warn_unmatched(cprof_session *s, const char *entry, struct cp_buf *near)
{
	struct cp_buf within = { 0 };
	const char *during = "";

	if (s->life.haste.cuts) {
		during = " in what was looked at until it ended";
	} else if (!s->child) {
		cp_buf_str(&within, " in the ");
		cp_add_time(&within, s->run_ns);
		cp_buf_str(&within, " that were looked at");
		during = within.bytes ? within.bytes : "";
	}
	near->size = 0;
	if (engine_plan_near(s, entry, near))
		engine_warn(s, "no function was found that matches '%s'%s: %s", entry, during,
			    near->bytes);
	else if (!strncmp(entry, "plt:", 4))
		engine_warn(s,
			    "no call of a library function was found that matches '%s'%s: what is "
			    "static has its own",
			    entry, during);
	else
		engine_warn(s, "no function was found that matches '%s'%s", entry, during);
	cp_buf_free(&within);
}

void engine_calls_warn(cprof_session *s)
{
	const struct engine_trace *t;
	struct cp_buf near = { 0 };
	const char *entry;
	bool end = false;
	size_t n;

	if (!s->calls)
		return;
	if (s->calls->untold)
		engine_warn(s, "the condition could be told of %s%llu call%s: %s",
			    s->calls->told ? "all but " : "none of ",
			    (unsigned long long)s->calls->untold, s->calls->untold == 1 ? "" : "s",
			    s->calls->untold_why
				    ? s->calls->untold_why
				    : "it names what they had not (arguments have names where "
				      "there is debug information), leads to where nothing can be "
				      "read, divides by 0 or overflows");
	cp_vec_for_each(&s->calls->traces, t) {
		for (n = 0, end = false; !end; n++) {
			entry = cp_spec_unmatched(t->spec->spec, n, &end);
			if (!entry || end)
				continue;
			warn_unmatched(s, entry, &near);
		}
	}
	cp_buf_free(&near);
}

/* May settings still change that say how calls and frames are told? */
static bool may_set(const cprof_session *s)
{
	return s && !s->started;
}

void cprof_profiler_set_call_instrumentation_filter_callback(
	cprof_profiler_handle handle, cprof_call_instrumentation_filter_fn cb)
{
	struct engine_calls *c = engine_calls_get(cprof_session_current());

	if (handle)
		handle->filter = cb;
	if (c && cb && handle)
		c->filters = true;
}

cprof_callspec *cprof_callspec_parse(const char *text, char **error)
{
	cprof_callspec *spec = calloc(1, sizeof(*spec));
	struct cp_error *err = spec ? cp_spec_parse(text, &spec->spec) : cp_error_nomem();

	if (error)
		*error = err ? strdup(err->what) : NULL;
	if (!err) {
		spec->references = 1;
		return spec;
	}
	cp_error_free(err);
	free(spec);
	return NULL;
}

/* Matches as functions to trace are chosen: of functions in files, stubs, sources and
 * aliases are known. */
bool cprof_callspec_match(const cprof_callspec *spec, const cprof_function *f)
{
	const cprof_image *image = cprof_function_image(f);
	struct cp_spec_subject subject = { 0 };
	struct cp_probe_function *probe;
	struct cp_probe_image of;

	if (!spec || !image)
		return false;
	probe = engine_function_probe(f);
	if (probe) {
		of = engine_probe_image(image);
		return cp_probe_match(spec->spec, &of, probe) != CP_SPEC_NO;
	}
	subject.name = cprof_function_name(f);
	subject.linkage_name = cprof_function_linkage_name(f);
	subject.image = cprof_assembly_path(image->assembly);
	subject.started_as = engine_image_started_as(image);
	subject.program = engine_is_program(image);
	return cp_spec_match(spec->spec, &subject) != CP_SPEC_NO;
}

void cprof_callspec_free(cprof_callspec *spec)
{
	if (!spec || --spec->references)
		return;
	cp_spec_destroy(spec->spec);
	free(spec);
}

cprof_status cprof_profiler_trace(cprof_profiler_handle handle, const cprof_callspec *spec,
				  unsigned flags)
{
	cprof_session *s = cprof_session_current();
	struct engine_calls *c;
	cprof_callspec *own = (cprof_callspec *)(uintptr_t)spec;

	if (!handle || !spec || !flags)
		return CPROF_E_INVALID_ARGUMENT;
	if (!engine_may_ask(s))
		return CPROF_E_CALL_ONLY_FROM_INIT;
	c = engine_calls_get(s);
	if (c)
		c->retraced++;
	if (!c || !cp_vec_push(&c->traces, (struct engine_trace){ handle, own, flags }))
		return CPROF_E_OUT_OF_MEMORY;
	own->references++;
	return CPROF_OK;
}

void cprof_profiler_set_block_numbers(cprof_profiler_handle handle, bool numbers)
{
	if (handle && may_set(cprof_session_current()))
		handle->block_numbers = numbers;
}

void cprof_profiler_set_stack_known(cprof_profiler_handle handle, cprof_stack_known_fn fn)
{
	if (handle && may_set(cprof_session_current()))
		handle->stack_known = fn;
}

uint64_t cprof_traced_functions(void)
{
	cprof_session *s = cprof_session_current();

	return s && s->calls ? s->calls->chosen : 0;
}

void cprof_profiler_set_max_rate(uint32_t named, uint32_t globbed)
{
	cprof_session *s = cprof_session_current();
	struct engine_calls *c = may_set(s) ? engine_calls_get(s) : NULL;

	if (!c)
		return;
	c->rate_said = true;
	c->rate_named = named;
	c->rate_globbed = globbed;
}

char *cprof_profiler_set_call_condition(const char *expr)
{
	cprof_session *s = cprof_session_current();
	struct engine_calls *c = engine_may_ask(s) ? engine_calls_get(s) : NULL;
	struct cp_condition *condition = NULL;
	struct cp_error *err;
	char *text;

	if (!c)
		return strdup("too late: a condition is set before the session runs");
	err = expr ? cp_condition_parse(expr, &condition) : NULL;
	if (err) {
		text = strdup(err->what);
		cp_error_free(err);
		return text;
	}
	cp_condition_destroy(c->condition);
	c->condition = condition;
	return NULL;
}

char *cprof_profiler_set_call_arguments(const char *list)
{
	cprof_session *s = cprof_session_current();
	struct engine_calls *c = engine_may_ask(s) ? engine_calls_get(s) : NULL;
	struct cp_chosen *chosen = NULL;
	struct cp_error *err;
	char *text;

	if (!c)
		return strdup("too late: what calls tell is set before the session runs");
	err = list ? cp_chosen_parse(list, &chosen) : NULL;
	if (err) {
		text = strdup(err->what);
		cp_error_free(err);
		return text;
	}
	cp_chosen_destroy(c->arguments);
	c->arguments = chosen;
	return NULL;
}

static bool is_member(void *ctx, const char *name)
{
	return cp_condition_is_member(ctx, name);
}

struct cp_value_limits engine_value_limits_in(const cprof_session *s,
					      struct cp_signature *signature)
{
	struct cp_value_limits limits = s->limits;
	unsigned steps = s->calls && s->calls->condition
				 ? cp_condition_steps(s->calls->condition,
						      signature ? is_member : NULL, signature)
				 : 0;

	if (steps > limits.pointers)
		limits.pointers = steps;
	if (steps > 1 && 2 * steps > limits.depth) /* a pointer, and what it leads to */
		limits.depth = 2 * steps;
	limits.shapes = &cp_shape_ops;
	return limits;
}

struct cp_value_limits engine_value_limits(const cprof_session *s)
{
	return engine_value_limits_in(s, NULL);
}

bool cprof_profiler_enable_call_context_introspection(void)
{
	cprof_session *s = cprof_session_current();
	struct engine_calls *c = may_set(s) ? engine_calls_get(s) : NULL;

	if (!c)
		return false;
	s->introspection = true;
	return true;
}

bool cprof_profiler_enable_call_cpu_time(void)
{
	cprof_session *s = cprof_session_current();
	struct engine_calls *c = engine_may_ask(s) ? engine_calls_get(s) : NULL;

	if (!c)
		return false;
	c->cpu_time = true;
	return true;
}

void cprof_profiler_set_value_limits(uint32_t depth, uint32_t string)
{
	cprof_session *s = cprof_session_current();
	struct engine_calls *c = may_set(s) ? engine_calls_get(s) : NULL;

	if (c)
		s->limits = cp_value_limits_of(depth, string);
}

bool cprof_current_call(cprof_call *ret)
{
	cprof_session *s = cprof_session_current();

	if (!s || !s->calls || !s->calls->has_current)
		return false;
	*ret = s->calls->current;
	return true;
}

bool cprof_current_call_inherited(int32_t *tid_ret)
{
	cprof_session *s = cprof_session_current();

	if (!s || !s->calls || !s->calls->has_current || !s->calls->inherited_from)
		return false;
	if (tid_ret)
		*tid_ret = s->calls->inherited_from;
	return true;
}

void cprof_get_call_statistics(cprof_call_statistics *ret)
{
	cprof_session *s = cprof_session_current();
	const struct engine_calls *c = s ? s->calls : NULL;
	const struct cp_link_stats *t = s ? &s->link.shared->stats : NULL;

	*ret = (cprof_call_statistics){ 0 };
	if (!c)
		return;
	*ret = (cprof_call_statistics){
		.hits = t->hits - c->hooks,
		.events = c->events,
		.rejected_inside = t->hits_inside + c->rejected_inside,
		.rejected_condition = c->rejected_condition,
		.condition_unknown = c->untold,
		.rejected_late = t->hits_late + c->late,
		.unmatched = c->unmatched,
		.functions = c->armed_functions,
		.sites = c->armed_sites,
		.trap_ns = cp_histogram_quantile(t->trap, 500),
		.trap_low_ns = cp_histogram_quantile(t->trap, 100),
		.trap_high_ns = cp_histogram_quantile(t->trap, 900),
		.traps = t->detours,
		.fast_functions = c->detoured_functions,
		.records = c->records,
		.records_lost = engine_rings_lost(s),
		.fast_sites = c->detoured_sites,
		.detour_ns = (c->price.whole_ps + 500) / 1000,
		.detour_within_ns = (c->price.within_ps + 500) / 1000,
		.records_unread = c->records_unread,
	};
}
