/* SPDX-License-Identifier: MIT */
#include "report/tables/functions.h"

#include "base/cleanup.h"
#include "report/look/table.h"
#include "report/look/title.h"
#include "report/profile/options.h"
#include "report/profile/places.h"
#include "report/profile/profile.h"
#include "report/profile/unit.h"
#include "report/tables/traces.h"

static const struct cp_column function_columns[] = {
	{ "self", true, 0, false },  { "", false, 0, true },	    { "$", true, 0, false },
	{ "total", true, 0, false }, { "image", false, 12, false }, { "function", false, 0, false },
};

#define SELF_COLUMNS 3 /* empty for who does nothing himself */

static void function_row(struct cp_table *t, const struct cp_profile *p, uint32_t number,
			 uint64_t most)
{
	const struct cp_function *f = &p->functions.items[number];
	struct cp_buf name CP_CLEANUP(cp_buf_free) = { 0 };
	unsigned i;

	if (f->self.weight) {
		cp_table_percent(t, f->self.weight, p->total.weight);
		cp_table_bar(t, f->self.weight, most, p->total.weight);
		cp_cost_cell(t, p, &f->self);
	} else {
		for (i = 0; i < SELF_COLUMNS; i++)
			cp_table_name(t, CP_PAINT_PLAIN, "");
	}
	cp_table_percent(t, f->total.weight, p->total.weight);
	cp_table_name(t, CP_PAINT_DIM, cp_profile_image_name(p, f));
	if (!f->waits_in) {
		cp_table_function(t, CP_PAINT_PLAIN, f->name);
		return;
	}
	cp_buf_printf(&name, "%s  (waits in %s)", f->name,
		      p->functions.items[f->waits_in - 1].name);
	cp_table_function(t, CP_PAINT_PLAIN, name.bytes ? name.bytes : f->name);
}

static CP_ERROR functions(const struct cp_profile *p, const struct cp_report_options *o,
			  const struct cp_look *look, struct cp_buf *out)
{
	CP_FREE uint32_t *order = NULL;
	struct cp_table t CP_CLEANUP(cp_table_deinit) = { 0 };
	size_t count, shown, i;
	uint64_t most = 0;

	cp_table_init(&t, function_columns, 6);
	t.amounts = p->unit->heading;
	CP_TRY(cp_profile_sorted(p, o->order, &order, &count));
	/* Functions that do nothing themselves come last; `--functions` alone shows them. */
	while (o->what != CP_REPORT_FUNCTIONS && o->order == CP_ORDER_SELF && count &&
	       !p->functions.items[order[count - 1]].self.weight)
		count--;
	shown = o->limit && o->limit < count ? (size_t)o->limit : count;
	for (i = 0; i < shown; i++) {
		uint64_t self = p->functions.items[order[i]].self.weight;

		most = self > most ? self : most;
	}
	for (i = 0; i < shown; i++)
		function_row(&t, p, order[i], most);
	cp_table_print(&t, look, out);
	if (o->what != CP_REPORT_SUMMARY)
		cp_report_more(out, look, shown, count);
	return o->traces ? cp_report_traces(p, o, look, out) : NULL;
}

CP_ERROR cp_report_functions(const struct cp_profile *p, const struct cp_report_options *o,
			     const struct cp_look *look, struct cp_buf *out)
{
	if (p->by_calls && o->what != CP_REPORT_FUNCTIONS)
		return NULL;
	if (o->what == CP_REPORT_OVERVIEW)
		cp_report_title(out, look, "Hot functions",
				"self: in it; total: with all that it calls");
	else
		cp_report_title(out, look,
				o->what == CP_REPORT_SUMMARY ? "Hottest functions" : "Functions",
				NULL);
	return functions(p, o, look, out);
}
