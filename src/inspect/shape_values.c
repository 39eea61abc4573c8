/* SPDX-License-Identifier: MIT
 *
 * Values of types that read as what they stand for (shapes.c). What such a type holds
 * is a value again: value.c. Who went by types alone at a stop has those parts at hand;
 * what takes more of the program's memory is made by shape_build.c.
 */
#include "inspect/shape_values.h"

#include "inspect/bytes.h"
#include "inspect/scalar.h"
#include "inspect/readable.h"
#include "inspect/shape_units.h"
#include "inspect/shapes.h"
#include "inspect/value.h"

/* A word inside the value; false when it is not there. */
static bool word(struct cp_bytes from, uint64_t offset, uint64_t *ret)
{
	if (offset > from.size || from.size - offset < 8 || cp_gap_in(&from, offset * 8, 64))
		return false;
	*ret = cp_build_number(from.at + offset, 8);
	return true;
}

void cp_build_text(struct cp_build *b, cprof_value *v, uint64_t pointer, uint64_t length)
{
	uint64_t want = length < b->limits->string ? length : b->limits->string;
	struct cp_bytes at = { 0 };
	bool tried = true;

	if (want)
		at = cp_build_memory(b, pointer, want, &tried);
	if (want && !at.size) {
		cp_build_error(v, tried ? CPROF_VALUE_UNREADABLE : CPROF_VALUE_UNAVAILABLE,
			       tried ? pointer : 0);
		return;
	}
	v->kind = CPROF_VALUE_STRING;
	v->address = pointer;
	v->cut = at.size < length;
	v->u.text.length = (uint32_t)at.size;
	v->u.text.bytes = cp_arena_copy(b->arena, at.at ? at.at : (const uint8_t *)"", at.size);
	if (!v->u.text.bytes)
		cp_build_error(v, CPROF_VALUE_UNAVAILABLE, 0);
}

bool cp_build_row(struct cp_build *b, cprof_value *v, const struct cp_type *target,
		  uint64_t pointer, uint64_t count, unsigned depth, unsigned hops)
{
	struct cp_type list = { .kind = CP_TYPE_ARRAY, .target = target, .count = count };
	const struct cp_type *element = cp_type_strip(target);
	struct cp_bytes at = { 0 };
	bool tried = true;
	uint64_t want;

	if (!cp_type_has_size(element))
		return false;
	if (__builtin_mul_overflow(count, element->size, &list.size))
		return false;
	want = list.size < b->limits->value ? list.size : b->limits->value;
	if (want)
		at = cp_build_memory(b, pointer, want, &tried);
	if (want && !at.size)
		cp_build_error(v, tried ? CPROF_VALUE_UNREADABLE : CPROF_VALUE_UNAVAILABLE,
			       tried ? pointer : 0);
	else
		cp_build_elements(b, v, &list, at, depth, hops);
	return true;
}

static const struct cp_type *target_of(struct cp_build *b, const struct cp_type *pointer)
{
	const struct cp_type *target = cp_type_strip(pointer)->target;

	if (b->live && target)
		cp_type_complete(cp_type_image(target), cp_type_strip(target));
	return target;
}

static bool build_row(struct cp_build *b, cprof_value *v, const struct cp_shape *s,
		      struct cp_bytes from, unsigned depth, unsigned hops)
{
	const struct cp_type *target = target_of(b, s->type), *element = cp_type_strip(target);
	uint64_t pointer, length;

	if (!cp_type_has_size(element) || (s->ended && !element->size) ||
	    !word(from, s->pointer, &pointer) || !word(from, s->length, &length))
		return false;
	if (s->ended)
		length = (length - pointer) / element->size;
	return cp_build_row(b, v, target, pointer, length, depth, hops);
}

static const char held[] = "value";

