/* SPDX-License-Identifier: MIT
 *
 * The first page of coverage: totals, all files, the worst first, and programs
 * of which only functions are known. And the page of such a program.
 */
#include "report/export/pages_index.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "report/coverage/coverage.h"
#include "report/export/pages_pieces.h"
#include "report/look/sink.h"
#include "report/look/table.h"

static void text(struct cp_buf *out, const char *raw)
{
	cp_pages_text(out, raw, strlen(raw));
}

/* ---- the head ---- */

static void fact(struct cp_buf *out, const char *what, const char *raw)
{
	if (!raw || !*raw)
		return;
	cp_buf_printf(out, "<div><dt>%s</dt><dd>", what);
	text(out, raw);
	cp_buf_str(out, "</dd></div>\n");
}

static void when(struct cp_buf *out, uint64_t ns)
{
	time_t seconds = (time_t)(ns / 1000000000);
	char iso[40], words[40];
	struct tm tm;

	if (!ns || !gmtime_r(&seconds, &tm))
		return;
	strftime(iso, sizeof(iso), "%Y-%m-%dT%H:%M:%SZ", &tm);
	strftime(words, sizeof(words), "%Y-%m-%d %H:%M UTC", &tm);
	cp_buf_printf(out, "<div><dt>Recorded</dt><dd><time datetime=\"%s\">%s</time></dd></div>\n",
		      iso, words);
}

static void facts(struct cp_buf *out, const struct cp_coverage *c)
{
	cp_buf_str(out, "<dl class=\"facts\">\n");
	fact(out, "Command", c->command);
	when(out, c->timestamp_ns);
	fact(out, "Counts",
	     !c->counted    ? "whether it ran, not how often"
	     : c->optimised ? "of optimised code"
			    : "exact");
	fact(out, "Branches",
	     c->no_branches ? "not watched"
	     : c->exact_branches
		     ? "exact"
		     : "watched until both directions were seen, or a budget of hits was used up");
	fact(out, "Relative to", c->root);
	fact(out, "cprof", c->version);
	cp_buf_str(out, "</dl>\n");
}

static void notes(struct cp_buf *out, const struct cp_coverage *c)
{
	const struct cp_covered_file *f;
	size_t missing = 0, newer = 0, left = 0;

	cp_vec_for_each(&c->files, f) {
		missing += f->missing;
		newer += f->newer;
	}
	if (c->sources_seen > c->files.count)
		left = c->sources_seen - c->files.count;
	cp_buf_str(out, "<ul class=\"notes\">\n");
	cp_pages_notes(out, c, &c->totals);
	if (missing) {
		cp_buf_str(out, "<li class=\"warn\">");
		cp_add_plural(out, missing, "source file can't be read: its page has",
			      "source files can't be read: their pages have");
		cp_buf_str(out, " no text. <code>--path-map=OLD=NEW</code> says where sources are "
				"now.</li>\n");
	}
	if (newer) {
		cp_buf_str(out, "<li class=\"warn\">");
		cp_add_plural(out, newer, "source file was", "source files were");
		cp_buf_str(out, " changed after the program was built: "
				"lines may be off.</li>\n");
	}
	if (left) {
		cp_buf_str(out, "<li>");
		cp_add_plural(out, left, "source file is", "source files are");
		cp_buf_str(out, " left out: of the system, or by <code>--include</code> and "
				"<code>--exclude</code>.</li>\n");
	}
	cp_buf_str(out, "</ul>\n");
}

/* ---- files ---- */

static int by_share(const struct cp_coverage_totals *a, const struct cp_coverage_totals *b)
{
	double x = a->lines ? (double)a->lines_covered / (double)a->lines : 2;
	double y = b->lines ? (double)b->lines_covered / (double)b->lines : 2;
	uint64_t missed_a = a->lines - a->lines_covered, missed_b = b->lines - b->lines_covered;

	if (x < y || x > y)
		return x < y ? -1 : 1;
	return missed_a > missed_b ? -1 : missed_a < missed_b;
}

static int worse(const void *a, const void *b, void *context)
{
	const struct cp_covered_file *files = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int order = by_share(&files[x].totals, &files[y].totals);

	return order ? order : strcmp(files[x].name, files[y].name);
}

static void file_name(struct cp_buf *out, const struct cp_pages *g, const struct cp_covered_file *f)
{
	const char *slash = strrchr(f->name, '/');
	size_t directory = slash ? (size_t)(slash - f->name) + 1 : 0;

	cp_buf_str(out, "<th scope=\"row\" class=\"name\"><a href=\"");
	cp_buf_str(out, g->names[f - g->c->files.items]);
	cp_buf_str(out, "\"><span>");
	cp_pages_text(out, f->name, directory);
	cp_buf_str(out, "</span>");
	text(out, f->name + directory);
	cp_buf_str(out, "</a>");
	if (f->missing)
		cp_buf_str(out, " <small class=\"tag warn\">source missing</small>");
	if (f->newer)
		cp_buf_str(out, " <small class=\"tag warn\">source newer</small>");
	cp_buf_str(out, "</th>");
}

static void file_row(struct cp_buf *out, const struct cp_pages *g, const struct cp_covered_file *f)
{
	const struct cp_coverage_totals *t = &f->totals;
	uint64_t missed = t->lines - t->lines_covered;

	cp_buf_str(out, "<tr>");
	file_name(out, g, f);
	cp_buf_str(out, "<td>");
	cp_pages_bar(out, t->lines_covered, t->lines);
	cp_buf_str(out, "</td>");
	cp_pages_cell(out, t->lines_covered, t->lines);
	cp_buf_printf(out, "<td class=\"n\" data-v=\"%" PRIu64 "\">", missed);
	cp_add_count(out, missed);
	cp_buf_str(out, "</td>");
	cp_pages_branches(out, t);
	cp_pages_cell(out, t->functions_covered, t->functions);
	cp_pages_cell(out, t->blocks_covered, t->blocks);
	if (g->c->changed.lines)
		cp_pages_cell(out, f->changed.lines_covered, f->changed.lines);
	cp_buf_str(out, "</tr>\n");
}

