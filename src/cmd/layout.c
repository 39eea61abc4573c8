/* SPDX-License-Identifier: MIT
 *
 * cprof layout: what an object of a type consists of, where, and what is left
 * between.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/commands.h"
#include "cmd/objects.h"
#include "cmd/reports.h"
#include "cmd/terminal.h"
#include "image/find.h"
#include "image/templates.h"
#include "inspect/classify.h"
#include "report/look/table.h"

#define CACHE_LINE 64
#define ARGUMENTS_MAX 64
#define PARTS_DEEP 32
#define ENUMERATORS_SHOWN 4096

struct layout_options {
	bool json;
	struct cp_symbols_options symbols;
};

#define AT(field) offsetof(struct layout_options, field)

static const struct cp_option output_options[] = {
	{ "json", 0, CP_OPTION_TRUE, AT(json),
	  .help = "one JSON object; an array where several types have the name" },
	{ 0 }
};

static const struct cp_option_group groups[] = { { "What is shown", output_options, 0 },
						 { "Symbols", cp_symbols_options, AT(symbols) },
						 { 0 } };

static const struct layout_options defaults = { .symbols.debuginfod.ask = true };

/* A type with what is known of it. */
struct layout {
	const char *name;
	const struct cp_type *type; /* no alias */
	const struct cp_type_details *details; /* NULL: has none */
	CP_VEC(const struct cp_type_member *) members; /* by their place */
	struct cp_type_argument arguments[ARGUMENTS_MAX];
	size_t argument_count;
	uint64_t align, holes, hole_bytes, end; /* end: of the last member */
	bool align_least; /* a part is only declared, and may want more than `align` */
	bool virtual_bases; /* its own or of its bases: they lie behind all the rest */
	bool perhaps_virtual; /* a base is only declared, and may have such */
};

/* ---- working it out ---- */

static uint64_t first_bit(const struct cp_type_member *m)
{
	return m->offset * 8 + (m->flags & CP_MEMBER_BITS ? m->bit_offset : 0);
}

static bool is_virtual(const struct cp_type_member *m)
{
	return m->flags & CP_MEMBER_VIRTUAL;
}

static bool has_virtual_bases(const struct cp_type *type, unsigned depth)
{
	const struct cp_type_details *d = cp_type_details(cp_type_strip(type));
	uint32_t i;

	for (i = 0; d && depth < PARTS_DEEP && i < d->member_count; i++) {
		const struct cp_type_member *m = &d->members[i];

		if (m->flags & CP_MEMBER_BASE &&
		    (m->flags & CP_MEMBER_VIRTUAL || has_virtual_bases(m->type, depth + 1)))
			return true;
	}
	return false;
}

/* Only declared in this file: nobody knows how large it is. */
static bool is_incomplete(const struct cp_type *type)
{
	const struct cp_type *t = cp_type_strip(type);
	unsigned depth;

	for (depth = 0; t && t->kind == CP_TYPE_ARRAY && depth < PARTS_DEEP; depth++)
		t = cp_type_strip(t->target);
	return t && t->flags & CP_TYPE_DECLARED;
}

/* Is any part of it only declared, where nothing else tells the alignment? */
static bool has_incomplete(const struct cp_type *type, unsigned depth, unsigned *budget)
{
	const struct cp_type *t = cp_type_strip(type);
	const struct cp_type_details *d;
	uint32_t i;

	if (is_incomplete(t))
		return true;
	for (; t && t->kind == CP_TYPE_ARRAY && depth < PARTS_DEEP; depth++)
		t = cp_type_strip(t->target);
	d = t && !t->align && depth < PARTS_DEEP ? cp_type_details(t) : NULL;
	for (i = 0; d && i < d->member_count && *budget; i++, (*budget)--)
		if (has_incomplete(d->members[i].type, depth + 1, budget))
			return true;
	return false;
}

static bool is_empty_class(const struct cp_type *type)
{
	const struct cp_type_details *d = cp_type_details(type);
	uint32_t i;

	if (type->kind != CP_TYPE_STRUCT || type->size != 1 || !d || d->variant_count)
		return false;
	for (i = 0; i < d->member_count; i++)
		if (!(d->members[i].flags & CP_MEMBER_BASE))
			return false;
	return true;
}

static const struct cp_type_member *next_of(const struct layout *l, size_t i)
{
	return i + 1 < l->members.count ? l->members.items[i + 1] : NULL;
}

/* Bytes up to the next member behind member `i`, or to the end. */
static uint64_t room_of(const struct layout *l, size_t i)
{
	const uint64_t offset = l->members.items[i]->offset;

	while (++i < l->members.count)
		if (!is_virtual(l->members.items[i]) && l->members.items[i]->offset > offset)
			return l->members.items[i]->offset - offset;
	return l->type->size > offset ? l->type->size - offset : 0;
}

