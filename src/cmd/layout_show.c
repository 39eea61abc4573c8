/* SPDX-License-Identifier: MIT */
#include "cmd/layout_show.h"

#include <inttypes.h>

#include "base/text.h"
#include "report/look/table.h"

#define CACHE_LINE 64
#define ENUMERATORS_SHOWN 4096
#define INNER_DEPTH 8

/* ---- for people ---- */

static void add_place(struct cp_table *t, const struct cp_layout *l, size_t i)
{
	const struct cp_type_member *m = l->members.items[i];

	if (cp_member_is_virtual(m))
		cp_table_cell(t, CP_PAINT_DIM, "?");
	else if (cp_layout_incomplete(m->type))
		cp_table_cell(t, CP_PAINT_PLAIN, "%" PRIu64, m->offset);
	if (cp_layout_incomplete(m->type)) {
		cp_table_cell(t, CP_PAINT_DIM, "?");
	} else if (cp_member_is_virtual(m)) {
		cp_table_cell(t, CP_PAINT_DIM, "%" PRIu64, cp_type_strip(m->type)->size);
	} else if (m->flags & CP_MEMBER_BITS) {
		cp_table_cell(t, CP_PAINT_PLAIN, "%" PRIu64 ":%u", m->offset, m->bit_offset);
		cp_table_cell(t, CP_PAINT_PLAIN, "%u bit%s", m->bit_size,
			      m->bit_size == 1 ? "" : "s");
	} else {
		cp_table_cell(t, CP_PAINT_PLAIN, "%" PRIu64, m->offset);
		cp_table_cell(t, CP_PAINT_PLAIN, "%" PRIu64, cp_layout_size(l, i));
	}
}

static void add_what(struct cp_table *t, const struct cp_layout *l, size_t i)
{
	const struct cp_type_member *m = l->members.items[i];
	const struct cp_type_variant *v = cp_layout_variant(l, m);
	struct cp_buf text = { 0 };

	if (*m->name || m != l->details->discriminant)
		cp_buf_str(&text, *m->name ? m->name : "(anonymous)");
	if (m->flags & CP_MEMBER_BASE)
		text.size = 0;
	if (cp_member_is_virtual(m))
		cp_buf_str(&text, "(virtual base: where it is, each object says)");
	else if (m->flags & CP_MEMBER_BASE)
		cp_buf_str(&text, "(base)");
	else if (m == l->details->discriminant)
		cp_buf_str(&text, "(says which of them it is)");
	else if (v && v->otherwise)
		cp_buf_str(&text, " (otherwise)");
	else if (v)
		cp_buf_printf(&text, " (where that is %" PRIu64 ")", v->value);
	if (cp_layout_incomplete(m->type) && cp_member_is_virtual(m))
		cp_buf_str(&text, " (incomplete: only declared here)");
	else if (cp_layout_incomplete(m->type))
		cp_buf_printf(&text,
			      "%s(incomplete: only declared here, at most %" PRIu64 " bytes)",
			      text.size ? " " : "", cp_layout_room(l, i));
	cp_buf_u8(&text, 0);
	cp_table_name(t, m->flags & CP_MEMBER_BASE ? CP_PAINT_DIM : CP_PAINT_NAME,
		      text.failed ? "" : (char *)text.bytes);
	cp_buf_free(&text);
}

/* What a member without a name, or a form of an enum with data, consists of: that is reached
 * by its own name alone. NULL: it is neither. */
static const struct cp_type_details *opened(const struct cp_type_member *m, bool form)
{
	const struct cp_type *type = cp_type_strip(m->type);

	if ((*m->name && !form) || m->flags & CP_MEMBER_BASE || !type ||
	    (type->kind != CP_TYPE_STRUCT && type->kind != CP_TYPE_UNION))
		return NULL;
	return cp_type_details(type);
}

static const struct cp_type_details *opens(const struct cp_layout *l,
					   const struct cp_type_member *m)
{
	return m == l->details->discriminant ? NULL : opened(m, cp_layout_variant(l, m) != NULL);
}

