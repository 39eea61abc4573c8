/* SPDX-License-Identifier: MIT
 *
 * What structs, unions and enums consist of, and whether a class is one that
 * C++ passes by invisible reference: gcc 12 doesn't say so, and it is inferred
 * from the copy and move constructors and destructor that the user declared.
 */
#include "image/dwarf/members.h"

#include <string.h>

#include "image/dwarf/attr.h"
#include "image/dwarf/attrs.h"
#include "image/dwarf/define.h"
#include "image/dwarf/type.h"

#define MAX_MEMBERS 4096
#define MAX_ENUMERATORS 65536
#define MAX_VARIANTS 4096

struct reading {
	const struct cp_type *type;
	struct cp_unit *unit;
	struct cp_type_details *to;
	CP_VEC(struct cp_type_member) members;
	CP_VEC(struct cp_type_enumerator) enumerators;
	CP_VEC(struct cp_type_variant) variants;
	CP_VEC(struct cp_type_method) methods;
	bool copies, copies_deleted; /* has a copy or move constructor that can be used; can't */
};

/* ---- members ---- */

/* The number that an operation pushes; false: it is none that does. */
static bool read_constant(struct cp_cursor *c, uint64_t *ret)
{
	uint8_t op = cp_cursor_u8(c);

	if (op >= DW_OP_lit0 && op <= DW_OP_lit31)
		*ret = op - DW_OP_lit0;
	else if (op == DW_OP_const1u)
		*ret = cp_cursor_u8(c);
	else if (op == DW_OP_const2u)
		*ret = cp_cursor_u16(c);
	else if (op == DW_OP_constu)
		*ret = cp_cursor_uleb(c);
	else
		return false;
	return !c->bad;
}

/* Where the offset of a virtual base is, seen from the vtable (Itanium C++ ABI, 2.5.2), as
 * gcc and clang have it: object + *(*object - below). 0: it is something else. */
static uint32_t vtable_offset(const struct cp_attr *attr)
{
	struct cp_cursor c = cp_cursor(attr->block, attr->u);
	uint64_t below;

	if (cp_cursor_u8(&c) != DW_OP_dup || cp_cursor_u8(&c) != DW_OP_deref ||
	    !read_constant(&c, &below) || cp_cursor_u8(&c) != DW_OP_minus ||
	    cp_cursor_u8(&c) != DW_OP_deref || cp_cursor_u8(&c) != DW_OP_plus || c.bad ||
	    cp_cursor_left(&c) || below > INT32_MAX)
		return 0;
	return (uint32_t)below;
}

/* A member's offset; false: it depends on the object. */
static bool member_offset(const struct cp_attr *attr, uint64_t *ret)
{
	struct cp_cursor c;

	*ret = 0;
	if (!attr->form || cp_attr_number(attr, ret))
		return true;
	if (!attr->block)
		return false;
	c = cp_cursor(attr->block, attr->u); /* DWARF 2 and 3 */
	if (cp_cursor_u8(&c) != DW_OP_plus_uconst)
		return false;
	*ret = cp_cursor_uleb(&c);
	return !c.bad && !cp_cursor_left(&c);
}

/* A bit-field's first bit, counted from the beginning of the struct. */
static bool bit_position(const struct cp_attrs *a, const struct cp_type_member *m, uint64_t *ret)
{
	uint64_t storage = 0, from_top;

	if (cp_attr_number(&a->data_bit_offset, ret))
		return true;
	if (!cp_attr_number(&a->bit_offset, &from_top)) {
		*ret = m->offset * 8;
		return true;
	}
	/* DWARF 2 to 4 count from the highest bit of a unit of storage. */
	if (!cp_attr_number(&a->byte_size, &storage))
		storage = m->type ? m->type->size : 0;
	*ret = m->offset * 8 + storage * 8 - from_top - m->bit_size;
	return storage <= 16 && (int64_t)from_top <= (int64_t)storage * 8 &&
	       m->offset < UINT64_MAX / 16;
}

