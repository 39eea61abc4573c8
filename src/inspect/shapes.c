/* SPDX-License-Identifier: MIT
 *
 * Types of libraries that read better as what they stand for: text, lists, maps,
 * pointers. Each is a declaration, by the beginning of a name and expressions over its
 * members:
 *
 *     map<*     tree     root    _M_t._M_impl._M_header._M_parent
 *                        left    _M_left            of a node
 *                        right   _M_right
 *                        behind  $_M_t$2            a value of that type follows the node
 *                        key     first              of the value
 *                        mapped  second
 *
 * A library that has a type otherwise shows its plain members. Here is what types alone
 * tell: paths of members. The rest needs the program's memory (shape_terms.c).
 */
#include "inspect/shapes.h"

#include <string.h>

#include "inspect/shapes_cplusplus.h"
#include "inspect/shapes_libcxx.h"
#include "inspect/shapes_rust.h"

#define SEARCH_DEPTH 12
#define SEARCH_MAX 400 /* members looked at */

const struct cp_type cp_shape_enumerator = { .kind = CP_TYPE_ARRAY,
					     .text = "the name of an enumerator" };

/* ---- which declaration ---- */

bool cp_shape_fits(const char *pattern, const char *name)
{
	const char *star;
	size_t size;

	if (*pattern != *name && *pattern != '*') /* nearly all of them, at each value */
		return false;
	star = strchr(pattern, '*');
	size = star ? (size_t)(star - pattern) : strlen(pattern);
	if (strncmp(pattern, name, size) != 0)
		return false;
	if (!star || !star[1])
		return star || !name[size];
	for (name += size; *name; name++)
		if (cp_shape_fits(star + 1, name))
			return true;
	return false;
}

/* The row of `count` behind `previous`, or the first if that is none of them. */
static const struct cp_shape_row *next_in(const struct cp_shape_row *rows, size_t count,
					  const struct cp_type *t,
					  const struct cp_shape_row *previous)
{
	bool within = previous >= rows && previous < rows + count;
	const struct cp_shape_row *row;

	for (row = within ? previous + 1 : rows; row < rows + count; row++)
		if (cp_shape_fits(row->type, t->name))
			return row;
	return NULL;
}

/* The tables that are shipped, each with names of its own but where libraries of one
 * language call a thing the same. */
static const struct table {
	const struct cp_shape_row *rows;
	const size_t *count;
} shipped[] = {
	{ cp_shapes_cplusplus, &cp_shapes_cplusplus_count },
	{ cp_shapes_libcxx, &cp_shapes_libcxx_count },
	{ cp_shapes_rust, &cp_shapes_rust_count },
};

/* Behind `previous`, in its table and in those that follow. */
static const struct cp_shape_row *next_shipped(const struct cp_type *t,
					       const struct cp_shape_row *previous)
{
	const struct table *table = shipped, *last = shipped + CP_ARRAY_SIZE(shipped);
	const struct cp_shape_row *row = NULL;

	while (previous && !(previous >= table->rows && previous < table->rows + *table->count))
		table++;
	for (; !row && table < last; table++)
		row = next_in(table->rows, *table->count, t, previous);
	return row;
}

/* The number of a row among all of them. */
static size_t number_of(const struct cp_shape_row *row)
{
	const struct table *table;
	size_t number = 0;

	for (table = shipped; !(row >= table->rows && row < table->rows + *table->count); table++)
		number += *table->count;
	return number + (size_t)(row - table->rows);
}

static const struct cp_shape_row *row_of(size_t number)
{
	const struct table *table;

	for (table = shipped; number >= *table->count; table++)
		number -= *table->count;
	return &table->rows[number];
}

/* The first of those, which each value of the type asks for. */
static const struct cp_shape_row *first_shipped(const struct cp_type *t)
{
	_Atomic uint16_t *known = t->unit ? &((struct cp_type *)(uintptr_t)t)->shape : NULL;
	uint16_t number = known ? atomic_load_explicit(known, memory_order_relaxed) : 0;
	const struct cp_shape_row *row;

	if (number)
		return number > 1 ? row_of(number - 2u) : NULL;
	row = next_shipped(t, NULL);
	number = (uint16_t)(row ? 2 + number_of(row) : 1);
	if (known)
		atomic_store_explicit(known, number, memory_order_relaxed);
	return row;
}

