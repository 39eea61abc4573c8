/* SPDX-License-Identifier: MIT
 *
 * The page of a source file: its lines with what ran of them.
 *
 * A line is one <li>, so that files of hundreds of thousands of lines open:
 *
 *     <li id=L12 class=p><b>3</b><span class=b title="...">+<i>-</i></span>  if (x)
 *             │        │     │                            │
 *             anchor   mark  count, when counted          directions of its branches
 *
 * Of recordings of tests, <span class=t title="..."> has how many tests reached it.
 *
 * Marks: c covered, p partly, x not covered, q unknown; u uncertain, r removed,
 * e excluded, d changed. Lists of some lines each are laid out when seen only.
 */
#include "report/export/pages_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "report/coverage/coverage.h"
#include "report/coverage/covered.h"
#include "report/coverage/sources.h"
#include "report/coverage/tests.h"
#include "report/export/pages_pieces.h"
#include "report/look/sink.h"
#include "report/look/table.h"

#define CHUNK 200 /* lines of a list; as in coverage.css */
#define LINE_LONGEST 4000 /* bytes of a line that are shown */
#define JUMPS_DRAWN 3 /* of a line, one by one; more are counted */
#define JUMPS_TOLD 12 /* in words */
#define TESTS_TOLD 40 /* of a line, by name */
#define COUNT_SHORT 100000000 /* counts of more digits than the column has */
#define STRIP_ROWS 800 /* of the strip that shows the whole file */
#define STRIP_WIDTH 12

enum mark { NONE, EXCLUDED, REMOVED, COVERED, UNKNOWN, PARTLY, MISSED, MARKS }; /* the best first */
static const char mark_class[] = " ercqpx";

struct page {
	const struct cp_coverage *c;
	const struct cp_covered_file *f;
	const struct cp_source_file *source; /* NULL: no text */
	struct cp_sink *sink;
	struct cp_buf *out; /* the sink's */
	uint32_t last; /* line of the source; 0: no text */
	size_t next; /* in the file's lines */
	uint32_t chunk; /* lines in the list that is open; 0: none is */
	uint32_t strip[STRIP_ROWS][MARKS]; /* lines of each */
	uint64_t marks[MARKS], uncertain, changed; /* lines */
};

static void text(struct page *g, const char *raw)
{
	cp_pages_text(g->out, raw, strlen(raw));
}

/* ---- lines ---- */

static bool is_partly(const struct page *g, const struct cp_covered_line *l)
{
	struct cp_directions d = cp_line_directions(g->f, l);

	return d.covered < d.known;
}

static enum mark mark_of(const struct page *g, const struct cp_covered_line *l)
{
	if (l->flags & CP_COVERED_REMOVED)
		return REMOVED;
	if (l->flags & CP_COVERED_EXCLUDED)
		return EXCLUDED;
	if (l->count == CP_COVERAGE_UNKNOWN)
		return UNKNOWN;
	if (!l->count)
		return MISSED;
	return is_partly(g, l) ? PARTLY : COVERED;
}

static void direction(struct cp_buf *out, bool counted, uint64_t count)
{
	if (count == CP_COVERAGE_UNKNOWN)
		cp_buf_str(out, "unknown");
	else if (!count)
		cp_buf_str(out, "never");
	else if (!counted)
		cp_buf_str(out, "yes");
	else
		cp_add_plural(out, count, "time", "times");
}

/* "branch 1 of 2: jumped never; went on 3 times" */
static void tell_jump(struct page *g, const struct cp_covered_branch *b, uint32_t n, uint32_t of)
{
	cp_buf_printf(g->out, "%sbranch %u of %u: ", n ? "&#10;" : "", n + 1, of);
	if (b->flags & (CP_COVERED_EXCLUDED | CP_COVERED_NO_BRANCHES))
		cp_buf_str(g->out, "excluded");
	else if (!b->taken && !b->passed)
		cp_buf_str(g->out, "never reached");
	else {
		cp_buf_str(g->out, "jumped: ");
		direction(g->out, g->c->counted, b->taken);
		cp_buf_str(g->out, ", went on: ");
		direction(g->out, g->c->counted, b->passed);
	}
}

static void draw_direction(struct cp_buf *out, uint64_t count)
{
	cp_buf_str(out, count == CP_COVERAGE_UNKNOWN ? "<em>?</em>" : count ? "+" : "<i>-</i>");
}

