/* SPDX-License-Identifier: MIT
 *
 * What the filters of all profilers want of a function, together.
 */
#include "engine/probes/wishes.h"

#include <stdlib.h>
#include <string.h>

#include "engine/probes/objects.h"
#include "engine/probes/sites.h"
#include "engine/target/profilers.h"
#include "engine/target/state.h"
#include "probe/match.h"

/* Flags that may be asked for together with ONCE. */
#define WITH_ONCE \
	(CPROF_CALL_INSTRUMENTATION_ENTER | CPROF_CALL_INSTRUMENTATION_ENTER_CONTEXT | \
	 CPROF_CALL_INSTRUMENTATION_STACK | CPROF_CALL_INSTRUMENTATION_HOLD)

/* What specs say of the functions of an object, which is the same in each process that
 * has it in the same way: comparing a thousand names takes a millisecond. */
struct engine_asked {
	/* In what way. */
	unsigned retraced;
	bool program;
	char *started_as; /* owned; NULL: by its own name */

	size_t count;
	struct {
		struct engine_asking says;
		bool known;
	} functions[]; /* by number */
};

void engine_asked_free(struct engine_asked *asked)
{
	if (asked)
		free(asked->started_as);
	free(asked);
}

static bool is_same(const struct engine_asked *asked, const cprof_session *s,
		    const struct cp_probe_image *of)
{
	return asked && asked->retraced == s->calls->retraced && asked->program == of->program &&
	       !asked->started_as == !of->started_as &&
	       (!of->started_as || !strcmp(asked->started_as, of->started_as));
}

bool engine_asked_before(const cprof_session *s, const cprof_image *image)
{
	const struct cp_probe_image of = engine_probe_image(image);

	return !s->calls->filters && is_same(image->assembly->plans->asked, s, &of);
}

bool engine_asked_for_nothing(const struct engine_asked *asked, size_t number)
{
	return number < asked->count && asked->functions[number].known &&
	       !asked->functions[number].says.flags && !asked->functions[number].says.name;
}

/* NULL without memory. */
static struct engine_asked *asked_of(const cprof_session *s, struct engine_plans *plans,
				     const struct cp_probe_image *of)
{
	size_t count = plans->functions.count;
	struct engine_asked *made;

	if (is_same(plans->asked, s, of))
		return plans->asked;
	engine_asked_free(plans->asked);
	made = plans->asked = calloc(1, sizeof(*made) + count * sizeof(made->functions[0]));
	if (!made)
		return NULL;
	made->retraced = s->calls->retraced;
	made->program = of->program;
	made->count = count;
	if (of->started_as)
		made->started_as = strdup(of->started_as);
	return made;
}

static void ask_specs(const cprof_session *s, const struct cp_probe_image *of,
		      struct cp_probe_function *f, struct engine_asking *a)
{
	const struct engine_trace *t;
	enum cp_spec_match m;
	const char *name;

	cp_vec_for_each(&s->calls->traces, t) {
		m = cp_probe_match_name(t->spec->spec, of, f, &name);
		if (m != CP_SPEC_NO) {
			a->flags |= t->flags;
			a->once &= t->flags;
			a->name = a->name ? a->name : name;
		}
		a->named |= m == CP_SPEC_NAMED;
	}
}

/* Adds what one spec or another says to what was asked before. */
static void add(struct engine_asking *a, const struct engine_asking *more)
{
	a->flags |= more->flags;
	a->once &= more->once;
	a->name = a->name ? a->name : more->name;
	a->named |= more->named;
}

static void ask_by_name(const cprof_session *s, const cprof_image *image,
			struct cp_probe_function *f, struct engine_asking *a)
{
	const struct cp_probe_image of = engine_probe_image(image);
	struct engine_plans *plans = image->assembly->plans;
	struct engine_asked *asked = asked_of(s, plans, &of);
	size_t n = (size_t)(f - plans->functions.items);
	struct engine_asking says = ENGINE_ASKING;

	if (!asked || n >= asked->count) {
		ask_specs(s, &of, f, a);
		return;
	}
	if (!asked->functions[n].known) {
		ask_specs(s, &of, f, &says);
		asked->functions[n].says = says;
		asked->functions[n].known = true;
	}
	add(a, &asked->functions[n].says);
}

void engine_ask(cprof_session *s, cprof_image *image, struct cp_probe_function *f,
		struct engine_asking *a)
{
	const struct engine_calling outer = s->calling;
	const struct cprof_profiler_desc *p;
	unsigned more;

	if (s->calls->traces.count)
		ask_by_name(s, image, f, a);
	for (p = s->calls->filters ? s->profilers : NULL; p; p = p->next) {
		cprof_call_instrumentation_filter_fn filter = p->filter;
		const cprof_function *function = filter ? engine_probe_function(s, image, f) : NULL;

		s->calling = (struct engine_calling){ p->desc, "call_instrumentation_filter" };
		more = function ? filter(p->prof, function) : 0;
		s->calling = outer;
		a->flags |= more;
		a->once &= more ? more : a->once;
		if (more && !a->name)
			a->name = f->linkage_name;
	}
}

struct engine_wish engine_settle(const struct engine_asking *a)
{
	struct engine_wish wish = { .flags = a->flags & ~CPROF_CALL_INSTRUMENTATION_ONCE,
				    .named = a->named };

	if (a->once)
		wish.flags = a->flags & WITH_ONCE ? (a->flags & WITH_ONCE) | a->once : 0;
	return wish;
}
