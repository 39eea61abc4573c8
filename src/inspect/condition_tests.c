/* SPDX-License-Identifier: MIT
 *
 * Conditions that code in the program can decide: comparisons of integers, pointers and
 * enumerators in registers, on the stack, or where pointers lead to, with numbers, all of
 * which have to hold.
 */
#include <string.h>

#include "inspect/condition.h"
#include "inspect/signature.h"
#include "inspect/type_names.h"

struct making {
	const struct cp_signature *signature;
	struct cp_detour_test *tests;
	int count; /* of them; -1: it can't be decided so */
};

static const struct cp_parameter *named(const struct making *m, const struct cp_condition_node *n)
{
	size_t i;

	for (i = 0; i < m->signature->parameter_count; i++) {
		const struct cp_parameter *p = &m->signature->parameters[i];

		if (p->name && strlen(p->name) == n->length && !memcmp(p->name, n->text, n->length))
			return p;
	}
	return NULL;
}

/* A number, or an enumerator of the type that it is compared with. */
static bool constant(const struct cp_condition_node *n, const struct cp_type *type, int64_t *ret)
{
	if (n->op == CP_OP_NEGATE && n->a->op == CP_OP_INTEGER && n->a->integer <= INT64_MAX) {
		*ret = -(int64_t)n->a->integer;
		return true;
	}
	if (n->op == CP_OP_INTEGER) {
		*ret = (int64_t)n->integer;
		return n->integer <= INT64_MAX;
	}
	if (n->op != CP_OP_NAME)
		return false;
	*ret = 0;
	if (!strcmp(n->text, "NULL") || !strcmp(n->text, "nullptr") || !strcmp(n->text, "false"))
		return true;
	return cp_enumerator_value(type, n->text, ret);
}

static bool is_signed(const struct cp_type *type)
{
	const struct cp_type *of =
		type->kind == CP_TYPE_ENUM && type->target ? cp_type_strip(type->target) : type;

	return of->kind == CP_TYPE_INT || of->flags & CP_TYPE_SIGNED;
}

/* Is the number one that the type can have? All others compare by how wide they are. */
static bool fits(const struct cp_type *type, int64_t value)
{
	unsigned bits = (unsigned)type->size * 8;

	if (is_signed(type))
		return bits == 64 ||
		       (value >= -(INT64_C(1) << (bits - 1)) && value < INT64_C(1) << (bits - 1));
	return value >= 0 && (bits == 64 || value < INT64_C(1) << bits);
}

/* How it compares with what; pointers and truth values are 0 or not. */
static bool is_comparable(const struct cp_type *type, uint8_t op, int64_t value)
{
	switch (type->kind) {
	case CP_TYPE_INT:
	case CP_TYPE_UINT:
	case CP_TYPE_CHAR:
	case CP_TYPE_ENUM:
		return (type->size == 1 || type->size == 2 || type->size == 4 || type->size == 8) &&
		       !(type->flags & CP_TYPE_BITINT) && fits(type, value);
	case CP_TYPE_POINTER:
	case CP_TYPE_BOOL:
		return (op == CP_DETOUR_EQ || op == CP_DETOUR_NE) && !value &&
		       (type->size == 1 || type->size == 8);
	default:
		return false;
	}
}

static bool place(const struct making *m, const struct cp_parameter *p, struct cp_detour_value *ret)
{
	const struct cp_piece *piece = &p->place.pieces[0];

	if (p->place.how != CP_PLACE_DIRECT || p->place.count != 1 || piece->skip || piece->at)
		return false;
	if (piece->where == CP_PIECE_REGISTER) {
		*ret = (struct cp_detour_value){ .kind = CP_DETOUR_GENERAL, .reg = piece->number };
		return true;
	}
	*ret = (struct cp_detour_value){ .kind = CP_DETOUR_STACK,
					 .offset = (int16_t)piece->offset };
	return piece->where == CP_PIECE_MEMORY && piece->number == m->signature->arch->sp &&
	       piece->offset >= 0 && piece->offset <= INT16_MAX;
}

/* Where something is, and what. */
struct found {
	struct cp_detour_value value;
	const struct cp_type *type;
	bool referred; /* by a reference */
};

/* What a pointer leads to. */
static bool dereference(const struct making *m, struct found *f)
{
	const struct cp_type *to = f->type->target ? cp_type_strip(f->type->target) : NULL;

	if ((f->type->kind != CP_TYPE_POINTER && f->type->kind != CP_TYPE_REFERENCE) || !to ||
	    f->type->size != 8 || (f->value.reach && f->value.through == CP_DETOUR_THROUGH))
		return false;
	if (f->value.reach)
		f->value.through++;
	f->value.reach = CP_DETOUR_BYTES;
	f->type = cp_type_complete(m->signature->image, to);
	return true;
}

/* A reference is what it refers to. */
static bool see_through(const struct making *m, struct found *f)
{
	if (f->type->kind != CP_TYPE_REFERENCE)
		return true;
	f->referred = true;
	return dereference(m, f);
}

