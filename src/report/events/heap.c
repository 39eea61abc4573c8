/* SPDX-License-Identifier: MIT
 *
 * Who allocated what, and what of it is left, as a table and as JSON.
 */
#include "report/events/heap.h"

#include <inttypes.h>
#include <stdlib.h>
#include <math.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "report/events/frames.h"
#include "report/look/csv.h"
#include "report/look/table.h"
#include "report/look/title.h"
#include "report/profile/heap.h"
#include "report/profile/heaptypes.h"
#include "report/profile/options.h"
#include "report/profile/profile.h"

#define STACKS_SHOWN 3 /* unless these are what is asked for */

bool cp_report_holds_heap(const struct cp_profile *p)
{
	return cp_record_info(p->record)->holds & CP_RECORD_HAS_ALLOCATIONS ||
	       cp_record_heap_count(p->record);
}

/* ---- text ---- */

static const struct cp_column columns[] = {
	{ "bytes left", true, 0, false },     { "blocks left", true, 0, false },
	{ "bytes", true, 0, false },	      { "blocks", true, 0, false },
	{ "moved", true, 0, true },	      { "resized", true, 0, true },
	{ "allocated in", false, 16, false },
};
/* The columns of what is left, which is not known where pieces of the time alone were watched. */
#define COLUMNS_LEFT 2

/* "1,234 bytes in 5 blocks". */
void cp_report_heap_amount(const struct cp_heap_amount *a, struct cp_buf *out)
{
	cp_add_plural(out, a->bytes, "byte", "bytes");
	cp_buf_str(out, " in ");
	cp_add_plural(out, a->blocks, "block", "blocks");
}

/* "about 1,234 bytes (±5.6 %) in 5 blocks (±12 %)", of a sample; else as above. */
static void add_amount(const struct cp_heap *h, const struct cp_heap_amount *a,
		       const struct cp_heap_doubt *doubt, struct cp_buf *out)
{
	double bytes = cp_heap_error(doubt->bytes, a->bytes);
	double blocks = cp_heap_error(doubt->blocks, a->blocks);

	if (!h->every) {
		cp_report_heap_amount(a, out);
		return;
	}
	cp_buf_str(out, "about ");
	cp_add_plural(out, a->bytes, "byte", "bytes");
	cp_buf_printf(out, " (±%.*f %%) in ", bytes < 10, bytes);
	cp_add_plural(out, a->blocks, "block", "blocks");
	cp_buf_printf(out, " (±%.*f %%)", blocks < 10, blocks);
}

/* "none seen, so most likely less than 1.50 MiB". */
static void add_unseen(const struct cp_heap *h, struct cp_buf *out)
{
	cp_buf_str(out, "none seen, so less than ");
	cp_add_bytes(out, cp_heap_unseen(h));
	cp_buf_str(out, " (19 in 20)");
}

/* A line below a title, or some. */
static void add_lines(const char *text, enum cp_paint paint, const struct cp_look *look,
		      struct cp_buf *out)
{
	struct cp_buf lines CP_CLEANUP(cp_buf_free) = { 0 };

	cp_buf_str(&lines, "  ");
	cp_add_wrapped(&lines, look, 2, 2, text ? text : "");
	cp_paint(out, look, paint, lines.bytes ? lines.bytes : "");
}

static void details(const struct cp_heap *h, const struct cp_look *look, struct cp_buf *out)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	cp_add_count(&text, h->freed.blocks);
	cp_buf_str(&text, " freed, ");
	cp_add_count(&text, h->moved);
	cp_buf_str(&text, " moved, ");
	cp_add_count(&text, h->resized);
	cp_buf_str(&text, " resized in place");
	if (!h->sampled) {
		cp_buf_str(&text, h->every ? "; at most about " : "; at most ");
		cp_add_plural(&text, h->most.bytes, "byte", "bytes");
		cp_buf_str(&text, " at once");
	}
	if (h->held) {
		cp_buf_str(&text, h->sampled ? "; the allocator had " : ", of ");
		cp_add_count(&text, h->held);
		cp_buf_str(&text, h->sampled ? " bytes at most" : " that the allocator had");
	}
	add_lines(text.bytes, CP_PAINT_DIM, look, out);
}

static void watched(const struct cp_heap *h, const struct cp_look *look, struct cp_buf *out)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	cp_heap_add_watched(h->p->record, &text);
	add_lines(text.bytes, CP_PAINT_WARNING, look, out);
}