const struct cp_shape_row *cp_shape_next(const struct cp_shapes *shapes, const struct cp_type *t,
					 const struct cp_shape_row *previous)
{
	const struct cp_shape_row *own = shapes ? shapes->rows.items : NULL;
	size_t owned = shapes ? shapes->rows.count : 0, i = 0;
	bool mine = owned && previous >= own && previous < own + owned;

	if (!t->name || (t->kind != CP_TYPE_STRUCT && t->kind != CP_TYPE_UNION))
		return NULL;
	if (mine)
		i = (size_t)(previous - own) + 1;
	for (; (mine || !previous) && i < owned; i++)
		if (cp_shape_fits(own[i].type, t->name))
			return &own[i];
	if (!(t->flags & CP_TYPE_CLASSES))
		return NULL;
	return previous && !mine ? next_shipped(t, previous) : first_shipped(t);
}

bool cp_shape_is_plain(const struct cp_type *t)
{
	const struct cp_shape_row *row = cp_shape_next(NULL, t, NULL);

	return row && (row->kind == CP_SHAPE_TEXT || row->kind == CP_SHAPE_DURATION ||
		       row->kind == CP_SHAPE_DATE);
}

/* ---- members ---- */

struct search {
	struct cp_image *image; /* to read what was not read yet; NULL: don't */
	const char *name;
	size_t size;
	bool anywhere; /* a pointer to data, in any member; else in bases and what has no name */
	unsigned left;
	uint64_t offset;
	const struct cp_type *type;
};

static bool is_placed(const struct cp_type *t, const struct cp_type_member *m)
{
	return !(m->flags & (CP_MEMBER_VIRTUAL | CP_MEMBER_BITS)) && m->offset <= t->size;
}

/* Not a function's, as of who deletes what another one leads to. */
static bool is_data_pointer(const struct cp_type *type)
{
	const struct cp_type *t = cp_type_strip(type);

	return t->kind == CP_TYPE_POINTER &&
	       !(t->target && cp_type_strip(t->target)->kind == CP_TYPE_FUNCTION);
}

static bool find(struct search *s, const struct cp_type *type, uint64_t at, unsigned depth)
{
	const struct cp_type *t = cp_type_strip(type);
	const struct cp_type_details *d;
	const struct cp_type_member *m;
	uint32_t i;

	if (!t || depth > SEARCH_DEPTH || (t->kind != CP_TYPE_STRUCT && t->kind != CP_TYPE_UNION))
		return false;
	d = cp_type_details(s->image ? cp_type_complete(s->image, t) : t);
	for (i = 0; d && i < d->member_count && s->left; i++, s->left--) {
		m = &d->members[i];
		if (!is_placed(t, m) || m->flags & CP_MEMBER_BASE || strlen(m->name) != s->size ||
		    memcmp(m->name, s->name, s->size) || (s->anywhere && !is_data_pointer(m->type)))
			continue;
		s->offset = at + m->offset;
		s->type = m->type;
		return true;
	}
	for (i = 0; d && i < d->member_count && s->left; i++) {
		m = &d->members[i];
		if (is_placed(t, m) && (s->anywhere || !*m->name || m->flags & CP_MEMBER_BASE) &&
		    find(s, m->type, at + m->offset, depth + 1))
			return true;
	}
	return false;
}

bool cp_shape_member(struct cp_image *image, const struct cp_type *t, const char *path,
		     uint64_t *offset_ret, const struct cp_type **type_ret)
{
	struct search s = { .image = image, .left = SEARCH_MAX };
	uint64_t offset = 0;

	s.anywhere = !strncmp(path, "..", 2);
	path += s.anywhere ? 2 : 0;
	for (; *path; path += s.size + (path[s.size] == '.')) {
		s.name = path;
		s.size = strcspn(path, ".");
		if (!find(&s, t, 0, 0))
			return false;
		offset += s.offset;
		t = s.type;
	}
	*offset_ret = offset;
	*type_ret = t;
	return true;
}

