/* SPDX-License-Identifier: MIT
 *
 * One page of HTML: the time line, the flame graph, and below it what `cprof report` shows.
 * Graph and tables are there without scripts, of the whole recording. With them, what is
 * chosen on the time line (assets/timeline.js) is added up by sums.js, and page.js,
 * calltree.js, listing.js and flame.js show it; sort.js sorts.
 */
#include "report/export/html.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "report/export/assets.h"
#include "report/export/flame.h"
#include "report/export/picture.h"
#include "report/export/rows_json.h"
#include "report/export/timeline.h"
#include "report/export/timeline_json.h"
#include "report/export/title.h"
#include "report/look/brief.h"
#include "report/look/sink.h"
#include "report/look/table.h"
#include "report/profile/options.h"
#include "report/profile/places.h"
#include "report/profile/profile.h"
#include "report/profile/tree.h"
#include "report/profile/unit.h"
#include "report/tables/cost.h"
#include "report/tables/diff.h"
#include "report/tables/missing.h"
#include "report/tables/sections.h"

#define NAME_COLUMNS 72 /* of a function, on one line */
#define EVENT_ROWS 1000 /* of calls, locks, ... */
#define HEAD 4 /* above the first row; as in flame.js */

struct page {
	const struct cp_flame *flame;
	const struct cp_flame *older; /* of what it is compared with; NULL: with nothing */
	const struct cp_profile *p;
	const struct cp_timeline *timeline; /* NULL: there is none */
	const struct cp_rows *rows; /* NULL: there are none */
	struct cp_sink *sink;
	struct cp_buf *out; /* the sink's */
	struct cp_buf raw;
};

static void text(struct page *g, const char *raw)
{
	cp_escape(g->out, CP_ESCAPE_XML, raw, strlen(raw));
}

/* ---- cells ---- */

/* A number that sorts by itself, shown in words. */
static void weight_cell(struct page *g, const struct cp_cost *cost)
{
	struct cp_buf words CP_CLEANUP(cp_buf_free) = { 0 };

	cp_buf_printf(g->out, "<td class=\"n\" data-v=\"%" PRIu64 "\">",
		      cp_cost_shown(g->p, cost).ns);
	cp_cost_add_words(g->p, cost, &words);
	text(g, words.bytes ? words.bytes : "");
	cp_buf_str(g->out, "</td>");
}

static void percent_cell(struct page *g, uint64_t weight)
{
	cp_buf_printf(g->out, "<td class=\"n\" data-v=\"%" PRIu64 "\">", weight);
	cp_add_percent(g->out, weight, g->p->total.weight);
	cp_buf_str(g->out, "</td>");
}

static void count_cell(struct page *g, uint64_t count)
{
	cp_buf_printf(g->out, "<td class=\"n\" data-v=\"%" PRIu64 "\">", count);
	cp_add_count(g->out, count);
	cp_buf_str(g->out, "</td>");
}

/* A bar as a picture, since a policy may forbid styles of elements. */
static void bar_cell(struct page *g, uint64_t part, uint64_t most)
{
	cp_buf_printf(g->out,
		      "<td><span class=\"share\"><svg><rect width=\"%.1f%%\" height=\"100%%\"/>"
		      "</svg></span></td>",
		      100 * cp_share(part, most));
}

static void text_cell(struct page *g, const char *class, const char *raw)
{
	cp_buf_printf(g->out, "<td class=\"%s\">", class);
	text(g, raw);
	cp_buf_str(g->out, "</td>");
}

/* In `heads`, $ stands for the unit of weights. */
static void begin_table(struct page *g, const char *id, const char *title, const char *note,
			const char *heads)
{
	cp_buf_printf(g->out,
		      "<h2>%s <small>%s</small></h2>\n"
		      "<table class=\"list\" id=\"%s\" aria-label=\"%s\"><thead><tr>",
		      title, note, id, title);
	for (; *heads; heads++) {
		if (*heads == '$')
			cp_buf_str(g->out, g->p->unit->heading);
		else
			cp_buf_u8(g->out, (uint8_t)*heads);
	}
	cp_buf_str(g->out, "</tr></thead><tbody>\n");
}

static void end_table(struct page *g)
{
	cp_buf_str(g->out, "</tbody></table>\n");
}

/* ---- tables ---- */

