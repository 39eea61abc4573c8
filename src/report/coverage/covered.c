/* SPDX-License-Identifier: MIT */
#include "report/coverage/covered.h"

#include <string.h>

#include "report/coverage/coverage.h"

#define NOT_COUNTED (CP_COVERED_EXCLUDED | CP_COVERED_REMOVED | CP_COVERED_NO_BRANCHES)

const struct cp_covered_branch *cp_next_branch(const struct cp_covered_file *f,
					       const struct cp_covered_line *line,
					       const struct cp_covered_branch *after)
{
	size_t i = after ? (size_t)(after - f->branches.items) + 1 : line->first_branch;
	size_t end = (size_t)line->first_branch + line->branch_count;

	if ((line->flags & NOT_COUNTED) || line->count == CP_COVERAGE_UNKNOWN)
		return NULL;
	for (; i < end && i < f->branches.count; i++)
		if (!(f->branches.items[i].flags & NOT_COUNTED))
			return &f->branches.items[i];
	return NULL;
}

static void add_direction(struct cp_directions *d, uint64_t count)
{
	d->known += count != CP_COVERAGE_UNKNOWN;
	d->covered += cp_is_covered(count);
}

struct cp_directions cp_branch_directions(const struct cp_covered_branch *b)
{
	struct cp_directions d = { 0 };

	add_direction(&d, b->taken);
	add_direction(&d, b->passed);
	return d;
}

struct cp_directions cp_line_directions(const struct cp_covered_file *f,
					const struct cp_covered_line *line)
{
	const struct cp_covered_branch *b;
	struct cp_directions d = { 0 };

	cp_branches_for_each(f, line, b)
	{
		add_direction(&d, b->taken);
		add_direction(&d, b->passed);
	}
	return d;
}

static const struct cp_covered_line *next_uncertain(const struct cp_covered_file *f,
						    const struct cp_covered_line *line)
{
	while (line < f->lines.items + f->lines.count && !cp_line_is_uncertain(line))
		line++;
	return line;
}

void cp_add_uncertain(struct cp_buf *out, const struct cp_covered_file *f, const char *before,
		      const char *after)
{
	const struct cp_covered_line *end, *line, *last;

	if (!f->lines.count)
		return;
	end = f->lines.items + f->lines.count;
	line = next_uncertain(f, f->lines.items);
	if (line == end)
		return;
	cp_buf_str(out, before);
	cp_buf_str(out, "cprof: uncertain lines:");
	for (; line < end; line = next_uncertain(f, last + 1)) {
		for (last = line; last + 1 < end && cp_line_is_uncertain(last + 1) &&
				  last[1].line == last->line + 1;)
			last++;
		cp_buf_u8(out, ' ');
		cp_buf_decimal(out, line->line);
		if (last == line)
			continue;
		cp_buf_u8(out, '-');
		cp_buf_decimal(out, last->line);
	}
	cp_buf_str(out, after);
}

void cp_totals_add_line(struct cp_coverage_totals *to, const struct cp_covered_file *f,
			const struct cp_covered_line *line)
{
	struct cp_directions d = cp_line_directions(f, line);

	to->lines += cp_line_counts(line);
	to->lines_covered += cp_line_counts(line) && cp_is_covered(line->count);
	to->branches += d.known;
	to->branches_covered += d.covered;
}

struct cp_coverage_totals cp_file_totals(const struct cp_covered_file *f)
{
	const struct cp_covered_function *function;
	const struct cp_covered_line *line;
	struct cp_coverage_totals t = { 0 };

	cp_vec_for_each(&f->lines, line)
		cp_totals_add_line(&t, f, line);
	cp_vec_for_each(&f->functions, function) {
		t.functions += cp_function_counts(function);
		t.functions_covered +=
			cp_function_counts(function) && cp_is_covered(function->count);
	}
	return t;
}

bool cp_is_written(const struct cp_covered_file *f)
{
	return f->totals.lines || f->totals.functions;
}

void cp_totals_add(struct cp_coverage_totals *to, const struct cp_coverage_totals *t)
{
	to->lines += t->lines;
	to->lines_covered += t->lines_covered;
	to->functions += t->functions;
	to->functions_covered += t->functions_covered;
	to->branches += t->branches;
	to->branches_covered += t->branches_covered;
}

/* ---- names ---- */

/* Interns what `text` holds; `fresh` says whether it was new. */
static bool intern(struct cp_function_names *n, uint32_t *id_ret, bool *fresh_ret)
{
	return !n->text.failed &&
	       cp_intern(&n->names, n->text.bytes, n->text.size, id_ret, fresh_ret);
}

const char *cp_function_names_add(struct cp_function_names *n, const char *name, uint32_t line)
{
	uint32_t id, number;
	uint64_t *times;
	bool fresh;

	if (!*name)
		name = "?";
	cp_buf_clear(&n->text);
	cp_buf_str(&n->text, name);
	if (!intern(n, &id, &fresh))
		return NULL;
	if (fresh)
		return n->text.bytes;
	cp_buf_printf(&n->text, "@%u", line);
	if (!intern(n, &number, &fresh))
		return NULL;
	while (!fresh) {
		times = cp_map_get(&n->again, number);
		uint64_t next = times ? *times + 1 : 2;

		if (!cp_map_put(&n->again, number, next))
			return NULL;
		cp_buf_clear(&n->text);
		cp_buf_printf(&n->text, "%s@%u#%llu", name, line, (unsigned long long)next);
		if (!intern(n, &id, &fresh))
			return NULL;
	}
	return n->text.bytes;
}

void cp_function_names_free(struct cp_function_names *n)
{
	cp_interner_free(&n->names);
	cp_map_free(&n->again);
	cp_buf_free(&n->text);
}
