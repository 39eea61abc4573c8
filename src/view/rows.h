/* SPDX-License-Identifier: MIT
 *
 * What the live view shows of the sums: rows, chosen and in an order.
 */
#ifndef CP_VIEW_ROWS_H
#define CP_VIEW_ROWS_H

#include "live/live.h"

enum cp_view_of {
	CP_VIEW_FUNCTIONS,
	CP_VIEW_THREADS,
	CP_VIEW_CALLERS, /* of a function */
	CP_VIEW_CALLEES,
	CP_VIEW_LINES,
};

enum cp_view_order {
	CP_VIEW_BY_LAST_SELF,
	CP_VIEW_BY_LAST_TOTAL,
	CP_VIEW_BY_SELF,
	CP_VIEW_BY_TOTAL,
	CP_VIEW_BY_COUNT, /* in the last seconds */
	CP_VIEW_BY_NAME,
	CP_VIEW_ORDERS
};

struct cp_view_choice {
	enum cp_live_kind kind;
	enum cp_view_of of;
	uint32_t thread; /* CP_LIVE_ALL */
	uint32_t function; /* whose callers, callees, lines */
	const char *filter; /* part of a name, whatever its case; "": all */
	enum cp_view_order order;
};

struct cp_view_row {
	uint32_t number; /* of the function, thread or line */
	const char *name, *image; /* borrowed from the sums, as long as those; a line: file, "";
				     a thread: "" */
	struct cp_live_thread thread; /* THREADS: of itself */
	struct cp_live_amount last, all;
};

/* Begins as zeros. */
struct cp_view_rows {
	CP_VEC(struct cp_view_row) rows;
	struct cp_live_amount last, all; /* of all that was chosen from: what shares are of */
	uint64_t last_ns, all_ns; /* the time that these are of */
	bool failed; /* without memory */
};

/* Fills `rows` anew; takes the lock. */
void cp_view_rows(struct cp_view_rows *rows, struct cp_live *l, const struct cp_view_choice *c);
void cp_view_rows_deinit(struct cp_view_rows *rows);

#endif
