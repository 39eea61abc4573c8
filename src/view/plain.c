/* SPDX-License-Identifier: MIT */
#include "view/plain.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "report/look/brief.h"
#include "report/look/table.h"
#include "view/columns.h"

#define FUNCTIONS_MOST 10
#define THREADS_MOST 10
#define PLAIN_COLUMNS 120 /* for all there is */
#define NAME_COLUMNS 36 /* of a function, where a line may be as long as it takes */
#define NAME_LEAST 12
#define SHARES 32 /* columns in front of functions */

/* A function and its file, in `room` columns; 0: as many as they take. */
static void add_name(const struct cp_view_row *row, size_t room, struct cp_buf *out)
{
	struct cp_buf brief CP_CLEANUP(cp_buf_free) = { 0 }, name CP_CLEANUP(cp_buf_free) = { 0 };
	struct cp_buf image CP_CLEANUP(cp_buf_free) = { 0 };
	size_t most = NAME_COLUMNS, file;

	cp_brief_name(&brief, row->name);
	cp_add_name(&name, brief.bytes ? brief.bytes : "");
	cp_add_name(&image, row->image);
	file = image.size ? cp_text_columns(image.bytes) : 0;
	if (room) {
		file = file > room / 3 ? room / 3 : file;
		most = file ? room - file - 2 : room;
	}
	cp_text_fit(out, name.bytes ? name.bytes : "", most);
	if (!file)
		return;
	cp_buf_str(out, "  ");
	cp_text_fit(out, image.bytes, file);
}

static size_t room_behind(size_t used, unsigned columns)
{
	return !columns ? 0 : columns > used + NAME_LEAST ? columns - used : NAME_LEAST;
}

static void add_titles(const struct cp_view *v, struct cp_buf *out)
{
	cp_buf_printf(out, "  last %u s     since the start\n",
		      (unsigned)((v->functions.last_ns + CP_NS_PER_S / 2) / CP_NS_PER_S));
}

static void add_functions(const struct cp_view *v, unsigned columns, struct cp_buf *out)
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
		add_name(row, room_behind(SHARES, columns), out);
		cp_buf_u8(out, '\n');
	}
}

static void add_threads(const struct cp_view *v, struct cp_buf *out)
{
	const struct cp_view_rows *r = &v->threads;
	size_t i;

	cp_buf_str(out, !v->kinds[CP_LIVE_TIME] ? "  thread\n"
			: v->wall		? "  time           time         thread\n"
						: "   CPU            CPU         thread\n");
	for (i = 0; i < r->rows.count && i < THREADS_MOST; i++) {
		const struct cp_view_row *row = &r->rows.items[i];

		if (v->kinds[CP_LIVE_TIME]) {
			cp_view_add_share(out, row->last.self, r->last_ns);
			cp_buf_str(out, "         ");
			cp_view_add_share(out, row->all.self, r->all_ns);
			cp_buf_str(out, "       ");
		}
		cp_buf_str(out, "  ");
		cp_add_name(out, row->thread.name);
		cp_buf_printf(out, " (%d) %s\n", (int)row->thread.tid, cp_view_state(&row->thread));
	}
}

/* A list that is not of time. */
static void add_list(struct cp_view *v, enum cp_live_kind kind, unsigned columns,
		     struct cp_buf *out)
{
	const struct cp_view_choice choice = {
		.kind = kind,
		.of = CP_VIEW_FUNCTIONS,
		.order = kind == CP_LIVE_CALLS ? CP_VIEW_BY_COUNT : CP_VIEW_BY_LAST_SELF,
	};
	struct cp_frame f = { 0 };
	struct cp_frame_line *line;
	const struct cp_view_rows *r = &v->functions;
	unsigned i;

	cp_view_rows(&v->functions, v->sums, &choice);
	if (!cp_frame_begin(&f, FUNCTIONS_MOST + 2,
			    columns && columns < PLAIN_COLUMNS ? columns : PLAIN_COLUMNS))
		return;
	cp_columns_titles(&f, kind, CP_VIEW_FUNCTIONS, r->last_ns, v->wall, NULL);
	for (i = 0; i < r->rows.count && i < FUNCTIONS_MOST; i++) {
		const struct cp_view_row *row = &r->rows.items[i];

		line = cp_frame_next(&f);
		cp_columns_numbers(&f, line, kind, CP_VIEW_FUNCTIONS, r, row);
		add_name(row, room_behind(cp_text_columns(line->text.bytes), columns), &line->text);
	}
	for (i = 0; i < f.used; i++)
		cp_buf_printf(out, "%s\n", f.lines[i].text.bytes);
	cp_frame_deinit(&f);
}

void cp_view_plain(struct cp_view *v, unsigned columns, struct cp_buf *out)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	struct cp_view_choice choice = { .of = CP_VIEW_FUNCTIONS, .order = CP_VIEW_BY_LAST_SELF };

	cp_view_rows(&v->functions, v->sums, &choice);
	choice.of = CP_VIEW_THREADS;
	cp_view_rows(&v->threads, v->sums, &choice);
	cp_view_add_program(v, out);
	cp_buf_u8(out, '\n');
	cp_view_add_cost(v, true, &text);
	cp_add_wrapped(out, &(struct cp_look){ .columns = columns }, 0, 2,
		       text.bytes ? text.bytes : "");
	if (v->kinds[CP_LIVE_TIME]) {
		add_titles(v, out);
		add_functions(v, columns, out);
	}
	if (v->kinds[CP_LIVE_CALLS])
		add_list(v, CP_LIVE_CALLS, columns, out);
	if (v->kinds[CP_LIVE_BYTES])
		add_list(v, CP_LIVE_BYTES, columns, out);
	add_threads(v, out);
	cp_buf_u8(out, '\n');
}
