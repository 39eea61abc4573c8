/* SPDX-License-Identifier: MIT */
#include "report/tables/around.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "base/vec.h"
#include "record/calls.h"
#include "record/record.h"
#include "report/events/calls.h"
#include "report/events/calltable.h"
#include "report/look/source.h"
#include "report/look/table.h"
#include "report/look/title.h"
#include "report/profile/options.h"
#include "report/profile/places.h"
#include "report/profile/profile.h"
#include "report/profile/summed.h"
#include "report/profile/tree.h"
#include "report/profile/unit.h"
#include "report/tables/nothing.h"

/* ---- callers and callees ---- */

static const struct cp_column edge_columns[] = {
	{ "share", true, 0, false },   { "", false, 0, true },		{ "$", true, 0, false },
	{ "image", false, 12, false }, { "function", false, 0, false },
};

static void edge_row(struct cp_table *t, const struct cp_profile *p, const struct cp_edge *e,
		     uint64_t most, uint64_t whole, const char *none)
{
	const struct cp_function *f =
		e->function == CP_RECORD_NONE ? NULL : &p->functions.items[e->function];

	cp_table_percent(t, e->cost.weight, whole);
	cp_table_bar(t, e->cost.weight, most, whole);
	cp_cost_cell(t, p, &e->cost);
	cp_table_name(t, CP_PAINT_DIM, f ? cp_profile_image_name(p, f) : "");
	cp_table_function(t, f ? CP_PAINT_PLAIN : CP_PAINT_DIM, f ? f->name : none);
}

static void edges(const struct cp_profile *p, const struct cp_edges *list, uint64_t whole,
		  const char *none, const struct cp_report_options *o, const struct cp_look *look,
		  struct cp_buf *out)
{
	struct cp_table t CP_CLEANUP(cp_table_deinit) = { 0 };
	size_t i;

	cp_table_init(&t, edge_columns, 5);
	t.amounts = p->unit->heading;
	for (i = 0; i < list->count && (!o->limit || i < o->limit); i++)
		edge_row(&t, p, &list->items[i], list->items[0].cost.weight, whole, none);
	cp_table_print(&t, look, out);
	if (i < list->count)
		cp_buf_printf(out, "  and %zu more (--limit=0 shows all)\n", list->count - i);
}

static void the_function(const struct cp_profile *p, const struct cp_butterfly *b,
			 const struct cp_look *look, struct cp_buf *out)
{
	const struct cp_function *f = &p->functions.items[b->function];
	struct cp_buf name CP_CLEANUP(cp_buf_free) = { 0 };
	struct cp_buf image CP_CLEANUP(cp_buf_free) = { 0 };
	struct cp_buf cut CP_CLEANUP(cp_buf_free) = { 0 };
	size_t taken;

	cp_add_name(&name, f->name);
	cp_add_name(&image, cp_profile_image_name(p, f));
	taken = 2 + (image.bytes ? cp_text_columns(image.bytes) : 0);
	cp_text_fit(&cut, name.bytes ? name.bytes : "",
		    look->columns > taken + 12 ? look->columns - taken : SIZE_MAX);
	cp_buf_u8(out, '\n');
	cp_paint(out, look, CP_PAINT_BOLD, cut.bytes ? cut.bytes : "");
	cp_buf_str(out, "  ");
	cp_paint(out, look, CP_PAINT_DIM, image.bytes ? image.bytes : "");
	cp_buf_str(out, "\n  total ");
	cp_add_percent(out, f->total.weight, p->total.weight);
	cp_buf_str(out, ", ");
	cp_cost_add_words(p, &f->total, out);
	cp_buf_str(out, " · self ");
	cp_add_percent(out, f->self.weight, p->total.weight);
	cp_buf_str(out, ", ");
	cp_cost_add_words(p, &f->self, out);
	cp_buf_u8(out, '\n');
	if (b->deepest > 1) {
		cp_buf_clear(&name);
		cp_buf_str(&name, "  recursive: ");
		cp_add_percent(&name, b->recursive.weight, f->total.weight);
		cp_buf_printf(&name, " of it with more than one on the stack, up to %zu deep",
			      b->deepest);
		cp_add_wrapped(out, look, 0, 4, name.bytes ? name.bytes : "");
	}
}

