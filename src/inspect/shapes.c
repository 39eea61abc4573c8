/* SPDX-License-Identifier: MIT
 *
 * Types of standard libraries that read better as what they stand for: text,
 * lists, pointers. They are known by the beginning of their name, and their
 * parts by the names of members, wherever those are inside; a library that
 * has them otherwise shows its plain members.
 */
#include "inspect/shapes.h"

#include <string.h>

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
