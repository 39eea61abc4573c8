/* SPDX-License-Identifier: MIT */
#include "view/columns.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "report/look/brief.h"
#include "report/look/table.h"

#define WIDE 110 /* columns of a terminal where a bar and a file's name may be long */
#define MIDDLE 72 /* where there is room for them */
#define NARROW 48 /* where there is room for what was since the start */

/* ---- cells ---- */

static enum cp_paint heat(double share)
{
	return share >= 0.1    ? CP_PAINT_HOT
	       : share >= 0.02 ? CP_PAINT_WARM
	       : share > 0     ? CP_PAINT_PLAIN
			       : CP_PAINT_DIM;
}

static void add_share(struct cp_frame_line *line, uint64_t part, uint64_t whole, size_t columns)
{
	struct cp_buf text = { 0 };

	if (whole)
		cp_add_percent(&text, part, whole);
	else
		cp_buf_str(&text, "-");
	cp_frame_add_right(line, heat(cp_share(part, whole)), text.bytes ? text.bytes : "",
			   columns);
	cp_buf_free(&text);
}

static void add_bytes(struct cp_frame_line *line, double bytes, size_t columns)
{
	struct cp_buf text = { 0 };

	cp_add_bytes(&text, (uint64_t)bytes);
	cp_frame_add_right(line, bytes > 0 ? CP_PAINT_PLAIN : CP_PAINT_DIM,
			   text.bytes ? text.bytes : "", columns);
	cp_buf_free(&text);
}

static void add_count(struct cp_frame_line *line, double count, size_t columns)
{
	struct cp_buf text = { 0 };

	if (count > 0 && count < 9.95)
		cp_buf_printf(&text, "%.1f", count);
	else
		cp_add_count(&text, (uint64_t)(count + 0.5));
	cp_frame_add_right(line, count > 0 ? CP_PAINT_PLAIN : CP_PAINT_DIM,
			   text.bytes ? text.bytes : "", columns);
	cp_buf_free(&text);
}

static void add_average(struct cp_frame_line *line, uint64_t ns, uint64_t count, size_t columns)
{
	struct cp_buf text = { 0 };

	if (count)
		cp_add_time(&text, ns / count);
	else
		cp_buf_str(&text, "-");
	cp_frame_add_right(line, count ? CP_PAINT_PLAIN : CP_PAINT_DIM,
			   text.bytes ? text.bytes : "", columns);
	cp_buf_free(&text);
}

/* What is in itself, and behind it, lighter, what is in what it calls. */
static void add_bar(struct cp_frame_line *line, const struct cp_live_amount *a, uint64_t whole,
		    size_t columns)
{
	double self = cp_share(a->self, whole) * (double)columns,
	       total = cp_share(a->total, whole) * (double)columns;
	enum cp_paint paint = heat(cp_share(a->self, whole));
	size_t i;

	for (i = 0; i < columns; i++) {
		double place = (double)i + 0.5;

		if (place <= self)
			cp_frame_add(line, paint, "█");
		else
			cp_frame_add(line, place <= total ? CP_PAINT_DIM : CP_PAINT_PLAIN,
				     place <= total ? "─" : " ");
	}
}

static double rate(uint64_t amount, uint64_t ns)
{
	return ns ? (double)amount * CP_NS_PER_S / (double)ns : 0;
}

/* ---- rows ---- */

static void add_time(const struct cp_frame *f, struct cp_frame_line *line,
		     const struct cp_view_rows *r, const struct cp_view_row *row)
{
	add_share(line, row->last.self, r->last.self, 6);
	add_share(line, row->last.total, r->last.self, 7);
	if (f->columns >= NARROW) {
		add_share(line, row->all.self, r->all.self, 8);
		add_share(line, row->all.total, r->all.self, 7);
	}
	cp_frame_add(line, CP_PAINT_PLAIN, "  ");
	if (f->columns >= MIDDLE) {
		add_bar(line, r->last_ns ? &row->last : &row->all,
			r->last_ns ? r->last.self : r->all.self, f->columns >= WIDE ? 16 : 8);
		cp_frame_add(line, CP_PAINT_PLAIN, " ");
	}
}