static CP_ERROR sampled_neighbours(const struct cp_profile *p, uint32_t function,
				   const struct cp_report_options *o, const struct cp_look *look,
				   struct cp_buf *out)
{
	struct cp_butterfly b CP_CLEANUP(cp_butterfly_deinit) = { 0 };
	uint64_t whole;

	if (function == CP_RECORD_NONE)
		return cp_error_new(CP_ERR_USAGE, 0, "callers and callees of which function?");
	CP_TRY(cp_butterfly_build(p, function, &b));
	whole = p->functions.items[function].total.weight;
	the_function(p, &b, look, out);
	if (o->what != CP_REPORT_CALLEES) {
		cp_report_title(out, look, "Callers", "who called it, share of its total");
		edges(p, &b.callers, whole, "(nobody: it is the root)", o, look, out);
	}
	if (o->what != CP_REPORT_CALLERS) {
		cp_report_title(out, look, "Callees", "what it called, share of its total");
		edges(p, &b.callees, whole, "(itself)", o, look, out);
	}
	return NULL;
}

/* Callers and callees: as sampled, as traced, or both. */
CP_ERROR cp_report_neighbours(const struct cp_profile *p, const struct cp_report_options *o,
			      const struct cp_look *look, struct cp_buf *out)
{
	struct cp_calls c CP_CLEANUP(cp_calls_deinit) = { 0 };
	bool sampled = cp_record_sample_count(p->record) != 0;
	uint32_t function = CP_RECORD_NONE;
	struct cp_error *err;

	if (!o->function)
		return cp_error_new(CP_ERR_USAGE, 0, "callers and callees of which function?");
	if (cp_record_holds_calls(p->record))
		CP_TRY(cp_calls_build(p, &c));
	if (sampled) {
		err = cp_profile_find(p, o->function, &function);
		if (err && (!c.calls || err->code != CP_ERR_NOT_FOUND))
			return err;
		cp_error_free(err);
	}
	if (function != CP_RECORD_NONE)
		CP_TRY(sampled_neighbours(p, function, o, look, out));
	else
		CP_TRY(cp_calls_find(&c, o->function, &function));
	if (c.calls)
		cp_report_call_neighbours(&c, function, o, look, out);
	return NULL;
}

/* ---- source lines ---- */

static const struct cp_column line_columns[] = {
	{ "self", true, 0, false },  { "", false, 0, true },	    { "$", true, 0, false },
	{ "total", true, 0, false }, { "place", false, 20, false }, { "source", false, 0, false },
};

static void line_place(struct cp_table *t, const struct cp_line *line)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	if (!line->file) {
		cp_table_name(t, CP_PAINT_DIM, "?");
		return;
	}
	cp_buf_str(&text, line->file);
	if (line->line)
		cp_buf_printf(&text, ":%u", line->line);
	cp_table_name(t, CP_PAINT_NAME, text.bytes ? text.bytes : "");
}

/* Of the first lines, the functions, each once. */
static size_t functions_of(const struct cp_lines *lines, uint32_t *ret, size_t most)
{
	size_t n = 0, i, k;

	for (i = 0; i < lines->items.count && n < most; i++) {
		for (k = 0; k < n && ret[k] != lines->items.items[i].function; k++)
			;
		if (k == n && lines->items.items[i].line && lines->items.items[i].self.weight)
			ret[n++] = lines->items.items[i].function;
	}
	return n;
}