static void place_cell(struct page *g, const struct cp_function *f)
{
	cp_buf_str(g->out, "<td class=\"soft\">");
	text(g, f->file ? cp_basename(f->file) : "");
	if (f->file && f->decl_line)
		cp_buf_printf(g->out, ":%u", f->decl_line);
	cp_buf_str(g->out, "</td>");
}

/* A row is a line, whose title has the whole name. */
static CP_ERROR brief_names(const struct page *g, const uint32_t *order, size_t count,
			    struct cp_brief *ret)
{
	CP_FREE const char **names = calloc(count + 1, sizeof(*names));
	size_t i;

	for (i = 0; names && i < count; i++)
		names[i] = g->p->functions.items[order[i]].name;
	if (names)
		cp_brief_init(ret, names, count, NAME_COLUMNS);
	return names ? NULL : cp_error_nomem();
}

static CP_ERROR write_functions(struct page *g)
{
	CP_FREE uint32_t *order = NULL;
	struct cp_brief b CP_CLEANUP(cp_brief_deinit) = { 0 };
	size_t count, i;
	uint64_t most;

	CP_TRY(cp_profile_sorted(g->p, CP_ORDER_SELF, &order, &count));
	most = count ? g->p->functions.items[order[0]].self.weight : 0;
	CP_TRY(brief_names(g, order, count, &b));
	begin_table(g, "functions", "Functions", "self: in it; total: with all that it calls",
		    "<th class=\"n\" aria-sort=\"descending\">self</th><th></th>"
		    "<th class=\"n\">$</th><th class=\"n\">total</th><th class=\"n\">$</th>"
		    "<th class=\"n\">count</th><th>function</th><th>image</th><th>source</th>");
	for (i = 0; i < count; i++) {
		const struct cp_function *f = &g->p->functions.items[order[i]];
		const char *image = cp_profile_image_name(g->p, f);

		cp_buf_str(g->out, "<tr data-image=\"");
		text(g, image);
		cp_buf_str(g->out, "\">");
		percent_cell(g, f->self.weight);
		bar_cell(g, f->self.weight, most);
		weight_cell(g, &f->self);
		percent_cell(g, f->total.weight);
		weight_cell(g, &f->total);
		count_cell(g, f->self.ticks);
		cp_buf_str(g->out, "<td class=\"name\" title=\"");
		text(g, f->name);
		cp_buf_str(g->out, "\">");
		text(g, b.shown ? b.shown[i] : f->name);
		cp_buf_str(g->out, "</td>");
		text_cell(g, "soft", image);
		place_cell(g, f);
		cp_buf_str(g->out, "</tr>\n");
		cp_sink_spill(g->sink);
	}
	end_table(g);
	return NULL;
}

/* A change in percentage points; what chance may have done has a ~. */
static void change_cell(struct page *g, double points, bool matters)
{
	cp_buf_printf(g->out, "<td class=\"n%s\" data-v=\"%.9g\">%s%+.2f</td>",
		      !matters	   ? " soft"
		      : points > 0 ? " more"
				   : " less",
		      points, matters ? "" : "~", points);
}

static void side_cell(struct page *g, const struct cp_profile *p, uint64_t weight)
{
	cp_buf_printf(g->out, "<td class=\"n\" data-v=\"%" PRIu64 "\">", weight);
	cp_add_percent(g->out, weight, p->total.weight);
	cp_buf_str(g->out, "</td>");
}

static void change_row(struct page *g, const struct cp_diff_row *row)
{
	struct cp_buf brief CP_CLEANUP(cp_buf_free) = { 0 };

	cp_buf_str(g->out, "<tr>");
	change_cell(g, row->self, row->self_matters);
	side_cell(g, g->flame->old, row->old_self.weight);
	side_cell(g, g->p, row->new_self.weight);
	change_cell(g, row->total, row->total_matters);
	side_cell(g, g->flame->old, row->old_total.weight);
	side_cell(g, g->p, row->new_total.weight);
	cp_buf_str(g->out, "<td class=\"name\" title=\"");
	text(g, row->name);
	cp_buf_str(g->out, "\">");
	cp_brief_name(&brief, row->name);
	text(g, brief.bytes ? brief.bytes : row->name);
	cp_buf_str(g->out, "</td>");
	text_cell(g, "soft", row->image);
	cp_buf_str(g->out, "</tr>\n");
	cp_sink_spill(g->sink);
}