/* Does it read as the word for nothing, or as what holds that? */
static bool is_none(const cprof_value *v, const char *word)
{
	return word && ((v->kind == CPROF_VALUE_ENUM && v->symbol && !strcmp(v->symbol, word)) ||
			(v->kind == CPROF_VALUE_STRUCT && v->count == 1 && v->items->name == held));
}

void cp_build_holding(struct cp_build *b, cprof_value *v, const char *word)
{
	cprof_value *item = is_none(v, word) ? cp_arena_alloc(b->arena, sizeof(*item)) : NULL;

	if (!item)
		return;
	*item = *v;
	item->name = held;
	*v = (cprof_value){ .kind = CPROF_VALUE_STRUCT,
			    .source = v->source,
			    .name = v->name,
			    .type = v->type,
			    .address = v->address,
			    .items = item,
			    .count = 1 };
}

static bool build_choice(struct cp_build *b, cprof_value *v, const struct cp_shape *s,
			 struct cp_bytes from, unsigned depth, unsigned hops)
{
	const struct cp_type *t = cp_type_strip(s->type);

	if (s->length >= from.size)
		return false;
	if (!from.at[s->length]) {
		v->kind = CPROF_VALUE_ENUM;
		v->symbol = s->row->terms[CP_TERM_none];
		return true;
	}
	cp_build_value(b, v, s->type, cp_build_part(from, s->pointer, t->size), depth, hops);
	cp_build_holding(b, v, s->row->terms[CP_TERM_none]);
	return true;
}

bool cp_build_count(struct cp_build *b, cprof_value *v, uint64_t count)
{
	cprof_value *item = cp_arena_alloc(b->arena, sizeof(*item));

	if (!item)
		return false;
	item->kind = CPROF_VALUE_UINT;
	item->u.u = count;
	item->name = "size";
	item->type = "size_t";
	item->size = 8;
	v->kind = CPROF_VALUE_STRUCT;
	v->items = item;
	v->count = 1;
	v->cut = true; /* what it holds is not shown */
	return true;
}

static bool build_by_type(struct cp_build *b, cprof_value *v, const struct cp_type *t,
			  const struct cp_shape *s, struct cp_bytes from, unsigned depth,
			  unsigned hops)
{
	uint64_t pointer, length;

	if (s->counted)
		return word(from, s->length, &length) && cp_build_count(b, v, length);
	if (s->row->kind == CP_SHAPE_ROW)
		return build_row(b, v, s, from, depth, hops);
	if (s->row->kind == CP_SHAPE_CHOICE)
		return build_choice(b, v, s, from, depth, hops);
	if (s->row->kind == CP_SHAPE_VALUE || s->row->kind == CP_SHAPE_DURATION ||
	    s->row->kind == CP_SHAPE_DATE) {
		cp_build_value(b, v, s->type,
			       cp_build_part(from, s->pointer, cp_type_strip(s->type)->size), depth,
			       hops);
		cp_shape_put_unit(b, v, t, s->row);
		return true;
	}
	if (!word(from, s->pointer, &pointer) || !word(from, s->length, &length))
		return false;
	cp_build_text(b, v, pointer, length);
	return true;
}

bool cp_build_shape(struct cp_build *b, cprof_value *v, const struct cp_type *t,
		    struct cp_bytes from, unsigned depth, unsigned hops)
{
	const struct cp_shapes *shapes = b->shapes;
	struct cp_image *image = b->live ? cp_type_image(t) : NULL;
	const struct cp_shape_row *row = NULL;
	const char *type = v->type;
	struct cp_shape s;
	bool done = false;

	while (!done && (row = cp_shape_next(shapes, t, row))) {
		if (cp_shape_by_type(image, t, row, &s) &&
		    !(s.counted && shapes && cp_build_is_whole(b)))
			done = build_by_type(b, v, t, &s, from, depth, hops);
		else if (shapes)
			done = shapes->ops->build(b, v, t, row, &from, depth, hops);
	}
	v->type = type;
	return done;
}
