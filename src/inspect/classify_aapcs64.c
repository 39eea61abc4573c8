/* SPDX-License-Identifier: MIT
 *
 * Procedure Call Standard for the Arm 64-bit Architecture, section 6.8. Up to
 * four equal floats or vectors in a struct (a homogeneous aggregate) go to as
 * many vector registers; what else is larger than 16 bytes goes by reference;
 * the rest to general registers, all of it or none.
 */
#include "inspect/classify.h"
#include "inspect/place.h"

#define REGISTERS 8
#define X8 8 /* where the result shall go; not preserved */
#define SP 31

struct homogeneous {
	uint64_t size; /* of one element; 0: none seen */
	uint8_t kind;
	uint32_t count;
	unsigned budget;
};

static bool collect(struct homogeneous *h, const struct cp_type *type, unsigned depth);

static bool collect_element(struct homogeneous *h, uint8_t kind, uint64_t size, uint32_t count)
{
	bool usable = kind == CP_TYPE_FLOAT ? size == 2 || size == 4 || size == 8 || size == 16
					    : size == 8 || size == 16;

	if (!usable || (h->size && (h->size != size || h->kind != kind)))
		return false;
	h->size = size;
	h->kind = kind;
	h->count += count;
	return h->count <= 4;
}

static bool collect_members(struct homogeneous *h, const struct cp_type *t, unsigned depth)
{
	const struct cp_type_details *d = cp_type_details(t);
	uint32_t i, before = h->count, most = before;

	for (i = 0; d && i < d->member_count; i++) {
		if (d->members[i].flags & (CP_MEMBER_BITS | CP_MEMBER_VIRTUAL))
			return false;
		if (t->kind == CP_TYPE_UNION)
			h->count = before;
		if (!collect(h, d->members[i].type, depth + 1))
			return false;
		most = h->count > most ? h->count : most;
	}
	h->count = most;
	return d != NULL;
}

static bool collect(struct homogeneous *h, const struct cp_type *type, unsigned depth)
{
	const struct cp_type *t = cp_type_strip(type);
	uint64_t i;

	if (!t || depth > 16 || !h->budget--)
		return h->budget = 0, false;
	switch (t->kind) {
	case CP_TYPE_FLOAT:
	case CP_TYPE_VECTOR:
		return collect_element(h, t->kind, t->size, 1);
	case CP_TYPE_COMPLEX:
		return !(t->flags & CP_TYPE_SIGNED) &&
		       collect_element(h, CP_TYPE_FLOAT, t->size / 2, 2);
	case CP_TYPE_STRUCT:
	case CP_TYPE_UNION:
		return collect_members(h, t, depth);
	case CP_TYPE_ARRAY:
		for (i = 0; i < t->count && i <= 4; i++) {
			if (!collect(h, t->target, depth + 1))
				return false;
		}
		return true;
	default:
		return false;
	}
}

static bool is_composite(const struct cp_type *t)
{
	return t->kind == CP_TYPE_STRUCT || t->kind == CP_TYPE_UNION || t->kind == CP_TYPE_ARRAY;
}

static bool is_homogeneous(const struct cp_type *t, struct homogeneous *h)
{
	*h = (struct homogeneous){ .budget = 1000 };
	/* Padding makes one that is none. */
	return collect(h, t, 0) && h->count && h->count * h->size == t->size;
}

static bool is_sized(const struct cp_type *t)
{
	return t && t->kind != CP_TYPE_UNKNOWN && t->kind != CP_TYPE_VOID &&
	       t->kind != CP_TYPE_FUNCTION && !(t->flags & CP_TYPE_DECLARED) && t->size < INT32_MAX;
}

/* ---- places ---- */

struct state {
	unsigned general, vector; /* used */
	int64_t stack; /* the next argument there, from sp at the entry */
	bool lost;
};

