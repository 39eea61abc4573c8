/* SPDX-License-Identifier: MIT */
#include "view/draw.h"

#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "report/look/source.h"
#include "report/look/table.h"
#include "view/columns.h"

#define LOW 10 /* lines of a terminal where only rows count */
#define SECTIONS 3 /* callers, callees, lines */

/* What is below each other in the list. */
struct section {
	enum cp_view_of of;
	const char *title; /* NULL: none */
	struct cp_view_rows rows;
};

struct list {
	struct section sections[SECTIONS];
	size_t count;
};

/* ---- rows ---- */

static void add_section(struct list *list, struct cp_view *v, const struct cp_view_state *s,
			enum cp_view_of of, const char *title)
{
	struct section *section = &list->sections[list->count++];
	const struct cp_view_choice choice = {
		.kind = cp_view_kind(s),
		.of = of,
		.thread = of == CP_VIEW_THREADS ? CP_LIVE_ALL : s->thread,
		.function = s->path.count ? s->path.items[s->path.count - 1] : 0,
		.filter = s->filter,
		.order = s->order[s->pane],
	};

	*section = (struct section){ .of = of, .title = title };
	cp_view_rows(&section->rows, v->sums, &choice);
}

static void make_list(struct list *list, struct cp_view *v, const struct cp_view_state *s)
{
	*list = (struct list){ 0 };
	if (s->page == CP_PAGE_FUNCTION) {
		add_section(list, v, s, CP_VIEW_CALLERS, "callers");
		add_section(list, v, s, CP_VIEW_CALLEES, "callees");
		if (cp_view_kind(s) != CP_LIVE_CALLS)
			add_section(list, v, s, CP_VIEW_LINES, "source lines");
	} else {
		add_section(list, v, s,
			    s->pane == CP_PANE_THREADS ? CP_VIEW_THREADS : CP_VIEW_FUNCTIONS, NULL);
	}
}

static void free_list(struct list *list)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		cp_view_rows_deinit(&list->sections[i].rows);
}

static size_t count_rows(const struct list *list)
{
	size_t count = 0, i;

	for (i = 0; i < list->count; i++)
		count += list->sections[i].rows.rows.count;
	return count;
}

/* The row at a place, counted over all sections; NULL: there is none. */
static const struct cp_view_row *row_at(const struct list *list, size_t at,
					const struct section **section_ret)
{
	size_t i;

	for (i = 0; i < list->count; i++) {
		const struct section *section = &list->sections[i];

		*section_ret = section;
		if (at < section->rows.rows.count)
			return &section->rows.rows.items[at];
		at -= section->rows.rows.count;
	}
	return NULL;
}

/* Where the row is that was chosen; false: it is gone. */
static bool find_chosen(const struct list *list, const struct cp_view_state *s, size_t *at_ret)
{
	const struct section *section;
	const struct cp_view_row *row;
	size_t at;

	for (at = 0; (row = row_at(list, at, &section)); at++)
		if (section->of == s->row_of && row->number == s->row.number) {
			*at_ret = at;
			return true;
		}
	return false;
}

/* Brings the place of the chosen row in step with the rows there are. */
static void settle(struct cp_view_state *s, const struct list *list, size_t height)
{
	const struct section *section;
	const struct cp_view_row *row;

	s->count = count_rows(list);
	s->height = height;
	if (s->moved && s->any)
		find_chosen(list, s, &s->at);
	if (s->at >= s->count)
		s->at = s->count ? s->count - 1 : 0;
	row = row_at(list, s->at, &section);
	s->any = row != NULL;
	if (row) {
		s->row = *row;
		s->row_of = section->of;
	}
	if (s->at < s->top)
		s->top = s->at;
	if (height && s->at >= s->top + height)
		s->top = s->at - height + 1;
	if (s->count <= height)
		s->top = 0;
}

static void draw_line_of_source(struct cp_frame *f, struct cp_frame_line *line,
				const struct section *section, const struct cp_view_row *row,
				enum cp_live_kind kind)
{
	struct cp_source source = { 0 };
	struct cp_buf text = { 0 };

	cp_buf_printf(&text, "%u  ", row->number);
	cp_source_line(&source, row->name, row->number, &text);
	cp_columns_row(f, line, kind, section->of, &section->rows, row,
		       text.bytes ? text.bytes : "", "");
	cp_source_deinit(&source);
	cp_buf_free(&text);
}