static bool read_member(struct reading *r, const struct cp_attrs *a, uint16_t tag,
			struct cp_type_member *m)
{
	uint64_t bits, position, n = 0;
	const char *name = cp_attr_string(r->unit, &a->name);

	*m = (struct cp_type_member){ .name = name ? name : "" };
	m->type = cp_type_referred(r->unit, &a->type);
	if (!member_offset(&a->member_location, &m->offset))
		m->flags |= CP_MEMBER_VIRTUAL;
	if (tag == DW_TAG_inheritance) {
		m->flags |= CP_MEMBER_BASE;
		if (cp_attr_number(&a->virtuality, &n) && n)
			m->flags |= CP_MEMBER_VIRTUAL;
		m->name = m->type && m->type->name ? m->type->name : "";
	}
	if (m->flags & CP_MEMBER_VIRTUAL && a->member_location.block)
		m->below = vtable_offset(&a->member_location);
	if (cp_attr_flag(&a->artificial) || !strncmp(m->name, "_vptr", 5))
		m->flags |= CP_MEMBER_ARTIFICIAL;
	if (!strncmp(m->name, "_vptr", 5))
		r->to->flags |= CP_DETAILS_VIRTUAL;
	if (cp_attr_number(&a->bit_size, &bits)) {
		if (!bits || bits > 128)
			return false;
		m->bit_size = (uint16_t)bits;
		m->flags |= CP_MEMBER_BITS;
		if (!bit_position(a, m, &position))
			return false;
		m->offset = position / 8;
		m->bit_offset = (uint16_t)(position % 8);
	}
	return m->type != NULL;
}

static bool add_member(struct reading *r, const struct cp_attrs *a, uint16_t tag)
{
	struct cp_type_member m;

	if (cp_attr_flag(&a->external) || cp_attr_flag(&a->declaration))
		return true; /* static */
	if (r->members.count == MAX_MEMBERS) {
		r->to->flags |= CP_DETAILS_CUT;
		return true;
	}
	return !read_member(r, a, tag, &m) || cp_vec_push(&r->members, m);
}

static bool add_enumerator(struct reading *r, const struct cp_attrs *a)
{
	const char *name = cp_attr_string(r->unit, &a->name);
	uint64_t value;

	if (!name || !cp_attr_number(&a->const_value, &value) ||
	    r->enumerators.count == MAX_ENUMERATORS)
		return true;
	return cp_vec_push(&r->enumerators, (struct cp_type_enumerator){ name, (int64_t)value });
}

/* ---- methods ---- */

/* True when the parameters that follow are `this` and a reference to the
 * class, and no more. */
static bool takes_itself(struct reading *r, struct cp_walk w)
{
	const struct cp_type *t;
	struct cp_attrs a;
	struct cp_die die;
	unsigned n = 0;
	bool itself = false;

	while (cp_walk_next(&w, &die) && die.abbrev && cp_attrs_read(&w, die.abbrev, &a)) {
		if (die.abbrev->tag == DW_TAG_formal_parameter && n++ == 1) {
			t = cp_type_referred(r->unit, &a.type);
			itself = t && t->kind == CP_TYPE_REFERENCE &&
				 cp_type_strip(t->target) == r->type;
		}
		if (die.abbrev->children && !cp_walk_skip_children(&w, &a.sibling))
			break;
	}
	return itself && n == 2;
}

/* DW_OP_constu 2; false: what the object is decides. */
static bool read_slot(const struct cp_attr *attr, uint64_t *ret)
{
	struct cp_cursor c;

	if (!attr->form || !attr->block)
		return attr->form && cp_attr_number(attr, ret);
	c = cp_cursor(attr->block, attr->u);
	if (cp_cursor_u8(&c) != DW_OP_constu)
		return false;
	*ret = cp_cursor_uleb(&c);
	return !c.bad && !cp_cursor_left(&c);
}

static void add_virtual(struct reading *r, const struct cp_attrs *a, const char *name)
{
	struct cp_type_method m = { .linkage = cp_attr_string(r->unit, &a->linkage), .name = name };

	if (name && read_slot(&a->vtable_slot, &m.slot) && r->methods.count < MAX_MEMBERS)
		cp_vec_push(&r->methods, m);
}

