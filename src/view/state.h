/* SPDX-License-Identifier: MIT
 *
 * What a person has chosen to see, and where in it they are.
 */
#ifndef CP_VIEW_STATE_H
#define CP_VIEW_STATE_H

#include "view/rows.h"
#include "view/screen.h"

enum cp_pane { CP_PANE_FUNCTIONS, CP_PANE_THREADS, CP_PANE_CALLS, CP_PANE_BYTES, CP_PANES };

enum cp_page {
	CP_PAGE_PANE,
	CP_PAGE_FUNCTION, /* its callers, callees and lines */
	CP_PAGE_OUTPUT, /* what CMD wrote */
	CP_PAGE_HELP,
};

/* Begins as zeros. */
struct cp_view_state {
	bool has[CP_PANES]; /* others are empty */
	bool has_output;
	enum cp_pane pane;
	enum cp_page page;
	enum cp_view_order order[CP_PANES];
	uint32_t thread; /* CP_LIVE_ALL */
	CP_VEC(uint32_t) path; /* functions that were entered, the one that is shown last */
	char filter[64];
	bool typing; /* keys go to the filter */
	bool paused;
	/* The chosen row. It is kept when the order changes, unless it is the first one that
	 * nobody has moved from. */
	size_t at, top; /* its place, and that of the first row to be seen */
	struct cp_view_row row; /* as it was drawn last */
	bool any, moved; /* any: there is a chosen row */
	enum cp_view_of row_of; /* which of them it is */
	size_t count, height; /* rows there were, and that could be seen */
};

enum cp_view_does {
	CP_VIEW_STAYS,
	CP_VIEW_PAUSES, /* or goes on */
	CP_VIEW_REDRAWS,
	CP_VIEW_QUITS,
};

/* What there is has been said: the first thing to be seen. */
void cp_view_begin(struct cp_view_state *s);
/* A key was pressed: what is to be done besides drawing. */
enum cp_view_does cp_view_press(struct cp_view_state *s, int key);
/* What is shown by the pane. */
enum cp_live_kind cp_view_kind(const struct cp_view_state *s);
/* "self, last seconds" */
const char *cp_view_order_name(enum cp_view_order order);
void cp_view_state_deinit(struct cp_view_state *s);

#endif