static void draw_row(struct cp_frame *f, const struct cp_view_state *s,
		     const struct section *section, const struct cp_view_row *row, bool chosen)
{
	struct cp_frame_line *line = cp_frame_next(f);
	enum cp_live_kind kind = cp_view_kind(s);

	if (section->of == CP_VIEW_LINES)
		draw_line_of_source(f, line, section, row, kind);
	else if (section->of == CP_VIEW_THREADS)
		cp_columns_row(f, line, kind, section->of, &section->rows, row, row->thread.name,
			       strcmp(row->thread.name, row->thread.process) ? row->thread.process
									     : "");
	else
		cp_columns_row(f, line, kind, section->of, &section->rows, row, row->name,
			       row->image);
	cp_frame_cut(line, f->columns);
	if (chosen && line) {
		cp_frame_pad(line, f->columns);
		line->reverse = true;
	}
}

static void draw_title(struct cp_frame *f, const struct section *section)
{
	struct cp_frame_line *line = cp_frame_next(f);
	struct cp_buf text = { 0 };

	cp_buf_str(&text, section->title);
	if (section->of == CP_VIEW_LINES && *section->rows.rows.items[0].name) {
		cp_buf_str(&text, ", ");
		cp_add_name(&text, cp_basename(section->rows.rows.items[0].name));
	}
	cp_frame_add_fit(line, CP_PAINT_NAME, text.bytes ? text.bytes : "", f->columns);
	cp_buf_free(&text);
}

/* The list, from its top to the end of the screen but for `below` lines. */
static void draw_list(struct cp_frame *f, struct cp_view_state *s, const struct list *list,
		      unsigned below)
{
	const struct section *section, *before = NULL;
	const struct cp_view_row *row;
	size_t at;

	for (at = s->top; f->used + below < f->rows; at++) {
		row = row_at(list, at, &section);
		if (!row)
			break;
		if (section->title && section != before)
			draw_title(f, section);
		before = section;
		if (f->used + below < f->rows)
			draw_row(f, s, section, row, at == s->at);
	}
}

/* ---- what is around it ---- */

static void draw_head(struct cp_view *v, const struct cp_view_state *s, struct cp_frame *f)
{
	struct cp_view_choice choice = { .of = CP_VIEW_THREADS };
	struct cp_frame_line *line;
	struct cp_buf text = { 0 };

	cp_view_rows(&v->threads, v->sums, &choice);
	cp_view_add_program(v, &text);
	line = cp_frame_next(f);
	if (s->paused)
		cp_frame_add(line, CP_PAINT_WARNING, "paused  ");
	cp_frame_add(line, CP_PAINT_BOLD, text.bytes ? text.bytes : "");
	cp_frame_cut(line, f->columns);
	if (f->rows < LOW) {
		cp_buf_free(&text);
		return;
	}
	cp_buf_clear(&text);
	cp_view_add_cost(v, true, &text);
	line = cp_frame_next(f);
	cp_frame_add(line, CP_PAINT_DIM, text.bytes ? text.bytes : "");
	cp_frame_cut(line, f->columns);
	cp_buf_free(&text);
}

static void add_thread(const struct cp_view *v, const struct cp_view_state *s,
		       struct cp_frame_line *line)
{
	struct cp_buf text = { 0 };

	if (s->thread == CP_LIVE_ALL)
		return;
	cp_buf_str(&text, "  thread ");
	cp_live_lock(v->sums);
	if (s->thread < v->sums->threads.count) {
		cp_add_name(&text, v->sums->threads.items[s->thread].name);
		cp_buf_printf(&text, " (%d)", (int)v->sums->threads.items[s->thread].tid);
	}
	cp_live_unlock(v->sums);
	cp_frame_add(line, CP_PAINT_NAME, text.bytes ? text.bytes : "");
	cp_buf_free(&text);
}

static void add_function(const struct cp_view *v, const struct cp_view_state *s,
			 struct cp_frame_line *line)
{
	uint32_t function = s->path.count ? s->path.items[s->path.count - 1] : CP_LIVE_NONE;
	struct cp_buf text = { 0 };

	if (s->page != CP_PAGE_FUNCTION)
		return;
	cp_buf_str(&text, "  ");
	cp_live_lock(v->sums);
	if (function < v->sums->functions.count)
		cp_add_name(&text, v->sums->functions.items[function].name);
	cp_live_unlock(v->sums);
	cp_frame_add(line, CP_PAINT_NAME, text.bytes ? text.bytes : "");
	cp_buf_free(&text);
}

static void draw_tabs(const struct cp_view *v, const struct cp_view_state *s, struct cp_frame *f)
{
	static const char *const names[] = { "1 Functions", "2 Threads", "3 Calls", "4 Memory" };
	struct cp_frame_line *line = cp_frame_next(f);
	struct cp_buf text = { 0 };
	int i;

	for (i = 0; i < CP_PANES; i++) {
		if (!s->has[i])
			continue;
		cp_buf_clear(&text);
		cp_buf_printf(&text, i == (int)s->pane ? "[%s]" : " %s ", names[i]);
		cp_frame_add(line, i == (int)s->pane ? CP_PAINT_TITLE : CP_PAINT_DIM,
			     text.bytes ? text.bytes : "");
	}
	add_thread(v, s, line);
	add_function(v, s, line);
	cp_frame_cut(line, f->columns);
	cp_buf_free(&text);
}