static CP_ERROR write_changes(struct page *g)
{
	static const struct cp_diff_options by_share = { .by = CP_DIFF_BY_SHARE };
	struct cp_diff d CP_CLEANUP(cp_diff_deinit) = { 0 };
	const struct cp_diff_row *row;

	if (!g->flame->old)
		return NULL;
	CP_TRY(cp_diff_build(g->flame->old, g->p, &by_share, &d));
	begin_table(g, "changes", "What changed",
		    "shares of each recording's total, in percentage points; what has a ~ may be "
		    "chance",
		    "<th class=\"n\">self</th><th class=\"n\">old</th><th class=\"n\">new</th>"
		    "<th class=\"n\">total</th><th class=\"n\">old</th><th class=\"n\">new</th>"
		    "<th>function</th><th>image</th>");
	cp_vec_for_each(&d.rows, row)
		change_row(g, row);
	end_table(g);
	return NULL;
}

static void part_row(struct page *g, const struct cp_cost *cost, uint64_t most, const char *raw)
{
	cp_buf_str(g->out, "<tr>");
	percent_cell(g, cost->weight);
	bar_cell(g, cost->weight, most);
	weight_cell(g, cost);
	count_cell(g, cost->ticks);
	text_cell(g, "name", raw);
	cp_buf_str(g->out, "</tr>\n");
	cp_sink_spill(g->sink);
}

#define PART_HEADS(what) \
	"<th class=\"n\">share</th><th></th><th class=\"n\">$</th>" \
	"<th class=\"n\">count</th><th>" what "</th>"

static CP_ERROR write_threads(struct page *g)
{
	CP_FREE uint32_t *order = NULL;
	size_t count, i;

	CP_TRY(cp_cost_sorted(g->p->threads, cp_record_thread_count(g->p->record), &order, &count));
	begin_table(g, "threads", "Threads", "", PART_HEADS("thread"));
	for (i = 0; i < count; i++) {
		cp_buf_clear(&g->raw);
		cp_thread_name(g->p, order[i], &g->raw);
		cp_buf_str(&g->raw, " of ");
		cp_process_name(g->p, cp_profile_process(g->p, order[i]), &g->raw);
		part_row(g, &g->p->threads[order[i]], g->p->threads[order[0]].weight,
			 g->raw.bytes ? g->raw.bytes : "");
	}
	end_table(g);
	return NULL;
}

static CP_ERROR write_images(struct page *g)
{
	CP_FREE struct cp_cost *costs = cp_profile_image_costs(g->p);
	CP_FREE uint32_t *order = NULL;
	size_t count, i;

	if (!costs)
		return cp_error_nomem();
	CP_TRY(cp_cost_sorted(costs, g->p->images.count, &order, &count));
	begin_table(g, "images", "Images", "the files that the code came from", PART_HEADS("file"));
	for (i = 0; i < count; i++)
		part_row(g, &costs[order[i]], costs[order[0]].weight,
			 g->p->images.items[order[i]].path);
	end_table(g);
	return NULL;
}

/* ---- the page ---- */

/* The lines of a section of the report, as they are. */
static void write_section(struct page *g, const char *title,
			  void (*section)(const struct cp_profile *, const struct cp_look *,
					  struct cp_buf *))
{
	struct cp_look look = { 0, false };
	char *rest, *line;

	cp_buf_clear(&g->raw);
	section(g->p, &look, &g->raw);
	if (!g->raw.size)
		return;
	cp_buf_printf(g->out, "<h2>%s</h2>\n<pre>", title);
	for (rest = g->raw.bytes; (line = strsep(&rest, "\n"));) {
		text(g, line);
		cp_buf_u8(g->out, '\n');
	}
	cp_buf_str(g->out, "</pre>\n");
}

/* A section of the report, its first line as the heading: "Calls  what they are". */
static void write_lines(struct page *g)
{
	char *rest = g->raw.size ? g->raw.bytes : NULL, *line = NULL, *note;

	do
		line = strsep(&rest, "\n");
	while (line && !*line);
	if (!line)
		return;
	note = strstr(line, "  ");
	if (note)
		*note = 0;
	cp_buf_str(g->out, "<h2>");
	text(g, line);
	cp_buf_str(g->out, " <small>");
	text(g, note ? note + 2 : "");
	cp_buf_str(g->out, "</small></h2>\n<pre>");
	while ((line = strsep(&rest, "\n"))) {
		text(g, line);
		cp_buf_u8(g->out, '\n');
	}
	cp_buf_str(g->out, "</pre>\n");
}

