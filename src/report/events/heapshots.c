/* SPDX-License-Identifier: MIT */
#include "report/events/heapshots.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "report/events/frames.h"
#include "report/events/heap.h"
#include "report/look/csv.h"
#include "report/look/table.h"
#include "report/look/title.h"
#include "report/profile/heap.h"

/* Which of a site's `live`: struct cp_heap's `wanted` is in that order. */
enum { BEFORE, NOW };

static int64_t more_bytes(const struct cp_heap_site *s)
{
	return (int64_t)(s->live[NOW].bytes - s->live[BEFORE].bytes);
}

static int64_t more_blocks(const struct cp_heap_site *s)
{
	return (int64_t)(s->live[NOW].blocks - s->live[BEFORE].blocks);
}

static int by_growth(const void *a, const void *b)
{
	const struct cp_heap_site *one = a, *two = b;
	int64_t bytes = more_bytes(one) - more_bytes(two);
	int64_t blocks = more_blocks(one) - more_blocks(two);

	if (bytes || blocks)
		return (bytes ? bytes : blocks) < 0 ? 1 : -1;
	return (one->function > two->function) - (one->function < two->function);
}

/* The sites with something to show, first and in order; answers how many. */
static size_t choose(struct cp_heap_sites *sites)
{
	struct cp_heap_site *s;
	size_t used = 0;

	cp_vec_for_each(sites, s)
		if (more_bytes(s) || more_blocks(s))
			sites->items[used++] = *s;
	if (used)
		qsort(sites->items, used, sizeof(*sites->items), by_growth);
	return used;
}

/* The `number`th, which the walk has reached. */
static CP_ERROR check(const struct cp_heap *h, uint64_t number)
{
	struct cp_error *err;

	if (number <= h->shots.count && h->shots.items[number - 1].reached)
		return NULL;
	err = cp_error_new(CP_ERR_NOT_FOUND, 0,
			   number <= h->shots.count ? "heapshot %" PRIu64
						      " is after the time that is asked for"
						    : "the recording has no heapshot %" PRIu64,
			   number);
	return cp_error_hint(err, h->shots.count ? "cprof report --heapshot=list shows which there "
						   "are"
						 : "they are made by: cprof ctl PID heapshot");
}

static CP_ERROR build(const struct cp_profile *p, const struct cp_report_options *o,
		      struct cp_heap *h)
{
	h->wanted[BEFORE] = o->heapshots.since;
	h->wanted[NOW] = o->heapshots.number;
	CP_TRY(cp_heap_build(p, h));
	if (h->sampled)
		return cp_error_new(CP_ERR_UNSUPPORTED, 0,
				    "what was live is not known: allocations were watched in "
				    "pieces of the time (--max-rate=0 watches all)");
	if (o->heapshots.since)
		CP_TRY(check(h, o->heapshots.since));
	return o->heapshots.number ? check(h, o->heapshots.number) : NULL;
}

/* ---- for people ---- */

static uint64_t time_of(const struct cp_heap *h, uint64_t number)
{
	return cp_profile_ns(h->p, h->shots.items[number - 1].ts_ns);
}

static void add_signed(struct cp_buf *out, int64_t n)
{
	cp_buf_str(out, n < 0 ? "-" : "+");
	cp_add_count(out, n < 0 ? -(uint64_t)n : (uint64_t)n);
}

static void signed_cell(struct cp_table *t, int64_t n)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	add_signed(&text, n);
	cp_table_cell(t, n > 0 ? CP_PAINT_BOLD : CP_PAINT_DIM, "%s", text.bytes ? text.bytes : "");
}

static void print_list(const struct cp_heap *h, const struct cp_look *look, struct cp_buf *out)
{
	static const struct cp_column columns[] = {
		{ "heapshot", true, 0, false },	  { "at", true, 0, false },
		{ "bytes live", true, 0, false }, { "blocks live", true, 0, false },
		{ "bytes more", true, 0, false }, { "blocks more", true, 0, false },
	};
	struct cp_table t CP_CLEANUP(cp_table_deinit) = { 0 };
	struct cp_heap_amount last = { 0 };
	size_t i;

	cp_report_title(out, look, "Heapshots",
			h->shots.count ? "what was live at each, and more than at the one before"
				       : "there are none: they are made by: cprof ctl PID "
					 "heapshot");
	if (!h->shots.count)
		return;
	cp_table_init(&t, columns, CP_ARRAY_SIZE(columns));
	for (i = 0; i < h->shots.count && h->shots.items[i].reached; i++) {
		const struct cp_heap_amount live = h->shots.items[i].live;

		cp_table_count(&t, CP_PAINT_PLAIN, i + 1);
		cp_table_time(&t, CP_PAINT_PLAIN, time_of(h, i + 1));
		cp_table_count(&t, CP_PAINT_BOLD, live.bytes);
		cp_table_count(&t, CP_PAINT_PLAIN, live.blocks);
		signed_cell(&t, (int64_t)(live.bytes - last.bytes));
		signed_cell(&t, (int64_t)(live.blocks - last.blocks));
		last = live;
	}
	cp_table_print(&t, look, out);
}

