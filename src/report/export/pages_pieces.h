/* SPDX-License-Identifier: MIT
 *
 * What the pages of coverage are made of, and pieces that they have in common.
 */
#ifndef CP_REPORT_PAGES_PIECES_H
#define CP_REPORT_PAGES_PIECES_H

#include "base/buf.h"
#include "base/error.h"
#include "report/coverage/coverage.h"
#include "report/look/sink.h"

struct cp_pages {
	const struct cp_coverage *c;
	const char *directory;
	int dir; /* descriptor of it */
	char **names; /* of the page of each file, then of each binary; owned */
};

/* A page's content, behind the head. `what`: file or binary; NULL: the index. */
typedef CP_ERROR (*cp_pages_body)(struct cp_pages *g, struct cp_sink *sink, const void *what);

/* Untrusted text; tabs pass. */
void cp_pages_text(struct cp_buf *out, const char *raw, size_t size);
/* A percentage: 100% only of all, "–" of nothing. */
void cp_pages_percent(struct cp_buf *out, uint64_t covered, uint64_t of);
void cp_pages_bar(struct cp_buf *out, uint64_t covered, uint64_t of);
/* A cell with percent and the two numbers, which sorts by percent. */
void cp_pages_cell(struct cp_buf *out, uint64_t covered, uint64_t of);
/* Likewise a cell of branches, with how many are unknown. */
void cp_pages_branches(struct cp_buf *out, const struct cp_coverage_totals *t);
/* The list of totals; `changed` may be NULL. */
void cp_pages_totals(struct cp_buf *out, const struct cp_coverage *c,
		     const struct cp_coverage_totals *t, const struct cp_coverage_totals *changed);
/* Notes about totals: how many are uncertain, removed, unknown. */
void cp_pages_notes(struct cp_buf *out, const struct cp_coverage *c,
		    const struct cp_coverage_totals *t);
/* The table of functions; `lines`: they link to lines of the page. */
void cp_pages_functions(struct cp_sink *sink, const struct cp_coverage *c,
			const struct cp_covered_function *functions, size_t count, bool lines);

#endif