/* The sections of events, as `cprof report` has them. */
static CP_ERROR write_events(struct page *g)
{
	const struct cp_report_options o = { .what = CP_REPORT_PAGE,
					     .order = CP_ORDER_TOTAL,
					     .limit = EVENT_ROWS };
	const struct cp_look look = { 0, false };
	const struct cp_report_section *s;

	for (s = cp_report_sections; s->write; s++) {
		if (!(s->in & CP_IN_PAGE) || (s->holds && !s->holds(g->p)))
			continue;
		cp_buf_clear(&g->raw);
		CP_TRY(s->write(g->p, &o, &look, &g->raw));
		write_lines(g);
	}
	return NULL;
}

static void write_head(struct page *g, const struct cp_buf *title)
{
	cp_buf_str(g->out,
		   "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
		   "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		   "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
		   "<meta name=\"viewport\" content=\"width=device-width\">\n<title>");
	cp_flame_text(g->out, title);
	cp_buf_str(g->out, "</title>\n<style>\n");
	cp_buf_str(g->out, cp_asset_flame_css);
	cp_buf_str(g->out, cp_asset_page_css);
	if (g->timeline)
		cp_buf_str(g->out, cp_asset_timeline_css);
	if (g->rows) {
		cp_buf_str(g->out, cp_asset_syntax_css);
		cp_buf_str(g->out, cp_asset_listing_css);
	}
	cp_flame_colors(g->out);
	cp_buf_str(g->out, "</style></head><body>\n<noscript><h1>");
	cp_flame_text(g->out, title);
	cp_buf_str(g->out, "</h1></noscript>\n");
}

static CP_ERROR write_graph(struct page *g)
{
	cp_buf_printf(g->out,
		      "<div class=\"graph\"><svg class=\"flame\" width=\"100%%\" height=\"%u\" "
		      "role=\"img\" aria-label=\"%s\">"
		      "<g class=\"still\">\n",
		      cp_flame_height(g->flame, HEAD),
		      g->timeline ? "Flame graph; the call tree below says the same in words"
				  : "Flame graph");
	CP_TRY(cp_flame_draw(g->flame, HEAD, g->sink));
	cp_buf_str(g->out, "</g></svg></div>\n<main>\n");
	return NULL;
}

/* What assets/listing.js fills. */
static void write_rows(struct page *g)
{
	cp_buf_str(g->out,
		   "<section id=\"listing\" hidden>\n<h2>Source and instructions <small>shares "
		   "of the function's total in what is chosen above</small></h2>\n"
		   "<div class=\"li-bar\"><label>Function <select id=\"li-function\">"
		   "</select></label> <span class=\"li-said\" aria-live=\"polite\"></span></div>\n"
		   "<div class=\"li-body\"><div class=\"li-source\"></div>"
		   "<div class=\"li-code\"></div></div>\n</section>\n");
}

/* Tables that assets/calltree.js and durations.js fill. */
static void write_filled(struct page *g)
{
	if (!g->timeline)
		return;
	begin_table(g, "calltree", "Call tree", "what is chosen above; arrows open and close",
		    "<th class=\"n\">total</th><th class=\"n\">total</th>"
		    "<th class=\"n\">self</th><th>function</th>");
	end_table(g);
	if (!g->timeline->series[CP_SERIES_DURATIONS].cells.count)
		return;
	begin_table(g, "durations", "Call durations",
		    "calls that began in the range and are over; to 6 %; the axis is logarithmic",
		    "<th class=\"n\" aria-sort=\"descending\">together</th>"
		    "<th class=\"n\">calls</th><th class=\"n\">median</th>"
		    "<th class=\"n\">90 %</th><th class=\"n\">99 %</th>"
		    "<th class=\"n\">99.9 %</th><th class=\"n\">most</th><th></th>"
		    "<th>function</th>");
	end_table(g);
}

