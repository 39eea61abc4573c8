/* SPDX-License-Identifier: MIT
 *
 * What Rust's functions return, on x86-64. Its convention is not written down and
 * may change. What rustc 1.63 to 1.95 have in common is that a type is one of
 *
 *     a scalar    in rax (rax and rdx, xmm0)          u32, &T, (f64,), Option<&T>
 *     a pair      of scalars, each by itself          (u32, u64), &str, Option<u32>
 *     memory      up to 8 bytes in rax; else          [u64; 2], (u8, u8, u8), String
 *                 where the caller says in rdi
 *
 * and which it is follows from its parts, as here. What debug information lacks is
 * whether a struct is one of C's (repr(C)), which is no scalar though its only
 * member is one, and whether a function is (extern "C"). Where that makes a
 * difference and nothing tells, nobody knows.
 */
#include "arch/results.h"
#include "inspect/classify.h"
#include "inspect/classify_rust.h"

#define DEPTH 16
#define BUDGET 2000

enum kind {
	NOTHING, /* of no size */
	SCALAR,
	PAIR,
	MEMORY,
	UNSURE,
};

struct scalar {
	uint64_t offset, size;
	enum { INTEGER, SIGNED, POINTER, REAL } of;
};

struct shape {
	enum kind kind;
	bool wrapped; /* or MEMORY: in a struct that may be one of C's */
	struct scalar a, b; /* SCALAR: a; PAIR: both */
};

static const struct shape memory = { .kind = MEMORY }, unsure = { .kind = UNSURE };

static struct shape shape_of(const struct cp_type *type, unsigned depth, unsigned *budget);

/* True for a type that is no struct, or not one of C's. */
static bool is_rusts(const struct cp_type *t)
{
	return t->text && (*t->text == '(' || *t->text == '&');
}

static uint32_t alignment(const struct cp_type *type)
{
	unsigned budget = BUDGET;

	return cp_type_alignment(type, &budget);
}

static struct shape scalar_of(const struct cp_type *t)
{
	struct shape s = { .kind = SCALAR, .a = { .size = t->size } };

	switch (t->kind) {
	case CP_TYPE_FLOAT:
		s.a.of = REAL;
		return t->size <= 8 ? s : unsure;
	case CP_TYPE_POINTER:
	case CP_TYPE_REFERENCE:
		s.a.of = POINTER;
		return t->size == 8 ? s : unsure;
	case CP_TYPE_INT:
		s.a.of = SIGNED;
		return s;
	case CP_TYPE_UINT:
	case CP_TYPE_BOOL:
	case CP_TYPE_CHAR:
	case CP_TYPE_ENUM:
		return s;
	default:
		return unsure;
	}
}

/* A pair, if the type is as long as one and has them where one has them. */
static struct shape pair_of(const struct cp_type *t, struct scalar a, struct scalar b, bool wrapped)
{
	uint64_t align = a.size > b.size ? a.size : b.size;

	if (b.offset < a.offset) {
		struct scalar first = b;

		b = a;
		a = first;
	}
	if (align > 8)
		return unsure; /* by rustc's version: __int128's alignment */
	if (a.offset || b.offset != (a.size + b.size - 1) / b.size * b.size ||
	    t->size != (b.offset + b.size + align - 1) / align * align ||
	    (t->align && t->align != align))
		return memory;
	return (struct shape){ .kind = PAIR, .wrapped = wrapped, .a = a, .b = b };
}

static struct shape of_members(const struct cp_type *t, const struct cp_type_details *d, bool rusts,
			       unsigned depth, unsigned *budget)
{
	const struct cp_type_member *some[2] = { NULL };
	struct shape s[2];
	unsigned n = 0;
	uint32_t i;

	for (i = 0; i < d->member_count; i++) {
		if (!cp_type_strip(d->members[i].type))
			return unsure;
		if (!cp_type_strip(d->members[i].type)->size)
			continue;
		if (n == 2)
			return memory;
		some[n] = &d->members[i];
		s[n] = shape_of(some[n]->type, depth + 1, budget);
		s[n].a.offset += some[n]->offset;
		s[n].b.offset += some[n]->offset;
		n++;
	}
	if (!n)
		return memory;
	if (n == 2) {
		if (s[0].kind == MEMORY || s[0].kind == PAIR || s[1].kind == MEMORY ||
		    s[1].kind == PAIR)
			return memory;
		if (s[0].kind != SCALAR || s[1].kind != SCALAR)
			return unsure;
		return pair_of(t, s[0].a, s[1].a, s[0].wrapped || s[1].wrapped);
	}
	if (some[0]->offset || cp_type_strip(some[0]->type)->size != t->size ||
	    (t->align && t->align != alignment(some[0]->type)))
		return memory;
	s[0].wrapped |= s[0].kind == SCALAR && !rusts;
	return s[0];
}

