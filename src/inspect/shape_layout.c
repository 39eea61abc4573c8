/* SPDX-License-Identifier: MIT
 *
 * Where the parts of a library's type are in each object of it. Its declaration is
 * evaluated over an object that is made up, whose words are addresses that say by
 * themselves where they stand:
 *
 *     the object at 1<<40     word at 8 ─► 2<<40 | 8<<24 | 1<<23
 *
 * so that what a term comes to is a place in the object (1<<40 and on), or leads from one
 * of its words. What is anything else, each object decides.
 */
#include "inspect/shape_layout.h"

#include <string.h>

#include "inspect/readable.h"
#include "inspect/shape_build.h"

#define SELF (UINT64_C(1) << 40)
#define LED (UINT64_C(2) << 40)
#define SIZE_MOST (1u << 16)
#define MIDDLE (UINT64_C(1) << 23)
#define LINKS 8 /* of what has its text or its elements in a member */

struct made_up {
	uint64_t size;
	uint64_t last; /* the byte in it that was read last */
};

static size_t read_made_up(void *ctx, uint64_t address, void *buffer, size_t size)
{
	struct made_up *m = ctx;
	uint64_t at = address - SELF, word = LED | at << 24 | MIDDLE;

	if (at >= m->size || size > m->size - at)
		return 0;
	m->last = at;
	memset(buffer, 0, size);
	if (size == sizeof(word))
		memcpy(buffer, &word, sizeof(word));
	return size;
}

/* False: it is no place in the object, nor where one of its words leads. */
static bool decode(const struct made_up *m, uint64_t address, struct cp_layout *ret)
{
	uint64_t led = address - LED, behind = (led & (2 * MIDDLE - 1)) - MIDDLE;

	ret->indirect = address >= LED;
	ret->offset = ret->indirect ? led >> 24 : address - SELF;
	ret->behind = ret->indirect ? behind : 0;
	return ret->offset < m->size && ret->behind < MIDDLE;
}

/* ---- of declarations ---- */

static bool row_layout(struct cp_shape_scope *scope, const struct made_up *m, struct cp_layout *ret)
{
	const char *const *terms = scope->row->terms;
	const enum cp_shape_term last = scope->row->kind == CP_SHAPE_TEXT ? CP_TERM_length
					: terms[CP_TERM_end]		  ? CP_TERM_end
									  : CP_TERM_count;
	struct cp_layout counted = { 0 };
	struct cp_thing thing = { 0 };
	uint64_t pointer = 0, ignored;
	int64_t n = 0;
	struct cp_error *err = cp_shape_row_at(scope, &ret->type, &pointer, &ignored, &thing);

	if (!err && !thing.error && decode(m, pointer, ret))
		err = cp_shape_number(scope, last, &n, &thing);
	else
		thing.error = CPROF_VALUE_UNAVAILABLE;
	ret->ended = last == CP_TERM_end;
	ret->terminated = cp_shape_fits("basic_string<*", scope->row->type);
	if (err || thing.error) {
		cp_error_free(err);
		return false;
	}
	if (decode(m, (uint64_t)n, &counted) && counted.indirect && !counted.behind)
		ret->length = counted.offset;
	else
		ret->count = (uint64_t)n;
	return ret->length != CP_LAYOUT_NONE || ret->count < SELF;
}

static bool value_layout(struct cp_shape_scope *scope, struct made_up *m, struct cp_layout *ret)
{
	struct cp_thing thing = { 0 };
	int64_t n;
	struct cp_error *err = cp_shape_term(scope, CP_TERM_value, &thing);
	bool found = !err && !thing.error && thing.in_memory && !thing.bits &&
		     decode(m, thing.address, ret);
	const struct cp_type *t = found ? cp_type_strip(thing.type) : NULL;

	cp_error_free(err);
	if (!t)
		return false;
	ret->type = thing.type;
	if (t->kind == CP_TYPE_POINTER && !ret->indirect) { /* what it owns is meant */
		ret->indirect = true;
		ret->type = t->target;
	}
	if (scope->row->kind != CP_SHAPE_CHOICE)
		return true;
	m->last = CP_LAYOUT_NONE;
	err = cp_shape_number(scope, CP_TERM_when, &n, &thing);
	ret->flag = !err && !thing.error && thing.in_memory ? m->last : CP_LAYOUT_NONE;
	cp_error_free(err);
	return true;
}