static CP_ERROR write_scripts(struct page *g, const struct cp_buf *title)
{
	cp_buf_str(g->out, "<script type=\"application/json\" id=\"flame-data\">");
	/* JSON has no '<' of its own. */
	CP_TRY(cp_flame_json(g->flame, title->bytes, g->out));
	if (g->older) {
		cp_buf_str(g->out, "</script>\n"
				   "<script type=\"application/json\" id=\"flame-older\">");
		CP_TRY(cp_flame_json(g->older, title->bytes, g->out));
	}
	if (g->timeline) {
		cp_buf_str(g->out, "</script>\n"
				   "<script type=\"application/json\" id=\"timeline-data\">");
		CP_TRY(cp_timeline_json(g->timeline, g->flame, g->sink));
	}
	if (g->rows) {
		cp_buf_str(g->out, "</script>\n"
				   "<script type=\"application/json\" id=\"listing-data\">");
		CP_TRY(cp_rows_json(g->rows, g->timeline, g->sink));
	}
	cp_buf_str(g->out, "</script>\n<script>");
	cp_buf_str(g->out, cp_asset_sums_js);
	/* The tables before the graph: they listen to its search. */
	cp_buf_str(g->out, cp_asset_sort_js);
	cp_buf_str(g->out, cp_asset_page_js);
	cp_buf_str(g->out, "</script>\n<script>");
	cp_buf_str(g->out, cp_asset_flame_js);
	if (g->older) {
		cp_buf_str(g->out, "</script>\n<script>");
		cp_buf_str(g->out, cp_asset_sides_js);
	}
	if (g->timeline) {
		cp_buf_str(g->out, "</script>\n<script>");
		cp_buf_str(g->out, cp_asset_calltree_js);
		cp_buf_str(g->out, cp_asset_durations_js);
		cp_buf_str(g->out, cp_asset_timeline_js);
	}
	if (g->rows) {
		cp_buf_str(g->out, "</script>\n<script>");
		cp_buf_str(g->out, cp_asset_syntax_js);
		cp_buf_str(g->out, cp_asset_listing_js);
	}
	cp_buf_str(g->out, "</script>\n</body></html>\n");
	return NULL;
}

static CP_ERROR write_page(struct page *g, const struct cp_buf *title)
{
	write_head(g, title);
	CP_TRY(write_graph(g));
	write_section(g, "What is missing", cp_report_missing);
	CP_TRY(write_changes(g));
	if (g->rows)
		write_rows(g);
	CP_TRY(write_functions(g));
	write_filled(g);
	CP_TRY(write_threads(g));
	CP_TRY(write_images(g));
	CP_TRY(write_events(g));
	write_section(g, "Cost of profiling", cp_report_overhead);
	cp_buf_str(g->out, "</main>\n");
	return write_scripts(g, title);
}

/* The graph of the older recording, whose difference is to the newer one. The same change
 * has the same color in both. */
static CP_ERROR init_older(struct cp_flame *f, const struct cp_export_options *o,
			   struct cp_flame *newer)
{
	const struct cp_export_options other = { .roots = o->roots, .old = newer->p };

	CP_TRY(cp_flame_init(f, o->old, &other));
	f->heat_most = newer->heat_most = fmax(f->heat_most, newer->heat_most);
	return NULL;
}

CP_ERROR cp_export_html(const struct cp_profile *p, const struct cp_export_options *o,
			struct cp_sink *sink)
{
	struct cp_flame f CP_CLEANUP(cp_flame_deinit) = { 0 };
	struct cp_flame older CP_CLEANUP(cp_flame_deinit) = { 0 };
	struct cp_timeline t CP_CLEANUP(cp_timeline_deinit) = { 0 };
	struct cp_rows rows CP_CLEANUP(cp_rows_deinit) = { 0 };
	struct cp_buf title CP_CLEANUP(cp_buf_free) = { 0 };
	struct page g = { .flame = &f, .p = p, .sink = sink, .out = &sink->buf };
	struct cp_error *err;

	CP_TRY(cp_flame_init(&f, p, o));
	/* A difference is of whole recordings. */
	if (o->old) {
		CP_TRY(init_older(&older, o, &f));
		g.older = &older;
	} else {
		CP_TRY(cp_rows_build(p, o, &rows));
		CP_TRY(cp_timeline_build(p, o->roots, rows.spots.by_stack ? &rows.spots : NULL,
					 &t));
	}
	if (cp_timeline_has_cells(&t))
		g.timeline = &t;
	if (g.timeline && rows.spots.listings.count)
		g.rows = &rows;
	cp_export_title(p, o, &title);
	err = write_page(&g, &title);
	cp_buf_free(&g.raw);
	return err;
}
