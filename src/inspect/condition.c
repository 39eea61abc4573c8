/* SPDX-License-Identifier: MIT
 *
 * Whether a condition holds for the arguments of a call. Integers are as wide
 * as it takes: -1 is less than any unsigned number. Text compares by what it
 * says, enumerators by name. What isn't there is unknown, and so is what
 * depends on it: `p && p->x == 3` is false when p is NULL, unknown when p
 * could not be followed. A reference is what it refers to.
 */
#include "inspect/condition.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "image/find.h"

#define SEARCH_DEPTH 16 /* of members in anonymous structs and bases */
#define STEPS_MAX 10000 /* of one evaluation */

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 uwide;

enum operand_kind {
	UNKNOWN,
	INTEGER,
	FLOAT,
	TEXT,
	THING, /* a struct, union or array */
	NAME, /* of nothing that is there: an enumerator, perhaps */
};

struct operand {
	enum operand_kind kind;
	wide i; /* of TEXT: its address */
	bool large; /* INTEGER: it has no sign, and is 2^128 more; only compared */
	long double f;
	const char *text; /* TEXT, NAME */
	uint32_t length;
	bool cut; /* TEXT: there is more of it */
	const cprof_value *value; /* what it was, or NULL: of a pointer, an enum, a THING */
	bool referred; /* by a reference */
};

struct evaluation {
	const cprof_value *arguments;
	size_t count;
	unsigned steps; /* left */
};

static const struct operand unknown = { .kind = UNKNOWN };

static struct operand integer(wide value)
{
	return (struct operand){ .kind = INTEGER, .i = value };
}

static struct operand truth(bool value)
{
	return integer(value);
}

/* ---- what values are ---- */

static struct operand long_double(const cprof_value *v)
{
	struct operand o = { .kind = FLOAT };
	char text[64];

	if (v->u.text.length >= sizeof(text))
		return unknown;
	memcpy(text, v->u.text.bytes, v->u.text.length);
	text[v->u.text.length] = '\0';
	o.f = strtold(text, NULL);
	return o;
}

static struct operand of_value(const cprof_value *v);

/* What a reference refers to. Structures are looked into by way of it, and are there. */
static struct operand of_reference(const cprof_value *v)
{
	struct operand o = v->count && !v->items->reference ? of_value(v->items) : unknown;

	if (o.kind == THING)
		o = (struct operand){ .kind = INTEGER, .i = v->u.u, .value = v };
	else
		o.referred = o.value;
	return o;
}

static struct operand of_value(const cprof_value *v)
{
	struct operand o = { .kind = INTEGER, .value = v };

	if (v->kind == CPROF_VALUE_POINTER && v->reference)
		return of_reference(v);

	switch (v->kind) {
	case CPROF_VALUE_INT:
	case CPROF_VALUE_CHAR:
	case CPROF_VALUE_ENUM:
		o.i = v->u.i;
		return o;
	case CPROF_VALUE_UINT:
	case CPROF_VALUE_BOOL:
	case CPROF_VALUE_POINTER:
		o.i = v->u.u;
		return o;
	case CPROF_VALUE_INT128:
	case CPROF_VALUE_UINT128:
		o.i = (wide)((uwide)v->u.wide[1] << 64 | v->u.wide[0]);
		o.large = v->kind == CPROF_VALUE_UINT128 && o.i < 0;
		return o;
	case CPROF_VALUE_FLOAT:
		o.kind = FLOAT;
		o.f = (long double)v->u.f;
		return o;
	case CPROF_VALUE_LONG_DOUBLE:
		return long_double(v);
	case CPROF_VALUE_STRING:
		o.kind = TEXT;
		/* An array in a register has no address, but is not NULL. */
		o.i = v->address ? v->address : 1;
		o.text = v->u.text.bytes;
		o.length = v->u.text.length;
		o.cut = v->cut;
		return o;
	case CPROF_VALUE_STRUCT:
	case CPROF_VALUE_UNION:
	case CPROF_VALUE_ARRAY:
		o.kind = THING;
		return o;
	default:
		return unknown;
	}
}

static bool is_named(const cprof_value *v, const struct cp_condition_node *n)
{
	return v->name && strlen(v->name) == n->length && !memcmp(v->name, n->text, n->length);
}

/* A member by name, also of bases and of structs without a name. */
static const cprof_value *member(const cprof_value *in, const struct cp_condition_node *n,
				 unsigned depth, unsigned *steps)
{
	const cprof_value *found = NULL, *item;
	uint32_t i;

	if (in->kind != CPROF_VALUE_STRUCT && in->kind != CPROF_VALUE_UNION)
		return NULL;
	for (i = 0; i < in->count; i++) {
		if (is_named(&in->items[i], n))
			return &in->items[i];
	}
	for (i = 0; !found && depth < SEARCH_DEPTH && i < in->count && *steps; i++) {
		item = &in->items[i];
		(*steps)--;
		if (!item->name || !*item->name ||
		    (item->type && *item->name && !strcmp(item->name, item->type)))
			found = member(item, n, depth + 1, steps);
	}
	return found;
}