/* ---- what a type tells ---- */

/* `{char*}&path` is a place, too: clang may leave out what holds nothing but the pointer. */
static bool place(struct cp_image *image, const struct cp_type *t, const char *term,
		  uint64_t *offset_ret, const struct cp_type **type_ret)
{
	static const struct cp_type of_char = { .kind = CP_TYPE_CHAR,
						.flags = CP_TYPE_SIGNED,
						.size = 1,
						.name = "char",
						.text = "char",
						.split = 4 },
				    pointer = { .kind = CP_TYPE_POINTER,
						.size = 8,
						.text = "char *",
						.split = 6,
						.target = &of_char };
	static const char text[] = "{char *}&";
	bool spelt = term && !strncmp(term, text, sizeof(text) - 1);

	if (!term || strpbrk(spelt ? term + sizeof(text) - 1 : term, " *&({[<>-+$!|=?\""))
		return false;
	if (!cp_shape_member(image, t, spelt ? term + sizeof(text) - 1 : term, offset_ret,
			     type_ret))
		return false;
	if (spelt)
		*type_ret = &pointer;
	return true;
}

static bool is_pointer(const struct cp_type *type)
{
	return type && cp_type_strip(type)->kind == CP_TYPE_POINTER;
}

bool cp_shape_by_type(struct cp_image *image, const struct cp_type *t,
		      const struct cp_shape_row *row, struct cp_shape *ret)
{
	const char *const *terms = row->terms;
	const struct cp_type *type = NULL;
	struct cp_shape s = { .row = row };

	if (row->kind == CP_SHAPE_TEXT) {
		s.terminated = !strncmp(t->name, "basic_string<", strlen("basic_string<"));
		if (!place(image, t, terms[CP_TERM_at], &s.pointer, &s.type) ||
		    !is_pointer(s.type) || !cp_type_strip(s.type)->target ||
		    cp_type_strip(cp_type_strip(s.type)->target)->size != 1 ||
		    !place(image, t, terms[CP_TERM_length], &s.length, &type) ||
		    cp_type_strip(type)->size != 8)
			return false;
	} else if (row->kind == CP_SHAPE_ROW) {
		s.ended = terms[CP_TERM_end];
		if (!place(image, t, terms[CP_TERM_at], &s.pointer, &s.type) ||
		    !is_pointer(s.type) ||
		    !place(image, t, terms[s.ended ? CP_TERM_end : CP_TERM_count], &s.length,
			   &type) ||
		    is_pointer(type) != s.ended || cp_type_strip(type)->size != 8)
			return false;
	} else if (row->kind == CP_SHAPE_VALUE || row->kind == CP_SHAPE_DURATION ||
		   row->kind == CP_SHAPE_DATE) {
		if (!place(image, t, terms[CP_TERM_value], &s.pointer, &s.type))
			return false;
	} else if (row->kind == CP_SHAPE_CHOICE) {
		if (terms[CP_TERM_other] ||
		    !place(image, t, terms[CP_TERM_value], &s.pointer, &s.type) ||
		    !place(image, t, terms[CP_TERM_when], &s.length, &type) ||
		    cp_type_strip(type)->size != 1)
			return false;
	} else {
		s.counted = true;
		if (!place(image, t, terms[CP_TERM_count], &s.length, &type) ||
		    cp_type_strip(type)->size != 8)
			return false;
	}
	*ret = s;
	return true;
}

bool cp_shape_of(struct cp_image *image, const struct cp_type *t, struct cp_shape *ret)
{
	const struct cp_shape_row *row = NULL;

	while ((row = cp_shape_next(NULL, t, row)))
		if (cp_shape_by_type(image, t, row, ret))
			return true;
	return false;
}
