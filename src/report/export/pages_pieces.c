/* SPDX-License-Identifier: MIT
 *
 * What the pages of coverage have in common: percents, bars, totals in words,
 * tables of functions.
 */
#include "report/export/pages_pieces.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "report/coverage/coverage.h"
#include "report/look/sink.h"
#include "report/look/table.h"
#include "report/profile/left.h"

void cp_pages_text(struct cp_buf *out, const char *raw, size_t size)
{
	const char *tab;

	while ((tab = memchr(raw, '\t', size))) {
		cp_escape(out, CP_ESCAPE_XML, raw, (size_t)(tab - raw));
		cp_buf_u8(out, '\t');
		size -= (size_t)(tab - raw) + 1;
		raw = tab + 1;
	}
	cp_escape(out, CP_ESCAPE_XML, raw, size);
}

/* Rounded as in the table on a terminal; but what is not all is never 100, and
 * what is not nothing never 0. */
static double percent(uint64_t covered, uint64_t of)
{
	double share = of ? cp_coverage_percent(covered, of) : 0;

	if (covered < of && share > 99.9)
		return 99.9;
	return covered && share < 0.1 ? 0.1 : share;
}

void cp_pages_percent(struct cp_buf *out, uint64_t covered, uint64_t of)
{
	if (of)
		cp_buf_printf(out, "%.1f%%", percent(covered, of));
	else
		cp_buf_str(out, "–");
}

/* A picture, since a policy may forbid styles of elements. */
void cp_pages_bar(struct cp_buf *out, uint64_t covered, uint64_t of)
{
	cp_buf_printf(out,
		      "<svg class=\"bar%s\" aria-hidden=\"true\"><rect width=\"%.1f%%\" "
		      "height=\"100%%\"/></svg>",
		      of ? "" : " none", percent(covered, of));
}

static void unknown(struct cp_buf *out, uint64_t count)
{
	if (!count)
		return;
	cp_buf_str(out, ", ");
	cp_add_count(out, count);
	cp_buf_str(out, " unknown");
}

static void cell(struct cp_buf *out, uint64_t covered, uint64_t of, uint64_t of_it_unknown)
{
	if (!of) {
		cp_buf_str(out, "<td class=\"n\" data-v=\"-1\">–</td>");
		return;
	}
	cp_buf_printf(out, "<td class=\"n\" data-v=\"%.6f\">", (double)covered / (double)of);
	cp_pages_percent(out, covered, of);
	cp_buf_str(out, " <small>");
	cp_add_count(out, covered);
	cp_buf_str(out, "/");
	cp_add_count(out, of);
	unknown(out, of_it_unknown);
	cp_buf_str(out, "</small></td>");
}

void cp_pages_cell(struct cp_buf *out, uint64_t covered, uint64_t of)
{
	cell(out, covered, of, 0);
}

void cp_pages_branches(struct cp_buf *out, const struct cp_coverage_totals *t)
{
	cell(out, t->branches_covered, cp_branches_all(t), t->branches_unknown);
}

/* ---- totals ---- */

static void total(struct cp_buf *out, const char *id, const char *title, uint64_t covered,
		  uint64_t of, uint64_t of_it_unknown, const char *none)
{
	cp_buf_printf(out,
		      "<li id=\"total-%s\" data-covered=\"%" PRIu64 "\" data-of=\"%" PRIu64 "\">"
		      "<span>%s</span> <strong>",
		      id, covered, of, title);
	cp_pages_percent(out, covered, of);
	cp_buf_str(out, "</strong> ");
	cp_pages_bar(out, covered, of);
	cp_buf_str(out, " <small>");
	if (of) {
		cp_add_count(out, covered);
		cp_buf_str(out, " of ");
		cp_add_count(out, of);
		unknown(out, of_it_unknown);
	} else {
		cp_buf_str(out, none);
	}
	cp_buf_str(out, "</small></li>\n");
}

void cp_pages_totals(struct cp_buf *out, const struct cp_coverage *c,
		     const struct cp_coverage_totals *t, const struct cp_coverage_totals *changed)
{
	cp_buf_str(out, "<ul class=\"totals\" aria-label=\"Totals\">\n");
	total(out, "lines", "Lines", t->lines_covered, t->lines, 0, "none");
	total(out, "branches", "Branches", t->branches_covered,
	      c->no_branches ? 0 : cp_branches_all(t), t->branches_unknown,
	      c->no_branches ? "not watched" : "none");
	total(out, "functions", "Functions", t->functions_covered, t->functions, 0, "none");
	total(out, "blocks", "Blocks", t->blocks_covered, t->blocks, 0, "none");
	if (changed && changed->lines)
		total(out, "changed", "Changed lines", changed->lines_covered, changed->lines, 0,
		      "none");
	cp_buf_str(out, "</ul>\n");
}

static void note_left(struct cp_buf *out, const struct cp_coverage *c)
{
	struct cp_buf left = { 0 };

	cp_lefts_add(&left, &c->left);
	if (left.size) {
		cp_buf_str(out, "<li class=\"warn\">");
		cp_pages_text(out, left.bytes, left.size);
		cp_buf_str(out, ". What is reached later is shown as not covered.</li>\n");
	}
	out->failed |= left.failed;
	cp_buf_free(&left);
}