static const cprof_value *pointee(const cprof_value *v)
{
	return v && v->kind == CPROF_VALUE_POINTER && v->count ? v->items : NULL;
}

/* A member of what is at an address, further out: a pointer leads back to it. */
static const cprof_value *member_at(const cprof_value *in, uint64_t address,
				    const struct cp_condition_node *n, unsigned *steps)
{
	const cprof_value *found = NULL;
	uint32_t i;

	if (in->kind != CPROF_VALUE_ARRAY && in->address == address)
		found = member(in, n, 0, steps);
	for (i = 0; !found && in->items && i < in->count && *steps; i++) {
		(*steps)--;
		found = member_at(&in->items[i], address, n, steps);
	}
	return found;
}

static struct operand evaluate_member(struct evaluation *e, struct operand of,
				      const struct cp_condition_node *n)
{
	const cprof_value *in = pointee(of.value) ? pointee(of.value) : of.value;
	const cprof_value *found = in && !n->integer ? member(in, n, 0, &e->steps) : NULL;
	bool leads_back = in && in->kind == CPROF_VALUE_ERROR && in->error == CPROF_VALUE_CYCLE;
	size_t i;

	for (i = 0; leads_back && !found && !n->integer && i < e->count; i++)
		found = member_at(&e->arguments[i], of.value->u.u, n, &e->steps);
	return found ? of_value(found) : unknown;
}

static struct operand element(struct operand of, struct operand index)
{
	const cprof_value *array = of.value;
	uint64_t skip, run;
	uint32_t i;

	if (index.kind != INTEGER || index.i < 0 || index.i > UINT32_MAX)
		return unknown;
	skip = (uint64_t)index.i;
	if (of.kind == TEXT) {
		if (skip < of.length)
			return integer((signed char)of.text[skip]);
		return skip == of.length && !of.cut ? integer(0) : unknown;
	}
	if (pointee(array)) {
		if (array->items->kind != CPROF_VALUE_ARRAY)
			return skip ? unknown : of_value(array->items);
		array = array->items;
	}
	for (i = 0; array && array->kind == CPROF_VALUE_ARRAY && i < array->count; i++) {
		run = array->items[i].repeats ? array->items[i].repeats : 1;
		if (skip < run)
			return of_value(&array->items[i]);
		skip -= run;
	}
	return unknown;
}

static bool is_this(const cprof_value *argument)
{
	return argument->name && !strcmp(argument->name, "this");
}

static struct operand named(struct evaluation *e, const struct cp_condition_node *n)
{
	static const struct {
		const char *name;
		int value;
	} words[] = { { "NULL", 0 }, { "nullptr", 0 }, { "true", 1 }, { "false", 0 } };
	const cprof_value *found;
	const char *last;
	size_t i;

	for (i = 0; i < e->count; i++) {
		if (is_named(&e->arguments[i], n))
			return of_value(&e->arguments[i]);
	}
	for (i = 0; i < CP_ARRAY_SIZE(words); i++) {
		if (!strcmp(n->text, words[i].name))
			return integer(words[i].value);
	}
	found = e->count && is_this(e->arguments) && pointee(e->arguments)
			? member(pointee(e->arguments), n, 0, &e->steps)
			: NULL;
	if (found)
		return of_value(found);
	/* What an enumerator is in was looked at before (condition_way.c). */
	last = cp_name_last_part(n->text);
	return (struct operand){ .kind = NAME, .text = last, .length = (uint32_t)strlen(last) };
}

/* ---- operators ---- */

static enum cp_truth truth_of(struct operand o)
{
	switch (o.kind) {
	case INTEGER:
	case TEXT:
		return o.i ? CP_TRUE : CP_FALSE;
	case FLOAT:
		return o.f != 0 ? CP_TRUE : CP_FALSE;
	case UNKNOWN:
	case THING:
	case NAME:
	default:
		return CP_UNKNOWN;
	}
}

static struct operand of_truth(enum cp_truth t)
{
	return t == CP_UNKNOWN ? unknown : truth(t == CP_TRUE);
}

/* Whether "A | B" has the name among its parts; `all`: is it. */
static bool says(const char *symbol, struct operand name, bool all)
{
	const char *at = symbol ? symbol : "";
	size_t length;

	for (;;) {
		length = strcspn(at, " |");
		if (length == name.length && !memcmp(at, name.text, length))
			return !all || (at == symbol && !at[length]);
		at += length;
		at += strspn(at, " |");
		if (!*at)
			return false;
	}
}

