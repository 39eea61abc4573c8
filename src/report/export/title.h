/* SPDX-License-Identifier: MIT
 *
 * What an export is asked for, and how it is called.
 */
#ifndef CP_REPORT_EXPORT_TITLE_H
#define CP_REPORT_EXPORT_TITLE_H

#include "base/buf.h"
#include "report/profile/profile.h"
#include "report/profile/tree.h"

struct cp_listing;

struct cp_export_options {
	enum cp_tree_roots roots; /* formats that merge threads: what stands below */
	double least; /* graphs: share of all, 0 to 1, below which nothing is shown */
	const char *title; /* NULL: the command */
	const struct cp_profile *old; /* flamegraph: color by the difference; or NULL */
	bool no_rows; /* html: neither source lines nor instructions */
	/* html: adds the instructions of a listing's function; where there are none, *why_ret
	 * says why (until the next call), or an error does. NULL: none are shown. */
	struct cp_error *(*code)(void *ctx, struct cp_listing *l, const char **why_ret);
	void *code_ctx;
};

/* `title`, or the command, or "cprof", and of allocations how much it is of what; raw. */
void cp_export_title(const struct cp_profile *p, const struct cp_export_options *o,
		     struct cp_buf *out);
/* Appends, behind ": " if there is something: "1.20 MiB allocated in 34 allocations",
 * and what has to be known of that. */
void cp_export_amount(const struct cp_profile *p, struct cp_buf *out);

#endif