/* Bytes of a member's own: a base without members takes none, and one with
 * virtual bases leaves these to the whole object; then it goes up to the next member, as
 * that may which is only declared. */
static uint64_t size_of(const struct layout *l, size_t i)
{
	const struct cp_type_member *m = l->members.items[i], *next = next_of(l, i);
	const struct cp_type *type = cp_type_strip(m->type);

	if (is_incomplete(type))
		return room_of(l, i);
	if (!(m->flags & CP_MEMBER_BASE))
		return type->size;
	if (is_empty_class(type))
		return 0;
	if (has_virtual_bases(type, 0) && next && !is_virtual(next) &&
	    next->offset < m->offset + type->size)
		return next->offset - m->offset;
	return type->size;
}

static uint64_t bits_of(const struct layout *l, size_t i)
{
	const struct cp_type_member *m = l->members.items[i];

	return m->flags & CP_MEMBER_BITS ? m->bit_size : size_of(l, i) * 8;
}

/* Members by place: those without one come last, empty ones before what is there. */
static int by_place(const void *a, const void *b)
{
	const struct cp_type_member *x = *(const struct cp_type_member *const *)a;
	const struct cp_type_member *y = *(const struct cp_type_member *const *)b;

	if (is_virtual(x) != is_virtual(y))
		return is_virtual(x) ? 1 : -1;
	if (first_bit(x) != first_bit(y))
		return first_bit(x) < first_bit(y) ? -1 : 1;
	if (x->flags != y->flags && (x->flags | y->flags) & CP_MEMBER_BASE)
		return x->flags & CP_MEMBER_BASE ? -1 : 1;
	return x < y ? -1 : x > y;
}

static void add_members(struct layout *l, const struct cp_type_member *items, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++) {
		const struct cp_type_member *m = &items[i];

		l->perhaps_virtual |= m->flags & CP_MEMBER_BASE && is_incomplete(m->type);
		cp_vec_push(&l->members, m);
	}
}

/* Bits between members, counted as holes where a whole byte is left. */
static void count_holes(struct layout *l)
{
	uint64_t at = 0;
	size_t i;

	for (i = 0; i < l->members.count; i++) {
		const struct cp_type_member *m = l->members.items[i];

		if (is_virtual(m))
			continue;
		if (first_bit(m) / 8 > (at + 7) / 8) {
			l->holes++;
			l->hole_bytes += first_bit(m) / 8 - (at + 7) / 8;
		}
		if (first_bit(m) + bits_of(l, i) > at)
			at = first_bit(m) + bits_of(l, i);
	}
	l->end = (at + 7) / 8;
}

static void work_out(struct cp_image *image, const struct cp_found_type *found, struct layout *l)
{
	unsigned budget = CP_CLASSIFY_BUDGET;
	uint32_t i;

	*l = (struct layout){ .name = found->name, .type = cp_type_strip(found->type) };
	l->type = cp_type_strip(cp_type_complete(image, l->type));
	l->details = cp_type_details(l->type);
	cp_type_complete_parts(image, l->type);
	l->virtual_bases = has_virtual_bases(l->type, 0);
	l->align = cp_type_alignment(l->type, &budget);
	budget = CP_CLASSIFY_BUDGET;
	l->align_least = has_incomplete(l->type, 0, &budget);
	l->argument_count = cp_type_arguments(image, l->type, l->arguments, ARGUMENTS_MAX);
	if (l->argument_count > ARGUMENTS_MAX)
		l->argument_count = ARGUMENTS_MAX;
	if (!l->details)
		return;
	add_members(l, l->details->members, l->details->member_count);
	if (l->details->discriminant)
		add_members(l, l->details->discriminant, 1);
	for (i = 0; i < l->details->variant_count; i++)
		add_members(l, &l->details->variants[i].member, 1);
	cp_vec_sort(&l->members, by_place);
	if (l->type->kind == CP_TYPE_STRUCT && !l->details->variant_count)
		count_holes(l);
}

/* The form of an enum with data that a member is; NULL: it is none. */
static const struct cp_type_variant *variant_of(const struct layout *l,
						const struct cp_type_member *m)
{
	uint32_t i;

	for (i = 0; i < l->details->variant_count; i++)
		if (m == &l->details->variants[i].member)
			return &l->details->variants[i];
	return NULL;
}

static const char *keyword_of(const struct cp_type *type)
{
	switch (type->kind) {
	case CP_TYPE_STRUCT:
		return type->flags & CP_TYPE_CLASS ? "class " : "struct ";
	case CP_TYPE_UNION:
		return "union ";
	case CP_TYPE_ENUM:
		return "enum ";
	default:
		return "";
	}
}

/* ---- for people ---- */