/* An enum and a name: only the name of what the enum is, is known. */
static struct operand with_name(uint8_t op, struct operand value, struct operand name)
{
	if (!value.value || value.value->kind != CPROF_VALUE_ENUM)
		return unknown;
	switch (op) {
	case CP_OP_EQUAL:
		return truth(says(value.value->symbol, name, true));
	case CP_OP_UNEQUAL:
		return truth(!says(value.value->symbol, name, true));
	case CP_OP_AND:
		return truth(says(value.value->symbol, name, false));
	default:
		return unknown;
	}
}

static struct operand texts(uint8_t op, struct operand a, struct operand b)
{
	uint32_t shorter = a.length < b.length ? a.length : b.length;
	bool equal;

	if (op != CP_OP_EQUAL && op != CP_OP_UNEQUAL)
		return unknown;
	equal = !memcmp(a.text, b.text, shorter);
	/* Texts are the same as far as they were read. */
	if (equal && ((a.cut && b.length >= a.length) || (b.cut && a.length >= b.length)))
		return unknown;
	equal = equal && a.length == b.length;
	return truth(equal == (op == CP_OP_EQUAL));
}

static bool is_comparison(uint8_t op)
{
	return op >= CP_OP_LESS && op <= CP_OP_UNEQUAL;
}

static struct operand compared(uint8_t op, bool less, bool equal, bool greater)
{
	switch (op) {
	case CP_OP_LESS:
		return truth(less);
	case CP_OP_GREATER:
		return truth(greater);
	case CP_OP_LESS_EQUAL:
		return truth(less || equal);
	case CP_OP_GREATER_EQUAL:
		return truth(greater || equal);
	case CP_OP_EQUAL:
		return truth(equal);
	default:
		return truth(!equal);
	}
}

static struct operand floats(uint8_t op, long double a, long double b)
{
	struct operand o = { .kind = FLOAT };

	switch (op) {
	case CP_OP_MULTIPLY:
		o.f = a * b;
		return o;
	case CP_OP_DIVIDE:
		o.f = a / b;
		return o;
	case CP_OP_ADD:
		o.f = a + b;
		return o;
	case CP_OP_SUBTRACT:
		o.f = a - b;
		return o;
	case CP_OP_LESS:
	case CP_OP_GREATER:
	case CP_OP_LESS_EQUAL:
	case CP_OP_GREATER_EQUAL:
	case CP_OP_EQUAL:
	case CP_OP_UNEQUAL:
		return compared(op, a < b, !(a < b) && !(a > b) && !isnan(a) && !isnan(b), a > b);
	default:
		return unknown;
	}
}

/* What overflows, or makes no sense, is unknown. */
static struct operand exact(bool overflows, const wide *i)
{
	return overflows ? unknown : integer(*i);
}

static struct operand divided(uint8_t op, wide a, wide b)
{
	if (!b)
		return unknown;
	if (b == -1)
		return op == CP_OP_DIVIDE ? exact(__builtin_sub_overflow((wide)0, a, &b), &b)
					  : integer(0);
	return integer(op == CP_OP_DIVIDE ? a / b : a % b);
}

static struct operand shifted(uint8_t op, wide a, wide b)
{
	wide shifted;

	if (b < 0 || b > 127)
		return unknown;
	if (op == CP_OP_SHIFT_RIGHT)
		return integer(a >> (int)b);
	shifted = (wide)((uwide)a << (int)b);
	return exact(shifted >> (int)b != a, &shifted);
}

static struct operand integers(uint8_t op, wide a, wide b)
{
	wide i = 0;

	switch (op) {
	case CP_OP_MULTIPLY:
		return exact(__builtin_mul_overflow(a, b, &i), &i);
	case CP_OP_DIVIDE:
	case CP_OP_REMAINDER:
		return divided(op, a, b);
	case CP_OP_ADD:
		return exact(__builtin_add_overflow(a, b, &i), &i);
	case CP_OP_SUBTRACT:
		return exact(__builtin_sub_overflow(a, b, &i), &i);
	case CP_OP_SHIFT_LEFT:
	case CP_OP_SHIFT_RIGHT:
		return shifted(op, a, b);
	case CP_OP_AND:
		return integer(a & b);
	case CP_OP_XOR:
		return integer(a ^ b);
	case CP_OP_OR:
		return integer(a | b);
	default:
		return compared(op, a<b, a == b, a> b);
	}
}

static long double as_float(struct operand a)
{
	return a.kind == FLOAT ? a.f : a.large ? (long double)(uwide)a.i : (long double)a.i;
}

/* Beside text, a pointer is the text that it leads to, if it does. */
static struct operand as_text(struct operand o)
{
	struct operand at = o;
	unsigned i;