static void title(const struct cp_heap *h, const struct cp_look *look, struct cp_buf *out)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	if (!h->allocated.blocks && !h->freed.blocks) {
		if (h->every)
			add_unseen(h, &text);
		else
			cp_buf_str(&text, "nothing was allocated");
		cp_buf_str(&text, h->every ? "; " : "");
		cp_heap_add_sampling(h, &text);
		cp_report_title(out, look, "Allocations", text.bytes ? text.bytes : "");
		return;
	}
	add_amount(h, &h->allocated, &h->allocated_doubt, &text);
	cp_buf_str(&text, h->sampled ? "" : "; left: ");
	if (!h->sampled && h->left.blocks)
		add_amount(h, &h->left, &h->left_doubt, &text);
	else if (!h->sampled && h->every)
		add_unseen(h, &text);
	else if (!h->sampled)
		cp_buf_str(&text, "nothing");
	cp_report_title(out, look, "Allocations", text.bytes ? text.bytes : "");
	if (h->sampled)
		watched(h, look, out);
	details(h, look, out);
}

static void some_cell(struct cp_table *t, uint64_t count)
{
	if (count)
		cp_table_count(t, CP_PAINT_PLAIN, count);
	else
		cp_table_name(t, CP_PAINT_PLAIN, "");
}

/* "1,234 ±5.6%", of a sample. */
static void doubtful_cell(struct cp_table *t, enum cp_paint paint, const struct cp_heap *h,
			  uint64_t count, double variance)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	double error = cp_heap_error(variance, count);

	if (!h->every) {
		cp_table_count(t, paint, count);
		return;
	}
	if (count) {
		cp_add_count(&text, count);
		cp_buf_printf(&text, " ±%3.*f%%", error < 9.95, error);
	}
	cp_table_cell(t, paint, "%s", text.bytes ? text.bytes : "none seen");
}

static void amount_cells(struct cp_table *t, enum cp_paint paint, const struct cp_heap *h,
			 const struct cp_heap_amount *a, const struct cp_heap_doubt *doubt)
{
	doubtful_cell(t, paint, h, a->bytes, doubt->bytes);
	doubtful_cell(t, paint, h, a->blocks, doubt->blocks);
}

static void add_row(struct cp_table *t, const struct cp_heap *h, const struct cp_heap_site *site)
{
	enum cp_paint left = site->left.blocks ? CP_PAINT_BOLD : CP_PAINT_DIM;

	if (!h->sampled)
		amount_cells(t, left, h, &site->left, &site->left_doubt);
	amount_cells(t, CP_PAINT_PLAIN, h, &site->allocated, &site->allocated_doubt);
	some_cell(t, site->moved);
	some_cell(t, site->resized);
	cp_table_function(t, CP_PAINT_NAME, h->p->functions.items[site->function].name);
}

void cp_report_heap_stack(const struct cp_heap *h, const struct cp_heap_site *site,
			  const char *amount, const struct cp_look *look, struct cp_buf *out)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	const uint32_t *frames;
	size_t count;

	cp_buf_printf(&text, "  %s from\n", amount);
	cp_paint(out, look, CP_PAINT_BOLD, text.bytes ? text.bytes : "");
	if (site->stack == CP_RECORD_NONE)
		return;
	for (frames = cp_profile_walk(h->p, site->stack, &count); count--;) /* leaf first */
		cp_report_frame(h->p, frames[count], look, out);
}

static void print_stack(const struct cp_heap *h, const struct cp_heap_site *site,
			const struct cp_heap_amount *amount, const struct cp_heap_doubt *doubt,
			const struct cp_look *look, struct cp_buf *out)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	add_amount(h, amount, doubt, &text);
	cp_report_heap_stack(h, site, text.bytes ? text.bytes : "", look, out);
}

static void print_left(const struct cp_heap *h, size_t most, const struct cp_look *look,
		       struct cp_buf *out)
{
	size_t used = 0, shown, i;

	while (used < h->stacks.count && h->stacks.items[used].left.blocks)
		used++;
	if (!used)
		return;
	shown = most && used > most ? most : used;
	cp_report_title(out, look, "Left",
			cp_record_info(h->p->record)->attached
				? "not freed while cprof looked, by the stack that allocated it"
				: "never freed, by the stack that allocated it");
	for (i = 0; i < shown; i++)
		print_stack(h, &h->stacks.items[i], &h->stacks.items[i].left,
			    &h->stacks.items[i].left_doubt, look, out);
	cp_report_more(out, look, shown, used);
}

