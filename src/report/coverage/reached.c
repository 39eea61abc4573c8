/* SPDX-License-Identifier: MIT */
#include "report/coverage/reached.h"

#include <string.h>

#include "base/text.h"
#include "base/vec.h"
#include "report/look/table.h"

const struct cp_covered_line *cp_reached_line(const struct cp_coverage *c, const char *path,
					      uint32_t line)
{
	const struct cp_covered_file *f;
	size_t i;

	if (!c || !path || !line)
		return NULL;
	cp_vec_for_each(&c->files, f) {
		if (strcmp(f->path, path) != 0)
			continue;
		i = cp_vec_partition(&f->lines, it, it->line < line);
		return i < f->lines.count && f->lines.items[i].line == line &&
				       !(f->lines.items[i].flags & CP_COVERED_REMOVED)
			       ? &f->lines.items[i]
			       : NULL;
	}
	return NULL;
}

void cp_reached_add(struct cp_buf *out, const struct cp_coverage *c,
		    const struct cp_covered_line *line)
{
	if (line->count == CP_COVERAGE_UNKNOWN)
		cp_buf_str(out, "?");
	else if (c->counted)
		cp_add_count(out, line->count);
	else
		cp_buf_str(out, line->count ? "yes" : "no");
}