static void print_title(const struct cp_heap *h, const struct cp_report_heapshots *which,
			const struct cp_look *look, struct cp_buf *out)
{
	const struct cp_heap_amount *live = &h->shots.items[which->number - 1].live, *before;
	struct cp_buf name CP_CLEANUP(cp_buf_free) = { 0 };
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	cp_buf_printf(&name, "Heapshot %" PRIu64, which->number);
	cp_buf_str(&text, "at ");
	cp_add_time(&text, time_of(h, which->number));
	cp_buf_str(&text, h->every ? ": live about " : ": live ");
	cp_report_heap_amount(live, &text);
	if (which->since) {
		before = &h->shots.items[which->since - 1].live;
		cp_buf_printf(&text, "; since heapshot %" PRIu64 " at ", which->since);
		cp_add_time(&text, time_of(h, which->since));
		cp_buf_str(&text, ": ");
		add_signed(&text, (int64_t)(live->bytes - before->bytes));
		cp_buf_str(&text, " bytes, ");
		add_signed(&text, (int64_t)(live->blocks - before->blocks));
		cp_buf_str(&text, " blocks");
	}
	cp_report_title(out, look, name.bytes ? name.bytes : "", text.bytes ? text.bytes : "");
}

static void print_functions(const struct cp_heap *h, size_t count, uint64_t limit, bool grown,
			    const struct cp_look *look, struct cp_buf *out)
{
	static const struct cp_column columns[] = {
		{ "bytes more", true, 0, false },     { "blocks more", true, 0, false },
		{ "bytes live", true, 0, false },     { "blocks live", true, 0, false },
		{ "allocated in", false, 16, false },
	};
	size_t skip = grown ? 0 : 2, shown = limit && limit < count ? (size_t)limit : count, i;
	struct cp_table t CP_CLEANUP(cp_table_deinit) = { 0 };

	cp_table_init(&t, columns + skip, CP_ARRAY_SIZE(columns) - skip);
	for (i = 0; i < shown; i++) {
		const struct cp_heap_site *s = &h->sites.items[i];

		if (grown) {
			signed_cell(&t, more_bytes(s));
			signed_cell(&t, more_blocks(s));
		}
		cp_table_count(&t, grown ? CP_PAINT_PLAIN : CP_PAINT_BOLD, s->live[NOW].bytes);
		cp_table_count(&t, CP_PAINT_PLAIN, s->live[NOW].blocks);
		cp_table_function(&t, CP_PAINT_NAME, h->p->functions.items[s->function].name);
	}
	if (shown)
		cp_table_print(&t, look, out);
	cp_report_more(out, look, shown, count);
}

static void print_stacks(const struct cp_heap *h, size_t count, uint64_t limit, bool grown,
			 const struct cp_look *look, struct cp_buf *out)
{
	size_t shown = limit && limit < count ? (size_t)limit : count, i;

	if (shown)
		cp_report_title(out, look, grown ? "Difference" : "Live",
				"by the stack that allocated it");
	for (i = 0; i < shown; i++) {
		const struct cp_heap_site *s = &h->stacks.items[i];
		struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

		if (grown) {
			add_signed(&text, more_bytes(s));
			cp_buf_str(&text, " bytes, ");
			add_signed(&text, more_blocks(s));
			cp_buf_str(&text, " blocks, live ");
		}
		cp_report_heap_amount(&s->live[NOW], &text);
		cp_report_heap_stack(h, s, text.bytes ? text.bytes : "", look, out);
	}
	cp_report_more(out, look, shown, count);
}

CP_ERROR cp_report_heapshots(const struct cp_profile *p, const struct cp_report_options *o,
			     const struct cp_look *look, struct cp_buf *out)
{
	struct cp_heap h CP_CLEANUP(cp_heap_deinit) = { 0 };
	bool grown = o->heapshots.since != 0;

	CP_TRY(build(p, o, &h));
	if (o->heapshots.list) {
		print_list(&h, look, out);
	} else {
		print_title(&h, &o->heapshots, look, out);
		print_functions(&h, choose(&h.sites), o->limit, grown, look, out);
		print_stacks(&h, choose(&h.stacks), o->limit, grown, look, out);
	}
	cp_report_heap_doubts(&h, look, out);
	return NULL;
}