	for (i = 0; i < SEARCH_DEPTH && at.kind == INTEGER && pointee(at.value) && at.i; i++)
		at = of_value(pointee(at.value));
	return at.kind == TEXT || at.kind == UNKNOWN ? at : o;
}

static struct operand combined(uint8_t op, struct operand a, struct operand b)
{
	if (is_comparison(op) && a.kind == TEXT)
		b = as_text(b);
	if (is_comparison(op) && b.kind == TEXT)
		a = as_text(a);
	if (a.kind == NAME || b.kind == NAME)
		return a.kind == NAME ? with_name(op, b, a) : with_name(op, a, b);
	if (a.kind == UNKNOWN || b.kind == UNKNOWN || a.kind == THING || b.kind == THING)
		return unknown;
	if (a.kind == TEXT && b.kind == TEXT)
		return texts(op, a, b);
	if (a.kind == FLOAT || b.kind == FLOAT) {
		if (a.kind == TEXT || b.kind == TEXT)
			return unknown;
		return floats(op, as_float(a), as_float(b));
	}
	if (a.large != b.large)
		return is_comparison(op) ? compared(op, b.large, false, a.large) : unknown;
	if (a.large && !is_comparison(op))
		return unknown;
	return integers(op, a.i, b.i);
}

static struct operand evaluate(struct evaluation *e, const struct cp_condition_node *n);

/* && and || look at the right side only when the left one leaves it open. */
static struct operand logical(struct evaluation *e, const struct cp_condition_node *n)
{
	enum cp_truth decides = n->op == CP_OP_BOTH ? CP_FALSE : CP_TRUE;
	enum cp_truth a = truth_of(evaluate(e, n->a)), b;

	if (a == decides)
		return of_truth(a);
	b = truth_of(evaluate(e, n->b));
	return of_truth(b == decides || a != CP_UNKNOWN ? b : CP_UNKNOWN);
}

static struct operand evaluate_unary(const struct cp_condition_node *n, struct operand a)
{
	enum cp_truth t;

	switch (n->op) {
	case CP_OP_NOT:
		t = truth_of(a);
		return t == CP_UNKNOWN ? unknown : truth(t == CP_FALSE);
	case CP_OP_INVERT:
		return a.kind == INTEGER && !a.large ? integer(~a.i) : unknown;
	case CP_OP_NEGATE:
		if (a.kind == FLOAT)
			return (struct operand){ .kind = FLOAT, .f = -a.f };
		return a.kind == INTEGER && !a.large ? integers(CP_OP_SUBTRACT, 0, a.i) : unknown;
	case CP_OP_DEREFERENCE:
		/* `*k` of a reference to what is no pointer is what it refers to, too. */
		return a.referred && a.value->kind != CPROF_VALUE_POINTER ? a
									  : element(a, integer(0));
	default:
		return a.kind == INTEGER || a.kind == FLOAT ? a : unknown;
	}
}

static struct operand leaf(struct evaluation *e, const struct cp_condition_node *n)
{
	switch (n->op) {
	case CP_OP_INTEGER:
		/* Characters are signed, numbers never are. */
		return integer(n->length ? (wide)(int64_t)n->integer : (wide)n->integer);
	case CP_OP_FLOAT:
		return (struct operand){ .kind = FLOAT, .f = n->number };
	case CP_OP_TEXT:
		return (struct operand){
			.kind = TEXT, .i = 1, .text = n->text, .length = n->length
		};
	default:
		return named(e, n);
	}
}

static struct operand evaluate(struct evaluation *e, const struct cp_condition_node *n)
{
	enum cp_truth t;

	if (!e->steps)
		return unknown;
	e->steps--;
	if (n->op > CP_OP_CHOOSE)
		return unknown; /* cp_expression_holds() knows */
	if (n->op <= CP_OP_NAME)
		return leaf(e, n);
	if (n->op == CP_OP_MEMBER)
		return evaluate_member(e, evaluate(e, n->a), n);
	if (n->op <= CP_OP_DEREFERENCE)
		return evaluate_unary(n, evaluate(e, n->a));
	if (n->op == CP_OP_INDEX)
		return element(evaluate(e, n->a), evaluate(e, n->b));
	if (n->op == CP_OP_BOTH || n->op == CP_OP_EITHER)
		return logical(e, n);
	if (n->op == CP_OP_CHOOSE) {
		t = truth_of(evaluate(e, n->a));
		return t == CP_UNKNOWN ? unknown : evaluate(e, t == CP_TRUE ? n->b : n->c);
	}
	return combined(n->op, evaluate(e, n->a), evaluate(e, n->b));
}

enum cp_truth cp_condition_holds(const struct cp_condition *condition, const cprof_value *arguments,
				 size_t count)
{
	struct evaluation e = { .arguments = arguments, .count = count, .steps = STEPS_MAX };

	return truth_of(evaluate(&e, condition->root));
}
