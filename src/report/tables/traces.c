/* SPDX-License-Identifier: MIT */
#include "report/tables/traces.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "base/types.h"
#include "report/look/brief.h"
#include "report/look/table.h"
#include "report/look/title.h"
#include "report/profile/options.h"
#include "report/profile/places.h"
#include "report/profile/profile.h"
#include "report/profile/unit.h"

#define TRACES 3 /* of a function */

/* Stacks that a function was on top of, by the functions on them. */
struct traces {
	const struct cp_profile *profile;
	struct cp_interner chains; /* numbers of functions, innermost first */
	CP_VEC(struct cp_cost) costs; /* by chain */
	CP_VEC(uint32_t) chain; /* being made */
};

static CP_ERROR add_hit(struct traces *t, const struct cp_hit *hit, uint32_t function)
{
	const struct cp_profile *p = t->profile;
	const uint32_t *frames;
	uint32_t number;
	size_t count;
	bool fresh;

	frames = cp_profile_walk(p, hit->stack, &count);
	if (p->frames.items[frames[count - 1]].function != function)
		return NULL;
	t->chain.count = 0;
	while (count-- > 0)
		if (!cp_vec_push(&t->chain, p->frames.items[frames[count]].function))
			return cp_error_nomem();
	if (!cp_intern(&t->chains, t->chain.items, t->chain.count * sizeof(*t->chain.items),
		       &number, &fresh) ||
	    (fresh && !cp_vec_push(&t->costs, (struct cp_cost){ 0 })))
		return cp_error_nomem();
	cp_cost_add(&t->costs.items[number], &hit->cost);
	return NULL;
}

#define INDENT 8u

/* Columns for a name; 0: as many as it takes. */
static size_t room_below(const struct cp_look *look, unsigned indent)
{
	return look->columns > 2 * indent ? look->columns - indent : look->columns;
}

static void print_chain(const struct traces *t, uint32_t number, const struct cp_look *look,
			struct cp_buf *out)
{
	const struct cp_interned *chain = &t->chains.items[number];
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	size_t count = chain->size / sizeof(uint32_t), i;
	size_t room = room_below(look, INDENT);
	uint32_t function;

	cp_buf_str(&text, "    ");
	t->profile->unit->add(&text, t->costs.items[number].weight);
	cp_buf_str(&text, "  ");
	cp_add_percent(&text, t->costs.items[number].weight, t->profile->total.weight);
	cp_buf_str(&text, count > 1 ? " from\n" : "\n");
	cp_paint(out, look, CP_PAINT_DIM, text.bytes ? text.bytes : "");
	for (i = 1; i < count; i++) {
		memcpy(&function, (const char *)chain->bytes + i * sizeof(function),
		       sizeof(function));
		cp_buf_fill(out, ' ', INDENT);
		cp_brief_add(out, t->profile->functions.items[function].name, room);
		cp_buf_u8(out, '\n');
	}
}

static CP_ERROR print_traces(const struct traces *t, const struct cp_look *look, struct cp_buf *out)
{
	CP_FREE uint32_t *order = NULL;
	size_t count, i;

	CP_TRY(cp_cost_sorted(t->costs.items, t->costs.count, &order, &count));
	for (i = 0; i < count && i < TRACES; i++)
		print_chain(t, order[i], look, out);
	if (count > TRACES)
		cp_buf_printf(out, "    and %zu more\n", count - TRACES);
	return NULL;
}

static CP_ERROR of_function(const struct cp_profile *p, uint32_t function,
			    const struct cp_look *look, struct cp_buf *out)
{
	struct traces t = { .profile = p };
	struct cp_error *err = NULL;
	size_t i;

	for (i = 0; i < p->hits.count && !err; i++)
		err = add_hit(&t, &p->hits.items[i], function);
	if (!err) {
		cp_buf_str(out, "  ");
		cp_brief_add(out, p->functions.items[function].name, room_below(look, 2));
		cp_buf_u8(out, '\n');
		err = print_traces(&t, look, out);
	}
	cp_interner_free(&t.chains);
	cp_vec_free(&t.costs);
	cp_vec_free(&t.chain);
	return err;
}

CP_ERROR cp_report_traces(const struct cp_profile *p, const struct cp_report_options *o,
			  const struct cp_look *look, struct cp_buf *out)
{
	CP_FREE uint32_t *order = NULL;
	size_t count, i;

	cp_report_title(out, look, "Traces", "where the hot functions were called from");
	CP_TRY(cp_profile_sorted(p, o->order, &order, &count));
	for (i = 0; i < count && (!o->limit || i < o->limit); i++)
		if (p->functions.items[order[i]].self.weight)
			CP_TRY(of_function(p, order[i], look, out));
	return NULL;
}