void cp_pages_notes(struct cp_buf *out, const struct cp_coverage *c,
		    const struct cp_coverage_totals *t)
{
	note_left(out, c);
	if (c->counted && c->optimised)
		cp_buf_str(out, "<li>Code is optimised: it was run as often as said, its lines may "
				"have been more or less often.</li>\n");
	if (t->uncertain) {
		cp_buf_str(out, "<li>");
		cp_add_plural(out, t->uncertain, "line is", "lines are");
		cp_buf_str(out, " uncertain: the compiler merged or moved that code, so what is "
				"said of it may be true of other lines.</li>\n");
	}
	if (t->removed) {
		cp_buf_str(out, "<li>");
		cp_add_plural(out, t->removed, "line or function has", "lines or functions have");
		cp_buf_str(out, " no code in the program: the compiler removed it. "
				"Counted in no total.</li>\n");
	}
	if (t->branches_unknown && !c->no_branches) {
		cp_buf_str(out, "<li>");
		cp_add_plural(out, t->branches_unknown, "branch direction is",
			      "branch directions are");
		cp_buf_str(out, " unknown: not seen before watching ended. Part of all, but not "
				"taken; files for other tools leave them out.");
		if (!c->exact_branches)
			cp_buf_str(out,
				   " <code>--branches=exact</code> watches on, and takes longer.");
		cp_buf_str(out, "</li>\n");
	}
}

/* ---- functions ---- */

static void function_name(struct cp_buf *out, const struct cp_covered_function *f, bool lines)
{
	const char *name = *f->name ? f->name : "(no name)";

	cp_buf_str(out, "<td class=\"name\">");
	if (lines && f->line)
		cp_buf_printf(out, "<a href=\"#L%u\">", f->line);
	cp_pages_text(out, name, strlen(name));
	if (lines && f->line)
		cp_buf_str(out, "</a>");
	if (f->flags & CP_COVERED_REMOVED)
		cp_buf_str(out, " <small class=\"tag\">no code left</small>");
	if (f->flags & CP_COVERED_EXCLUDED)
		cp_buf_str(out, " <small class=\"tag\">excluded</small>");
	if (f->flags & CP_COVERED_SHARED)
		cp_buf_str(out, " <small class=\"tag\">uncertain</small>");
	cp_buf_str(out, "</td>");
}

static const char *function_class(const struct cp_covered_function *f)
{
	if (f->flags & CP_COVERED_REMOVED)
		return "r";
	if (f->flags & CP_COVERED_EXCLUDED)
		return "e";
	if (f->count == CP_COVERAGE_UNKNOWN)
		return "q";
	if (!f->count)
		return "x";
	return f->blocks_covered < f->blocks ? "p" : "c";
}

/* The cell that says whether a function ran, in a word or a number. */
static void function_count(struct cp_buf *out, const struct cp_coverage *c,
			   const struct cp_covered_function *f)
{
	bool gone = (f->flags & CP_COVERED_REMOVED) != 0;

	cp_buf_printf(out, "<td class=\"n\" data-v=\"%" PRIu64 "\">",
		      gone || f->count == CP_COVERAGE_UNKNOWN ? 0 : f->count);
	if (gone)
		cp_buf_str(out, "–");
	else if (f->count == CP_COVERAGE_UNKNOWN)
		cp_buf_str(out, "unknown");
	else if (c->counted)
		cp_add_count(out, f->count);
	else
		cp_buf_str(out, f->count ? "yes" : "no");
	cp_buf_str(out, "</td>");
}

void cp_pages_functions(struct cp_sink *sink, const struct cp_coverage *c,
			const struct cp_covered_function *functions, size_t count, bool lines)
{
	struct cp_buf *out = &sink->buf;
	size_t i;

	cp_buf_printf(out,
		      "<table class=\"list\" id=\"functions\"><thead><tr><th scope=\"col\">Function"
		      "</th>%s<th scope=\"col\" class=\"n\">%s</th><th></th>"
		      "<th scope=\"col\" class=\"n\">Blocks</th></tr></thead><tbody>\n",
		      lines ? "<th scope=\"col\" class=\"n\">Line</th>" : "",
		      c->counted ? "Calls" : "Called");
	for (i = 0; i < count; i++) {
		const struct cp_covered_function *f = &functions[i];
		uint32_t blocks = f->flags & CP_COVERED_REMOVED ? 0 : f->blocks;

		cp_buf_printf(out, "<tr class=\"%s\">", function_class(f));
		function_name(out, f, lines);
		if (lines && f->line)
			cp_buf_printf(out, "<td class=\"n\" data-v=\"%u\">%u</td>", f->line,
				      f->line);
		else if (lines)
			cp_buf_str(out, "<td class=\"n\" data-v=\"0\">–</td>");
		function_count(out, c, f);
		cp_buf_str(out, "<td>");
		cp_pages_bar(out, f->blocks_covered, blocks);
		cp_buf_str(out, "</td>");
		cp_pages_cell(out, f->blocks_covered, blocks);
		cp_buf_str(out, "</tr>\n");
		cp_sink_spill(sink);
	}
	cp_buf_str(out, "</tbody></table>\n");
}
