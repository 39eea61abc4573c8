/* SPDX-License-Identifier: MIT
 *
 * System V ABI, AMD64 architecture, section 3.2.3. A value of up to 64 bytes
 * is cut into eightbytes; each gets a class, merged from all that lies in it:
 *
 *     struct { float a, b; int c; }    | a    b  | c       |
 *                                        SSE       INTEGER     xmm0, rdi
 *
 * What has no class that fits goes to memory: arguments on the stack,
 * results where the hidden first argument points to.
 */
#include "inspect/classify.h"
#include "inspect/place.h"

#define EIGHTBYTES 8
#define RAX 0
#define RDX 1
#define RSP 7

enum kind { NONE, INTEGER, SSE, SSEUP, X87, X87UP, COMPLEX_X87, MEMORY };

struct classes {
	uint8_t of[EIGHTBYTES]; /* enum kind */
	unsigned budget;
};

static enum kind merged(enum kind a, enum kind b)
{
	if (a == b || b == NONE)
		return a;
	if (a == NONE)
		return b;
	if (a == MEMORY || b == MEMORY)
		return MEMORY;
	if (a == INTEGER || b == INTEGER)
		return INTEGER;
	if (a >= X87 || b >= X87)
		return MEMORY;
	return SSE;
}

static bool put(struct classes *c, uint64_t eightbyte, enum kind kind)
{
	if (eightbyte >= EIGHTBYTES)
		return false;
	c->of[eightbyte] = merged(c->of[eightbyte], kind);
	return true;
}

/* All eightbytes that [offset, offset + size) touches. */
static bool put_integers(struct classes *c, uint64_t offset, uint64_t size)
{
	uint64_t i;

	for (i = offset / 8; size && i <= (offset + size - 1) / 8; i++) {
		if (!put(c, i, INTEGER))
			return false;
	}
	return true;
}

static bool put_float(struct classes *c, const struct cp_type *t, uint64_t offset)
{
	bool wide = t->size == 16;

	if (t->size > 16)
		return false;
	if (!wide)
		return put(c, offset / 8, SSE);
	if (t->flags & (CP_TYPE_BINARY128 | CP_TYPE_DECIMAL))
		return put(c, offset / 8, SSE) && put(c, offset / 8 + 1, SSEUP);
	return put(c, offset / 8, X87) && put(c, offset / 8 + 1, X87UP);
}

static bool put_complex(struct classes *c, const struct cp_type *t, uint64_t offset)
{
	if (t->flags & CP_TYPE_SIGNED)
		return put_integers(c, offset, t->size);
	if (t->size <= 8)
		return put(c, offset / 8, SSE);
	if (t->size == 16)
		return put(c, offset / 8, SSE) && put(c, offset / 8 + 1, SSE);
	return t->size == 32 && !(t->flags & CP_TYPE_BINARY128) && put(c, offset / 8, COMPLEX_X87);
}

static bool put_vector(struct classes *c, const struct cp_type *t, uint64_t offset)
{
	uint64_t i;

	if (t->size <= 4)
		return put_integers(c, offset, t->size);
	if (t->size > 64 || !put(c, offset / 8, SSE))
		return false;
	for (i = 1; i < t->size / 8; i++) {
		if (!put(c, offset / 8 + i, SSEUP))
			return false;
	}
	return true;
}

static bool put_type(struct classes *c, const struct cp_type *type, uint64_t offset,
		     unsigned depth);

static bool put_members(struct classes *c, const struct cp_type *t, uint64_t offset, unsigned depth)
{
	const struct cp_type_details *d = cp_type_details(t);
	const struct cp_type_member *m;
	uint64_t first;
	uint32_t i;

	for (i = 0; d && i < d->member_count; i++) {
		m = &d->members[i];
		if (m->offset > 64 || (m->flags & CP_MEMBER_VIRTUAL))
			return false;
		if (m->flags & CP_MEMBER_BITS) {
			/* Unnamed ones are padding. */
			first = (offset + m->offset) * 8 + m->bit_offset;
			if (*m->name && (!put(c, first / 64, INTEGER) ||
					 !put(c, (first + m->bit_size - 1) / 64, INTEGER)))
				return false;
			continue;
		}
		if (!put_type(c, m->type, offset + m->offset, depth + 1))
			return false;
	}
	return d != NULL;
}

static bool put_array(struct classes *c, const struct cp_type *t, uint64_t offset, unsigned depth)
{
	const struct cp_type *element = cp_type_strip(t->target);
	uint64_t i;

	/* A flexible array has no elements. */
	if (!element || !element->size || t->size > 64)
		return !t->size;
	for (i = 0; i < t->count; i++) {
		if (!put_type(c, t->target, offset + i * element->size, depth + 1))
			return false;
	}
	return true;
}