static void add_place(struct cp_table *t, const struct layout *l, size_t i)
{
	const struct cp_type_member *m = l->members.items[i];

	if (is_virtual(m))
		cp_table_cell(t, CP_PAINT_DIM, "?");
	else if (is_incomplete(m->type))
		cp_table_cell(t, CP_PAINT_PLAIN, "%" PRIu64, m->offset);
	if (is_incomplete(m->type)) {
		cp_table_cell(t, CP_PAINT_DIM, "?");
	} else if (is_virtual(m)) {
		cp_table_cell(t, CP_PAINT_DIM, "%" PRIu64, cp_type_strip(m->type)->size);
	} else if (m->flags & CP_MEMBER_BITS) {
		cp_table_cell(t, CP_PAINT_PLAIN, "%" PRIu64 ":%u", m->offset, m->bit_offset);
		cp_table_cell(t, CP_PAINT_PLAIN, "%u bit%s", m->bit_size,
			      m->bit_size == 1 ? "" : "s");
	} else {
		cp_table_cell(t, CP_PAINT_PLAIN, "%" PRIu64, m->offset);
		cp_table_cell(t, CP_PAINT_PLAIN, "%" PRIu64, size_of(l, i));
	}
}

static void add_what(struct cp_table *t, const struct layout *l, size_t i)
{
	const struct cp_type_member *m = l->members.items[i];
	const struct cp_type_variant *v = variant_of(l, m);
	struct cp_buf text = { 0 };

	if (*m->name || m != l->details->discriminant)
		cp_buf_str(&text, *m->name ? m->name : "(anonymous)");
	if (m->flags & CP_MEMBER_BASE)
		text.size = 0;
	if (is_virtual(m))
		cp_buf_str(&text, "(virtual base: where it is, each object says)");
	else if (m->flags & CP_MEMBER_BASE)
		cp_buf_str(&text, "(base)");
	else if (m == l->details->discriminant)
		cp_buf_str(&text, "(says which of them it is)");
	else if (v && v->otherwise)
		cp_buf_str(&text, " (otherwise)");
	else if (v)
		cp_buf_printf(&text, " (where that is %" PRIu64 ")", v->value);
	if (is_incomplete(m->type) && is_virtual(m))
		cp_buf_str(&text, " (incomplete: only declared here)");
	else if (is_incomplete(m->type))
		cp_buf_printf(&text,
			      "%s(incomplete: only declared here, at most %" PRIu64 " bytes)",
			      text.size ? " " : "", room_of(l, i));
	cp_buf_u8(&text, 0);
	cp_table_name(t, m->flags & CP_MEMBER_BASE ? CP_PAINT_DIM : CP_PAINT_NAME,
		      text.failed ? "" : (char *)text.bytes);
	cp_buf_free(&text);
}

static void add_gap(struct cp_table *t, uint64_t from, uint64_t to, const char *what)
{
	cp_table_cell(t, CP_PAINT_DIM, "%" PRIu64, from);
	cp_table_cell(t, CP_PAINT_WARM, "%" PRIu64, to - from);
	cp_table_cell(t, CP_PAINT_DIM, " ");
	cp_table_cell(t, CP_PAINT_WARM, "%s", what);
}

static void write_members(const struct layout *l, const struct cp_look *look, struct cp_buf *out)
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

		if (gaps && !is_virtual(m) && first_bit(m) / 8 > (at + 7) / 8)
			add_gap(&t, (at + 7) / 8, first_bit(m) / 8, "(hole)");
		if (!is_virtual(m) && first_bit(m) + bits_of(l, i) > at)
			at = first_bit(m) + bits_of(l, i);
		add_place(&t, l, i);
		cp_table_name(&t, CP_PAINT_PLAIN, m->type->text);
		add_what(&t, l, i);
	}
	if (gaps && l->end < l->type->size && l->members.count)
		add_gap(&t, l->end, l->type->size,
			l->virtual_bases     ? "(virtual bases and padding)"
			: l->perhaps_virtual ? "(padding, or virtual bases of what is incomplete)"
					     : "(padding)");
	cp_table_print(&t, look, out);
	cp_table_deinit(&t);
}