/* ---- enums with data ---- */

static bool has_data(const struct cp_type_variant *v)
{
	const struct cp_type_details *d = cp_type_details(cp_type_strip(v->member.type));
	uint32_t i;

	for (i = 0; d && i < d->member_count; i++)
		if (!cp_type_strip(d->members[i].type) || cp_type_strip(d->members[i].type)->size)
			return true;
	return !d;
}

/* The discriminant is one of the values that a member of this form can't have. */
static bool is_in(const struct cp_type_variant *v, const struct cp_type_member *discriminant)
{
	const struct cp_type_details *d = cp_type_details(cp_type_strip(v->member.type));
	uint64_t size = cp_type_strip(discriminant->type)->size, at;
	uint32_t i;

	for (i = 0; d && i < d->member_count; i++) {
		at = v->member.offset + d->members[i].offset;
		if (at < discriminant->offset + size &&
		    discriminant->offset < at + cp_type_strip(d->members[i].type)->size)
			return true;
	}
	return false;
}

/* Forms with data beside a tag of their own: a pair, if all of that data is one
 * scalar of one kind at one place. */
static struct shape of_tagged(const struct cp_type *t, const struct cp_type_details *d,
			      const struct scalar *tag, unsigned depth, unsigned *budget)
{
	struct shape common = { 0 }, s;
	uint32_t i;

	for (i = 0; i < d->variant_count; i++) {
		if (!has_data(&d->variants[i]))
			continue;
		const struct cp_type *form = cp_type_strip(d->variants[i].member.type);
		const struct cp_type_details *inner = cp_type_details(form);
		const struct cp_type_member *only = NULL;
		uint32_t j;

		for (j = 0; inner && j < inner->member_count; j++) {
			if (!cp_type_strip(inner->members[j].type)->size)
				continue;
			if (only)
				return memory;
			only = &inner->members[j];
		}
		if (!only)
			return unsure;
		s = shape_of(only->type, depth + 1, budget);
		s.a.offset += d->variants[i].member.offset + only->offset;
		if (s.kind == MEMORY || s.kind == PAIR)
			return memory;
		if (s.kind != SCALAR)
			return unsure;
		if (common.kind && (s.a.size != common.a.size || s.a.offset != common.a.offset ||
				    (s.a.of == REAL) != (common.a.of == REAL)))
			return memory;
		/* Numbers of one size are one kind by newer versions of rustc. */
		s.wrapped |= common.wrapped || (common.kind && s.a.of != common.a.of);
		common = s;
	}
	return pair_of(t, *tag, common.a, common.wrapped);
}

static struct shape of_enum(const struct cp_type *t, const struct cp_type_details *d,
			    unsigned depth, unsigned *budget)
{
	const struct cp_type_variant *with_data = NULL;
	const struct cp_type *form;
	unsigned count = 0;
	struct shape tag, s;
	uint32_t i;

	if (d->member_count)
		return unsure;
	if (!d->discriminant) {
		form = cp_type_strip(d->variants[0].member.type);
		return d->variant_count == 1 && cp_type_details(form)
			       ? of_members(form, cp_type_details(form), is_rusts(t), depth + 1,
					    budget)
			       : unsure;
	}
	tag = shape_of(d->discriminant->type, depth + 1, budget);
	tag.a.offset = d->discriminant->offset;
	if (tag.kind != SCALAR)
		return unsure;
	for (i = 0; i < d->variant_count; i++) {
		if (has_data(&d->variants[i])) {
			with_data = &d->variants[i];
			count++;
		}
	}
	if (!count)
		return tag.a.size == t->size ? tag : memory;
	for (i = 0; i < d->variant_count && !is_in(&d->variants[i], d->discriminant); i++)
		;
	if (i == d->variant_count)
		return of_tagged(t, d, &tag.a, depth, budget);
	if (count > 1)
		return memory;
	/* An enum of nothing or something is passed as the something. */
	form = cp_type_strip(with_data->member.type);
	s = of_members(form, cp_type_details(form), true, depth + 1, budget);
	return s;
}

