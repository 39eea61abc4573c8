/* SPDX-License-Identifier: MIT
 *
 * Values of types that read as what they stand for (shapes.c). What such a type holds
 * is a value again: value.c.
 */
#include "inspect/shape_values.h"

#include "inspect/bytes.h"
#include "inspect/scalar.h"
#include "inspect/shapes.h"
#include "inspect/value.h"

/* A word inside the value; false when it is not there. */
static bool word(struct cp_bytes from, uint64_t offset, uint64_t *ret)
{
	if (offset > from.size || from.size - offset < 8)
		return false;
	*ret = cp_build_number(from.at + offset, 8);
	return true;
}

static bool build_text(struct cp_build *b, cprof_value *v, const struct cp_shape *s,
		       struct cp_bytes from)
{
	uint64_t pointer, length, want;
	struct cp_bytes at;
	bool tried;

	if (!word(from, s->pointer, &pointer) || !word(from, s->length, &length))
		return false;
	want = length < b->limits->string ? length : b->limits->string;
	at = cp_build_memory(b, pointer, want, &tried);
	if (want && !at.size) {
		if (tried)
			cp_build_error(v, CPROF_VALUE_UNREADABLE, pointer);
		else
			cp_build_error(v, CPROF_VALUE_UNAVAILABLE, 0);
		return true;
	}
	v->kind = CPROF_VALUE_STRING;
	v->address = pointer;
	v->cut = at.size < length;
	v->u.text.length = (uint32_t)(want ? at.size : 0);
	v->u.text.bytes = cp_arena_copy(b->arena, at.at, v->u.text.length);
	if (!v->u.text.bytes)
		cp_build_error(v, CPROF_VALUE_UNAVAILABLE, 0);
	return true;
}

static bool build_list(struct cp_build *b, cprof_value *v, const struct cp_shape *s,
		       struct cp_bytes from, unsigned depth, unsigned hops)
{
	const struct cp_type *pointer_type = cp_type_strip(s->type);
	struct cp_type list = { .kind = CP_TYPE_ARRAY, .target = pointer_type->target };
	const struct cp_type *element = cp_type_strip(pointer_type->target);
	uint64_t pointer, length, want;
	struct cp_bytes at = { 0 };
	bool tried;

	if (!element || !element->size || !word(from, s->pointer, &pointer) ||
	    !word(from, s->length, &length))
		return false;
	list.count = s->ended ? (length - pointer) / element->size : length;
	if (__builtin_mul_overflow(list.count, element->size, &list.size))
		return false;
	want = list.size < b->limits->value ? list.size : b->limits->value;
	if (want)
		at = cp_build_memory(b, pointer, want, &tried);
	if (want && !at.size && tried)
		cp_build_error(v, CPROF_VALUE_UNREADABLE, pointer);
	else if (want && !at.size)
		cp_build_error(v, CPROF_VALUE_UNAVAILABLE, 0);
	else
		cp_build_elements(b, v, &list, at, depth, hops);
	return true;
}

static bool build_optional(struct cp_build *b, cprof_value *v, const struct cp_shape *s,
			   struct cp_bytes from, unsigned depth, unsigned hops)
{
	const struct cp_type *t = cp_type_strip(s->type);

	if (s->length >= from.size)
		return false;
	if (!from.at[s->length]) {
		v->kind = CPROF_VALUE_ENUM;
		v->symbol = "nullopt";
		return true;
	}
	cp_build_value(b, v, s->type, cp_build_part(from, s->pointer, t->size), depth, hops);
	return true;
}

static bool build_count(struct cp_build *b, cprof_value *v, const struct cp_shape *s,
			struct cp_bytes from)
{
	cprof_value *item = cp_arena_alloc(b->arena, sizeof(*item));

	if (!item || !word(from, s->length, &item->u.u))
		return false;
	item->kind = CPROF_VALUE_UINT;
	item->name = "size";
	item->type = "size_t";
	item->size = 8;
	v->kind = CPROF_VALUE_STRUCT;
	v->items = item;
	v->count = 1;
	v->cut = true; /* what it holds is not shown */
	return true;
}

bool cp_build_shape(struct cp_build *b, cprof_value *v, const struct cp_type *t,
		    struct cp_bytes from, unsigned depth, unsigned hops)
{
	const char *type = v->type;
	struct cp_shape s;
	bool done;

	if (!cp_shape_of(NULL, t, &s))
		return false;
	switch (s.kind) {
	case CP_SHAPE_TEXT:
		return build_text(b, v, &s, from);
	case CP_SHAPE_LIST:
		return build_list(b, v, &s, from, depth, hops);
	case CP_SHAPE_POINTER:
		cp_build_value(b, v, s.type, cp_build_part(from, s.pointer, 8), depth, hops);
		done = true;
		break;
	case CP_SHAPE_OPTIONAL:
		done = build_optional(b, v, &s, from, depth, hops);
		break;
	case CP_SHAPE_COUNT:
	default:
		return build_count(b, v, &s, from);
	}
	v->type = type;
	return done;
}