/* False: memory. */
static bool put_type(struct classes *c, const struct cp_type *type, uint64_t offset, unsigned depth)
{
	const struct cp_type *t = cp_type_strip(type);

	if (depth > 32 || !t || !c->budget--)
		return c->budget = 0, false;
	if (t->kind == CP_TYPE_STRUCT || t->kind == CP_TYPE_UNION)
		return offset + t->size <= 64 && put_members(c, t, offset, depth);
	if (t->kind == CP_TYPE_ARRAY)
		return put_array(c, t, offset, depth);
	if (!t->size)
		return true;
	/* "unaligned fields": memory. */
	if (offset % cp_type_alignment(t, &c->budget))
		return false;
	switch (t->kind) {
	case CP_TYPE_FLOAT:
		return put_float(c, t, offset);
	case CP_TYPE_COMPLEX:
		return put_complex(c, t, offset);
	case CP_TYPE_VECTOR:
		return put_vector(c, t, offset);
	default:
		return put_integers(c, offset, t->size);
	}
}

/* The post merger cleanup. Returns the number of eightbytes; 0: none. With
 * class MEMORY all of it is in memory. */
static unsigned classify(const struct cp_type *type, struct classes *c)
{
	const struct cp_type *t = cp_type_strip(type);
	uint64_t n = (t->size + 7) / 8;
	unsigned i;

	*c = (struct classes){ .budget = CP_CLASSIFY_BUDGET };
	if (n > EIGHTBYTES || !put_type(c, type, 0, 0))
		goto memory;
	if (c->of[0] == COMPLEX_X87)
		return (unsigned)n;
	for (i = 0; i < n; i++) {
		if (c->of[i] == MEMORY || (c->of[i] == X87UP && (!i || c->of[i - 1] != X87)))
			goto memory;
		if (n > 2 && c->of[i] != (i ? SSEUP : SSE))
			goto memory;
	}
	for (i = 0; i < n; i++) {
		if (c->of[i] == SSEUP && (!i || (c->of[i - 1] != SSE && c->of[i - 1] != SSEUP)))
			c->of[i] = SSE;
	}
	return (unsigned)n;
memory:
	c->of[0] = MEMORY;
	return (unsigned)(n < EIGHTBYTES ? n : EIGHTBYTES);
}

/* ---- places ---- */

static bool is_sized(const struct cp_type *t)
{
	return t && !cp_type_is_transparent(t) && t->kind != CP_TYPE_UNKNOWN &&
	       t->kind != CP_TYPE_VOID && t->kind != CP_TYPE_FUNCTION &&
	       !(t->flags & CP_TYPE_DECLARED);
}

static void add_piece(struct cp_place *p, enum cp_piece_where where, unsigned number, uint32_t at,
		      uint32_t size)
{
	p->pieces[p->count++] = (struct cp_piece){
		.where = (uint8_t)where, .number = (uint8_t)number, .at = at, .size = size
	};
}

/* Eightbyte by eightbyte into registers, from `general` and `vector` on. */
static void place_in_registers(const struct classes *c, unsigned n, uint64_t size,
			       const uint8_t *general, unsigned vector, struct cp_place *p)
{
	uint32_t at, bytes;
	unsigned i;

	for (i = 0; i < n; i++) {
		at = i * 8;
		bytes = size - at < 8 ? (uint32_t)(size - at) : 8;
		if (c->of[i] == INTEGER)
			add_piece(p, CP_PIECE_REGISTER, *general++, at, bytes);
		else if (c->of[i] == SSE)
			add_piece(p, CP_PIECE_VECTOR, vector++, at, bytes);
		else if (c->of[i] == SSEUP && p->count)
			p->pieces[p->count - 1].size += bytes;
	}
	p->how = p->count ? CP_PLACE_DIRECT : CP_PLACE_EMPTY;
	/* Only the low halves of vector registers are captured. */
	if (n > 2)
		p->how = CP_PLACE_UNSUPPORTED;
}

static struct cp_place sysv_result(const struct cp_type *type)
{
	static const uint8_t registers[] = { RAX, RDX };
	const struct cp_type *t = cp_type_strip(type);
	struct cp_place p = { .how = CP_PLACE_UNSUPPORTED };
	unsigned budget = CP_CLASSIFY_BUDGET, n;
	struct classes c;

	if (!is_sized(t))
		return p;
	n = classify(type, &c);
	if ((n && c.of[0] == MEMORY) || cp_type_is_nontrivial(type, &budget)) {
		p.how = CP_PLACE_INDIRECT;
		add_piece(&p, CP_PIECE_REGISTER, RAX, 0, 8);
	} else if (t->flags & CP_TYPE_BITINT) {
		return p;
	} else if (n && c.of[0] == COMPLEX_X87) {
		p.how = CP_PLACE_DIRECT;
		add_piece(&p, CP_PIECE_X87, 0, 0, 10);
		add_piece(&p, CP_PIECE_X87, 1, 16, 10);
	} else if (n && c.of[0] == X87) {
		p.how = CP_PLACE_DIRECT;
		add_piece(&p, CP_PIECE_X87, 0, 0, 10);
	} else {
		place_in_registers(&c, n, t->size, registers, 0, &p);
	}
	return p;
}

