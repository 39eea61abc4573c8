/* SPDX-License-Identifier: MIT */
#include "report/look/table.h"

#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "record/nettime.h"
#include "report/look/brief.h"

#define BAR_COLUMNS 10
#define LAST_LEAST 10 /* columns that the last column keeps, whatever happens */
#define LAST_ENOUGH 24 /* with less, spare columns are left out */
#define LEFT_OUT UINT_MAX /* width of a column that is */
#define UNCUT_ROOM 40 /* of a column that shrinks elsewhere, where nothing is cut */

/* ---- amounts ---- */

void cp_add_name(struct cp_buf *out, const char *raw)
{
	cp_escape(out, CP_ESCAPE_TERMINAL, raw, strlen(raw));
}

static void pad(struct cp_buf *out, size_t columns)
{
	while (columns-- > 0)
		cp_buf_u8(out, ' ');
}

void cp_add_wrapped(struct cp_buf *out, const struct cp_look *look, size_t used, size_t indent,
		    const char *text)
{
	struct cp_buf word CP_CLEANUP(cp_buf_free) = { 0 };
	size_t columns, n;

	while (*text) {
		n = strcspn(text + 1, " ") + 1; /* with the blank before it */
		cp_buf_clear(&word);
		cp_buf_add(&word, text, n);
		text += n;
		columns = word.bytes ? cp_text_columns(word.bytes) : 0;
		if (look->columns && used + columns > look->columns && used > indent) {
			cp_buf_u8(out, '\n');
			pad(out, indent);
			used = indent;
			if (word.bytes && word.bytes[0] == ' ') {
				cp_buf_add(out, word.bytes + 1, word.size - 1);
				used += columns - 1;
				continue;
			}
		}
		cp_buf_add(out, word.bytes, word.size);
		used += columns;
	}
	cp_buf_u8(out, '\n');
}

void cp_add_count(struct cp_buf *out, uint64_t count)
{
	char digits[24];
	int n = snprintf(digits, sizeof(digits), "%" PRIu64, count), i;

	for (i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			cp_buf_u8(out, ',');
		cp_buf_u8(out, (uint8_t)digits[i]);
	}
}

void cp_add_plural(struct cp_buf *out, uint64_t count, const char *one, const char *many)
{
	cp_add_count(out, count);
	cp_buf_u8(out, ' ');
	cp_buf_str(out, count == 1 ? one : many);
}

void cp_add_percent(struct cp_buf *out, uint64_t part, uint64_t whole)
{
	double percent = 100 * cp_share(part, whole);

	if (percent > 0 && percent < 0.095)
		cp_buf_printf(out, "%.2f%%", percent < 0.01 ? 0.01 : percent);
	else
		cp_buf_printf(out, "%.1f%%", percent);
}

/* ---- cells ---- */

static const char *title_of(const struct cp_table *t, size_t column)
{
	const char *title = t->columns[column].title;

	return strcmp(title, "$") != 0 ? title : t->amounts;
}

void cp_table_init(struct cp_table *t, const struct cp_column *columns, size_t count)
{
	*t = (struct cp_table){ .columns = columns, .count = count, .amounts = "time" };
}

void cp_table_deinit(struct cp_table *t)
{
	cp_buf_free(&t->text);
	cp_buf_free(&t->left_out);
	cp_vec_free(&t->cells);
}

static void begin_cell(struct cp_table *t, enum cp_paint paint)
{
	if (!cp_vec_push(&t->cells, (struct cp_cell){ t->text.size, paint, false }))
		t->failed = true;
}

static void end_cell(struct cp_table *t)
{
	cp_buf_u8(&t->text, 0);
}

void cp_table_cell(struct cp_table *t, enum cp_paint paint, const char *format, ...)
{
	CP_FREE char *text = NULL;
	va_list ap;

	va_start(ap, format);
	if (vasprintf(&text, format, ap) < 0)
		text = NULL;
	va_end(ap);
	begin_cell(t, paint);
	cp_buf_str(&t->text, text ? text : "");
	t->failed |= !text;
	end_cell(t);
}

void cp_table_name(struct cp_table *t, enum cp_paint paint, const char *raw)
{
	begin_cell(t, paint);
	cp_add_name(&t->text, raw);
	end_cell(t);
}

void cp_table_function(struct cp_table *t, enum cp_paint paint, const char *raw)
{
	cp_table_name(t, paint, raw);
	if (t->cells.count)
		t->cells.items[t->cells.count - 1].function = true;
}