/* Offsets are of the whole: `at` is that of what they are in. */
static void add_inner(struct cp_table *t, const struct cp_type_details *d, uint64_t at,
		      unsigned depth)
{
	const struct cp_type_details *inner;
	const struct cp_type_member *m;
	uint32_t i;

	for (i = 0; i < d->member_count; i++) {
		m = &d->members[i];
		if (m == d->discriminant)
			continue;
		if (m->flags & CP_MEMBER_BITS) {
			cp_table_cell(t, CP_PAINT_PLAIN, "%" PRIu64 ":%u", at + m->offset,
				      m->bit_offset);
			cp_table_cell(t, CP_PAINT_PLAIN, "%u bit%s", m->bit_size,
				      m->bit_size == 1 ? "" : "s");
		} else {
			cp_table_cell(t, CP_PAINT_PLAIN, "%" PRIu64, at + m->offset);
			cp_table_cell(t, CP_PAINT_PLAIN, "%" PRIu64, cp_type_strip(m->type)->size);
		}
		cp_table_name(t, CP_PAINT_PLAIN, m->type->text);
		cp_table_cell(t, CP_PAINT_NAME, "%*s%s", 2 * (int)depth, "",
			      m->flags & CP_MEMBER_BASE ? "(base)"
			      : *m->name		? m->name
							: "(anonymous)");
		inner = depth < INNER_DEPTH ? opened(m, false) : NULL;
		if (inner)
			add_inner(t, inner, at + m->offset, depth + 1);
	}
}

static void add_gap(struct cp_table *t, uint64_t from, uint64_t to, const char *what)
{
	cp_table_cell(t, CP_PAINT_DIM, "%" PRIu64, from);
	cp_table_cell(t, CP_PAINT_WARM, "%" PRIu64, to - from);
	cp_table_cell(t, CP_PAINT_DIM, " ");
	cp_table_cell(t, CP_PAINT_WARM, "%s", what);
}

static void write_members(const struct cp_layout *l, const struct cp_look *look, struct cp_buf *out)
{
	static const struct cp_column columns[] = { { "offset", .right = true },
						    { "size", .right = true },
						    { "type", .give = 24 },
						    { "member" } };
	bool gaps = l->type->kind == CP_TYPE_STRUCT && !l->details->variant_count;
	struct cp_table t;
	uint64_t at = 0;
	size_t i;

	cp_table_init(&t, columns, CP_ARRAY_SIZE(columns));
	for (i = 0; i < l->members.count; i++) {
		const struct cp_type_member *m = l->members.items[i];

		if (gaps && !cp_member_is_virtual(m) && cp_layout_first_bit(m) / 8 > (at + 7) / 8)
			add_gap(&t, (at + 7) / 8, cp_layout_first_bit(m) / 8, "(hole)");
		if (!cp_member_is_virtual(m) && cp_layout_first_bit(m) + cp_layout_bits(l, i) > at)
			at = cp_layout_first_bit(m) + cp_layout_bits(l, i);
		add_place(&t, l, i);
		cp_table_name(&t, CP_PAINT_PLAIN, m->type->text);
		add_what(&t, l, i);
		if (opens(l, m))
			add_inner(&t, opens(l, m), m->offset, 1);
	}
	if (gaps && l->end < l->type->size && l->members.count)
		add_gap(&t, l->end, l->type->size,
			l->virtual_bases     ? "(virtual bases and padding)"
			: l->perhaps_virtual ? "(padding, or virtual bases of what is incomplete)"
					     : "(padding)");
	cp_table_print(&t, look, out);
	cp_table_deinit(&t);
}

static void write_enumerators(const struct cp_layout *l, const struct cp_look *look,
			      struct cp_buf *out)
{
	static const struct cp_column columns[] = { { "value", .right = true }, { "name" } };
	struct cp_table t;
	uint32_t i;

	cp_table_init(&t, columns, CP_ARRAY_SIZE(columns));
	for (i = 0; i < l->details->enumerator_count && i < ENUMERATORS_SHOWN; i++) {
		cp_table_cell(&t, CP_PAINT_PLAIN, "%" PRId64, l->details->enumerators[i].value);
		cp_table_name(&t, CP_PAINT_NAME, l->details->enumerators[i].name);
	}
	cp_table_print(&t, look, out);
	cp_table_deinit(&t);
}

