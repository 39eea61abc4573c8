/* SPDX-License-Identifier: MIT */
#include "cmd/layout_of.h"

#include "inspect/classify.h"

#define PARTS_DEEP 32

uint64_t cp_layout_first_bit(const struct cp_type_member *m)
{
	return m->offset * 8 + (m->flags & CP_MEMBER_BITS ? m->bit_offset : 0);
}

bool cp_member_is_virtual(const struct cp_type_member *m)
{
	return m->flags & CP_MEMBER_VIRTUAL;
}

static bool has_virtual_bases(const struct cp_type *type, unsigned depth, unsigned *budget)
{
	const struct cp_type_details *d = cp_type_details(cp_type_strip(type));
	uint32_t i;

	for (i = 0; d && depth < PARTS_DEEP && i < d->member_count && cp_classify_spend(budget);
	     i++) {
		const struct cp_type_member *m = &d->members[i];

		if (m->flags & CP_MEMBER_BASE &&
		    (m->flags & CP_MEMBER_VIRTUAL || has_virtual_bases(m->type, depth + 1, budget)))
			return true;
	}
	return false;
}

bool cp_layout_incomplete(const struct cp_type *type)
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

	if (cp_layout_incomplete(t))
		return true;
	for (; t && t->kind == CP_TYPE_ARRAY && depth < PARTS_DEEP; depth++)
		t = cp_type_strip(t->target);
	d = t && !t->align && depth < PARTS_DEEP ? cp_type_details(t) : NULL;
	for (i = 0; d && i < d->member_count && cp_classify_spend(budget); i++)
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

static const struct cp_type_member *next_of(const struct cp_layout *l, size_t i)
{
	return i + 1 < l->members.count ? l->members.items[i + 1] : NULL;
}

uint64_t cp_layout_room(const struct cp_layout *l, size_t i)
{
	const uint64_t offset = l->members.items[i]->offset;

	while (++i < l->members.count)
		if (!cp_member_is_virtual(l->members.items[i]) &&
		    l->members.items[i]->offset > offset)
			return l->members.items[i]->offset - offset;
	return l->type->size > offset ? l->type->size - offset : 0;
}

/* Bytes of a member's own: a base without members takes none, and one with
 * virtual bases leaves these to the whole object; then it goes up to the next member, as
 * that may which is only declared. */
uint64_t cp_layout_size(const struct cp_layout *l, size_t i)
{
	const struct cp_type_member *m = l->members.items[i], *next = next_of(l, i);
	const struct cp_type *type = cp_type_strip(m->type);
	unsigned budget = CP_CLASSIFY_BUDGET;

	if (cp_layout_incomplete(type))
		return cp_layout_room(l, i);
	if (!(m->flags & CP_MEMBER_BASE))
		return type->size;
	if (is_empty_class(type))
		return 0;
	if (has_virtual_bases(type, 0, &budget) && next && !cp_member_is_virtual(next) &&
	    next->offset < m->offset + type->size)
		return next->offset - m->offset;
	return type->size;
}

uint64_t cp_layout_bits(const struct cp_layout *l, size_t i)
{
	const struct cp_type_member *m = l->members.items[i];

	return m->flags & CP_MEMBER_BITS ? m->bit_size : cp_layout_size(l, i) * 8;
}

/* Members by place: those without one come last, empty ones before what is there. */
static int by_place(const void *a, const void *b)
{
	const struct cp_type_member *x = *(const struct cp_type_member *const *)a;
	const struct cp_type_member *y = *(const struct cp_type_member *const *)b;

	if (cp_member_is_virtual(x) != cp_member_is_virtual(y))
		return cp_member_is_virtual(x) ? 1 : -1;
	if (cp_layout_first_bit(x) != cp_layout_first_bit(y))
		return cp_layout_first_bit(x) < cp_layout_first_bit(y) ? -1 : 1;
	if (x->flags != y->flags && (x->flags | y->flags) & CP_MEMBER_BASE)
		return x->flags & CP_MEMBER_BASE ? -1 : 1;
	return x < y ? -1 : x > y;
}

static void add_members(struct cp_layout *l, const struct cp_type_member *items, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++) {
		const struct cp_type_member *m = &items[i];

		l->perhaps_virtual |= m->flags & CP_MEMBER_BASE && cp_layout_incomplete(m->type);
		cp_vec_push(&l->members, m);
	}
}

/* Bits between members, counted as holes where a whole byte is left. */
static void count_holes(struct cp_layout *l)
{
	uint64_t at = 0;
	size_t i;

	for (i = 0; i < l->members.count; i++) {
		const struct cp_type_member *m = l->members.items[i];

		if (cp_member_is_virtual(m))
			continue;
		if (cp_layout_first_bit(m) / 8 > (at + 7) / 8) {
			l->holes++;
			l->hole_bytes += cp_layout_first_bit(m) / 8 - (at + 7) / 8;
		}
		if (cp_layout_first_bit(m) + cp_layout_bits(l, i) > at)
			at = cp_layout_first_bit(m) + cp_layout_bits(l, i);
	}
	l->end = (at + 7) / 8;
}

void cp_layout_of(struct cp_image *image, const struct cp_found_type *found, struct cp_layout *l)
{
	unsigned budget = CP_CLASSIFY_BUDGET;
	uint32_t i;

	*l = (struct cp_layout){ .name = found->name, .type = cp_type_strip(found->type) };
	l->type = cp_type_strip(cp_type_complete(image, l->type));
	l->details = cp_type_details(l->type);
	cp_type_complete_parts(image, l->type);
	l->virtual_bases = has_virtual_bases(l->type, 0, &budget);
	budget = CP_CLASSIFY_BUDGET;
	l->align = cp_type_alignment(l->type, &budget);
	budget = CP_CLASSIFY_BUDGET;
	l->align_least = has_incomplete(l->type, 0, &budget);
	l->argument_count = cp_type_arguments(image, l->type, l->arguments, CP_LAYOUT_ARGUMENTS);
	if (l->argument_count > CP_LAYOUT_ARGUMENTS)
		l->argument_count = CP_LAYOUT_ARGUMENTS;
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

void cp_layout_free(struct cp_layout *l)
{
	cp_vec_free(&l->members);
}

uint64_t cp_layout_padding(const struct cp_layout *l)
{
	if (l->type->kind != CP_TYPE_STRUCT || !l->details || l->details->variant_count ||
	    !l->members.count || l->virtual_bases || l->perhaps_virtual || l->end > l->type->size)
		return 0;
	return l->type->size - l->end;
}

const struct cp_type_variant *cp_layout_variant(const struct cp_layout *l,
						const struct cp_type_member *m)
{
	uint32_t i;

	for (i = 0; i < l->details->variant_count; i++)
		if (m == &l->details->variants[i].member)
			return &l->details->variants[i];
	return NULL;
}

const char *cp_layout_keyword(const struct cp_type *type)
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
