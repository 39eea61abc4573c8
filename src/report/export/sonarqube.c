/* SPDX-License-Identifier: MIT
 *
 * SonarQube's generic test coverage, version 1: lines and how many of their
 * branches are covered. It has no word for functions. Directions that are
 * unknown are in neither number.
 */
#include "report/export/sonarqube.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "report/coverage/coverage.h"
#include "report/coverage/covered.h"
#include "report/look/sink.h"

static void write_line(const struct cp_covered_file *f, const struct cp_covered_line *line,
		       struct cp_sink *sink)
{
	struct cp_directions d = cp_line_directions(f, line);
	struct cp_buf *out = &sink->buf;

	if (!cp_line_counts(line))
		return;
	cp_buf_str(out, "<lineToCover lineNumber=\"");
	cp_buf_decimal(out, line->line);
	cp_buf_str(out,
		   cp_is_covered(line->count) ? "\" covered=\"true\"" : "\" covered=\"false\"");
	if (d.known) {
		cp_buf_str(out, " branchesToCover=\"");
		cp_buf_decimal(out, d.known);
		cp_buf_str(out, "\" coveredBranches=\"");
		cp_buf_decimal(out, d.covered);
		cp_buf_u8(out, '"');
	}
	cp_buf_str(out, "/>\n");
	cp_sink_spill(sink);
}

CP_ERROR cp_coverage_sonarqube(const struct cp_coverage *c, struct cp_sink *sink)
{
	const struct cp_covered_file *f;
	const struct cp_covered_line *line;

	cp_buf_str(&sink->buf, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
			       "<coverage version=\"1\">\n");
	cp_vec_for_each(&c->files, f) {
		if (!f->totals.lines)
			continue;
		cp_buf_str(&sink->buf, "<file path=\"");
		cp_escape(&sink->buf, CP_ESCAPE_XML, f->name, strlen(f->name));
		cp_buf_str(&sink->buf, "\">\n");
		cp_vec_for_each(&f->lines, line)
			write_line(f, line, sink);
		cp_add_uncertain(&sink->buf, f, "<!-- ", " -->\n");
		cp_buf_str(&sink->buf, "</file>\n");
	}
	cp_buf_str(&sink->buf, "</coverage>\n");
	return NULL;
}