static void write_branches(struct page *g, const struct cp_covered_line *l)
{
	const struct cp_covered_branch *branches;
	uint32_t i, told = l->branch_count < JUMPS_TOLD ? l->branch_count : JUMPS_TOLD;

	if (!l->branch_count)
		return;
	branches = &g->f->branches.items[l->first_branch];
	cp_buf_printf(g->out, "<span class=%s title=\"",
		      l->flags & CP_COVERED_NO_BRANCHES ? "\"b off\"" : "b");
	for (i = 0; i < told; i++)
		tell_jump(g, &branches[i], i, l->branch_count);
	if (told < l->branch_count)
		cp_buf_printf(g->out, "&#10;and %u more", l->branch_count - told);
	cp_buf_str(g->out, "\">");
	if (l->branch_count > JUMPS_DRAWN) {
		struct cp_directions d = cp_line_directions(g->f, l);

		cp_buf_printf(g->out,
			      d.covered < d.known ? "<i>%" PRIu64 "/%" PRIu64 "</i>"
						  : "%" PRIu64 "/%" PRIu64,
			      d.covered, d.known);
	}
	for (i = 0; i < l->branch_count && l->branch_count <= JUMPS_DRAWN; i++) {
		draw_direction(g->out, branches[i].taken);
		draw_direction(g->out, branches[i].passed);
		if (i + 1 < l->branch_count)
			cp_buf_u8(g->out, ' ');
	}
	cp_buf_str(g->out, "</span>");
}

/* A count that fits the column: "12345678", "123M", "1.23e+20". */
static void add_short(struct cp_buf *out, uint64_t count)
{
	if (count < COUNT_SHORT)
		cp_buf_printf(out, "%" PRIu64, count);
	else if (count < UINT64_C(1000000000000))
		cp_buf_printf(out, "%" PRIu64 "M", count / 1000000);
	else
		cp_buf_printf(out, "%.3g", (double)count);
}

/* The count, and in words what it leaves open. */
static void write_count(struct page *g, const struct cp_covered_line *l)
{
	bool counted = g->c->counted && l->count != CP_COVERAGE_UNKNOWN &&
		       !(l->flags & CP_COVERED_REMOVED);
	bool some = cp_is_covered(l->count) && l->blocks_covered < l->blocks;
	bool cut = counted && l->count >= COUNT_SHORT;

	if (!counted && !some)
		return;
	cp_buf_str(g->out, some || cut ? "<b title=\"" : "<b");
	if (cut) {
		cp_add_count(g->out, l->count);
		cp_buf_str(g->out, some ? " times; " : " times");
	}
	if (some)
		cp_buf_printf(g->out, "%u of its %u blocks ran", l->blocks_covered, l->blocks);
	cp_buf_str(g->out, some || cut ? "\">" : ">");
	if (counted)
		add_short(g->out, l->count);
	cp_buf_str(g->out, "</b>");
}

/* How many tests reached the line, and which. */
static void write_tests(struct page *g, const struct cp_covered_line *l)
{
	size_t all = cp_tests_count(l->tests, g->c->test_count), told = 0, i;

	if (!all)
		return;
	cp_buf_str(g->out, "<span class=t title=\"reached by ");
	cp_add_plural(g->out, all, "test:", "tests:");
	for (i = 0; i < g->c->test_count && told < TESTS_TOLD; i++) {
		if (!cp_tests_has(l->tests, i))
			continue;
		cp_buf_str(g->out, "&#10;");
		text(g, g->c->tests[i]);
		told++;
	}
	if (told < all)
		cp_buf_printf(g->out, "&#10;and %zu more", all - told);
	cp_buf_printf(g->out, "\">%zu</span>", all);
}

static void begin_line(struct page *g, uint32_t n, const char *classes)
{
	if (!g->chunk)
		cp_buf_printf(g->out, "<div class=k><ol start=%u>\n", n);
	g->chunk++;
	cp_buf_printf(g->out, "<li id=L%u", n);
	if (n > g->last) /* lines are left out */
		cp_buf_printf(g->out, " value=%u", n);
	if (classes[0] && classes[1])
		cp_buf_printf(g->out, " class=\"%s\"", classes);
	else if (classes[0])
		cp_buf_printf(g->out, " class=%s", classes);
	cp_buf_u8(g->out, '>');
}

