/* SPDX-License-Identifier: MIT */
#include "view/plain.h"

#include "base/clock.h"
#include "report/look/table.h"

#define FUNCTIONS_MOST 10
#define THREADS_MOST 10

static void add_titles(const struct cp_view *v, struct cp_buf *out)
{
	cp_buf_printf(out, "  last %u s     since the start\n",
		      (unsigned)(v->functions.last_ns / CP_NS_PER_S));
}

static void add_functions(const struct cp_view *v, struct cp_buf *out)
{
	const struct cp_view_rows *r = &v->functions;
	size_t i;

	cp_buf_str(out, "  self  total    self  total  function\n");
	for (i = 0; i < r->rows.count && i < FUNCTIONS_MOST; i++) {
		const struct cp_view_row *row = &r->rows.items[i];

		cp_view_add_share(out, row->last.self, r->last.self);
		cp_buf_u8(out, ' ');
		cp_view_add_share(out, row->last.total, r->last.self);
		cp_buf_str(out, "  ");
		cp_view_add_share(out, row->all.self, r->all.self);
		cp_buf_u8(out, ' ');
		cp_view_add_share(out, row->all.total, r->all.self);
		cp_buf_str(out, "  ");
		cp_add_name(out, row->name);
		if (*row->image) {
			cp_buf_str(out, "  ");
			cp_add_name(out, row->image);
		}
		cp_buf_u8(out, '\n');
	}
}

static void add_threads(const struct cp_view *v, struct cp_buf *out)
{
	const struct cp_view_rows *r = &v->threads;
	size_t i;

	cp_buf_str(out, "   CPU            CPU         thread\n");
	for (i = 0; i < r->rows.count && i < THREADS_MOST; i++) {
		const struct cp_view_row *row = &r->rows.items[i];

		cp_view_add_share(out, row->last.self, r->last_ns);
		cp_buf_str(out, "         ");
		cp_view_add_share(out, row->all.self, r->all_ns);
		cp_buf_str(out, "         ");
		cp_add_name(out, row->thread.name);
		cp_buf_printf(out, " (%d) %s\n", (int)row->thread.tid, cp_view_state(&row->thread));
	}
}

void cp_view_plain(struct cp_view *v, struct cp_buf *out)
{
	struct cp_view_choice choice = { .of = CP_VIEW_FUNCTIONS, .order = CP_VIEW_BY_LAST_SELF };

	cp_view_rows(&v->functions, v->sums, &choice);
	choice.of = CP_VIEW_THREADS;
	cp_view_rows(&v->threads, v->sums, &choice);
	cp_view_add_program(v, out);
	cp_buf_u8(out, '\n');
	cp_view_add_cost(v, true, out);
	cp_buf_u8(out, '\n');
	add_titles(v, out);
	add_functions(v, out);
	add_threads(v, out);
	cp_buf_u8(out, '\n');
}
