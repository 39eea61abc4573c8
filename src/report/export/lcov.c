/* SPDX-License-Identifier: MIT
 *
 * The tracefile of lcov, for lcov, genhtml, Codecov, Coveralls and editors.
 *
 *     TN:parser                  SF:/src/a.c   the name of its one test, if it has one
 *     FN:3,main                  FNDA:1,main         FNF:1   FNH:1
 *     BRDA:5,0,0,1   jump 0 of line 5: taken         BRF:2   BRH:1
 *     BRDA:5,0,1,0   ... passed; `-`: the jump itself was never reached
 *     DA:5,1                     LF:1  LH:1          end_of_record
 *     # cprof: uncertain lines: 5     before that; its comments are ignored
 *
 * lcov up to 1.16 ends a function's name at a comma and knows no last lines of
 * functions; names are therefore those of the symbol table, which `genhtml
 * --demangle-cpp` makes readable. A direction that is unknown is left out:
 * lcov counts all that it finds. The numbers of jump and direction stay the
 * same, so that `lcov -a` adds up the right ones.
 */
#include "report/export/lcov.h"

#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "report/coverage/coverage.h"
#include "report/coverage/covered.h"
#include "report/look/sink.h"

/* A path is bytes; only what ends a line or steers a terminal can't stand. */
static void write_path(struct cp_buf *out, const char *path)
{
	for (; *path; path++) {
		if ((unsigned char)*path < ' ' || *path == 0x7f)
			cp_buf_printf(out, "\\x%02x", (unsigned)*path);
		else
			cp_buf_u8(out, (uint8_t)*path);
	}
}

static void function_name(const struct cp_covered_function *f, struct cp_buf *out)
{
	const char *name = f->linkage && *f->linkage ? f->linkage : f->name;
	char *p;

	cp_buf_clear(out);
	cp_escape(out, CP_ESCAPE_TERMINAL, name, strlen(name));
	for (p = out->bytes; p && *p; p++)
		if (*p == ',')
			*p = ';';
}

static CP_ERROR write_functions(const struct cp_covered_file *f, struct cp_sink *sink)
{
	struct cp_function_names names CP_CLEANUP(cp_function_names_free) = { 0 };
	struct cp_buf wanted CP_CLEANUP(cp_buf_free) = { 0 };
	const struct cp_covered_function *function;
	const char *name;

	cp_vec_for_each(&f->functions, function) {
		if (!cp_function_counts(function))
			continue;
		function_name(function, &wanted);
		name = wanted.failed ? NULL
				     : cp_function_names_add(&names, wanted.bytes, function->line);
		if (!name)
			return cp_error_nomem();
		cp_buf_printf(&sink->buf, "FN:%u,%s\nFNDA:%" PRIu64 ",%s\n",
			      function->line ? function->line : 1, name, function->count, name);
		cp_sink_spill(sink);
	}
	return NULL;
}

static void write_direction(const struct cp_covered_branch *b, unsigned direction, uint64_t count,
			    struct cp_sink *sink)
{
	struct cp_buf *out = &sink->buf;

	if (count == CP_COVERAGE_UNKNOWN)
		return;
	cp_buf_str(out, "BRDA:");
	cp_buf_decimal(out, b->line);
	cp_buf_u8(out, ',');
	cp_buf_decimal(out, b->number);
	cp_buf_u8(out, ',');
	cp_buf_decimal(out, direction);
	cp_buf_u8(out, ',');
	if (!b->taken && !b->passed)
		cp_buf_u8(out, '-');
	else
		cp_buf_decimal(out, count);
	cp_buf_u8(out, '\n');
	cp_sink_spill(sink);
}

static bool is_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* lcov wants letters, digits and underscores, and makes the latter of all else. */
static void write_test(struct cp_buf *out, const struct cp_coverage *c)
{
	const char *p = c->test_count == 1 && !c->tests_left_out ? c->tests[0] : "";

	cp_buf_str(out, "TN:");
	for (; *p; p++)
		cp_buf_u8(out, (uint8_t)(is_word(*p) ? *p : '_'));
	cp_buf_u8(out, '\n');
}

static CP_ERROR write_file(const struct cp_coverage *c, const struct cp_covered_file *f,
			   const struct cp_coverage_totals *t, struct cp_sink *sink)
{
	const struct cp_covered_branch *b;
	const struct cp_covered_line *line;

	write_test(&sink->buf, c);
	cp_buf_str(&sink->buf, "SF:");
	write_path(&sink->buf, f->path);
	cp_buf_u8(&sink->buf, '\n');
	CP_TRY(write_functions(f, sink));
	cp_buf_printf(&sink->buf, "FNF:%" PRIu64 "\nFNH:%" PRIu64 "\n", t->functions,
		      t->functions_covered);
	cp_vec_for_each(&f->lines, line)
		cp_branches_for_each(f, line, b)
		{
			write_direction(b, 0, b->taken, sink);
			write_direction(b, 1, b->passed, sink);
		}
	cp_buf_printf(&sink->buf, "BRF:%" PRIu64 "\nBRH:%" PRIu64 "\n", t->branches,
		      t->branches_covered);
	cp_vec_for_each(&f->lines, line) {
		if (!cp_line_counts(line))
			continue;
		cp_buf_str(&sink->buf, "DA:");
		cp_buf_decimal(&sink->buf, line->line);
		cp_buf_u8(&sink->buf, ',');
		cp_buf_decimal(&sink->buf, line->count);
		cp_buf_u8(&sink->buf, '\n');
		cp_sink_spill(sink);
	}
	cp_buf_printf(&sink->buf, "LF:%" PRIu64 "\nLH:%" PRIu64 "\n", t->lines, t->lines_covered);
	cp_add_uncertain(&sink->buf, f, "# ", "\n");
	cp_buf_str(&sink->buf, "end_of_record\n");
	return NULL;
}

CP_ERROR cp_coverage_lcov(const struct cp_coverage *c, struct cp_sink *sink)
{
	const struct cp_covered_file *f;

	cp_vec_for_each(&c->files, f) {
		if (cp_is_written(f))
			CP_TRY(write_file(c, f, &f->totals, sink));
	}
	return NULL;
}