static void add_piece(struct cp_place *p, enum cp_piece_where where, unsigned number, uint64_t at,
		      uint64_t size)
{
	p->how = CP_PLACE_DIRECT;
	p->pieces[p->count++] = (struct cp_piece){ .where = (uint8_t)where,
						   .number = (uint8_t)number,
						   .at = (uint32_t)at,
						   .size = (uint32_t)size };
}

static void on_stack(struct state *s, uint64_t size, uint32_t align, struct cp_place *p)
{
	int64_t to = align < 8 ? 8 : align > 16 ? 16 : align;

	s->stack = (s->stack + to - 1) / to * to;
	add_piece(p, CP_PIECE_MEMORY, SP, 0, size);
	p->pieces[0].offset = s->stack;
	s->stack += (int64_t)(size + 7) / 8 * 8;
}

static void in_vectors(struct state *s, const struct cp_type *t, const struct homogeneous *h,
		       uint32_t align, struct cp_place *p)
{
	uint32_t i;

	if (s->vector + h->count > REGISTERS) {
		s->vector = REGISTERS;
		on_stack(s, t->size, align, p);
		return;
	}
	for (i = 0; i < h->count; i++)
		add_piece(p, CP_PIECE_VECTOR, s->vector++, i * h->size, h->size);
}

static void in_general(struct state *s, uint64_t size, uint32_t align, struct cp_place *p)
{
	unsigned n = (unsigned)((size + 7) / 8), i;

	if (align >= 16 && s->general < REGISTERS)
		s->general = (s->general + 1) / 2 * 2;
	if (s->general + n > REGISTERS) {
		s->general = REGISTERS;
		on_stack(s, size, align, p);
		return;
	}
	for (i = 0; i < n; i++)
		add_piece(p, CP_PIECE_REGISTER, s->general++, 8 * i,
			  size - 8 * i < 8 ? size - 8 * i : 8);
}

static void place_argument(struct state *s, const struct cp_type *type, struct cp_place *p)
{
	const struct cp_type *t = cp_type_strip(type);
	unsigned budget = CP_CLASSIFY_BUDGET;
	struct homogeneous h;
	uint32_t align;

	*p = (struct cp_place){ .how = CP_PLACE_UNSUPPORTED };
	s->lost = s->lost || !is_sized(t);
	if (s->lost)
		return;
	align = cp_type_alignment(type, &budget);
	if (cp_type_is_nontrivial(type, &budget)) {
		in_general(s, 8, 8, p);
		p->how = CP_PLACE_INDIRECT;
	} else if (!t->size) {
		p->how = CP_PLACE_EMPTY;
	} else if (is_homogeneous(t, &h)) {
		in_vectors(s, t, &h, align, p);
	} else if (is_composite(t) && t->size > 16) {
		in_general(s, 8, 8, p);
		p->how = CP_PLACE_INDIRECT;
	} else if (t->size > 16) {
		s->lost = true; /* no type of C is that large and is none of these */
	} else {
		in_general(s, t->size, align, p);
	}
	if (t->flags & CP_TYPE_BITINT)
		p->how = CP_PLACE_UNSUPPORTED;
}

static void aapcs64_arguments(const struct cp_type *const *types, size_t count,
			      const struct cp_type *result, unsigned flags, struct cp_place *ret)
{
	struct state s = { 0 };
	size_t i;

	(void)result; /* its address is in a register of its own */
	(void)flags;
	for (i = 0; i < count; i++)
		place_argument(&s, types[i], &ret[i]);
}

/* A result is where the first argument would be; if that is in memory, where x8
 * pointed to at the entry. */
static struct cp_place aapcs64_result(const struct cp_type *type)
{
	struct state s = { 0 };
	struct cp_place p;

	place_argument(&s, type, &p);
	if (p.how == CP_PLACE_INDIRECT)
		p.pieces[0].number = X8;
	return p;
}

const struct cp_convention cp_convention_aapcs64 = {
	.arguments = aapcs64_arguments,
	.result = aapcs64_result,
	.result_at_entry = true,
	.argument_registers = { 0, 1, 2, 3, 4, 5, 6, 7 },
	.argument_register_count = 8,
};
