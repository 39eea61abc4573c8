/* SPDX-License-Identifier: MIT
 *
 * Rust's own convention, as rustc 1.70 to 1.95 have it on x86-64. It is not
 * written down and may change; at -O0 debug information has nothing better
 * at a function's first instruction. Each scalar goes by itself: one for a
 * number or pointer, two for a struct of two (&str, (i32, f32), Option<u32>).
 * Other structs of up to 16 bytes go in general registers, larger ones by
 * reference.
 */
#include "inspect/place.h"

#define LEAVES 3
#define RSP 7

struct leaf {
	uint64_t offset, size;
	bool real; /* a float */
};

struct leaves {
	struct leaf of[LEAVES];
	unsigned count; /* LEAVES: more than two, or not scalars */
	unsigned budget;
};

static void collect(struct leaves *l, const struct cp_type *type, uint64_t at, unsigned depth);

static void add_leaf(struct leaves *l, uint64_t at, uint64_t size, bool real)
{
	unsigned i;

	for (i = 0; i < l->count && i < LEAVES; i++) {
		if (l->of[i].offset == at && l->of[i].size == size && l->of[i].real == real)
			return; /* another variant's */
		if (at < l->of[i].offset + l->of[i].size && l->of[i].offset < at + size)
			l->count = LEAVES;
	}
	if (l->count < LEAVES)
		l->of[l->count++] = (struct leaf){ at, size, real };
}

static void collect_members(struct leaves *l, const struct cp_type *t, uint64_t at, unsigned depth)
{
	const struct cp_type_details *d = cp_type_details(t);
	uint32_t i;

	if (!d) {
		l->count = LEAVES;
		return;
	}
	if (d->discriminant)
		collect(l, d->discriminant->type, at + d->discriminant->offset, depth + 1);
	for (i = 0; i < d->member_count && l->count < LEAVES; i++)
		collect(l, d->members[i].type, at + d->members[i].offset, depth + 1);
	for (i = 0; i < d->variant_count && l->count < LEAVES; i++)
		collect(l, d->variants[i].member.type, at + d->variants[i].member.offset,
			depth + 1);
}

static void collect(struct leaves *l, const struct cp_type *type, uint64_t at, unsigned depth)
{
	const struct cp_type *t = cp_type_strip(type);

	if (!t || depth > 16 || !l->budget--) {
		l->budget = 0;
		l->count = LEAVES;
		return;
	}
	if (!t->size)
		return;
	if (t->kind == CP_TYPE_STRUCT)
		collect_members(l, t, at, depth);
	else if (t->kind == CP_TYPE_UNION || t->kind == CP_TYPE_ARRAY || t->kind == CP_TYPE_VECTOR)
		l->count = LEAVES;
	else
		add_leaf(l, at, t->size, t->kind == CP_TYPE_FLOAT);
}

struct state {
	const uint8_t *registers;
	unsigned general, vector, most_general, most_vector;
	int64_t stack;
	bool lost;
};

static void put(struct state *s, struct cp_place *p, uint64_t at, uint64_t size, bool real)
{
	struct cp_piece *piece = &p->pieces[p->count++];

	*piece = (struct cp_piece){ .at = (uint32_t)at, .size = (uint32_t)size };
	if (real && s->vector < s->most_vector) {
		piece->where = CP_PIECE_VECTOR;
		piece->number = (uint8_t)s->vector++;
	} else if (!real && s->general < s->most_general) {
		piece->where = CP_PIECE_REGISTER;
		piece->number = s->registers[s->general++];
	} else {
		piece->where = CP_PIECE_MEMORY;
		piece->number = RSP;
		piece->offset = s->stack;
		s->stack += 8;
	}
}

static void place(struct state *s, const struct cp_type *type, struct cp_place *p)
{
	const struct cp_type *t = cp_type_strip(type);
	struct leaves l = { .budget = 1000 };
	uint64_t at;
	unsigned i;

	*p = (struct cp_place){ .how = CP_PLACE_DIRECT };
	s->lost = s->lost || !t || t->kind == CP_TYPE_UNKNOWN || (t->flags & CP_TYPE_DECLARED);
	if (s->lost) {
		p->how = CP_PLACE_UNSUPPORTED;
		return;
	}
	if (!t->size) {
		p->how = CP_PLACE_EMPTY;
		return;
	}
	collect(&l, type, 0, 0);
	if (l.count == 2 && l.of[0].offset > l.of[1].offset) {
		struct leaf first = l.of[1];

		l.of[1] = l.of[0];
		l.of[0] = first;
	}
	if (l.count && l.count < LEAVES && l.of[0].size <= 8) {
		for (i = 0; i < l.count; i++)
			put(s, p, l.of[i].offset, l.of[i].size, l.of[i].real);
	} else if (t->size <= 16) {
		for (at = 0; at < t->size; at += 8)
			put(s, p, at, t->size - at < 8 ? t->size - at : 8, false);
	} else {
		put(s, p, 0, 8, false);
		p->how = CP_PLACE_INDIRECT;
	}
}

static struct cp_place rust_result(const struct cp_type *type)
{
	static const uint8_t registers[] = { 0, 1 };
	struct state s = { .registers = registers, .most_general = 2, .most_vector = 2 };
	struct cp_place p;

	place(&s, type, &p);
	return p;
}

static void rust_arguments(const struct cp_type *const *types, size_t count,
			   const struct cp_type *result, unsigned flags, struct cp_place *ret)
{
	struct state s = { .registers = cp_convention_sysv.argument_registers,
			   .most_general = 6,
			   .most_vector = 8,
			   .stack = 8 };
	size_t i;

	(void)flags;
	s.general = result && rust_result(result).how == CP_PLACE_INDIRECT;
	for (i = 0; i < count; i++)
		place(&s, types[i], &ret[i]);
}

const struct cp_convention cp_convention_rust = {
	.arguments = rust_arguments,
	.result = rust_result,
	.argument_registers = { 5, 4, 1, 2, 8, 9 },
	.argument_register_count = 6,
};
