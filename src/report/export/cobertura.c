/* SPDX-License-Identifier: MIT
 *
 * Cobertura's XML (coverage-04.dtd), for GitLab, Jenkins, Azure, diff-cover.
 *
 *     coverage ─► sources ─► source: the root
 *              └► packages ─► package: a directory ─► classes ─► class: a file
 *                   class ─► methods ─► method: a function ─► the line it is
 *                         │                declared at, hit as often as entered
 *                         └► lines ─► line ─► conditions ─► condition: a jump
 *
 * Methods have no more lines than that: all of them again would double the
 * file, and GitLab takes 10 MiB.
 *
 * A jump with one direction unknown is judged by the other one, one with both
 * unknown is left out. Names of files are relative to the root where they lie
 * below it.
 */
#include "report/export/cobertura.h"

#include <cprof/types.h>
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "report/coverage/coverage.h"
#include "report/coverage/covered.h"
#include "report/look/sink.h"

struct cobertura {
	const struct cp_coverage *c;
	struct cp_sink *sink;
	struct cp_buf *out; /* the sink's */
};

static void write_text(struct cobertura *x, const char *text)
{
	cp_escape(x->out, CP_ESCAPE_XML, text, strlen(text));
}

/* Never 1 unless all are covered, nor 0 unless none is: digits enough. */
static void write_rate(struct cobertura *x, const char *name, uint64_t covered, uint64_t of)
{
	cp_buf_printf(x->out, " %s=\"%.10g\"", name, of ? (double)covered / (double)of : 1.0);
}

static void write_rates(struct cobertura *x, const struct cp_coverage_totals *t)
{
	write_rate(x, "line-rate", t->lines_covered, t->lines);
	write_rate(x, "branch-rate", t->branches_covered, t->branches);
}

/* ---- lines ---- */

/* In whole percent, 100 only when all are covered. */
static uint64_t percent(const struct cp_directions *d)
{
	return d->covered * 100 / d->known;
}

static void write_conditions(struct cobertura *x, const struct cp_covered_file *f,
			     const struct cp_covered_line *line)
{
	const struct cp_covered_branch *b;

	cp_buf_str(x->out, "<conditions>");
	cp_branches_for_each(f, line, b)
	{
		struct cp_directions d = cp_branch_directions(b);

		if (!d.known)
			continue;
		cp_buf_str(x->out, "<condition number=\"");
		cp_buf_decimal(x->out, b->number);
		cp_buf_str(x->out, "\" type=\"jump\" coverage=\"");
		cp_buf_decimal(x->out, percent(&d));
		cp_buf_str(x->out, "%\"/>");
	}
	cp_buf_str(x->out, "</conditions></line>\n");
}

static void write_line(struct cobertura *x, const struct cp_covered_file *f,
		       const struct cp_covered_line *line)
{
	struct cp_directions d = cp_line_directions(f, line);

	if (!cp_line_counts(line))
		return;
	cp_buf_str(x->out, "<line number=\"");
	cp_buf_decimal(x->out, line->line);
	cp_buf_str(x->out, "\" hits=\"");
	cp_buf_decimal(x->out, line->count);
	if (!d.known) {
		cp_buf_str(x->out, "\" branch=\"false\"/>\n");
	} else {
		cp_buf_str(x->out, "\" branch=\"true\" condition-coverage=\"");
		cp_buf_decimal(x->out, percent(&d));
		cp_buf_str(x->out, "% (");
		cp_buf_decimal(x->out, d.covered);
		cp_buf_u8(x->out, '/');
		cp_buf_decimal(x->out, d.known);
		cp_buf_str(x->out, ")\">");
		write_conditions(x, f, line);
	}
	cp_sink_spill(x->sink);
}

/* ---- methods ---- */

/* The sums of the lines from `from` to `to`. */
static struct cp_coverage_totals lines_between(const struct cp_covered_file *f, uint32_t from,
					       uint32_t to)
{
	struct cp_coverage_totals t = { 0 };
	size_t low = 0, high = f->lines.count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (f->lines.items[middle].line < from)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < f->lines.count && f->lines.items[low].line <= to; low++)
		cp_totals_add_line(&t, f, &f->lines.items[low]);
	return t;
}

/* Up to where the next one begins: one that lies inside has its own lines. */
static uint32_t last_line(const struct cp_covered_file *f, size_t i)
{
	uint32_t line = f->functions.items[i].line, end = f->functions.items[i].end_line;

	while (++i < f->functions.count && f->functions.items[i].line == line)
		;
	if (i < f->functions.count && f->functions.items[i].line <= end)
		return f->functions.items[i].line - 1;
	return end;
}

static void write_method(struct cobertura *x, const struct cp_covered_file *f, size_t i,
			 const char *name)
{
	const struct cp_covered_function *function = &f->functions.items[i];
	struct cp_coverage_totals t = lines_between(f, function->line, last_line(f, i));

	cp_buf_str(x->out, "<method name=\"");
	write_text(x, name);
	cp_buf_str(x->out, "\" signature=\"\"");
	write_rates(x, &t);
	cp_buf_printf(x->out,
		      " complexity=\"0\"><lines><line number=\"%u\" hits=\"%" PRIu64
		      "\"/></lines></method>\n",
		      function->line, function->count);
	cp_sink_spill(x->sink);
}

