/* SPDX-License-Identifier: MIT */
#include "report/tables/csv.h"

#include "base/cleanup.h"
#include "report/look/csv.h"
#include "report/profile/places.h"
#include "report/profile/summed.h"
#include "report/profile/tree.h"
#include "report/profile/unit.h"
#include "report/tables/sections.h"

CP_ERROR cp_report_functions_csv(const struct cp_profile *p, const struct cp_report_options *o,
				 struct cp_buf *out)
{
	CP_FREE uint32_t *order = NULL;
	size_t count, i;

	CP_TRY(cp_profile_sorted(p, o->order, &order, &count));
	cp_buf_printf(out, "function,image,self_%s,self_samples,total_%s,total_samples,file,line\n",
		      p->unit->symbol, p->unit->symbol);
	for (i = 0; i < count && (!o->limit || i < o->limit); i++) {
		const struct cp_function *f = &p->functions.items[order[i]];

		cp_csv_text(out, f->name);
		cp_csv_text(out, cp_profile_image_name(p, f));
		cp_csv_u64(out, cp_cost_shown(p, &f->self).ns);
		cp_csv_u64(out, f->self.ticks);
		cp_csv_u64(out, cp_cost_shown(p, &f->total).ns);
		cp_csv_u64(out, f->total.ticks);
		cp_csv_text(out, f->file ? f->file : "");
		cp_csv_u64(out, f->decl_line);
		cp_csv_end(out);
	}
	return NULL;
}

static void tree_row(const struct cp_tree *tree, uint32_t node, uint32_t depth, struct cp_buf *out)
{
	const struct cp_profile *p = tree->profile;
	const struct cp_node *n = &tree->nodes.items[node];
	struct cp_net_time total = cp_cost_shown(p, &n->total), self = cp_cost_shown(p, &n->self);
	struct cp_buf name CP_CLEANUP(cp_buf_free) = { 0 };

	cp_tree_name(tree, node, &name);
	cp_csv_u64(out, depth);
	cp_csv_text(out, name.bytes ? name.bytes : "");
	cp_csv_text(out, n->kind == CP_NODE_FUNCTION
				 ? cp_profile_image_name(p, &p->functions.items[n->ref])
				 : "");
	cp_csv_u64(out, n->self.ticks);
	cp_csv_u64(out, total.ns);
	cp_csv_u64(out, self.ns);
	cp_csv_u64(out, n->deepest ? n->deepest : 1);
	cp_csv_text(out, total.at_most && self.at_most ? "total_ns self_ns"
			 : total.at_most	       ? "total_ns"
			 : self.at_most		       ? "self_ns"
						       : "");
	cp_csv_end(out);
}

CP_ERROR cp_report_tree_csv(const struct cp_profile *p, const struct cp_report_options *o,
			    struct cp_buf *out)
{
	struct cp_tree tree CP_CLEANUP(cp_tree_deinit) = { 0 };
	uint32_t node, depth = 0;

	CP_TRY(cp_profile_need_stacks(p));
	CP_TRY(cp_tree_build_folded(p, o->roots, &tree));
	cp_buf_printf(out, "depth,function,image,%s,total_%s,self_%s,deepest,upper_bounds\n",
		      p->by_calls ? "calls" : "samples", p->unit->symbol, p->unit->symbol);
	for (node = cp_tree_next(&tree, 0, &depth); node != CP_NO_NODE;
	     node = cp_tree_next(&tree, node, &depth))
		tree_row(&tree, node, depth, out);
	return NULL;
}

static CP_ERROR no_such_form(void)
{
	struct cp_error *err = cp_error_new(CP_ERR_USAGE, 0, "--csv has no form for that table");

	return cp_error_hint(err, "it is of --functions, --calls, --tree, --exceptions, --locks, "
				  "--allocs, --heapshot, --maps, --threads, --processes, --images; "
				  "--json has all");
}

CP_ERROR cp_report_csv(const struct cp_profile *p, const struct cp_report_options *o,
		       struct cp_buf *out)
{
	struct cp_report_options of = *o;
	const struct cp_report_section *s;

	if (of.what == CP_REPORT_OVERVIEW)
		of.what = p->by_calls ? CP_REPORT_CALLS : CP_REPORT_FUNCTIONS;
	s = cp_report_section_of(of.what);
	if (!s || !s->csv)
		return no_such_form();
	CP_TRY(s->csv(p, &of, out));
	return out->failed ? cp_error_nomem() : NULL;
}