/* A member that is one by itself, of what is in memory. */
static bool member(struct found *f, const struct cp_condition_node *n)
{
	const struct cp_type_details *d =
		f->type->kind == CP_TYPE_STRUCT || f->type->kind == CP_TYPE_UNION
			? cp_type_details(f->type)
			: NULL;
	uint32_t i;

	for (i = 0; d && f->value.reach && i < d->member_count; i++) {
		const struct cp_type_member *of = &d->members[i];

		if (of->flags || of->offset > INT16_MAX || strlen(of->name) != n->length ||
		    memcmp(of->name, n->text, n->length) != 0)
			continue;
		f->value.at[f->value.through] += (int32_t)of->offset;
		f->type = of->type ? cp_type_strip(of->type) : NULL;
		return f->type;
	}
	return false;
}

static bool argument(const struct making *m, const struct cp_parameter *p, struct found *ret)
{
	*ret = (struct found){ .type = p->type ? cp_type_strip(p->type) : NULL };
	return ret->type && place(m, p, &ret->value) && see_through(m, ret);
}

/* What a method calls by its name alone. */
static bool of_this(const struct making *m, const struct cp_condition_node *n, struct found *ret)
{
	return cp_signature_has_this(m->signature) &&
	       argument(m, &m->signature->parameters[0], ret) && dereference(m, ret) &&
	       member(ret, n);
}

static bool find(const struct making *m, const struct cp_condition_node *n, struct found *ret)
{
	const struct cp_parameter *p;

	switch (n->op) {
	case CP_OP_NAME:
		p = named(m, n);
		return p ? argument(m, p, ret) : of_this(m, n, ret) && see_through(m, ret);
	case CP_OP_DEREFERENCE:
		/* As cp_condition_holds() has it. */
		return find(m, n->a, ret) &&
		       (ret->type->kind == CP_TYPE_POINTER ? dereference(m, ret) : ret->referred);
	case CP_OP_MEMBER:
		return find(m, n->a, ret) &&
		       (ret->type->kind != CP_TYPE_POINTER || dereference(m, ret)) &&
		       member(ret, n) && see_through(m, ret);
	default:
		return false;
	}
}

static void add(struct making *m, const struct cp_condition_node *what, uint8_t op,
		const struct cp_condition_node *number)
{
	struct found f = { 0 };
	struct cp_detour_test test = { .op = op };
	int64_t value = 0;

	if (m->count < 0 || m->count == CP_DETOUR_TESTS || !find(m, what, &f) ||
	    (number && !constant(number, f.type, &value)) || !is_comparable(f.type, op, value)) {
		m->count = -1;
		return;
	}
	test.value = f.value;
	test.value.size = f.value.reach ? (uint16_t)f.type->size : 0;
	test.size = (uint8_t)f.type->size;
	test.is_signed = is_signed(f.type);
	test.constant = (uint64_t)value;
	m->tests[m->count++] = test;
}

/* Something of an argument, not a number or an enumerator? */
static bool is_of_argument(const struct making *m, const struct cp_condition_node *n)
{
	struct found f;

	while (n->op == CP_OP_DEREFERENCE || n->op == CP_OP_MEMBER)
		n = n->a;
	return n->op == CP_OP_NAME && (named(m, n) || of_this(m, n, &f));
}

/* The comparison the other way round. */
static uint8_t turned(uint8_t op)
{
	switch (op) {
	case CP_DETOUR_LT:
		return CP_DETOUR_GT;
	case CP_DETOUR_LE:
		return CP_DETOUR_GE;
	case CP_DETOUR_GT:
		return CP_DETOUR_LT;
	case CP_DETOUR_GE:
		return CP_DETOUR_LE;
	default:
		return op;
	}
}

static int comparison(uint8_t op)
{
	switch (op) {
	case CP_OP_EQUAL:
		return CP_DETOUR_EQ;
	case CP_OP_UNEQUAL:
		return CP_DETOUR_NE;
	case CP_OP_LESS:
		return CP_DETOUR_LT;
	case CP_OP_LESS_EQUAL:
		return CP_DETOUR_LE;
	case CP_OP_GREATER:
		return CP_DETOUR_GT;
	case CP_OP_GREATER_EQUAL:
		return CP_DETOUR_GE;
	default:
		return -1;
	}
}

static void add_all(struct making *m, const struct cp_condition_node *n)
{
	int op = comparison(n->op);

	if (n->op == CP_OP_BOTH) {
		add_all(m, n->a);
		add_all(m, n->b);
	} else if (op >= 0 && is_of_argument(m, n->a)) {
		add(m, n->a, (uint8_t)op, n->b);
	} else if (op >= 0) {
		add(m, n->b, turned((uint8_t)op), n->a);
	} else if (is_of_argument(m, n)) {
		add(m, n, CP_DETOUR_NE, NULL);
	} else if (n->op == CP_OP_NOT) {
		add(m, n->a, CP_DETOUR_EQ, NULL);
	} else if (n->op == CP_OP_AND && n->b->op == CP_OP_INTEGER && n->b->integer) {
		add(m, n->a, CP_DETOUR_BITS, n->b);
	} else {
		m->count = -1;
	}
}

int cp_condition_tests(const struct cp_condition *condition, const struct cp_signature *signature,
		       struct cp_detour_test ret[CP_DETOUR_TESTS])
{
	struct making m = { .signature = signature, .tests = ret };

	add_all(&m, condition->root);
	return m.count;
}