static CP_ERROR write_methods(struct cobertura *x, const struct cp_covered_file *f)
{
	struct cp_function_names names CP_CLEANUP(cp_function_names_free) = { 0 };
	const char *name;
	size_t i;

	cp_buf_str(x->out, "<methods>\n");
	for (i = 0; i < f->functions.count; i++) {
		const struct cp_covered_function *function = &f->functions.items[i];

		if (!cp_function_counts(function))
			continue;
		name = cp_function_names_add(&names, function->name, function->line);
		if (!name)
			return cp_error_nomem();
		write_method(x, f, i, name);
	}
	cp_buf_str(x->out, "</methods>\n");
	return NULL;
}

/* ---- files ---- */

static CP_ERROR write_class(struct cobertura *x, const struct cp_covered_file *f)
{
	const struct cp_covered_line *line;

	cp_buf_str(x->out, "<class name=\"");
	write_text(x, cp_basename(f->name));
	cp_buf_str(x->out, "\" filename=\"");
	write_text(x, f->name);
	cp_buf_u8(x->out, '"');
	write_rates(x, &f->totals);
	cp_buf_str(x->out, " complexity=\"0\">\n");
	CP_TRY(write_methods(x, f));
	cp_buf_str(x->out, "<lines>\n");
	cp_vec_for_each(&f->lines, line)
		write_line(x, f, line);
	cp_add_uncertain(x->out, f, "<!-- ", " -->\n");
	cp_buf_str(x->out, "</lines>\n</class>\n");
	return NULL;
}

static size_t directory_size(const char *name)
{
	return (size_t)(cp_basename(name) - name);
}

static bool same_directory(const struct cp_covered_file *a, const struct cp_covered_file *b)
{
	size_t size = directory_size(a->name);

	return size == directory_size(b->name) && !memcmp(a->name, b->name, size);
}

static void begin_package(struct cobertura *x, const struct cp_covered_file *f,
			  const struct cp_coverage_totals *t)
{
	size_t size = directory_size(f->name);

	cp_buf_str(x->out, "<package name=\"");
	if (size)
		cp_escape(x->out, CP_ESCAPE_XML, f->name, size > 1 ? size - 1 : size);
	else
		cp_buf_u8(x->out, '.');
	cp_buf_u8(x->out, '"');
	write_rates(x, t);
	cp_buf_str(x->out, " complexity=\"0\">\n<classes>\n");
}

/* The files of the directory of files[from] that were not written yet: in the
 * order of names, those of directories below may stand between. */
static CP_ERROR write_package(struct cobertura *x, size_t from, bool *written)
{
	const struct cp_covered_file *files = x->c->files.items, *f = &files[from];
	struct cp_coverage_totals total = { 0 };
	size_t count = x->c->files.count, size = directory_size(f->name), i;

	for (i = from; i < count && !strncmp(files[i].name, f->name, size); i++) {
		if (!same_directory(&files[i], f))
			continue;
		cp_totals_add(&total, &files[i].totals);
	}
	begin_package(x, f, &total);
	for (i = from; i < count && !strncmp(files[i].name, f->name, size); i++) {
		if (!same_directory(&files[i], f) || !cp_is_written(&files[i]))
			continue;
		written[i] = true;
		CP_TRY(write_class(x, &files[i]));
	}
	cp_buf_str(x->out, "</classes>\n</package>\n");
	return NULL;
}

static CP_ERROR write_packages(struct cobertura *x)
{
	CP_FREE bool *written = calloc(x->c->files.count + 1, sizeof(*written));
	size_t i;

	if (!written)
		return cp_error_nomem();
	cp_buf_str(x->out, "<packages>\n");
	for (i = 0; i < x->c->files.count; i++)
		if (!written[i] && cp_is_written(&x->c->files.items[i]))
			CP_TRY(write_package(x, i, written));
	cp_buf_str(x->out, "</packages>\n");
	return NULL;
}

static void write_head(struct cobertura *x)
{
	struct cp_coverage_totals total = { 0 };
	const struct cp_covered_file *f;

	cp_vec_for_each(&x->c->files, f)
		cp_totals_add(&total, &f->totals);
	cp_buf_str(x->out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
			   "<!DOCTYPE coverage SYSTEM "
			   "\"http://cobertura.sourceforge.net/xml/coverage-04.dtd\">\n<coverage");
	write_rates(x, &total);
	cp_buf_printf(x->out,
		      " lines-covered=\"%" PRIu64 "\" lines-valid=\"%" PRIu64
		      "\" branches-covered=\"%" PRIu64 "\" branches-valid=\"%" PRIu64 "\"",
		      total.lines_covered, total.lines, total.branches_covered, total.branches);
	cp_buf_printf(x->out,
		      " complexity=\"0\" version=\"cprof " CPROF_VERSION "\" timestamp=\"%" PRIu64
		      "\">\n",
		      x->c->timestamp_ns / 1000000);
	cp_buf_str(x->out, "<sources>\n<source>");
	write_text(x, x->c->root && *x->c->root ? x->c->root : ".");
	cp_buf_str(x->out, "</source>\n</sources>\n");
}

CP_ERROR cp_coverage_cobertura(const struct cp_coverage *c, struct cp_sink *sink)
{
	struct cobertura x = { .c = c, .sink = sink, .out = &sink->buf };

	write_head(&x);
	CP_TRY(write_packages(&x));
	cp_buf_str(x.out, "</coverage>\n");
	return NULL;
}
