/* SPDX-License-Identifier: MIT
 *
 * gcovr's own JSON, format 0.3 (gcovr 5.2), for `gcovr -a`.
 *
 *     {"gcovr/format_version":"0.3","files":[{"file":"a.c",
 *       "functions":[{"name":"main","lineno":3,"execution_count":1}],
 *       "lines":[{"line_number":5,"count":1,"gcovr/noncode":false,
 *         "gcovr/excluded":false,
 *         "branches":[{"count":1,"fallthrough":false,"throw":false}]}]}]}
 *
 * A line of which that is uncertain has the key "cprof/uncertain", too, which
 * gcovr ignores. Excluded lines are in it, marked as gcovr marks them, so that its pages show
 * them. Directions that are unknown are left out. It knows branches by their
 * position alone: to add up recordings, `cprof merge` is right.
 */
#include "report/export/gcovr.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "report/coverage/coverage.h"
#include "report/coverage/covered.h"
#include "report/look/sink.h"

struct gcovr {
	struct cp_json j;
	struct cp_sink *sink;
};

/* JSON has no bytes, and two names that differ in them alone must not become
 * one. */
static CP_ERROR write_text(struct gcovr *g, const char *key, const char *text)
{
	struct cp_buf valid CP_CLEANUP(cp_buf_free) = { 0 };
	const char *p = text, *end = text + strlen(text);
	uint32_t c;
	size_t n;

	for (; p < end; p += n ? n : 1) {
		n = cp_utf8_decode(p, (size_t)(end - p), &c);
		if (n)
			cp_buf_add(&valid, p, n);
		else
			cp_buf_printf(&valid, "\\x%02x", (unsigned char)*p);
	}
	if (valid.failed)
		return cp_error_nomem();
	cp_json_str(&g->j, key, valid.bytes ? valid.bytes : "");
	return NULL;
}

static CP_ERROR write_functions(struct gcovr *g, const struct cp_covered_file *f)
{
	struct cp_function_names names CP_CLEANUP(cp_function_names_free) = { 0 };
	const struct cp_covered_function *function;
	const char *name;

	cp_json_begin(&g->j, "functions", '[');
	cp_vec_for_each(&f->functions, function) {
		if (!cp_function_counts(function))
			continue;
		name = cp_function_names_add(&names, function->name, function->line);
		if (!name)
			return cp_error_nomem();
		cp_json_begin(&g->j, NULL, '{');
		CP_TRY(write_text(g, "name", name));
		cp_json_u64(&g->j, "lineno", function->line);
		cp_json_u64(&g->j, "execution_count", function->count);
		cp_json_end(&g->j, '}');
		cp_sink_spill(g->sink);
	}
	cp_json_end(&g->j, ']');
	return NULL;
}

static void write_direction(struct gcovr *g, uint64_t count, bool fallthrough)
{
	if (count == CP_COVERAGE_UNKNOWN)
		return;
	cp_json_begin(&g->j, NULL, '{');
	cp_json_u64(&g->j, "count", count);
	cp_json_bool(&g->j, "fallthrough", fallthrough);
	cp_json_bool(&g->j, "throw", false);
	cp_json_end(&g->j, '}');
}

static void write_line(struct gcovr *g, const struct cp_covered_file *f,
		       const struct cp_covered_line *line)
{
	bool counts = cp_line_counts(line), excluded = line->flags & CP_COVERED_EXCLUDED;
	const struct cp_covered_branch *b;

	if (!counts && !excluded)
		return;
	cp_json_begin(&g->j, NULL, '{');
	cp_json_u64(&g->j, "line_number", line->line);
	cp_json_u64(&g->j, "count", counts ? line->count : 0);
	cp_json_bool(&g->j, "gcovr/noncode", !counts);
	cp_json_bool(&g->j, "gcovr/excluded", excluded);
	if (cp_line_is_uncertain(line))
		cp_json_bool(&g->j, "cprof/uncertain", true);
	cp_json_begin(&g->j, "branches", '[');
	cp_branches_for_each(f, line, b)
	{
		write_direction(g, b->taken, false);
		write_direction(g, b->passed, true);
	}
	cp_json_end(&g->j, ']');
	cp_json_end(&g->j, '}');
	cp_sink_spill(g->sink);
}

static CP_ERROR write_file(struct gcovr *g, const struct cp_covered_file *f)
{
	const struct cp_covered_line *line;

	cp_json_begin(&g->j, NULL, '{');
	CP_TRY(write_text(g, "file", f->name));
	CP_TRY(write_functions(g, f));
	cp_json_begin(&g->j, "lines", '[');
	cp_vec_for_each(&f->lines, line)
		write_line(g, f, line);
	cp_json_end(&g->j, ']');
	cp_json_end(&g->j, '}');
	return NULL;
}

CP_ERROR cp_coverage_gcovr(const struct cp_coverage *c, struct cp_sink *sink)
{
	struct gcovr g = { .j = { .out = &sink->buf }, .sink = sink };
	const struct cp_covered_file *f;

	cp_json_begin(&g.j, NULL, '{');
	cp_json_str(&g.j, "gcovr/format_version", "0.3");
	cp_json_begin(&g.j, "files", '[');
	cp_vec_for_each(&c->files, f) {
		if (cp_is_written(f))
			CP_TRY(write_file(&g, f));
	}
	cp_json_end(&g.j, ']');
	cp_json_end(&g.j, '}');
	cp_buf_u8(&sink->buf, '\n');
	return NULL;
}