static void add_thread(const struct cp_frame *f, struct cp_frame_line *line,
		       const struct cp_view_rows *r, const struct cp_view_row *row)
{
	char number[16];

	add_share(line, row->last.self, r->last_ns, 6);
	add_share(line, row->all.self, r->all_ns, 8);
	cp_frame_add(line, CP_PAINT_PLAIN, "  ");
	if (f->columns >= MIDDLE) {
		add_bar(line, &row->last, r->last_ns, f->columns >= WIDE ? 16 : 8);
		cp_frame_add(line, CP_PAINT_PLAIN, " ");
	}
	if (f->columns >= NARROW) {
		snprintf(number, sizeof(number), "%d", (int)row->thread.tid);
		cp_frame_add_right(line, CP_PAINT_PLAIN, number, 7);
		cp_frame_add(line, CP_PAINT_PLAIN, "  ");
	}
	cp_frame_add_fit(line, CP_PAINT_PLAIN, cp_view_state(&row->thread), 8);
	cp_frame_add(line, CP_PAINT_PLAIN, "  ");
}

static void add_calls(const struct cp_frame *f, struct cp_frame_line *line,
		      const struct cp_view_rows *r, const struct cp_view_row *row)
{
	add_count(line, rate(row->last.count, r->last_ns), 10);
	add_average(line, row->last.total, row->last.count, 10);
	if (f->columns >= WIDE)
		add_share(line, row->last.self, r->last_ns, 7);
	if (f->columns >= NARROW)
		add_count(line, (double)row->all.count, 13);
	if (f->columns >= WIDE)
		add_average(line, row->all.total, row->all.count, 10);
	cp_frame_add(line, CP_PAINT_PLAIN, "  ");
}

static void add_allocated(const struct cp_frame *f, struct cp_frame_line *line,
			  const struct cp_view_rows *r, const struct cp_view_row *row)
{
	add_bytes(line, rate(row->last.self, r->last_ns), 10);
	add_bytes(line, rate(row->last.total, r->last_ns), 11);
	if (f->columns >= WIDE)
		add_count(line, rate(row->last.count, r->last_ns), 9);
	if (f->columns >= NARROW)
		add_bytes(line, (double)row->all.self, 12);
	if (f->columns >= WIDE)
		add_bytes(line, (double)row->all.total, 11);
	cp_frame_add(line, CP_PAINT_PLAIN, "  ");
}

void cp_columns_numbers(const struct cp_frame *f, struct cp_frame_line *line,
			enum cp_live_kind kind, enum cp_view_of of, const struct cp_view_rows *r,
			const struct cp_view_row *row)
{
	if (of == CP_VIEW_THREADS)
		add_thread(f, line, r, row);
	else if (kind == CP_LIVE_CALLS)
		add_calls(f, line, r, row);
	else if (kind == CP_LIVE_BYTES)
		add_allocated(f, line, r, row);
	else
		add_time(f, line, r, row);
}

/* How wide the column of files is, in front of functions; 0: there is none. */
static size_t file_columns(const struct cp_frame *f, enum cp_view_of of)
{
	if (of == CP_VIEW_THREADS || of == CP_VIEW_LINES || f->columns < MIDDLE)
		return 0;
	return f->columns >= WIDE ? 16 : 12;
}

static void add_file(const struct cp_frame *f, struct cp_frame_line *line, enum cp_view_of of,
		     const char *file)
{
	size_t columns = file_columns(f, of);
	struct cp_buf shown = { 0 };

	if (!columns)
		return;
	cp_add_name(&shown, file);
	cp_frame_add_fit(line, CP_PAINT_DIM, shown.bytes ? shown.bytes : "", columns);
	cp_frame_add(line, CP_PAINT_PLAIN, "  ");
	cp_buf_free(&shown);
}

/* A name that is too long is the shorter one that flame graphs have. */
static void add_text(const struct cp_frame *f, struct cp_frame_line *line, enum cp_view_of of,
		     const char *text)
{
	size_t used = line->text.bytes ? cp_text_columns(line->text.bytes) : 0,
	       room = f->columns > used ? f->columns - used : 0;
	struct cp_buf shown = { 0 }, brief = { 0 }, fit = { 0 };

	cp_add_name(&shown, text);
	if (of != CP_VIEW_LINES && of != CP_VIEW_THREADS && shown.bytes &&
	    cp_text_columns(shown.bytes) > room) {
		cp_buf_clear(&shown);
		cp_brief_name(&brief, text);
		cp_add_name(&shown, brief.bytes ? brief.bytes : "");
	}
	if (of == CP_VIEW_LINES) /* its beginning tells most */
		cp_buf_str(&fit, shown.bytes ? shown.bytes : "");
	else
		cp_text_fit(&fit, shown.bytes ? shown.bytes : "", room);
	cp_frame_add(line, CP_PAINT_PLAIN, fit.bytes ? fit.bytes : "");
	cp_buf_free(&shown);
	cp_buf_free(&brief);
	cp_buf_free(&fit);
}

