/* SPDX-License-Identifier: MIT */
#include "cmd/layout_all.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "cmd/layout_list.h"
#include "cmd/layout_show.h"
#include "report/look/table.h"

/* What a line of the table says of a type. */
struct row {
	const struct cp_found_type *found;
	const char *keyword;
	uint64_t size, align, holes, hole_bytes, padding;
	bool align_least;
};

struct rows {
	CP_VEC(struct row) list;
	uint64_t with_holes, lost; /* types, and their bytes */
};

static uint64_t lost(const struct row *r)
{
	return r->hole_bytes + r->padding;
}

static int by_loss(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (lost(x) != lost(y))
		return lost(x) > lost(y) ? -1 : 1;
	return strcmp(x->found->name, y->found->name);
}

static bool add_row(struct cp_image *image, const struct cp_found_type *found, bool holes,
		    struct rows *to)
{
	struct cp_layout l;
	struct row r;

	cp_layout_of(image, found, &l);
	r = (struct row){ .found = found,
			  .keyword = cp_layout_keyword(l.type),
			  .size = l.type->size,
			  .align = l.align,
			  .align_least = l.align_least,
			  .holes = l.holes,
			  .hole_bytes = l.hole_bytes,
			  .padding = cp_layout_padding(&l) };
	cp_layout_free(&l);
	to->with_holes += lost(&r) != 0;
	to->lost += lost(&r);
	return (holes && !lost(&r)) || cp_vec_push(&to->list, r);
}

static void add_bytes(struct cp_table *t, uint64_t bytes, uint64_t holes)
{
	if (!bytes)
		cp_table_cell(t, CP_PAINT_DIM, "-");
	else if (holes > 1)
		cp_table_cell(t, CP_PAINT_WARM, "%" PRIu64 " in %" PRIu64, bytes, holes);
	else
		cp_table_cell(t, CP_PAINT_WARM, "%" PRIu64, bytes);
}

static void add_type(struct cp_table *t, const struct row *r)
{
	struct cp_buf text = { 0 };

	cp_buf_str(&text, r->keyword);
	cp_buf_str(&text, r->found->name);
	cp_buf_u8(&text, 0);
	cp_table_name(t, CP_PAINT_NAME, text.failed ? "?" : (char *)text.bytes);
	cp_buf_free(&text);
}

static void write_rows(const struct rows *rows, const struct cp_look *look, struct cp_buf *out)
{
	static const struct cp_column columns[] = { { "size", .right = true },
						    { "align", .right = true },
						    { "holes", .right = true },
						    { "padding", .right = true },
						    { "type" } };
	const struct row *r;
	struct cp_table t;

	cp_table_init(&t, columns, CP_ARRAY_SIZE(columns));
	cp_vec_for_each(&rows->list, r) {
		cp_table_count(&t, CP_PAINT_PLAIN, r->size);
		cp_table_cell(&t, r->align_least ? CP_PAINT_DIM : CP_PAINT_PLAIN, "%s%" PRIu64,
			      r->align_least ? ">= " : "", r->align);
		add_bytes(&t, r->hole_bytes, r->holes);
		add_bytes(&t, r->padding, 0);
		add_type(&t, r);
	}
	cp_table_print(&t, look, out);
	cp_table_deinit(&t);
}

static void write_title(const struct rows *rows, size_t types, const struct cp_look *look,
			struct cp_buf *out)
{
	struct cp_buf title = { 0 };

	cp_add_plural(&title, types, "type", "types");
	cp_buf_u8(&title, 0);
	cp_paint(out, look, CP_PAINT_TITLE, title.failed ? "types" : (char *)title.bytes);
	cp_buf_free(&title);
	cp_buf_str(out, ", ");
	cp_add_count(out, rows->with_holes);
	cp_buf_str(out, " with holes or padding: ");
	cp_add_plural(out, rows->lost, "byte", "bytes");
	cp_buf_str(out, " of one object of each\n");
}

static void write_json(struct cp_image *image, const struct rows *rows, struct cp_buf *out)
{
	struct cp_json j = { .out = out, .pretty = true };
	const struct row *r;
	struct cp_layout l;

	cp_json_begin(&j, NULL, '[');
	cp_vec_for_each(&rows->list, r) {
		cp_layout_of(image, r->found, &l);
		cp_layout_json(&j, NULL, &l);
		cp_layout_free(&l);
	}
	cp_json_end(&j, ']');
	cp_buf_u8(out, '\n');
}

CP_ERROR cp_layout_all(struct cp_image *image, const struct cp_layout_wish *wish,
		       struct cp_buf *out)
{
	struct cp_found found = { 0 };
	struct rows rows = { 0 };
	bool good = true;
	size_t i;

	CP_TRY(cp_layout_list(image, wish->glob, &found));
	if (!found.types.count) {
		cp_found_free(&found);
		return cp_layout_none(wish->glob);
	}
	for (i = 0; i < found.types.count && good; i++)
		good = add_row(image, &found.types.items[i], wish->holes, &rows);
	if (wish->holes && rows.list.count)
		cp_vec_sort(&rows.list, by_loss);
	if (good && wish->json) {
		write_json(image, &rows, out);
	} else if (good) {
		write_title(&rows, found.types.count, &wish->look, out);
		if (rows.list.count)
			cp_buf_u8(out, '\n');
		if (rows.list.count)
			write_rows(&rows, &wish->look, out);
	}
	cp_vec_free(&rows.list);
	cp_found_free(&found);
	return good ? NULL : cp_error_nomem();
}