static struct shape shape_of(const struct cp_type *type, unsigned depth, unsigned *budget)
{
	const struct cp_type *t = cp_type_strip(type);
	const struct cp_type_details *d;

	if (!t || depth > DEPTH || !*budget || t->kind == CP_TYPE_UNKNOWN ||
	    (t->flags & CP_TYPE_DECLARED))
		return unsure;
	(*budget)--;
	if (!t->size)
		return (struct shape){ .kind = NOTHING };
	if (t->kind == CP_TYPE_ARRAY)
		return memory;
	if (t->kind != CP_TYPE_STRUCT)
		return scalar_of(t);
	d = cp_type_details(t);
	if (!d)
		return unsure;
	if (d->variant_count)
		return of_enum(t, d, depth, budget);
	return of_members(t, d, is_rusts(t), depth, budget);
}

/* ---- places ---- */

static void put(struct cp_place *p, const struct scalar *s, uint64_t size)
{
	static const uint8_t registers[] = { 0, 1 };
	unsigned n = 0, i;

	for (i = 0; i < p->count; i++)
		n += (p->pieces[i].where == CP_PIECE_VECTOR) == (s->of == REAL);
	p->pieces[p->count++] = (struct cp_piece){
		.where = s->of == REAL ? CP_PIECE_VECTOR : CP_PIECE_REGISTER,
		.number = s->of == REAL ? (uint8_t)n : registers[n],
		.at = (uint32_t)s->offset,
		.size = (uint32_t)size,
	};
}

static struct cp_place rust_place(const struct cp_type *t, const struct shape *s)
{
	struct cp_place p = { .how = CP_PLACE_DIRECT };
	struct scalar half = { .of = INTEGER };

	if (s->kind == SCALAR && s->a.size <= 8) {
		put(&p, &s->a, s->a.size);
	} else if (s->kind == SCALAR && s->a.size == 16) {
		put(&p, &half, 8);
		half.offset = 8;
		put(&p, &half, 8);
	} else if (s->kind == PAIR && t->size <= 16) {
		put(&p, &s->a, s->a.size);
		put(&p, &s->b, s->b.size);
	} else if (s->kind == MEMORY && t->size <= 8) {
		put(&p, &half, t->size);
	} else if (s->kind == MEMORY) {
		p.how = CP_PLACE_INDIRECT;
		p.count = 1;
		p.pieces[0] = (struct cp_piece){ .where = CP_PIECE_REGISTER,
						 .number = CP_RUST_RESULT,
						 .size = 8 };
	} else {
		p.how = s->kind == NOTHING ? CP_PLACE_EMPTY : CP_PLACE_UNSUPPORTED;
	}
	return p;
}

/* The registers of a place, as CP_RESULT_*. */
static unsigned registers_of(const struct cp_place *p)
{
	unsigned all = 0, i;

	for (i = 0; i < p->count; i++) {
		if (p->pieces[i].where == CP_PIECE_VECTOR)
			all |= p->pieces[i].number ? CP_RESULT_SECOND_VECTOR
						   : CP_RESULT_FIRST_VECTOR;
		else
			all |= p->pieces[i].number ? CP_RESULT_SECOND : CP_RESULT_FIRST;
	}
	return all;
}

/* A float in a struct: as such, or as a struct of C's would be, as a number. */
static struct cp_place either(const struct cp_type *t, struct shape s, unsigned sets)
{
	struct cp_place p = { .how = CP_PLACE_UNSUPPORTED };
	unsigned some = sets & (CP_RESULT_FIRST | CP_RESULT_FIRST_VECTOR);