void cp_columns_row(struct cp_frame *f, struct cp_frame_line *line, enum cp_live_kind kind,
		    enum cp_view_of of, const struct cp_view_rows *rows,
		    const struct cp_view_row *row, const char *text, const char *file)
{
	struct cp_buf process = { 0 };

	if (!line)
		return;
	cp_columns_numbers(f, line, kind, of, rows, row);
	add_file(f, line, of, file);
	add_text(f, line, of, text);
	if (of == CP_VIEW_THREADS && *file) {
		cp_frame_add(line, CP_PAINT_PLAIN, "  ");
		cp_add_name(&process, file);
		cp_frame_add(line, CP_PAINT_DIM, process.bytes ? process.bytes : "");
		cp_buf_free(&process);
	}
}

/* ---- titles ---- */

/* What stands above the columns of a row, for each width. */
struct titles {
	const char *narrow[2], *middle[2], *wide[2];
};

static const struct titles *titles_of(enum cp_live_kind kind, enum cp_view_of of, bool wall)
{
	static const struct titles
		time = { { "last %u s", "  self  total  " },
			 { "last %u s       since start", "  self  total    self  total  " },
			 { NULL, "  self  total    self  total           " } },
		threads = { { "last %u s, since start", "   CPU     CPU  state     " },
			    { "last %u s, since start", "   CPU     CPU       tid  state     " },
			    { NULL, "   CPU     CPU                tid  state     " } },
		elapsed = { { "last %u s, since start", "  time    time  state     " },
			    { "last %u s, since start", "  time    time       tid  state     " },
			    { NULL, "  time    time                tid  state     " } },
		calls = { { "last %u s", "   calls/s   average  " },
			  { "last %u s                 since start",
			    "   calls/s   average        calls  " },
			  { "last %u s                        since start",
			    "   calls/s   average   self        calls   average  " } },
		bytes = { { "last %u s, a second", "      self      total  " },
			  { "last %u s, a second     since start",
			    "      self      total        self  " },
			  { "last %u s, a second                since start",
			    "      self      total   blocks        self      total  " } };

	return of == CP_VIEW_THREADS   ? wall ? &elapsed : &threads
	       : kind == CP_LIVE_CALLS ? &calls
	       : kind == CP_LIVE_BYTES ? &bytes
				       : &time;
}

void cp_columns_titles(struct cp_frame *f, enum cp_live_kind kind, enum cp_view_of of,
		       uint64_t last_ns, bool wall, const char *order)
{
	const struct titles *t = titles_of(kind, of, wall);
	/* Where there is no bar, more room is for more numbers. */
	bool bar = of == CP_VIEW_THREADS || kind == CP_LIVE_TIME;
	const char *const *two = f->columns < NARROW		      ? t->narrow
				 : f->columns < (bar ? MIDDLE : WIDE) ? t->middle
								      : t->wide;
	struct cp_frame_line *line = cp_frame_next(f);
	const char *above = two[0] ? two[0] : t->middle[0], *number = strstr(above, "%u");
	char text[128];

	snprintf(text, sizeof(text), "  %.*s%u%s", (int)(number - above), above,
		 (unsigned)((last_ns + CP_NS_PER_S / 2) / CP_NS_PER_S), number + 2);
	cp_frame_add(line, CP_PAINT_DIM, text);
	if (order) {
		cp_frame_pad(line, cp_text_columns(two[1]) - 2);
		cp_frame_add(line, CP_PAINT_DIM, "  by ");
		cp_frame_add(line, CP_PAINT_DIM, order);
	}
	cp_frame_cut(line, f->columns);
	line = cp_frame_next(f);
	cp_frame_add(line, CP_PAINT_TITLE, two[1]);
	if (bar && f->columns >= WIDE)
		cp_frame_add(line, CP_PAINT_TITLE, "        ");
	if (order && file_columns(f, of))
		cp_frame_add_fit(line, CP_PAINT_TITLE, "file", file_columns(f, of) + 2);
	cp_frame_add(line, CP_PAINT_TITLE, of == CP_VIEW_THREADS ? "thread" : "function");
	cp_frame_cut(line, f->columns);
}