static void write_enumerators(const struct layout *l, const struct cp_look *look,
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

static void write_arguments(const struct layout *l, struct cp_buf *out)
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

static void write_head(const struct layout *l, const struct cp_look *look, struct cp_buf *out)
{
	struct cp_buf title = { 0 };
	uint64_t lines = (l->type->size + CACHE_LINE - 1) / CACHE_LINE;

	cp_buf_str(&title, keyword_of(l->type));
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

static void write_text(const struct layout *l, const struct cp_look *look, struct cp_buf *out)
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
static void json_size(struct cp_json *j, const struct layout *l, size_t i)
{
	const struct cp_type_member *m = l->members.items[i];

	if (!is_incomplete(m->type)) {
		cp_json_u64(j, "size", cp_type_strip(m->type)->size);
		return;
	}
	cp_json_null(j, "size");
	cp_json_str(j, "error", "incomplete");
	if (!is_virtual(m))
		cp_json_u64(j, "size_most", room_of(l, i));
}

static void json_field(struct cp_json *j, const struct layout *l, size_t i)
{
	const struct cp_type_member *m = l->members.items[i];
	const struct cp_type_variant *v = variant_of(l, m);

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
	cp_json_end(j, '}');
}

static void json_bases(struct cp_json *j, const struct layout *l)
{
	size_t i;

	cp_json_begin(j, "bases", '[');
	for (i = 0; i < l->members.count; i++) {
		const struct cp_type_member *m = l->members.items[i];

		if (!(m->flags & CP_MEMBER_BASE))
			continue;
		cp_json_begin(j, NULL, '{');
		cp_json_str(j, "type", m->type->text);
		if (is_virtual(m))
			cp_json_null(j, "offset");
		else
			cp_json_u64(j, "offset", m->offset);
		cp_json_bool(j, "virtual", is_virtual(m));
		if (is_incomplete(m->type))
			json_size(j, l, i);
		cp_json_end(j, '}');
	}
	cp_json_end(j, ']');
}

static void json_arguments(struct cp_json *j, const struct layout *l)
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

static void json_layout(struct cp_json *j, const struct layout *l)
{
	size_t i;

	cp_json_begin(j, NULL, '{');
	cp_json_str(j, "type", l->name);
	cp_json_str(j, "keyword", keyword_of(l->type));
	cp_json_bool(j, "declared", l->type->flags & CP_TYPE_DECLARED);
	cp_json_u64(j, "size", l->type->size);
	if (l->align_least && !(l->type->flags & CP_TYPE_DECLARED)) {
		cp_json_null(j, "align");
		cp_json_u64(j, "align_least", l->align);
	} else {
		cp_json_u64(j, "align", l->align);
	}
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

/* ---- the command ---- */

static void show(const struct layout_options *o, struct cp_image *image,
		 const struct cp_found *found, struct cp_buf *out)
{
	struct cp_terminal term = cp_terminal_of(STDOUT_FILENO);
	struct cp_look look = { term.columns, term.color };
	struct cp_json j = { .out = out, .pretty = true };
	bool many = found->types.count > 1;
	struct layout l;
	size_t i;

	if (o->json && many)
		cp_json_begin(&j, NULL, '[');
	for (i = 0; i < found->types.count; i++) {
		work_out(image, &found->types.items[i], &l);
		if (o->json) {
			json_layout(&j, &l);
		} else {
			cp_buf_str(out, i ? "\n" : "");
			write_text(&l, &look, out);
		}
		cp_vec_free(&l.members);
	}
	if (o->json && many)
		cp_json_end(&j, ']');
	if (o->json)
		cp_buf_u8(out, '\n');
}

static CP_ERROR none_found(const char *path, const char *name, const struct cp_found *found)
{
	struct cp_error *err = cp_error_new(CP_ERR_NOT_FOUND, 0, "%s has no type %s", path, name);

	if (found->near)
		cp_error_hint(err, "did you mean %s?", found->near);
	return err;
}

static CP_ERROR look_up(struct layout_options *o, const char *path, const char *name,
			struct cp_buf *out)
{
	struct cp_image_options options = cp_symbols_image(&o->symbols);
	struct cp_objects objects = { 0 };
	struct cp_found found = { 0 };
	struct cp_image *image;
	struct cp_error *err = cp_objects_file(path, &options, &objects);

	if (!err) {
		image = objects.list.items[0].image;
		err = cp_image_find_types(image, name, &found);
	}
	if (!err && !found.types.count)
		err = none_found(path, name, &found);
	if (!err)
		show(o, image, &found, out);
	cp_found_free(&found);
	cp_objects_free(&objects);
	return err;
}

static int run_layout(struct cp_args *args)
{
	struct layout_options *o = args->options;
	struct cp_buf out = { 0 };
	struct cp_error *err = look_up(o, args->operands[0], args->operands[1], &out);

	return cp_end_report(err, &out, o->json);
}

const struct cp_command cp_command_layout = {
	.name = "layout",
	.operands = "[options] FILE TYPE",
	.summary = "Size, offsets and holes of a type",
	.details =
		"TYPE is a name as in the source: node, \"struct node\", ns::Widget, 'Box<int>'.\n"
		"What it is in may be left out. FILE is a program or a library with debug\n"
		"information.",
	.groups = groups,
	.options_size = sizeof(struct layout_options),
	.defaults = &defaults,
	.least = 2,
	.most = 2,
	.usage_status = CP_EXIT_USAGE,
	.completes = CP_COMPLETES_FILES,
	.completes_next = CP_COMPLETES_TYPES,
	.run = run_layout,
};