static void draw_foot(const struct cp_view_state *s, struct cp_frame *f)
{
	static const char keys[] = " q quit  h help  / filter  s sort  Enter callers  t threads  "
				   "p pause";
	struct cp_frame_line *line;
	struct cp_buf text = { 0 };

	while (f->used + 1 < f->rows)
		cp_frame_next(f);
	line = cp_frame_next(f);
	if (s->typing || *s->filter) {
		cp_buf_str(&text, " filter: ");
		cp_add_name(&text, s->filter);
		cp_buf_str(&text,
			   s->typing ? "_  (Enter keeps it, Esc ends it)" : "  (Esc ends it)");
	} else {
		cp_buf_str(&text, keys);
		if (s->has_output)
			cp_buf_str(&text, "  o output");
	}
	cp_frame_add(line, CP_PAINT_PLAIN, text.bytes ? text.bytes : "");
	cp_frame_cut(line, f->columns);
	cp_frame_pad(line, f->columns);
	if (line)
		line->reverse = true;
	cp_buf_free(&text);
}

/* ---- pages ---- */

static void draw_help(struct cp_frame *f)
{
	static const char *const lines[] = {
		"",
		" up, down, PgUp, PgDn, Home, End   choose a row",
		" 1 2 3 4, Tab     functions, threads, traced calls, allocations",
		" Enter            callers, callees and source lines of the function;",
		"                  of a thread, what it does",
		" Esc, Backspace   back; then the filter, then the thread is left",
		" a                all threads",
		" /, F4            only rows with a text in them",
		" s <  >, F6       another order; P self, T total, N name",
		" p, Space         hold this picture, go on; the program runs on",
		" o                what the program writes",
		" Ctrl-L           draw anew",
		" q, F10, Ctrl-C   quit",
		"",
		" Shares are of the program's time on CPUs: self, in the function itself;",
		" total, in what it called, too. A thread's are of one CPU.",
		" h goes back.",
	};
	size_t i;

	for (i = 0; i < sizeof(lines) / sizeof(lines[0]) && f->used + 1 < f->rows; i++) {
		struct cp_frame_line *line = cp_frame_next(f);

		cp_frame_add(line, CP_PAINT_PLAIN, lines[i]);
		cp_frame_cut(line, f->columns);
	}
}

/* The last lines that there is room for. */
static void draw_output(struct cp_frame *f, const char *output)
{
	size_t size = strlen(output), at = size, lines = f->rows - f->used - 1;
	const char *end;

	while (at && lines) {
		at--;
		if (at && output[at - 1] == '\n')
			lines--;
	}
	for (; at < size && f->used + 1 < f->rows; at = (size_t)(end - output) + (*end == '\n')) {
		struct cp_frame_line *line = cp_frame_next(f);
		struct cp_buf text = { 0 };

		end = strchrnul(output + at, '\n');
		cp_escape(&text, CP_ESCAPE_TERMINAL, output + at, (size_t)(end - output) - at);
		cp_frame_add(line, CP_PAINT_PLAIN, text.bytes ? text.bytes : "");
		cp_frame_cut(line, f->columns);
		cp_buf_free(&text);
	}
}

static void draw_rows(struct cp_view *v, struct cp_view_state *s, struct cp_frame *f)
{
	struct list list;
	unsigned titles;

	make_list(&list, v, s);
	if (f->rows >= LOW)
		cp_columns_titles(f, cp_view_kind(s), list.sections[0].of,
				  list.sections[0].rows.last_ns, v->wall,
				  cp_view_order_name(s->order[s->pane]));
	titles = s->page == CP_PAGE_FUNCTION ? SECTIONS : 0;
	settle(s, &list, f->rows > f->used + 1 + titles ? f->rows - f->used - 1 - titles : 0);
	if (!s->count) {
		struct cp_frame_line *line = cp_frame_next(f);

		cp_frame_add_fit(line, CP_PAINT_DIM,
				 *s->filter			? "  nothing has this text"
				 : list.sections[0].rows.all_ns ? "  nothing so far"
								: "  waiting for the first second",
				 f->columns);
	}
	draw_list(f, s, &list, 1);
	free_list(&list);
}

void cp_view_draw(struct cp_view *v, struct cp_view_state *s, const char *output,
		  struct cp_frame *f)
{
	if (!f->rows || !f->columns)
		return;
	draw_head(v, s, f);
	if (f->rows >= LOW)
		draw_tabs(v, s, f);
	if (s->page == CP_PAGE_HELP)
		draw_help(f);
	else if (s->page == CP_PAGE_OUTPUT)
		draw_output(f, output ? output : "");
	else
		draw_rows(v, s, f);
	draw_foot(s, f);
}