static void end_chunk(struct page *g)
{
	if (g->chunk)
		cp_buf_str(g->out, "</ol></div>\n");
	g->chunk = 0;
}

static void write_text(struct page *g, uint32_t n)
{
	size_t size = 0, shown;
	const char *line;

	if (!g->source)
		return;
	if (n > g->last) {
		cp_buf_str(g->out, "<em>the source has no such line</em>");
		return;
	}
	line = cp_sources_line(g->source, n, &size);
	if (n == 1 && size >= 3 && !memcmp(line, "\xef\xbb\xbf", 3)) {
		line += 3;
		size -= 3;
	}
	shown = size;
	if (size > LINE_LONGEST) /* not in the middle of a character */
		for (shown = LINE_LONGEST; shown && (line[shown] & 0xc0) == 0x80; shown--)
			;
	cp_pages_text(g->out, line, shown);
	if (shown < size)
		cp_buf_printf(g->out, "<em> … %zu bytes more</em>", size - shown);
}

static uint8_t source_marks(const struct page *g, uint32_t n)
{
	const struct cp_source_file *source = g->f->source; /* not one read for this page */

	return source && n && n <= source->marks.count ? source->marks.items[n - 1] : 0;
}

/* The coverage of line `n`; NULL: it has no code. */
static const struct cp_covered_line *covered_line(struct page *g, uint32_t n)
{
	while (g->next < g->f->lines.count && g->f->lines.items[g->next].line < n)
		g->next++;
	return g->next < g->f->lines.count && g->f->lines.items[g->next].line == n
		       ? &g->f->lines.items[g->next]
		       : NULL;
}

static enum mark line_mark(struct page *g, uint32_t n, const struct cp_covered_line *l,
			   bool *changed_ret)
{
	uint8_t marks = source_marks(g, n);

	*changed_ret = (l && l->flags & CP_COVERED_CHANGED) || marks & CP_LINE_CHANGED;
	if (l)
		return mark_of(g, l);
	return marks & CP_LINE_EXCLUDED ? EXCLUDED : NONE;
}

static void write_line(struct page *g, uint32_t n)
{
	const struct cp_covered_line *l = covered_line(g, n);
	char classes[8], *at = classes;
	bool changed, uncertain = l && l->flags & CP_COVERED_SHARED;
	enum mark mark = line_mark(g, n, l, &changed);

	if (mark != NONE)
		*at++ = mark_class[mark];
	if (uncertain && at > classes)
		*at++ = ' ';
	if (uncertain)
		*at++ = 'u';
	if (changed && at > classes)
		*at++ = ' ';
	if (changed)
		*at++ = 'd';
	*at = 0;
	begin_line(g, n, classes);
	if (l) {
		write_count(g, l);
		if (mark != REMOVED && mark != EXCLUDED)
			write_branches(g, l);
		if (mark != REMOVED && mark != EXCLUDED)
			write_tests(g, l);
	}
	write_text(g, n);
	cp_buf_u8(g->out, '\n');
	if (g->chunk == CHUNK)
		end_chunk(g);
	cp_sink_spill(g->sink);
}

/* ---- the whole file at a glance ---- */

/* The line after `n`: of the source, then those that are only known of. 0: none. */
static uint32_t next_line(struct page *g, uint32_t n)
{
	if (n < g->last)
		return n + 1;
	covered_line(g, n < UINT32_MAX ? n + 1 : n);
	return g->next < g->f->lines.count ? g->f->lines.items[g->next].line : 0;
}

static void survey(struct page *g)
{
	const struct cp_covered_line *l;
	enum mark mark;
	bool changed;
	uint32_t n;
	size_t row;

	for (n = next_line(g, 0); n; n = next_line(g, n)) {
		l = covered_line(g, n);
		mark = line_mark(g, n, l, &changed);
		g->marks[mark]++;
		g->uncertain += l && l->flags & CP_COVERED_SHARED;
		g->changed += changed;
		if (n > g->last)
			continue;
		row = g->last <= STRIP_ROWS ? n - 1 : (size_t)(n - 1) * STRIP_ROWS / g->last;
		g->strip[row][mark]++;
	}
	g->next = 0;
}

struct part {
	unsigned from, width;
};

/* The part of a row that a mark has; the best marks are on the left. */
static struct part strip_part(const struct page *g, size_t row, enum mark mark)
{
	const uint32_t *lines = g->strip[row];
	uint64_t all = 0, before = 0;
	struct part part;
	int i;