CP_ERROR cp_report_lines(const struct cp_profile *p, const struct cp_report_options *o,
			 const struct cp_look *look, struct cp_buf *out)
{
	struct cp_source source CP_CLEANUP(cp_source_deinit) = { .record = p->record };
	struct cp_lines lines CP_CLEANUP(cp_lines_deinit) = { 0 };
	struct cp_table t CP_CLEANUP(cp_table_deinit) = { 0 };
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	uint32_t function = CP_RECORD_NONE, next[3];
	size_t i;

	if (o->function)
		CP_TRY(cp_profile_find(p, o->function, &function));
	CP_TRY(cp_lines_build(p, function, &lines));
	cp_table_init(&t, line_columns, 6);
	t.amounts = p->unit->heading;
	for (i = 0; i < lines.items.count && (!o->limit || i < o->limit); i++) {
		const struct cp_line *line = &lines.items.items[i];

		cp_table_percent(&t, line->self.weight, p->total.weight);
		cp_table_bar(&t, line->self.weight, lines.items.items[0].self.weight,
			     p->total.weight);
		cp_cost_cell(&t, p, &line->self);
		cp_table_percent(&t, line->total.weight, p->total.weight);
		line_place(&t, line);
		cp_buf_clear(&text);
		if (line->file)
			cp_source_line(&source, line->file, line->line, &text);
		cp_table_name(&t, text.size ? CP_PAINT_PLAIN : CP_PAINT_DIM,
			      text.size ? text.bytes : p->functions.items[line->function].name);
	}
	text.size = 0;
	if (function != CP_RECORD_NONE)
		cp_add_name(&text, p->functions.items[function].name);
	cp_report_title(out, look, "Source lines", text.size ? text.bytes : NULL);
	cp_table_print(&t, look, out);
	if (i < lines.items.count)
		cp_buf_printf(out, "  and %zu more (--limit=0 shows all)\n", lines.items.count - i);
	if (cp_profile_of_samples(p))
		cp_report_next_listings(p, o->path, next,
					functions_of(&lines, next, CP_ARRAY_SIZE(next)), look, out);
	return NULL;
}

/* ---- the call tree ---- */

/* A node is a line. An only child stands below its parent without a further
 * step to the right, so that depth shows only where paths part:
 *
 *     100.0%   0.0%  main
 *      98.1%   0.2%  run
 *      61.0%  11.0%  ├─ parse
 *      50.0%  50.0%  │  scan
 *      37.1%  37.1%  └─ draw
 */
#define TIME_COLUMNS 13 /* "  <= 45.1 µs" */
#define CALL_COLUMNS 11
#define WIDE 100

struct tree_printer {
	const struct cp_tree *tree;
	const struct cp_look *look;
	uint64_t least_ns, whole;
	struct cp_buf *out;
	struct cp_buf rails; /* what stands left of the children */
	size_t left_out;
};

struct shown {
	uint32_t node;
	bool branches; /* it has siblings that are shown */
	bool last;
	size_t rails; /* length of the rails where it stands */
};

static bool is_shown(const struct tree_printer *t, uint32_t node)
{
	const struct cp_node *n = &t->tree->nodes.items[node];

	return n->total.weight >= t->least_ns && (n->total.weight || n->total.ticks);
}

static void percent_cell(struct tree_printer *t, uint64_t ns)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	double share = cp_share(ns, t->whole);

	cp_add_percent(&text, ns, t->whole);
	cp_buf_printf(t->out, "%*s", (int)(8 - text.size), "");
	cp_paint(t->out, t->look,
		 share >= 0.1	 ? CP_PAINT_HOT
		 : share >= 0.02 ? CP_PAINT_WARM
				 : CP_PAINT_DIM,
		 text.bytes ? text.bytes : "");
}

static void time_cell(struct tree_printer *t, const struct cp_cost *cost)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	cp_cost_add_words(t->tree->profile, cost, &text);
	cp_buf_printf(t->out, "%*s%s",
		      TIME_COLUMNS - (int)cp_text_columns(text.bytes ? text.bytes : ""), "",
		      text.bytes ? text.bytes : "");
}

static bool is_wide(const struct cp_look *look)
{
	return !look->columns || look->columns >= WIDE;
}

/* Where costs are of calls: times, which may be bounds, which a share can't say; how many. */
static void call_cells(struct tree_printer *t, const struct cp_node *n)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	if (!t->tree->profile->by_calls)
		return;
	time_cell(t, &n->total);
	if (is_wide(t->look))
		time_cell(t, &n->self);
	if (n->kind == CP_NODE_FUNCTION)
		cp_add_count(&text, n->self.ticks);
	cp_buf_printf(t->out, "%*s", CALL_COLUMNS, text.bytes ? text.bytes : "");
}