	if (some != CP_RESULT_FIRST && some != CP_RESULT_FIRST_VECTOR)
		return p;
	s.wrapped = false;
	s.a.of = some == CP_RESULT_FIRST ? INTEGER : REAL;
	return rust_place(t, &s);
}

/* The registers that a function of C's leaves such a value in, of up to 8 bytes. */
static unsigned packed_of(const struct cp_type *type, const struct shape *s)
{
	struct cp_place c;

	if (s->kind == PAIR)
		return s->a.of == REAL && s->b.of == REAL ? CP_RESULT_FIRST_VECTOR
							  : CP_RESULT_FIRST;
	c = cp_convention_sysv.result(type);
	if (c.how == CP_PLACE_INDIRECT)
		return CP_RESULT_FIRST;
	return c.how == CP_PLACE_DIRECT ? registers_of(&c) : CP_RESULT_FIRST;
}

static bool is_known(const struct cp_type *t, const struct shape *s, const struct cp_place *rust,
		     unsigned sets)
{
	unsigned all = registers_of(rust), packed;

	if (t->size > 8) /* in C's functions, too; but of what is wrapped it may be the address */
		return !s->wrapped || cp_rust_is_set(rust, sets);
	if (s->kind == SCALAR)
		return true;
	packed = packed_of(t, s);
	if (s->kind == MEMORY && packed == all)
		return cp_convention_sysv.result(t).how != CP_PLACE_INDIRECT;
	return (sets & all) == all && (!(packed & ~all) || (sets & packed) != packed);
}

/* True for what is returned as an address where it is that short: C's functions
 * would set more than one register, or another one. */
static bool is_address(const struct cp_type *type, unsigned sets)
{
	struct cp_place c = cp_convention_sysv.result(type);

	return sets & CP_RESULT_FIRST && !(sets & (CP_RESULT_SECOND | CP_RESULT_FIRST_VECTOR)) &&
	       (c.how != CP_PLACE_DIRECT || registers_of(&c) != CP_RESULT_FIRST);
}

struct cp_place cp_rust_result(const struct cp_type *type, bool takes_first, unsigned sets)
{
	unsigned budget = BUDGET;
	const struct cp_type *t = cp_type_strip(type);
	struct shape s = shape_of(type, 0, &budget);
	struct cp_place rust = { .how = CP_PLACE_UNSUPPORTED };

	if (!t)
		return rust;
	if (s.kind == SCALAR && s.wrapped && s.a.of == REAL)
		return either(t, s, sets);
	rust = rust_place(t, &s);
	if (rust.how == CP_PLACE_INDIRECT) {
		/* The first argument is where to put it, or there is no such thing. */
		if (takes_first || (t->size <= 16 && !is_address(type, sets)))
			rust.how = CP_PLACE_UNSUPPORTED;
		rust.confirmed = t->size <= 16;
	} else if (rust.how == CP_PLACE_DIRECT && !is_known(t, &s, &rust, sets)) {
		rust.how = CP_PLACE_UNSUPPORTED;
	}
	return rust;
}

bool cp_rust_is_set(const struct cp_place *p, unsigned sets)
{
	return !(registers_of(p) & ~sets);
}

/* Only debug information tells: a parameter that is a pattern is not in it. */
static void rust_arguments(const struct cp_type *const *types, size_t count,
			   const struct cp_type *result, unsigned flags, struct cp_place *ret)
{
	const struct cp_type *t;
	size_t i;

	(void)result;
	(void)flags;
	for (i = 0; i < count; i++) {
		t = cp_type_strip(types[i]);
		ret[i] = (struct cp_place){
			.how = t && t->kind != CP_TYPE_UNKNOWN && !(t->flags & CP_TYPE_DECLARED) &&
					       !t->size
				       ? CP_PLACE_EMPTY
				       : CP_PLACE_UNSUPPORTED,
		};
	}
}

static struct cp_place rust_result(const struct cp_type *type)
{
	return cp_rust_result(type, false, 0);
}

const struct cp_convention cp_convention_rust = {
	.arguments = rust_arguments,
	.result = rust_result,
	.result_at_entry = true,
	.argument_registers = { 5, 4, 1, 2, 8, 9 },
	.argument_register_count = 6,
};