	for (i = COVERED; i < MARKS; i++) {
		all += lines[i];
		before += i < (int)mark ? lines[i] : 0;
	}
	if (!lines[mark])
		return (struct part){ 0, 0 };
	/* A part at the very end is moved in, so that it is seen. */
	part.from = (unsigned)(before * STRIP_WIDTH / all);
	if (part.from == STRIP_WIDTH)
		part.from--;
	part.width = (unsigned)((before + lines[mark]) * STRIP_WIDTH / all) - part.from;
	return part;
}

static void draw_strip(struct page *g, size_t rows, enum mark mark)
{
	struct part part, next;
	bool any = false;
	size_t i, from;

	for (i = 0; i < rows; i++) {
		part = strip_part(g, i, mark);
		if (!part.width)
			continue;
		for (from = i; i + 1 < rows; i++) {
			next = strip_part(g, i + 1, mark);
			if (next.from != part.from || next.width != part.width)
				break;
		}
		if (!any)
			cp_buf_printf(g->out, "<path class=\"%c\" d=\"", mark_class[mark]);
		cp_buf_printf(g->out, "M%u %zuh%uv%zuh-%uz", part.from, from, part.width,
			      i + 1 - from, part.width);
		any = true;
	}
	if (any)
		cp_buf_str(g->out, "\"/>");
}

static void write_strip(struct page *g)
{
	size_t rows = g->last < STRIP_ROWS ? g->last : STRIP_ROWS;
	int mark;

	if (!rows)
		return;
	cp_buf_printf(g->out,
		      "<svg id=\"strip\" viewBox=\"0 0 %d %zu\" preserveAspectRatio=\"none\" "
		      "aria-hidden=\"true\">",
		      STRIP_WIDTH, rows);
	for (mark = COVERED; mark < MARKS; mark++)
		draw_strip(g, rows, (enum mark)mark);
	cp_buf_str(g->out, "</svg>\n");
}

static void legend_entry(struct page *g, char mark, uint64_t lines, const char *what,
			 const char *title)
{
	if (!lines)
		return;
	cp_buf_printf(g->out, "<li class=\"%c\" title=\"%s\"><span>%s</span> <b>", mark, title,
		      what);
	cp_add_count(g->out, lines);
	cp_buf_str(g->out, "</b></li>\n");
}

static void write_legend(struct page *g)
{
	cp_buf_str(g->out, "<ul class=\"legend\" aria-label=\"Marks of lines\">\n");
	legend_entry(g, 'x', g->marks[MISSED], "not covered", "nothing of these lines ran");
	legend_entry(g, 'p', g->marks[PARTLY], "partly",
		     "ran, but not in all directions of their branches");
	legend_entry(g, 'c', g->marks[COVERED], "covered", "ran");
	legend_entry(g, 'q', g->marks[UNKNOWN], "unknown", "it can't be told whether these ran");
	legend_entry(g, 'u', g->uncertain, "uncertain",
		     "the compiler merged or moved their code; it may be another line's");
	legend_entry(g, 'r', g->marks[REMOVED], "removed",
		     "the compiler left no code of these; in no total");
	legend_entry(g, 'e', g->marks[EXCLUDED], "excluded",
		     "by a marker or an option; in no total");
	legend_entry(g, 'd', g->changed, "changed", "since the revision of --diff");
	cp_buf_str(g->out, "</ul>\n");
}

/* ---- the page ---- */

static void write_notes(struct page *g)
{
	cp_buf_str(g->out, "<ul class=\"notes\">\n");
	if (!g->source) {
		cp_buf_str(g->out, "<li class=\"warn\">The source can't be read: <code>");
		text(g, g->f->path);
		cp_buf_str(g->out, "</code>. Only lines that have code are listed, without text. "
				   "<code>--path-map=OLD=NEW</code> says where it is now.</li>\n");
	} else if (g->f->newer) {
		cp_buf_str(g->out,
			   "<li class=\"warn\">The source was changed after the program was "
			   "built: lines may be off. Build again and repeat.</li>\n");
	}
	cp_pages_notes(g->out, g->c, &g->f->totals);
	cp_buf_str(g->out, "</ul>\n");
}