void cp_table_time(struct cp_table *t, enum cp_paint paint, uint64_t ns)
{
	begin_cell(t, paint);
	cp_add_time(&t->text, ns);
	end_cell(t);
}

void cp_table_net_time(struct cp_table *t, enum cp_paint paint, struct cp_net_time time)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	cp_add_net_time(&text, time);
	cp_table_cell(t, paint, "%s", text.bytes ? text.bytes : "");
}

void cp_table_count(struct cp_table *t, enum cp_paint paint, uint64_t count)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	cp_add_count(&text, count);
	cp_table_cell(t, paint, "%s", text.bytes ? text.bytes : "");
}

static enum cp_paint heat(double share)
{
	return share >= 0.1	? CP_PAINT_HOT
	       : share >= 0.02	? CP_PAINT_WARM
	       : share >= 0.005 ? CP_PAINT_COOL
				: CP_PAINT_DIM;
}

void cp_table_percent(struct cp_table *t, uint64_t part, uint64_t whole)
{
	begin_cell(t, t->calm ? CP_PAINT_PLAIN : heat(cp_share(part, whole)));
	cp_add_percent(&t->text, part, whole);
	end_cell(t);
}

void cp_table_bar(struct cp_table *t, uint64_t part, uint64_t most, uint64_t whole)
{
	static const char *const eighths[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
	double fraction = part > most ? 1 : cp_share(part, most);
	unsigned n;

	begin_cell(t, t->calm ? CP_PAINT_NAME : heat(cp_share(part, whole)));
	n = (unsigned)(fraction * BAR_COLUMNS * 8 + 0.5);
	if (!n && fraction > 0)
		n = 1;
	for (; n >= 8; n -= 8)
		cp_buf_str(&t->text, "█");
	cp_buf_str(&t->text, eighths[n]);
	end_cell(t);
}

/* ---- printing ---- */

struct layout {
	unsigned *widths;
	const struct cp_look *look;
};

static const char *cell_text(const struct cp_table *t, const struct cp_cell *cell)
{
	return t->text.bytes + cell->offset;
}

static void measure(const struct cp_table *t, unsigned *widths)
{
	size_t i, w;

	for (i = 0; i < t->count; i++)
		widths[i] = (unsigned)cp_text_columns(title_of(t, i));
	for (i = 0; i < t->cells.count; i++) {
		w = cp_text_columns(cell_text(t, &t->cells.items[i]));
		if (w > widths[i % t->count])
			widths[i % t->count] = (unsigned)w;
	}
}

static unsigned width_of(const struct cp_table *t, const unsigned *widths)
{
	unsigned sum = 0;
	size_t i;

	for (i = 0; i < t->count; i++)
		sum += widths[i] == LEFT_OUT ? 0 : widths[i] + 2;
	return sum;
}

/* Columns that shrink give what they have too much, from the left. */
static void shrink(const struct cp_table *t, unsigned columns, unsigned *widths)
{
	unsigned now = width_of(t, widths), over, least;
	size_t i;

	for (i = 0; i + 1 < t->count && now > columns; i++) {
		if (!t->columns[i].give || widths[i] <= t->columns[i].give)
			continue;
		over = now - columns;
		least = t->columns[i].give;
		widths[i] = widths[i] - least > over ? widths[i] - over : least;
		now = width_of(t, widths);
	}
}

/* Leaves out columns that can be spared so, while the last one has too little. */
static void leave_out(const struct cp_table *t, unsigned spare, unsigned columns, unsigned *widths)
{
	unsigned now, last = widths[t->count - 1];
	size_t i;

	for (i = 0; i < t->count; i++) {
		now = width_of(t, widths);
		if (t->columns[i].spare == spare && now > columns &&
		    last < now - columns + LAST_ENOUGH)
			widths[i] = LEFT_OUT;
	}
}

static void fit(const struct cp_table *t, unsigned columns, unsigned *widths)
{
	unsigned *last = &widths[t->count - 1], spare, now, over, least;

	shrink(t, columns, widths);
	for (spare = 1; spare <= CP_SPARE_LAST; spare++)
		leave_out(t, spare, columns, widths);
	now = width_of(t, widths);
	if (now > columns) {
		over = now - columns;
		least = *last < LAST_LEAST ? *last : LAST_LEAST;
		*last = *last > over + least ? *last - over : least;
	}
}

/* How wide a column is for what lies behind it. Where nothing is cut a long name makes its own
 * row longer, not all of them. */
static size_t room_of(const struct cp_table *t, size_t column, const struct layout *layout)
{
	const struct cp_column *c = &t->columns[column];
	size_t width = layout->widths[column];

	return layout->look->columns || c->right || !c->give || width < UNCUT_ROOM ? width
										   : UNCUT_ROOM;
}

static void print_cell(const struct cp_table *t, size_t column, const char *text,
		       enum cp_paint paint, const struct layout *layout, struct cp_buf *out)
{
	struct cp_buf cut CP_CLEANUP(cp_buf_free) = { 0 };
	bool last = column + 1 == t->count;
	size_t width = layout->widths[column], used;

	if (width == LEFT_OUT)
		return;
	cp_text_fit(&cut, text, width);
	used = cut.bytes ? cp_text_columns(cut.bytes) : 0;
	cp_buf_str(out, "  ");
	if (t->columns[column].right)
		pad(out, width - used);
	cp_paint(out, layout->look, paint, cut.bytes ? cut.bytes : "");
	width = room_of(t, column, layout);
	if (!t->columns[column].right && !last && used < width)
		pad(out, width - used);
}

/* The names of functions of a column, which `texts` has for each cell, short. */
static void shorten(const struct cp_table *t, size_t column, size_t width, const char **texts,
		    struct cp_brief *b)
{
	CP_FREE const char **names = calloc(t->cells.count / t->count + 1, sizeof(*names));
	size_t n = 0, i;

	for (i = column; names && i < t->cells.count; i += t->count)
		if (t->cells.items[i].function)
			names[n++] = texts[i];
	if (n)
		cp_brief_init(b, names, n, width);
	n = 0;
	for (i = column; b->shown && i < t->cells.count; i += t->count)
		if (t->cells.items[i].function)
			texts[i] = b->shown[n++];
}

static void print_rows(const struct cp_table *t, const struct layout *layout, struct cp_buf *out)
{
	CP_FREE const char **texts = calloc(t->cells.count + 1, sizeof(*texts));
	CP_FREE struct cp_brief *briefs = calloc(t->count, sizeof(*briefs));
	size_t i;

	if (!texts || !briefs) {
		out->failed = true;
		return;
	}
	for (i = 0; i < t->cells.count; i++)
		texts[i] = cell_text(t, &t->cells.items[i]);
	for (i = 0; i < t->count; i++)
		if (layout->widths[i] != LEFT_OUT)
			shorten(t, i, layout->widths[i], texts, &briefs[i]);
	for (i = 0; i < t->cells.count; i++) {
		print_cell(t, i % t->count, texts[i], t->cells.items[i].paint, layout, out);
		if (i % t->count == t->count - 1)
			cp_buf_u8(out, '\n');
	}
	for (i = 0; i < t->count; i++)
		cp_brief_deinit(&briefs[i]);
}

static void note_left_out(struct cp_table *t, const unsigned *widths)
{
	size_t i;

	cp_buf_clear(&t->left_out);
	for (i = 0; i < t->count; i++)
		if (widths[i] == LEFT_OUT && *title_of(t, i))
			cp_buf_printf(&t->left_out, "%s%s", t->left_out.size ? ", " : "",
				      title_of(t, i));
}

void cp_table_say_left_out(const struct cp_table *t, const struct cp_look *look, struct cp_buf *out)
{
	struct cp_buf line CP_CLEANUP(cp_buf_free) = { 0 };

	if (!t->left_out.size)
		return;
	cp_buf_printf(&line, "no room for %s: a wider terminal has it, and --json",
		      t->left_out.bytes ? t->left_out.bytes : "");
	cp_buf_str(out, "  ");
	cp_add_wrapped(out, look, 2, 2, line.bytes ? line.bytes : "");
}

void cp_table_print(struct cp_table *t, const struct cp_look *look, struct cp_buf *out)
{
	CP_FREE unsigned *widths = calloc(t->count, sizeof(*widths));
	struct layout layout = { widths, look };
	size_t i;

	if (!widths || t->failed || t->text.failed) {
		out->failed = true;
		return;
	}
	measure(t, widths);
	if (look->columns)
		fit(t, look->columns, widths);
	note_left_out(t, widths);
	for (i = 0; i < t->count; i++)
		print_cell(t, i, title_of(t, i), CP_PAINT_DIM, &layout, out);
	cp_buf_u8(out, '\n');
	print_rows(t, &layout, out);
}