struct state {
	unsigned general, vector; /* used */
	int64_t stack; /* the next argument there, from the stack pointer at entry */
	bool lost;
	unsigned flags; /* CP_FUNCTION_* */
};

static const uint8_t argument_registers[] = { 5, 4, 1, 2, 8, 9 }; /* rdi rsi rdx rcx r8 r9 */

static void place_on_stack(struct state *s, const struct cp_type *type, uint64_t size,
			   struct cp_place *p)
{
	unsigned budget = CP_CLASSIFY_BUDGET;
	int64_t align = cp_type_alignment(type, &budget), base = s->stack - 8;

	align = align < 8 ? 8 : align;
	base = (base + align - 1) / align * align;
	s->stack = base + 8;
	p->how = CP_PLACE_DIRECT;
	add_piece(p, CP_PIECE_MEMORY, RSP, 0, (uint32_t)size);
	p->pieces[0].offset = s->stack;
	s->stack += (int64_t)(size + 7) / 8 * 8;
	s->lost = size > INT32_MAX;
}

/* An address in the next register, or on the stack. */
static void place_address(struct state *s, struct cp_place *p)
{
	p->how = CP_PLACE_INDIRECT;
	if (s->general < 6) {
		add_piece(p, CP_PIECE_REGISTER, argument_registers[s->general++], 0, 8);
		return;
	}
	add_piece(p, CP_PIECE_MEMORY, RSP, 0, 8);
	p->pieces[0].offset = s->stack;
	s->stack += 8;
}

/* Half in the last register, half on the stack: against the ABI, but so it was. */
static void place_halves(struct state *s, struct cp_place *p)
{
	unsigned i;

	p->how = CP_PLACE_DIRECT;
	for (i = 0; i < 2; i++) {
		if (s->general < 6) {
			add_piece(p, CP_PIECE_REGISTER, argument_registers[s->general++], 8 * i, 8);
			continue;
		}
		add_piece(p, CP_PIECE_MEMORY, RSP, 8 * i, 8);
		p->pieces[i].offset = s->stack;
		s->stack += 8;
	}
}

static void place_argument(struct state *s, const struct cp_type *type, struct cp_place *p)
{
	const struct cp_type *t = cp_type_strip(type);
	unsigned budget = CP_CLASSIFY_BUDGET, n, i, general = 0, vector = 0;
	struct classes c;

	*p = (struct cp_place){ .how = CP_PLACE_UNSUPPORTED };
	s->lost = s->lost || !is_sized(t);
	if (s->lost)
		return;
	if (cp_type_is_nontrivial(type, &budget)) {
		place_address(s, p);
		return;
	}
	n = classify(type, &c);
	if (!n) {
		p->how = CP_PLACE_EMPTY;
		return;
	}
	for (i = 0; i < n; i++) {
		general += c.of[i] == INTEGER;
		vector += c.of[i] == SSE;
	}
	if ((s->flags & CP_FUNCTION_SPLIT_INT128) && t->size == 16 &&
	    (t->kind == CP_TYPE_INT || t->kind == CP_TYPE_UINT)) {
		place_halves(s, p);
	} else if (c.of[0] >= X87 || s->general + general > 6 || s->vector + vector > 8) {
		place_on_stack(s, type, t->size, p);
	} else {
		place_in_registers(&c, n, t->size, argument_registers + s->general, s->vector, p);
		s->general += general;
		s->vector += vector;
	}
	if (t->flags & CP_TYPE_BITINT)
		p->how = CP_PLACE_UNSUPPORTED;
	if (!(s->flags & CP_FUNCTION_PROTOTYPED) && t->kind == CP_TYPE_FLOAT && t->size == 4) {
		p->promoted = true;
		p->pieces[0].size = 8;
	}
}

static void sysv_arguments(const struct cp_type *const *types, size_t count,
			   const struct cp_type *result, unsigned flags, struct cp_place *ret)
{
	struct state s = { .stack = 8, .flags = flags };
	struct cp_place hidden;
	size_t i;

	if (result && cp_type_strip(result)->kind != CP_TYPE_VOID) {
		hidden = sysv_result(result);
		s.general = hidden.how == CP_PLACE_INDIRECT;
		s.lost = !is_sized(cp_type_strip(result));
	}
	for (i = 0; i < count; i++)
		place_argument(&s, types[i], &ret[i]);
}

const struct cp_convention cp_convention_sysv = {
	.arguments = sysv_arguments,
	.result = sysv_result,
	.argument_registers = { 5, 4, 1, 2, 8, 9 },
	.argument_register_count = 6,
};