static void print_node(struct tree_printer *t, const struct shown *s)
{
	const struct cp_node *n = &t->tree->nodes.items[s->node];
	struct cp_buf raw CP_CLEANUP(cp_buf_free) = { 0 };
	struct cp_buf name CP_CLEANUP(cp_buf_free) = { 0 };
	struct cp_buf cut CP_CLEANUP(cp_buf_free) = { 0 };
	struct cp_buf lead CP_CLEANUP(cp_buf_free) = { 0 };
	size_t taken, room = SIZE_MAX;

	percent_cell(t, n->total.weight);
	percent_cell(t, n->self.weight);
	call_cells(t, n);
	cp_buf_add(&lead, t->rails.bytes, s->rails);
	if (s->branches)
		cp_buf_str(&lead, s->last ? "└─ " : "├─ ");
	cp_tree_name(t->tree, s->node, &raw);
	cp_add_name(&name, raw.bytes ? raw.bytes : "");
	if (n->inlined)
		cp_buf_str(&name, " (inlined)");
	if (n->guessed > n->total.weight / 2)
		cp_buf_str(&name, " (guessed)");
	if (n->deepest)
		cp_buf_printf(&name, " (recursive, up to %" PRIu32 " deep)", n->deepest);
	taken = 18 +
		(t->tree->profile->by_calls
			 ? (is_wide(t->look) ? 2 : 1) * TIME_COLUMNS + CALL_COLUMNS
			 : 0) +
		(lead.bytes ? cp_text_columns(lead.bytes) : 0);
	if (t->look->columns)
		room = t->look->columns > taken + 8 ? t->look->columns - taken : 8;
	cp_text_fit(&cut, name.bytes ? name.bytes : "", room);
	cp_buf_str(t->out, "  ");
	cp_paint(t->out, t->look, CP_PAINT_DIM, lead.bytes ? lead.bytes : "");
	cp_paint(t->out, t->look, n->kind == CP_NODE_FUNCTION ? CP_PAINT_PLAIN : CP_PAINT_NAME,
		 cut.bytes ? cut.bytes : "");
	cp_buf_u8(t->out, '\n');
}

struct shown_list {
	struct shown *items;
	size_t count, capacity;
};

/* Pushes the children of `s` that are shown, the first on top. */
static bool push_children(struct tree_printer *t, const struct shown *s, struct shown_list *stack)
{
	const struct cp_node *nodes = t->tree->nodes.items;
	size_t from = stack->count, i, k;
	uint32_t n;

	t->rails.size = s->rails;
	if (s->branches)
		cp_buf_str(&t->rails, s->last ? "   " : "│  ");
	for (n = nodes[s->node].first; n != CP_NO_NODE; n = nodes[n].next) {
		if (!is_shown(t, n))
			t->left_out++;
		else if (!cp_vec_push(stack, (struct shown){ n, true, false, t->rails.size }))
			return false;
	}
	if (stack->count == from)
		return true;
	stack->items[stack->count - 1].last = true;
	if (stack->count == from + 1)
		stack->items[from].branches = false;
	for (i = from, k = stack->count - 1; i < k; i++, k--) {
		struct shown swap = stack->items[i];

		stack->items[i] = stack->items[k];
		stack->items[k] = swap;
	}
	return true;
}

static bool print_tree(struct tree_printer *t, struct shown_list *stack)
{
	struct shown s = { 0, false, true, 0 };

	do {
		if (s.node)
			print_node(t, &s);
		if (!push_children(t, &s, stack))
			return false;
		if (!stack->count)
			return true;
		s = stack->items[--stack->count];
	} while (true);
}

CP_ERROR cp_report_tree(const struct cp_profile *p, const struct cp_report_options *o,
			const struct cp_look *look, struct cp_buf *out)
{
	struct cp_tree tree CP_CLEANUP(cp_tree_deinit) = { 0 };
	struct tree_printer t = { .tree = &tree, .look = look, .out = out };
	struct shown_list stack = { 0 };
	bool done;

	CP_TRY(cp_tree_build_folded(p, o->roots, &tree));
	t.whole = p->total.weight;
	t.least_ns = (uint64_t)(o->least * (double)t.whole);
	cp_report_title(out, look, "Call tree", NULL);
	cp_paint(out, look, CP_PAINT_DIM,
		 !p->by_calls ? "   total    self  function\n"
		 : is_wide(look)
			 ? "   total    self         time         self      calls  function\n"
			 : "   total    self         time      calls  function\n");
	done = print_tree(&t, &stack);
	cp_vec_free(&stack);
	cp_buf_free(&t.rails);
	if (!done)
		return cp_error_nomem();
	if (t.left_out)
		cp_buf_printf(out, "  %zu smaller branches are not shown (--min=0 shows all)\n",
			      t.left_out);
	return NULL;
}