static void print_sampling(const struct cp_heap *h, const struct cp_look *look, struct cp_buf *out)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	if (!h->every || !h->chosen)
		return;
	cp_buf_str(&text, "! ");
	cp_heap_add_sampling(h, &text);
	cp_buf_str(&text, "; ± is one standard error");
	add_lines(text.bytes, CP_PAINT_WARNING, look, out);
}

/* The stacks that asked for most, in whatever function; h->stacks stays in that order. */
static void print_allocated(struct cp_heap *h, size_t most, const struct cp_look *look,
			    struct cp_buf *out)
{
	size_t shown = most && h->stacks.count > most ? most : h->stacks.count, i;

	if (!shown)
		return;
	qsort(h->stacks.items, h->stacks.count, sizeof(*h->stacks.items), cp_heap_by_allocated);
	cp_report_title(out, look, "Allocated", "most first, by the stack that asked for it");
	for (i = 0; i < shown; i++)
		print_stack(h, &h->stacks.items[i], &h->stacks.items[i].allocated,
			    &h->stacks.items[i].allocated_doubt, look, out);
	cp_report_more(out, look, shown, h->stacks.count);
}

static void unknown_line(uint64_t blocks, const char *which, const struct cp_look *look,
			 struct cp_buf *out)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	if (!blocks)
		return;
	cp_add_plural(&text, blocks, "block", "blocks");
	cp_buf_printf(&text, " freed or moved %s", which);
	add_lines(text.bytes, CP_PAINT_DIM, look, out);
}

static const struct cp_column type_columns[] = {
	{ "bytes left", true, 0, false }, { "blocks left", true, 0, false },
	{ "bytes", true, 0, false },	  { "blocks", true, 0, false },
	{ "type", false, 16, false },
};

/* Where any is told. */
static CP_ERROR print_types(const struct cp_heap *h, size_t most, const struct cp_look *look,
			    struct cp_buf *out)
{
	struct cp_heap_types types CP_CLEANUP(cp_heap_types_deinit) = { 0 };
	struct cp_table t CP_CLEANUP(cp_table_deinit) = { 0 };
	size_t skip = h->sampled ? COLUMNS_LEFT : 0, shown, i;

	CP_TRY(cp_heap_types_build(h, &types));
	if (!cp_heap_types_are_told(&types))
		return NULL;
	shown = most && types.count > most ? most : types.count;
	cp_report_title(out, look, "Types", "guessed by the names of what allocated");
	cp_table_init(&t, type_columns + skip, CP_ARRAY_SIZE(type_columns) - skip);
	for (i = 0; i < shown; i++) {
		const struct cp_heap_type *type = &types.items[i];

		if (!h->sampled) {
			cp_table_count(&t, CP_PAINT_BOLD, type->left.bytes);
			cp_table_count(&t, CP_PAINT_BOLD, type->left.blocks);
		}
		cp_table_count(&t, CP_PAINT_PLAIN, type->allocated.bytes);
		cp_table_count(&t, CP_PAINT_PLAIN, type->allocated.blocks);
		cp_table_name(&t, type->name ? CP_PAINT_NAME : CP_PAINT_DIM,
			      type->name ? type->name : "[not told]");
	}
	cp_table_print(&t, look, out);
	cp_report_more(out, look, shown, types.count);
	return NULL;
}

void cp_report_heap_doubts(const struct cp_heap *h, const struct cp_look *look, struct cp_buf *out)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	print_sampling(h, look, out);
	if (h->sampled) {
		add_lines("! too many to see all of them: this is a sample, and what is left is "
			  "not known (--max-rate=0 watches all, and slows the program down)",
			  CP_PAINT_WARNING, look, out);
	} else {
		unknown_line(h->unknown, "that nobody was seen to allocate", look, out);
		unknown_line(h->inherited, "that its process was forked with", look, out);
	}
	if (!h->cut)
		return;
	cp_buf_str(&text, "! they were too many (--max-rate): some are not told after ");
	cp_add_time(&text, h->cut_ns);
	add_lines(text.bytes, CP_PAINT_WARNING, look, out);
}

static void mention_shots(const struct cp_heap *h, const struct cp_look *look, struct cp_buf *out)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	if (!h->shots.count)
		return;
	cp_buf_str(&text, "  ");
	cp_add_plural(&text, h->shots.count, "heapshot", "heapshots");
	cp_buf_str(&text, ": cprof report --heapshot=list\n");
	cp_paint(out, look, CP_PAINT_DIM, text.bytes ? text.bytes : "");
}