static void look_at_method(struct reading *r, const struct cp_attrs *a, const struct cp_walk *w,
			   bool children)
{
	const char *name = cp_attr_string(r->unit, &a->name), *own = r->type->name;
	size_t length = own ? strcspn(own, "<") : 0;
	uint64_t n = 0;

	if (cp_attr_number(&a->virtuality, &n) && n) {
		r->to->flags |= CP_DETAILS_VIRTUAL;
		add_virtual(r, a, name);
	}
	if (!name || cp_attr_flag(&a->artificial))
		return;
	n = 0;
	cp_attr_number(&a->defaulted, &n);
	if (name[0] == '~') {
		if (n != DW_DEFAULTED_in_class)
			r->to->flags |= CP_DETAILS_NONTRIVIAL | CP_DETAILS_DESTRUCTOR;
		return;
	}
	if (!own || strlen(name) != length || strncmp(name, own, length) || !children ||
	    !takes_itself(r, *w))
		return;
	if (cp_attr_flag(&a->deleted)) {
		r->copies_deleted = true;
		return;
	}
	r->copies = true;
	if (n != DW_DEFAULTED_in_class)
		r->to->flags |= CP_DETAILS_NONTRIVIAL;
}

/* ---- Rust's enums ---- */

static bool read_variant(struct reading *r, struct cp_walk *w, const struct cp_attrs *a)
{
	struct cp_type_variant v = { 0 };
	struct cp_attrs b;
	struct cp_die die;
	bool found = false;

	v.otherwise = !cp_attr_number(&a->discr_value, &v.value);
	while (cp_walk_next(w, &die) && die.abbrev && cp_attrs_read(w, die.abbrev, &b)) {
		if (die.abbrev->tag == DW_TAG_member && !found)
			found = read_member(r, &b, die.abbrev->tag, &v.member);
		if (die.abbrev->children && !cp_walk_skip_children(w, &b.sibling))
			return false;
	}
	return !found || r->variants.count == MAX_VARIANTS || cp_vec_push(&r->variants, v);
}

static bool read_variants(struct reading *r, struct cp_walk *w, const struct cp_attrs *part)
{
	struct cp_type_member *m;
	uint64_t discr = CP_NO_OFFSET;
	struct cp_attrs a;
	struct cp_die die;

	cp_attr_reference(r->unit, &part->discr, &discr);
	while (cp_walk_next(w, &die) && die.abbrev && cp_attrs_read(w, die.abbrev, &a)) {
		if (die.abbrev->tag == DW_TAG_variant && die.abbrev->children) {
			if (!read_variant(r, w, &a))
				return false;
			continue;
		}
		if (die.offset == discr && die.abbrev->tag == DW_TAG_member) {
			m = cp_arena_alloc(&r->unit->dwarf->all->types, sizeof(*m));
			if (m && read_member(r, &a, die.abbrev->tag, m))
				r->to->discriminant = m;
		}
		if (die.abbrev->children && !cp_walk_skip_children(w, &a.sibling))
			return false;
	}
	return true;
}

/* ---- all of it ---- */

/* Reads one child with what is in it; false at the end. */
static bool read_child(struct reading *r, struct cp_walk *w)
{
	struct cp_attrs a;
	struct cp_die die;
	bool ok = true;

	if (!cp_walk_next(w, &die) || !die.abbrev || !cp_attrs_read(w, die.abbrev, &a))
		return false;
	switch (die.abbrev->tag) {
	case DW_TAG_member:
	case DW_TAG_inheritance:
		ok = add_member(r, &a, die.abbrev->tag);
		break;
	case DW_TAG_enumerator:
		ok = add_enumerator(r, &a);
		break;
	case DW_TAG_subprogram:
		look_at_method(r, &a, w, die.abbrev->children);
		break;
	case DW_TAG_variant_part:
		return !die.abbrev->children || read_variants(r, w, &a);
	default:
		break;
	}
	return ok && (!die.abbrev->children || cp_walk_skip_children(w, &a.sibling));
}

