/* SPDX-License-Identifier: MIT
 *
 * What the filters of all profilers want of a function, together.
 */
#include "engine/probes/wishes.h"

#include "engine/probes/objects.h"
#include "engine/probes/sites.h"
#include "engine/target/profilers.h"
#include "engine/target/state.h"
#include "probe/match.h"

/* Flags that may be asked for together with ONCE. */
#define WITH_ONCE \
	(CPROF_CALL_INSTRUMENTATION_ENTER | CPROF_CALL_INSTRUMENTATION_ENTER_CONTEXT | \
	 CPROF_CALL_INSTRUMENTATION_STACK | CPROF_CALL_INSTRUMENTATION_HOLD)

void engine_ask(cprof_session *s, cprof_image *image, struct cp_probe_function *f,
		struct engine_asking *a)
{
	const struct cp_probe_image of = engine_probe_image(image);
	const struct engine_calling outer = s->calling;
	const struct cprof_profiler_desc *p;
	const struct engine_trace *t;
	enum cp_spec_match m;
	const char *name;
	unsigned more;

	cp_vec_for_each(&s->calls->traces, t) {
		m = cp_probe_match_name(t->spec->spec, &of, f, &name);
		if (m != CP_SPEC_NO) {
			a->flags |= t->flags;
			a->once &= t->flags;
			a->name = a->name ? a->name : name;
		}
		a->named |= m == CP_SPEC_NAMED;
	}
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