CP_ERROR cp_report_heap(const struct cp_profile *p, const struct cp_report_options *o,
			const struct cp_look *look, struct cp_buf *out)
{
	struct cp_heap h CP_CLEANUP(cp_heap_deinit) = { 0 };
	struct cp_table t CP_CLEANUP(cp_table_deinit) = { 0 };
	size_t shown, skip, i;

	CP_TRY(cp_heap_build(p, &h));
	title(&h, look, out);
	shown = o->limit && o->limit < h.sites.count ? (size_t)o->limit : h.sites.count;
	skip = h.sampled ? COLUMNS_LEFT : 0;
	cp_table_init(&t, columns + skip, CP_ARRAY_SIZE(columns) - skip);
	for (i = 0; i < shown; i++)
		add_row(&t, &h, &h.sites.items[i]);
	if (shown)
		cp_table_print(&t, look, out);
	cp_report_more(out, look, shown, h.sites.count);
	cp_report_heap_doubts(&h, look, out);
	mention_shots(&h, look, out);
	if (o->what == CP_REPORT_HEAP)
		CP_TRY(print_types(&h, (size_t)o->limit, look, out));
	if (o->what != CP_REPORT_SUMMARY && !h.sampled)
		print_left(&h, o->what == CP_REPORT_HEAP ? (size_t)o->limit : STACKS_SHOWN, look,
			   out);
	if (o->what == CP_REPORT_HEAP && (h.sampled || o->traces))
		print_allocated(&h, (size_t)o->limit, look, out);
	return NULL;
}

/* ---- JSON ---- */

void cp_report_heap_amount_json(struct cp_json *j, const char *key, const struct cp_heap_amount *a)
{
	cp_json_begin(j, key, '{');
	cp_json_u64(j, "blocks", a->blocks);
	cp_json_u64(j, "bytes", a->bytes);
	cp_json_end(j, '}');
}

/* An amount that is left, or was at most: null where it is not known. */
static void left_json(const struct cp_heap *h, struct cp_json *j, const char *key,
		      const struct cp_heap_amount *a)
{
	if (h->sampled)
		cp_json_null(j, key);
	else
		cp_report_heap_amount_json(j, key, a);
}

static void sampled_json(const struct cp_heap *h, struct cp_json *j)
{
	const struct cp_record_totals *t = cp_record_final(h->p->record);

	if (!h->sampled)
		return;
	cp_json_begin(j, "sampled", '{');
	cp_json_u64(j, "pauses", t->alloc_pauses);
	cp_json_u64(j, "paused_ns", t->alloc_paused_ns);
	cp_json_u64(j, "watched_ns", t->alloc_watched_ns);
	cp_json_end(j, '}');
}

/* How far the sums of a sample may be off by chance. */
static void errors_json(const struct cp_heap *h, struct cp_json *j,
			const struct cp_heap_doubt *allocated, const struct cp_heap_doubt *left)
{
	if (!h->every)
		return;
	cp_json_begin(j, "standard_errors", '{');
	cp_json_f64(j, "allocated_blocks", sqrt(allocated->blocks));
	cp_json_f64(j, "allocated_bytes", sqrt(allocated->bytes));
	if (!h->sampled) {
		cp_json_f64(j, "left_blocks", sqrt(left->blocks));
		cp_json_f64(j, "left_bytes", sqrt(left->bytes));
	}
	cp_json_end(j, '}');
}

static void estimates_json(const struct cp_heap *h, struct cp_json *j)
{
	if (!h->every)
		return;
	cp_json_u64(j, "sampled_every_bytes", h->every);
	cp_json_u64(j, "sampled_blocks", h->chosen);
	cp_json_u64(j, "unseen_bytes", cp_heap_unseen(h));
	errors_json(h, j, &h->allocated_doubt, &h->left_doubt);
}

void cp_report_heap_stack_json(const struct cp_heap *h, const struct cp_heap_site *site,
			       struct cp_json *j)
{
	const uint32_t *frames;
	size_t count;

	if (site->stack == CP_RECORD_NONE)
		return;
	cp_json_begin(j, "stack", '[');
	for (frames = cp_profile_walk(h->p, site->stack, &count); count--;)
		cp_report_frame_json(h->p, frames[count], j);
	cp_json_end(j, ']');
}