static void write_arguments(const struct cp_layout *l, struct cp_buf *out)
{
	size_t i;

	for (i = 0; i < l->argument_count; i++) {
		const struct cp_type_argument *a = &l->arguments[i];

		cp_buf_str(out, "  ");
		if (*a->name)
			cp_add_name(out, a->name);
		else
			cp_buf_printf(out, "argument %zu", i + 1);
		cp_buf_str(out, " = ");
		if (a->is_value)
			cp_buf_printf(out, "%" PRId64 "\n", a->value);
		else {
			cp_add_name(out, a->type ? a->type->text : "void");
			cp_buf_u8(out, '\n');
		}
	}
}

static void write_head(const struct cp_layout *l, const struct cp_look *look, struct cp_buf *out)
{
	struct cp_buf title = { 0 };
	uint64_t lines = (l->type->size + CACHE_LINE - 1) / CACHE_LINE;

	cp_buf_str(&title, cp_layout_keyword(l->type));
	cp_add_name(&title, l->name);
	cp_buf_u8(&title, 0);
	cp_paint(out, look, CP_PAINT_TITLE, title.failed ? "?" : (char *)title.bytes);
	cp_buf_free(&title);
	if (l->type->flags & CP_TYPE_DECLARED) {
		cp_buf_str(out, ": declared here, and defined nowhere in this file\n");
		return;
	}
	cp_buf_str(out, ": ");
	cp_add_plural(out, l->type->size, "byte", "bytes");
	cp_buf_printf(out, ", aligned to %s%" PRIu64, l->align_least ? "at least " : "", l->align);
	if (l->type->size > CACHE_LINE)
		cp_buf_printf(out, ", %" PRIu64 " cache lines", lines);
	if (l->holes) {
		cp_buf_str(out, ", ");
		cp_add_plural(out, l->hole_bytes, "byte", "bytes");
		cp_buf_str(out, " in ");
		cp_add_plural(out, l->holes, "hole", "holes");
	}
	cp_buf_u8(out, '\n');
}

void cp_layout_text(const struct cp_layout *l, const struct cp_look *look, struct cp_buf *out)
{
	write_head(l, look, out);
	write_arguments(l, out);
	if (!l->details)
		return;
	if (l->members.count || l->details->enumerator_count)
		cp_buf_u8(out, '\n');
	if (l->members.count)
		write_members(l, look, out);
	if (l->details->enumerator_count)
		write_enumerators(l, look, out);
}

/* ---- for machines ---- */

/* null and why, where nobody knows. */
static void json_size(struct cp_json *j, const struct cp_layout *l, size_t i)
{
	const struct cp_type_member *m = l->members.items[i];

	if (!cp_layout_incomplete(m->type)) {
		cp_json_u64(j, "size", cp_type_strip(m->type)->size);
		return;
	}
	cp_json_null(j, "size");
	cp_json_str(j, "error", "incomplete");
	if (!cp_member_is_virtual(m))
		cp_json_u64(j, "size_most", cp_layout_room(l, i));
}

/* Of what has no name of its own to look it up by. */
static void json_inner(struct cp_json *j, const struct cp_type_details *d, uint64_t at,
		       unsigned depth)
{
	const struct cp_type_details *inner;
	const struct cp_type_member *m;
	uint32_t i;

	cp_json_begin(j, "fields", '[');
	for (i = 0; i < d->member_count; i++) {
		m = &d->members[i];
		if (m == d->discriminant)
			continue;
		cp_json_begin(j, NULL, '{');
		cp_json_str(j, "name", m->name);
		cp_json_str(j, "type", m->type->text);
		cp_json_u64(j, "offset", at + m->offset);
		cp_json_u64(j, "size", cp_type_strip(m->type)->size);
		if (m->flags & CP_MEMBER_BITS) {
			cp_json_u64(j, "bit_offset", m->bit_offset);
			cp_json_u64(j, "bit_size", m->bit_size);
		}
		inner = depth < INNER_DEPTH ? opened(m, false) : NULL;
		if (inner)
			json_inner(j, inner, at + m->offset, depth + 1);
		cp_json_end(j, '}');
	}
	cp_json_end(j, ']');
}