static void write_head(struct page *g)
{
	const struct cp_coverage_totals *t = &g->f->totals;

	cp_buf_str(g->out, "<header><nav><a href=\"index.html\">Coverage</a></nav>\n<h1>");
	text(g, g->f->name);
	cp_buf_str(g->out, "</h1></header>\n<main>\n");
	cp_pages_totals(g->out, g->c, t, &g->f->changed);
	write_notes(g);
	if (g->f->functions.count) {
		cp_buf_printf(g->out, "<details%s><summary><h2>Functions <small>",
			      g->f->functions.count <= 12 ? " open" : "");
		cp_add_count(g->out, t->functions_covered);
		cp_buf_str(g->out, " of ");
		cp_add_count(g->out, t->functions);
		cp_buf_str(g->out, " ran</small></h2></summary>\n<div class=\"wide\">");
		cp_pages_functions(g->sink, g->c, g->f->functions.items, g->f->functions.count,
				   true);
		cp_buf_str(g->out, "</div></details>\n");
	}
}

/* What each test reached of this file, and what no other one with a name did. */
static void write_test_table(struct page *g)
{
	const struct cp_covered_line *l;
	size_t i;

	if (!g->c->test_count)
		return;
	cp_buf_printf(g->out,
		      "<details%s><summary><h2>Tests <small>%zu: the number at a line "
		      "is how many reached it</small></h2></summary>\n"
		      "<div class=\"wide\"><table class=\"list\" id=\"tests\"><thead><tr>"
		      "<th scope=\"col\">Test</th><th scope=\"col\" class=\"n\">Lines</th>"
		      "<th scope=\"col\" class=\"n\">By it alone</th></tr></thead><tbody>\n",
		      g->c->test_count <= 12 ? " open" : "", g->c->test_count);
	for (i = 0; i < g->c->test_count; i++) {
		uint64_t lines = 0, alone = 0;

		cp_vec_for_each(&g->f->lines, l) {
			bool is = cp_line_counts(l) && cp_tests_has(l->tests, i);

			lines += is;
			alone += is && cp_tests_count(l->tests, g->c->test_count) == 1;
		}
		cp_buf_str(g->out, "<tr><td class=\"name\">");
		text(g, g->c->tests[i]);
		cp_buf_printf(g->out,
			      "</td><td class=\"n\">%" PRIu64 "</td><td class=\"n\">%" PRIu64
			      "</td></tr>\n",
			      lines, alone);
		cp_sink_spill(g->sink);
	}
	cp_buf_str(g->out, "</tbody></table></div>");
	if (g->c->tests_left_out)
		cp_buf_printf(g->out, "<p>%zu more tests are left out.</p>", g->c->tests_left_out);
	cp_buf_str(g->out, "</details>\n");
}

static void destroy_sources(struct cp_sources **own)
{
	cp_sources_destroy(*own);
}

/* The text that the marks were found in, or, where none was looked for, what
 * lies at its path. */
static CP_ERROR find_source(struct page *g, struct cp_sources **own)
{
	static const struct cp_source_rules none;

	if (!g->f->missing)
		g->source = g->f->source;
	if (!g->source && !g->f->missing) {
		CP_TRY(cp_sources_create(&none, own));
		g->source = cp_sources_file(*own, g->f->path);
	}
	if (g->source && !g->source->text)
		g->source = NULL;
	if (g->source)
		g->last = (uint32_t)g->source->starts.count;
	return NULL;
}

CP_ERROR cp_pages_file(struct cp_pages *pages, struct cp_sink *sink, const void *what)
{
	const struct cp_covered_file *f = what;
	struct page g = { .c = pages->c, .f = f, .sink = sink, .out = &sink->buf };
	struct cp_sources *own CP_CLEANUP(destroy_sources) = NULL;
	uint32_t n;

	CP_TRY(find_source(&g, &own));
	survey(&g);
	write_head(&g);
	write_test_table(&g);
	cp_buf_str(g.out, "<section id=\"source\"><h2>Source</h2>\n<div id=\"tools\">");
	write_legend(&g);
	cp_buf_str(g.out, "</div>\n<div id=\"code\">\n");
	for (n = next_line(&g, 0); n; n = next_line(&g, n))
		write_line(&g, n);
	end_chunk(&g);
	cp_buf_str(g.out, "</div></section>\n");
	write_strip(&g);
	cp_buf_str(g.out, "</main>\n");
	return NULL;
}