static bool by_row(const struct cp_type *t, const struct cp_shape_row *row, struct cp_layout *ret)
{
	const struct cp_value_limits limits = cp_value_limits_default;
	struct cp_value_arena *arena = cp_value_arena_create();
	struct made_up m = { .size = t->size };
	const struct cp_reader reader = { read_made_up, &m };
	struct cp_shape_scope scope;
	bool found = false;

	*ret = (struct cp_layout){ .kind = row->kind,
				   .length = CP_LAYOUT_NONE,
				   .flag = CP_LAYOUT_NONE };
	if (arena) {
		const struct cp_expression_env env = { .arena = &arena->memory,
						       .memory = &reader,
						       .values = arena,
						       .limits = &limits };
		const struct cp_thing self = cp_thing_at(t, SELF);

		if (cp_shape_scope_init(&scope, &env, NULL, row, &self)) {
			found = row->kind == CP_SHAPE_TEXT || row->kind == CP_SHAPE_ROW
					? row_layout(&scope, &m, ret)
					: value_layout(&scope, &m, ret);
			cp_shape_scope_deinit(&scope);
		}
	}
	cp_value_arena_destroy(arena);
	return found;
}

/* ---- of the languages' own types ---- */

static bool is_box(const struct cp_type *t)
{
	const char *name =
		t->kind == CP_TYPE_POINTER && t->language == CP_LANGUAGE_RUST ? t->name : NULL;

	return name && strstr(name, "Box<");
}

static bool plain_layout(const struct cp_type *t, enum cp_shape_kind kind, struct cp_layout *ret)
{
	const bool text = t->target && (t->kind == CP_TYPE_POINTER || t->kind == CP_TYPE_ARRAY) &&
			  cp_type_characters(t);

	*ret = (struct cp_layout){ .kind = kind,
				   .type = t->target,
				   .indirect = t->kind == CP_TYPE_POINTER,
				   .length = CP_LAYOUT_NONE,
				   .count = t->kind == CP_TYPE_POINTER ? 0 : t->count,
				   .terminated = t->kind == CP_TYPE_POINTER,
				   .flag = CP_LAYOUT_NONE };
	return kind == CP_SHAPE_TEXT  ? text
	       : kind == CP_SHAPE_ROW ? t->kind == CP_TYPE_ARRAY || t->kind == CP_TYPE_VECTOR
				      : is_box(t);
}

/* Does a declaration of `row` tell of what is asked for? */
static bool is_asked(enum cp_shape_kind kind, enum cp_shape_kind row)
{
	if (kind == CP_SHAPE_VALUE)
		return row >= CP_SHAPE_VALUE && row <= CP_SHAPE_NODE;
	return row == kind;
}

static enum cp_layout_found find(const struct cp_type *type, enum cp_shape_kind kind,
				 unsigned links, struct cp_layout *ret);

/* Of what has it as a member: std::array, path, stack. */
static bool inside(const struct cp_layout *outer, enum cp_shape_kind kind, unsigned links,
		   struct cp_layout *ret)
{
	if (outer->indirect || !links || find(outer->type, kind, links - 1, ret) != CP_LAYOUT_FOUND)
		return false;
	ret->offset += outer->offset;
	ret->length += ret->length == CP_LAYOUT_NONE ? 0 : outer->offset;
	return true;
}

static enum cp_layout_found find(const struct cp_type *type, enum cp_shape_kind kind,
				 unsigned links, struct cp_layout *ret)
{
	const struct cp_type *t = cp_type_strip(type);
	const struct cp_shape_row *row = NULL;
	struct cp_layout found;
	bool met = false;

	t = t && cp_type_image(t) ? cp_type_strip(cp_type_complete(cp_type_image(t), t)) : t;
	if (t && plain_layout(t, kind, ret))
		return CP_LAYOUT_FOUND;
	while (t && t->size && t->size <= SIZE_MOST && (row = cp_shape_next(NULL, t, row))) {
		met |= is_asked(kind, row->kind);
		if (row->kind == CP_SHAPE_VARIANT || row->kind == CP_SHAPE_HELD ||
		    row->kind == CP_SHAPE_NODE ||
		    (!is_asked(kind, row->kind) && row->kind != CP_SHAPE_VALUE) ||
		    !by_row(t, row, &found))
			continue;
		if (is_asked(kind, row->kind))
			*ret = found;
		else if (!inside(&found, kind, links, ret))
			continue;
		return CP_LAYOUT_FOUND;
	}
	return met ? CP_LAYOUT_VARIES : CP_LAYOUT_OTHER;
}

enum cp_layout_found cp_shape_layout(const struct cp_type *type, enum cp_shape_kind kind,
				     struct cp_layout *ret)
{
	return find(type, kind, LINKS, ret);
}