static void site_json(const struct cp_heap *h, const struct cp_heap_site *site, struct cp_json *j)
{
	cp_json_begin(j, NULL, '{');
	cp_json_str(j, "function", h->p->functions.items[site->function].name);
	cp_report_heap_amount_json(j, "allocated", &site->allocated);
	cp_json_u64(j, "moved", site->moved);
	cp_json_u64(j, "resized", site->resized);
	cp_report_heap_amount_json(j, "freed", &site->freed);
	cp_report_heap_amount_json(j, "replaced", &site->replaced);
	left_json(h, j, "left", &site->left);
	errors_json(h, j, &site->allocated_doubt, &site->left_doubt);
	cp_report_heap_stack_json(h, site, j);
	cp_json_end(j, '}');
}

/* `type` null: nothing tells it. */
static CP_ERROR types_json(const struct cp_heap *h, uint64_t limit, struct cp_json *j)
{
	struct cp_heap_types types CP_CLEANUP(cp_heap_types_deinit) = { 0 };
	size_t i;

	CP_TRY(cp_heap_types_build(h, &types));
	cp_json_begin(j, "types", '[');
	for (i = 0; i < types.count && (!limit || i < limit); i++) {
		cp_json_begin(j, NULL, '{');
		cp_json_str(j, "type", types.items[i].name);
		cp_report_heap_amount_json(j, "allocated", &types.items[i].allocated);
		left_json(h, j, "left", &types.items[i].left);
		cp_json_end(j, '}');
	}
	cp_json_end(j, ']');
	return NULL;
}

CP_ERROR cp_report_heap_json(const struct cp_profile *p, const struct cp_report_options *o,
			     struct cp_json *j)
{
	struct cp_heap h CP_CLEANUP(cp_heap_deinit) = { 0 };
	size_t i;

	CP_TRY(cp_heap_build(p, &h));
	cp_json_begin(j, "allocations", '{');
	cp_report_heap_amount_json(j, "allocated", &h.allocated);
	cp_json_u64(j, "freed", h.freed.blocks);
	cp_json_u64(j, "moved", h.moved);
	cp_json_u64(j, "resized", h.resized);
	cp_json_u64(j, "unknown", h.unknown);
	if (h.inherited)
		cp_json_u64(j, "inherited", h.inherited);
	left_json(&h, j, "most", &h.most);
	left_json(&h, j, "left", &h.left);
	sampled_json(&h, j);
	estimates_json(&h, j);
	if (h.held)
		cp_json_u64(j, "held_most_bytes", h.held);
	cp_json_begin(j, "functions", '[');
	for (i = 0; i < h.sites.count && (!o->limit || i < o->limit); i++)
		site_json(&h, &h.sites.items[i], j);
	cp_json_end(j, ']');
	cp_json_begin(j, "stacks", '[');
	for (i = 0; i < h.stacks.count && (!o->limit || i < o->limit); i++)
		site_json(&h, &h.stacks.items[i], j);
	cp_json_end(j, ']');
	CP_TRY(types_json(&h, o->limit, j));
	if (h.cut)
		cp_json_u64(j, "incomplete_after_ns", h.cut_ns);
	cp_json_end(j, '}');
	return NULL;
}

/* ---- comma-separated values ---- */

static void amount_csv(struct cp_buf *out, const struct cp_heap_amount *a)
{
	cp_csv_u64(out, a->blocks);
	cp_csv_u64(out, a->bytes);
}

CP_ERROR cp_report_heap_csv(const struct cp_profile *p, const struct cp_report_options *o,
			    struct cp_buf *out)
{
	struct cp_heap h CP_CLEANUP(cp_heap_deinit) = { 0 };
	size_t i;

	CP_TRY(cp_heap_build(p, &h));
	cp_buf_str(out, "function,allocated_blocks,allocated_bytes,moved,resized,freed_blocks,"
			"freed_bytes,replaced_blocks,replaced_bytes,left_blocks,left_bytes\n");
	for (i = 0; i < h.sites.count && (!o->limit || i < o->limit); i++) {
		const struct cp_heap_site *site = &h.sites.items[i];

		cp_csv_text(out, p->functions.items[site->function].name);
		amount_csv(out, &site->allocated);
		cp_csv_u64(out, site->moved);
		cp_csv_u64(out, site->resized);
		amount_csv(out, &site->freed);
		amount_csv(out, &site->replaced);
		if (h.sampled) /* what is left is not known */
			cp_buf_str(out, ",,");
		else
			amount_csv(out, &site->left);
		cp_csv_end(out);
	}
	return NULL;
}