/* ---- JSON ---- */

static void sites_json(const struct cp_heap *h, const char *key, const struct cp_heap_sites *sites,
		       size_t count, const struct cp_report_options *o, struct cp_json *j)
{
	size_t i;

	cp_json_begin(j, key, '[');
	for (i = 0; i < count && (!o->limit || i < o->limit); i++) {
		const struct cp_heap_site *s = &sites->items[i];

		cp_json_begin(j, NULL, '{');
		cp_json_str(j, "function", h->p->functions.items[s->function].name);
		cp_report_heap_amount_json(j, "live", &s->live[NOW]);
		if (o->heapshots.since)
			cp_report_heap_amount_json(j, "before", &s->live[BEFORE]);
		cp_report_heap_stack_json(h, s, j);
		cp_json_end(j, '}');
	}
	cp_json_end(j, ']');
}

static void list_json(const struct cp_heap *h, struct cp_json *j)
{
	size_t i;

	cp_json_begin(j, "heapshots", '[');
	for (i = 0; i < h->shots.count && h->shots.items[i].reached; i++) {
		cp_json_begin(j, NULL, '{');
		cp_json_u64(j, "number", i + 1);
		cp_json_u64(j, "ts_ns", time_of(h, i + 1));
		if (h->sampled)
			cp_json_null(j, "live");
		else
			cp_report_heap_amount_json(j, "live", &h->shots.items[i].live);
		cp_json_end(j, '}');
	}
	cp_json_end(j, ']');
}

CP_ERROR cp_report_heapshots_json(const struct cp_profile *p, const struct cp_report_options *o,
				  struct cp_json *j)
{
	struct cp_heapshots any CP_CLEANUP(cp_heapshots_free) = { 0 };
	struct cp_heap h CP_CLEANUP(cp_heap_deinit) = { 0 };

	CP_TRY(cp_heapshots_find(p->record, &any));
	if (!any.count && !o->heapshots.number)
		return NULL;
	if (o->heapshots.number)
		CP_TRY(build(p, o, &h));
	else
		CP_TRY(cp_heap_build(p, &h));
	list_json(&h, j);
	if (!o->heapshots.number)
		return NULL;
	cp_json_begin(j, "heapshot", '{');
	cp_json_u64(j, "number", o->heapshots.number);
	if (o->heapshots.since)
		cp_json_u64(j, "since", o->heapshots.since);
	sites_json(&h, "functions", &h.sites, choose(&h.sites), o, j);
	sites_json(&h, "stacks", &h.stacks, choose(&h.stacks), o, j);
	cp_json_end(j, '}');
	return NULL;
}

/* ---- comma-separated values ---- */

static void list_csv(const struct cp_heap *h, struct cp_buf *out)
{
	size_t i;

	cp_buf_str(out, "number,ts_ns,live_blocks,live_bytes\n");
	for (i = 0; i < h->shots.count && h->shots.items[i].reached; i++) {
		cp_csv_u64(out, i + 1);
		cp_csv_u64(out, time_of(h, i + 1));
		cp_csv_u64(out, h->shots.items[i].live.blocks);
		cp_csv_u64(out, h->shots.items[i].live.bytes);
		cp_csv_end(out);
	}
}

CP_ERROR cp_report_heapshots_csv(const struct cp_profile *p, const struct cp_report_options *o,
				 struct cp_buf *out)
{
	struct cp_heap h CP_CLEANUP(cp_heap_deinit) = { 0 };
	size_t count, i;

	CP_TRY(build(p, o, &h));
	if (o->heapshots.list) {
		list_csv(&h, out);
		return NULL;
	}
	cp_buf_str(out, "function,live_blocks,live_bytes,before_blocks,before_bytes\n");
	count = choose(&h.sites);
	for (i = 0; i < count && (!o->limit || i < o->limit); i++) {
		const struct cp_heap_site *s = &h.sites.items[i];

		cp_csv_text(out, p->functions.items[s->function].name);
		cp_csv_u64(out, s->live[NOW].blocks);
		cp_csv_u64(out, s->live[NOW].bytes);
		cp_csv_u64(out, s->live[BEFORE].blocks);
		cp_csv_u64(out, s->live[BEFORE].bytes);
		cp_csv_end(out);
	}
	return NULL;
}