static CP_ERROR files(struct cp_pages *g, struct cp_sink *sink)
{
	size_t count = g->c->files.count, i;
	CP_FREE uint32_t *order = calloc(count + 1, sizeof(*order));
	struct cp_buf *out = &sink->buf;

	if (!order)
		return cp_error_nomem();
	for (i = 0; i < count; i++)
		order[i] = (uint32_t)i;
	qsort_r(order, count, sizeof(*order), worse, g->c->files.items);
	cp_buf_str(out, "<section><h2>Files <small>");
	cp_add_count(out, count);
	cp_buf_printf(out,
		      ", the least covered first</small></h2>\n<div class=\"wide\">"
		      "<table class=\"list\" id=\"files\"><thead><tr><th scope=\"col\">File</th>"
		      "<th></th><th scope=\"col\" class=\"n\" aria-sort=\"ascending\">Lines</th>"
		      "<th scope=\"col\" class=\"n\">Missed</th>"
		      "<th scope=\"col\" class=\"n\">Branches</th>"
		      "<th scope=\"col\" class=\"n\">Functions</th>"
		      "<th scope=\"col\" class=\"n\">Blocks</th>%s</tr></thead><tbody>\n",
		      g->c->changed.lines ? "<th scope=\"col\" class=\"n\">Changed</th>" : "");
	for (i = 0; i < count; i++) {
		file_row(out, g, &g->c->files.items[order[i]]);
		cp_sink_spill(sink);
	}
	cp_buf_str(out, "</tbody></table></div></section>\n");
	return NULL;
}

/* ---- programs without line tables ---- */

static void binary_row(struct cp_buf *out, const struct cp_pages *g,
		       const struct cp_covered_binary *b)
{
	const struct cp_coverage_totals *t = &b->totals;

	cp_buf_printf(out, "<tr><th scope=\"row\" class=\"name\"><a href=\"%s\">",
		      g->names[g->c->files.count + (size_t)(b - g->c->binaries.items)]);
	text(out, b->name);
	cp_buf_str(out, "</a></th><td>");
	cp_pages_bar(out, t->functions_covered, t->functions);
	cp_buf_str(out, "</td>");
	cp_pages_cell(out, t->functions_covered, t->functions);
	cp_pages_cell(out, t->blocks_covered, t->blocks);
	cp_pages_branches(out, t);
	cp_buf_str(out, "</tr>\n");
}

static void binaries(struct cp_pages *g, struct cp_sink *sink)
{
	const struct cp_covered_binary *b;

	if (!g->c->binaries.count)
		return;
	cp_buf_str(&sink->buf,
		   "<section><h2>Without line tables <small>programs and libraries of which "
		   "functions and blocks are known, but no lines</small></h2>\n<div class=\"wide\">"
		   "<table class=\"list\" id=\"binaries\"><thead><tr><th scope=\"col\">File</th>"
		   "<th></th><th scope=\"col\" class=\"n\">Functions</th>"
		   "<th scope=\"col\" class=\"n\">Blocks</th>"
		   "<th scope=\"col\" class=\"n\">Branches</th></tr></thead><tbody>\n");
	cp_vec_for_each(&g->c->binaries, b) {
		binary_row(&sink->buf, g, b);
		cp_sink_spill(sink);
	}
	cp_buf_str(&sink->buf, "</tbody></table></div></section>\n");
}

CP_ERROR cp_pages_binary(struct cp_pages *g, struct cp_sink *sink, const void *what)
{
	const struct cp_covered_binary *b = what;
	struct cp_buf *out = &sink->buf;

	cp_buf_str(out, "<header><nav><a href=\"index.html\">Coverage</a></nav>\n<h1>");
	text(out, b->name);
	cp_buf_str(out, "</h1></header>\n<main>\n");
	cp_pages_totals(out, g->c, &b->totals, NULL);
	cp_buf_str(out, "<ul class=\"notes\">\n<li>");
	text(out, b->path);
	cp_buf_str(out, " has no line table: build it with <code>-g</code> "
			"to see its source.</li>\n");
	cp_pages_notes(out, g->c, &b->totals);
	cp_buf_str(out, "</ul>\n<section><h2>Functions</h2>\n<div class=\"wide\">");
	cp_pages_functions(sink, g->c, b->functions.items, b->functions.count, false);
	cp_buf_str(out, "</div></section>\n</main>\n");
	return NULL;
}

/* ---- the page ---- */

CP_ERROR cp_pages_index(struct cp_pages *g, struct cp_sink *sink, const void *what)
{
	const struct cp_coverage *c = g->c;
	struct cp_buf *out = &sink->buf;

	(void)what;
	cp_buf_str(out, "<header><h1>Coverage</h1></header>\n<main>\n");
	cp_pages_totals(out, c, &c->totals, &c->changed);
	facts(out, c);
	notes(out, c);
	if (c->files.count)
		CP_TRY(files(g, sink));
	binaries(g, sink);
	if (!c->files.count && !c->binaries.count)
		cp_buf_str(out, "<p>Nothing was recorded that coverage is known of.</p>\n");
	cp_buf_str(out, "</main>\n");
	return NULL;
}