static void json_field(struct cp_json *j, const struct cp_layout *l, size_t i)
{
	const struct cp_type_member *m = l->members.items[i];
	const struct cp_type_variant *v = cp_layout_variant(l, m);

	cp_json_begin(j, NULL, '{');
	cp_json_str(j, "name", m->name);
	cp_json_str(j, "type", m->type->text);
	cp_json_u64(j, "offset", m->offset);
	json_size(j, l, i);
	if (m->flags & CP_MEMBER_BITS) {
		cp_json_u64(j, "bit_offset", m->bit_offset);
		cp_json_u64(j, "bit_size", m->bit_size);
	}
	if (m->flags & CP_MEMBER_ARTIFICIAL)
		cp_json_bool(j, "artificial", true);
	if (m == l->details->discriminant)
		cp_json_bool(j, "discriminant", true);
	if (v && v->otherwise)
		cp_json_null(j, "where");
	else if (v)
		cp_json_u64(j, "where", v->value);
	if (opens(l, m))
		json_inner(j, opens(l, m), m->offset, 1);
	cp_json_end(j, '}');
}

static void json_bases(struct cp_json *j, const struct cp_layout *l)
{
	size_t i;

	cp_json_begin(j, "bases", '[');
	for (i = 0; i < l->members.count; i++) {
		const struct cp_type_member *m = l->members.items[i];

		if (!(m->flags & CP_MEMBER_BASE))
			continue;
		cp_json_begin(j, NULL, '{');
		cp_json_str(j, "type", m->type->text);
		if (cp_member_is_virtual(m))
			cp_json_null(j, "offset");
		else
			cp_json_u64(j, "offset", m->offset);
		cp_json_bool(j, "virtual", cp_member_is_virtual(m));
		if (cp_layout_incomplete(m->type))
			json_size(j, l, i);
		cp_json_end(j, '}');
	}
	cp_json_end(j, ']');
}

static void json_arguments(struct cp_json *j, const struct cp_layout *l)
{
	size_t i;

	cp_json_begin(j, "arguments", '[');
	for (i = 0; i < l->argument_count; i++) {
		const struct cp_type_argument *a = &l->arguments[i];

		cp_json_begin(j, NULL, '{');
		cp_json_str(j, "name", a->name);
		cp_json_str(j, "type", a->type ? a->type->text : "void");
		if (a->is_value)
			cp_json_i64(j, "value", a->value);
		cp_json_end(j, '}');
	}
	cp_json_end(j, ']');
}

void cp_layout_json(struct cp_json *j, const char *key, const struct cp_layout *l)
{
	size_t i;

	cp_json_begin(j, key, '{');
	cp_json_str(j, "type", l->name);
	cp_json_str(j, "keyword", cp_layout_keyword(l->type));
	cp_json_bool(j, "declared", l->type->flags & CP_TYPE_DECLARED);
	cp_json_u64(j, "size", l->type->size);
	if (l->align_least && !(l->type->flags & CP_TYPE_DECLARED)) {
		cp_json_null(j, "align");
		cp_json_u64(j, "align_least", l->align);
	} else {
		cp_json_u64(j, "align", l->align);
	}
	cp_json_u64(j, "holes", l->holes);
	cp_json_u64(j, "hole_bytes", l->hole_bytes);
	cp_json_u64(j, "padding", cp_layout_padding(l));
	cp_json_begin(j, "fields", '[');
	for (i = 0; i < l->members.count; i++)
		if (!(l->members.items[i]->flags & CP_MEMBER_BASE))
			json_field(j, l, i);
	cp_json_end(j, ']');
	json_bases(j, l);
	json_arguments(j, l);
	cp_json_begin(j, "enumerators", '[');
	for (i = 0; l->details && i < l->details->enumerator_count; i++) {
		cp_json_begin(j, NULL, '{');
		cp_json_str(j, "name", l->details->enumerators[i].name);
		cp_json_i64(j, "value", l->details->enumerators[i].value);
		cp_json_end(j, '}');
	}
	cp_json_end(j, ']');
	cp_json_end(j, '}');
}
