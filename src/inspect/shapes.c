/* SPDX-License-Identifier: MIT
 *
 * Types of standard libraries that read better as what they stand for: text,
 * lists, pointers. They are known by the beginning of their name, and their
 * parts by the names of members, wherever those are inside; a library that
 * has them otherwise shows its plain members.
 */
#include "inspect/build.h"

#define SEARCH_DEPTH 12
#define SEARCH_MAX 400 /* members looked at */

struct search {
	struct cp_image *image; /* to read what was not read yet; NULL: don't */
	const char *name;
	const char *within; /* the member being looked into */
	bool wants_pointer;
	unsigned left;
	uint64_t offset;
	const struct cp_type *type;
};

static bool find_in(struct search *s, const struct cp_type *type, uint64_t at, unsigned depth)
{
	const struct cp_type *t = cp_type_strip(type);
	const struct cp_type_details *d;
	const struct cp_type_member *m;
	uint32_t i;

	/* clang may leave out what holds nothing but the pointer. */
	if (depth && s->wants_pointer && t && (t->flags & CP_TYPE_DECLARED) && s->within &&
	    !strcmp(s->within, "_M_dataplus") && !strcmp(s->name, "_M_p")) {
		s->offset = at;
		return true;
	}
	if (!t || depth > SEARCH_DEPTH || (t->kind != CP_TYPE_STRUCT && t->kind != CP_TYPE_UNION))
		return false;
	d = cp_type_details(s->image ? cp_type_complete(s->image, t) : t);
	for (i = 0; d && i < d->member_count && s->left; i++) {
		m = &d->members[i];
		s->left--;
		if (m->flags & (CP_MEMBER_VIRTUAL | CP_MEMBER_BITS) || m->offset > t->size)
			continue;
		if (!strcmp(m->name, s->name) &&
		    (!s->wants_pointer || cp_type_strip(m->type)->kind == CP_TYPE_POINTER)) {
			s->offset = at + m->offset;
			s->type = m->type;
			return true;
		}
		s->within = m->name;
		if (find_in(s, m->type, at + m->offset, depth + 1))
			return true;
	}
	return false;
}

static bool find(struct cp_image *image, const struct cp_type *t, const char *name,
		 bool wants_pointer, uint64_t *offset_ret, const struct cp_type **type_ret)
{
	struct search s = {
		.image = image, .name = name, .wants_pointer = wants_pointer, .left = SEARCH_MAX
	};

	if (!find_in(&s, t, 0, 0))
		return false;
	*offset_ret = s.offset;
	if (type_ret)
		*type_ret = s.type;
	return true;
}

static const struct {
	const char *prefix;
	enum cp_shape_kind kind;
	const char *pointer, *length; /* LENGTH_BY_END: a pointer */
	bool ended; /* by a pointer to the end instead of a length */
	bool terminated; /* text ends with a NUL, too */
} shapes[] = {
	{ "basic_string<char,", CP_SHAPE_TEXT, "_M_p", "_M_string_length", false, true },
	{ "basic_string_view<char,", CP_SHAPE_TEXT, "_M_str", "_M_len", false, false },
	{ "&str", CP_SHAPE_TEXT, "data_ptr", "length", false, false },
	{ "&mut str", CP_SHAPE_TEXT, "data_ptr", "length", false, false },
	{ "String", CP_SHAPE_TEXT, "pointer", "len", false, false },
	{ "vector<", CP_SHAPE_LIST, "_M_start", "_M_finish", true, false },
	{ "&[", CP_SHAPE_LIST, "data_ptr", "length", false, false },
	{ "&mut [", CP_SHAPE_LIST, "data_ptr", "length", false, false },
	{ "unique_ptr<", CP_SHAPE_POINTER, "_M_head_impl", NULL, false, false },
	{ "shared_ptr<", CP_SHAPE_POINTER, "_M_ptr", NULL, false, false },
	{ "optional<", CP_SHAPE_OPTIONAL, "_M_value", "_M_engaged", false, false },
	{ "map<", CP_SHAPE_COUNT, NULL, "_M_node_count", false, false },
	{ "set<", CP_SHAPE_COUNT, NULL, "_M_node_count", false, false },
	{ "multimap<", CP_SHAPE_COUNT, NULL, "_M_node_count", false, false },
	{ "unordered_map<", CP_SHAPE_COUNT, NULL, "_M_element_count", false, false },
	{ "unordered_set<", CP_SHAPE_COUNT, NULL, "_M_element_count", false, false },
};

bool cp_shape_of(struct cp_image *image, const struct cp_type *t, struct cp_shape *ret)
{
	const char *name = t->name;
	size_t i;

	if (!(t->flags & CP_TYPE_CLASSES) || !name || t->kind != CP_TYPE_STRUCT)
		return false;
	for (i = 0; i < CP_ARRAY_SIZE(shapes); i++) {
		if (strncmp(name, shapes[i].prefix, strlen(shapes[i].prefix)) != 0)
			continue;
		*ret = (struct cp_shape){ .kind = shapes[i].kind,
					  .ended = shapes[i].ended,
					  .terminated = shapes[i].terminated };
		if (shapes[i].pointer &&
		    !find(image, t, shapes[i].pointer, ret->kind != CP_SHAPE_OPTIONAL,
			  &ret->pointer, &ret->type))
			continue;
		if (shapes[i].length &&
		    !find(image, t, shapes[i].length, ret->ended, &ret->length, NULL))
			continue;
		return true;
	}
	return false;
}

/* ---- values of them ---- */

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