/* A copy of `count` items in the image's memory. */
static const void *keep(struct reading *r, const void *items, size_t count, size_t size)
{
	void *copy = cp_arena_array(&r->unit->dwarf->all->types, count, size);

	if (copy && count)
		memcpy(copy, items, count * size);
	return copy;
}

static void keep_all(struct reading *r)
{
	struct cp_type_details *to = r->to;

	to->members = keep(r, r->members.items, r->members.count, sizeof(*to->members));
	to->enumerators =
		keep(r, r->enumerators.items, r->enumerators.count, sizeof(*to->enumerators));
	to->variants = keep(r, r->variants.items, r->variants.count, sizeof(*to->variants));
	to->methods = keep(r, r->methods.items, r->methods.count, sizeof(*to->methods));
	to->method_count = to->methods ? (uint32_t)r->methods.count : 0;
	to->member_count = to->members ? (uint32_t)r->members.count : 0;
	to->enumerator_count = to->enumerators ? (uint32_t)r->enumerators.count : 0;
	to->variant_count = to->variants ? (uint32_t)r->variants.count : 0;
	if (r->copies_deleted && !r->copies)
		to->flags |= CP_DETAILS_NONTRIVIAL;
	cp_vec_free(&r->members);
	cp_vec_free(&r->enumerators);
	cp_vec_free(&r->variants);
	cp_vec_free(&r->methods);
}

const struct cp_type_details *cp_type_read_details(const struct cp_type *type)
{
	struct reading r = { .type = type, .unit = type->unit };
	/* The reader is the only one who writes to it, under the lock. */
	struct cp_type *owned = (struct cp_type *)(uintptr_t)type;
	struct cp_attrs a;
	struct cp_walk w;
	struct cp_die die;

	r.to = cp_arena_alloc(&type->unit->dwarf->all->types, sizeof(*r.to));
	if (!r.to)
		return NULL;
	if (cp_die_at(type->unit, type->die, &w, &die, &a) && die.abbrev->children) {
		while (read_child(&r, &w))
			;
	}
	keep_all(&r);
	atomic_store_explicit(&owned->details, r.to, memory_order_release);
	return r.to;
}

/* ---- for who asks ---- */

/* Walking all units for what is only declared is done once; this many steps
 * are some 200 MB of debug information. */
#define STEPS UINT64_C(50000000)

static const struct cp_type *complete(const struct cp_type *type)
{
	/* The reader is the only one who writes to it, under the lock. */
	struct cp_type *owned = (struct cp_type *)(uintptr_t)type;
	const struct cp_type *found;
	struct cp_unit *unit;
	uint64_t die;

	if (type->flags & CP_TYPE_DECLARED) {
		unit = cp_type_definition(type, &die);
		found = unit ? cp_unit_type(unit, die) : NULL;
		if (found && !(found->flags & CP_TYPE_DECLARED)) {
			if (!cp_type_details(found))
				cp_type_read_details(found);
			atomic_store_explicit(&owned->definition, found, memory_order_release);
			type = found;
		}
	}
	cp_type_read_details(owned);
	return type;
}

struct cp_image *cp_type_image(const struct cp_type *type)
{
	unsigned i;

	for (i = 0; type && !type->unit && i < CP_DWARF_DEPTH; i++)
		type = type->target;
	return type && type->unit ? type->unit->dwarf->all->image : NULL;
}

const struct cp_type *cp_type_complete(struct cp_image *image, const struct cp_type *type)
{
	const struct cp_type *stripped = cp_type_strip(type);

	if (!type || !type->unit ||
	    (type->kind != CP_TYPE_STRUCT && type->kind != CP_TYPE_UNION &&
	     type->kind != CP_TYPE_ENUM))
		return type;
	if (cp_type_details(type))
		return stripped;
	pthread_mutex_lock(&image->debug_lock);
	if (!cp_type_details(type) && cp_debuginfo_begin(image, STEPS))
		stripped = complete(type);
	pthread_mutex_unlock(&image->debug_lock);
	return stripped;
}
