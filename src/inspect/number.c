/* SPDX-License-Identifier: MIT */
#include "inspect/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/build.h"
#include "inspect/condition.h"

#define LINKS 16 /* of pointers to pointers to text */
#define TEXT_MOST (UINT32_C(1) << 20) /* characters that are compared */

__extension__ typedef unsigned __int128 uwide;

static const struct cp_number none = { .kind = CP_NUMBER_NONE };

static struct cp_number integer(cp_wide i)
{
	return (struct cp_number){ .kind = CP_NUMBER_INTEGER, .i = i };
}

/* A number without a sign. */
static struct cp_number natural(uwide i)
{
	return (struct cp_number){ .kind = CP_NUMBER_INTEGER, .i = (cp_wide)i, .large = i >> 127 };
}

static bool is_negative(struct cp_number n)
{
	return n.i < 0 && !n.large;
}

static uwide size_without_sign(struct cp_number n)
{
	return is_negative(n) ? -(uwide)n.i : (uwide)n.i;
}

/* The integer of that sign and size; false: it has more than 128 bits. */
static bool sized(bool negative, uwide size, struct cp_number *ret)
{
	*ret = negative ? integer((cp_wide)-size) : natural(size);
	return !negative || size <= (uwide)1 << 127;
}

static long double as_real(struct cp_number n)
{
	return n.kind == CP_NUMBER_FLOAT ? n.f
	       : n.large		 ? (long double)(uwide)n.i
					 : (long double)n.i;
}

static struct cp_number real(long double f)
{
	return (struct cp_number){ .kind = CP_NUMBER_FLOAT, .f = f };
}

/* ---- of things ---- */

static struct cp_number of_value(const cprof_value *v)
{
	char text[64];

	switch (v->kind) {
	case CPROF_VALUE_INT:
	case CPROF_VALUE_CHAR:
	case CPROF_VALUE_ENUM:
		return integer(v->u.i);
	case CPROF_VALUE_UINT:
	case CPROF_VALUE_BOOL:
	case CPROF_VALUE_POINTER:
		return integer(v->u.u);
	case CPROF_VALUE_STRING: /* a pointer to one */
		return v->address ? integer((cp_wide)v->address) : none;
	case CPROF_VALUE_INT128:
		return integer((cp_wide)((uwide)v->u.wide[1] << 64 | v->u.wide[0]));
	case CPROF_VALUE_UINT128:
		return natural((uwide)v->u.wide[1] << 64 | v->u.wide[0]);
	case CPROF_VALUE_FLOAT:
		return real((long double)v->u.f);
	case CPROF_VALUE_LONG_DOUBLE:
		if (v->u.text.length >= sizeof(text))
			return none;
		memcpy(text, v->u.text.bytes, v->u.text.length);
		text[v->u.text.length] = '\0';
		return real(strtold(text, NULL));
	default:
		return none;
	}
}

struct cp_number cp_number_of(const struct cp_expression_env *env, struct cp_thing *thing)
{
	const struct cp_type *t;
	const cprof_value *v;
	const uint8_t *bytes;

	*thing = cp_thing_referred(env, *thing);
	t = cp_type_strip(thing->type);
	if (thing->error || !t)
		return none;
	if (t->kind == CP_TYPE_ARRAY && thing->in_memory) /* as C has it */
		return integer((cp_wide)thing->address);
	if (t->kind == CP_TYPE_FUNCTION)
		return integer((cp_wide)thing->address);
	if (t->kind == CP_TYPE_STRUCT || t->kind == CP_TYPE_UNION || t->kind == CP_TYPE_ARRAY)
		return none;
	if (t->kind == CP_TYPE_POINTER) {
		bytes = cp_thing_bytes(env, thing);
		return bytes ? integer((cp_wide)cp_build_number(bytes, t->size)) : none;
	}
	v = cp_thing_value(env, thing);
	if (v && v->kind == CPROF_VALUE_ERROR) {
		thing->error = v->error;
		thing->address = v->address;
	}
	return v ? of_value(v) : none;
}

static CP_ERROR no_number(const struct cp_thing *thing)
{
	return cp_error_new(CP_ERR_USAGE, 0, "no number: it is of type %s",
			    thing->type && thing->type->text ? thing->type->text : "(unknown)");
}

CP_ERROR cp_number_truth(const struct cp_expression_env *env, struct cp_thing *thing, bool *ret)
{
	struct cp_number n = cp_number_of(env, thing);
	const struct cp_type *t = cp_type_strip(thing->type);

	if (thing->error)
		return NULL;
	if (n.kind == CP_NUMBER_NONE && t && t->kind == CP_TYPE_ARRAY) { /* it is somewhere */
		*ret = true;
		return NULL;
	}
	if (n.kind == CP_NUMBER_NONE && !(t && t->kind == CP_TYPE_MEMBER_POINTER))
		return no_number(thing);
	*ret = n.kind == CP_NUMBER_NONE	   ? true
	       : n.kind == CP_NUMBER_FLOAT ? n.f < 0 || n.f > 0 || isnan(n.f)
					   : n.i != 0;
	if (t && t->kind == CP_TYPE_MEMBER_POINTER && t->size == 8) /* 0 is the first member */
		*ret = n.i != (cp_wide)UINT64_MAX;
	return NULL;
}

/* ---- things of them ---- */

const struct cp_type *cp_number_type(struct cp_number number)
{
	if (number.kind == CP_NUMBER_FLOAT)
		return cp_type_of_c("double");
	if (number.large)
		return cp_type_of_c("unsigned __int128");
	if (number.i >= INT32_MIN && number.i <= INT32_MAX)
		return cp_type_of_c("int");
	if (number.i >= INT64_MIN && number.i <= INT64_MAX)
		return cp_type_of_c("long");
	return cp_type_of_c(number.i >= 0 && number.i <= (cp_wide)UINT64_MAX ? "unsigned long"
									     : "__int128");
}

static bool put_float(const struct cp_type *t, long double f, uint8_t to[16])
{
	double d = (double)f;
	float s = (float)f;

	if (t->size == 4)
		memcpy(to, &s, 4);
	else if (t->size == 8)
		memcpy(to, &d, 8);
	else if (t->size == sizeof(f) && !(t->flags & CP_TYPE_BINARY128))
		memcpy(to, &f, 10);
	return t->size == 4 || t->size == 8 || t->size == sizeof(f);
}

/* Without what is behind the point. */
static cp_wide cut(long double f)
{
	return fabsl(f) < 0x1p127L	       ? (cp_wide)f
	       : f >= 0x1p127L && f < 0x1p128L ? (cp_wide)(uwide)f
					       : 0;
}

CP_ERROR cp_number_thing(const struct cp_expression_env *env, struct cp_number number,
			 const struct cp_type *type, struct cp_thing *ret)
{
	const struct cp_type *t = cp_type_strip(type);
	uint8_t bytes[16] = { 0 };
	bool fits = t && t->size && t->size <= sizeof(bytes);

	if (fits && t->kind == CP_TYPE_FLOAT) {
		fits = put_float(t, as_real(number), bytes);
	} else {
		if (number.kind == CP_NUMBER_FLOAT)
			number.i = cut(number.f);
		if (t && t->kind == CP_TYPE_BOOL)
			number.i = number.i != 0;
		memcpy(bytes, &number.i, sizeof(bytes));
	}
	if (!fits)
		return cp_error_new(CP_ERR_USAGE, 0, "a number is no %s",
				    type && type->text ? type->text : "void");
	*ret = (struct cp_thing){ .type = type,
				  .bytes = (const uint8_t *)cp_arena_copy(env->arena, bytes,
									  t->size),
				  .size = t->size,
				  .source = CPROF_SOURCE_CONST };
	return ret->bytes ? NULL : cp_error_nomem();
}

static CP_ERROR worked_out(const struct cp_expression_env *env, struct cp_number n,
			   struct cp_thing *ret)
{
	CP_TRY(cp_number_thing(env, n, cp_number_type(n), ret));
	ret->source = CPROF_SOURCE_MEMORY;
	return NULL;
}

static CP_ERROR truth(const struct cp_expression_env *env, bool value, struct cp_thing *ret)
{
	CP_TRY(cp_number_thing(env, integer(value), cp_type_of_c("bool"), ret));
	ret->source = CPROF_SOURCE_MEMORY;
	return NULL;
}

/* An integer that is made of others. */
static CP_ERROR integer_or_not(const struct cp_expression_env *env, bool fits, struct cp_number n,
			       struct cp_thing *ret)
{
	if (!fits)
		return cp_error_new(CP_ERR_USAGE, 0, "the result overflows 128 bits");
	return worked_out(env, n, ret);
}

/* ---- operators ---- */

CP_ERROR cp_number_unary(const struct cp_expression_env *env, uint8_t op, struct cp_thing *a,
			 struct cp_thing *ret)
{
	struct cp_number n = cp_number_of(env, a);
	bool fits = true;

	if (a->error) {
		*ret = *a;
		return NULL;
	}
	if (n.kind == CP_NUMBER_NONE || (op == CP_OP_INVERT && n.kind != CP_NUMBER_INTEGER))
		return no_number(a);
	if (n.kind == CP_NUMBER_FLOAT) {
		n.f = op == CP_OP_NEGATE ? -n.f : n.f;
	} else if (op == CP_OP_NEGATE) {
		fits = sized(!is_negative(n), size_without_sign(n), &n);
	} else if (op == CP_OP_INVERT) {
		fits = !n.large;
		n.i = ~n.i;
	}
	return integer_or_not(env, fits, n, ret);
}

static bool is_comparison(uint8_t op)
{
	return op >= CP_OP_LESS && op <= CP_OP_UNEQUAL;
}

static CP_ERROR compared(const struct cp_expression_env *env, uint8_t op, bool less, bool equal,
			 bool greater, struct cp_thing *ret)
{
	switch (op) {
	case CP_OP_LESS:
		return truth(env, less, ret);
	case CP_OP_GREATER:
		return truth(env, greater, ret);
	case CP_OP_LESS_EQUAL:
		return truth(env, less || equal, ret);
	case CP_OP_GREATER_EQUAL:
		return truth(env, greater || equal, ret);
	case CP_OP_EQUAL:
		return truth(env, equal, ret);
	default:
		return truth(env, !equal, ret);
	}
}

CP_ERROR cp_number_empty(const struct cp_expression_env *env, uint8_t op, const struct cp_thing *a,
			 const struct cp_thing *b, struct cp_thing *ret, bool *done_ret)
{
	bool x = a->error != CPROF_VALUE_NOT_CONSTRUCTED,
	     y = b->error != CPROF_VALUE_NOT_CONSTRUCTED;

	*done_ret = is_comparison(op) && !(x && y) && !(x && a->error) && !(y && b->error);
	return *done_ret ? compared(env, op, x<y, x == y, x> y, ret) : NULL;
}

static CP_ERROR floats(const struct cp_expression_env *env, uint8_t op, long double a,
		       long double b, struct cp_thing *ret)
{
	if (is_comparison(op))
		return compared(env, op, a < b, a <= b && a >= b, a > b, ret);
	switch (op) {
	case CP_OP_MULTIPLY:
		return worked_out(env, real(a * b), ret);
	case CP_OP_DIVIDE:
		return worked_out(env, real(a / b), ret);
	case CP_OP_ADD:
		return worked_out(env, real(a + b), ret);
	case CP_OP_SUBTRACT:
		return worked_out(env, real(a - b), ret);
	default:
		return cp_error_new(CP_ERR_USAGE, 0, "that can't be done with a float");
	}
}

int cp_number_order(struct cp_number a, struct cp_number b)
{
	if (a.large != b.large)
		return a.large ? 1 : -1;
	return (a.i > b.i) - (a.i < b.i);
}

static bool sum(struct cp_number a, struct cp_number b, struct cp_number *ret)
{
	uwide x = size_without_sign(a), y = size_without_sign(b), size;

	if (is_negative(a) != is_negative(b))
		return sized(x > y ? is_negative(a) : is_negative(b), x > y ? x - y : y - x, ret);
	return !__builtin_add_overflow(x, y, &size) && sized(is_negative(a), size, ret);
}

static bool difference(struct cp_number a, struct cp_number b, struct cp_number *ret)
{
	uwide x = size_without_sign(a), y = size_without_sign(b), size;

	if (is_negative(a) == is_negative(b))
		return sized(x > y ? is_negative(a) : !is_negative(a), x > y ? x - y : y - x, ret);
	return !__builtin_add_overflow(x, y, &size) && sized(is_negative(a), size, ret);
}

static bool product(struct cp_number a, struct cp_number b, struct cp_number *ret)
{
	uwide size;

	return !__builtin_mul_overflow(size_without_sign(a), size_without_sign(b), &size) &&
	       sized(is_negative(a) != is_negative(b), size, ret);
}

/* `b` from 0 to 127. */
static bool shifted_left(struct cp_number a, int b, struct cp_number *ret)
{
	uwide size = size_without_sign(a);

	return size << b >> b == size && sized(is_negative(a), size << b, ret);
}

static bool shifted_right(struct cp_number a, int b, struct cp_number *ret)
{
	*ret = a.large ? natural((uwide)a.i >> b) : integer(a.i >> b);
	return true;
}

/* By bits, of which there are endlessly many alike on the left. */
static bool by_bits(uint8_t op, struct cp_number a, struct cp_number b, struct cp_number *ret)
{
	bool x = is_negative(a), y = is_negative(b), negative;
	cp_wide bits;

	bits = op == CP_OP_AND ? a.i & b.i : op == CP_OP_XOR ? a.i ^ b.i : a.i | b.i;
	negative = op == CP_OP_AND ? x && y : op == CP_OP_XOR ? x != y : x || y;
	*ret = negative ? integer(bits) : natural((uwide)bits);
	return !negative || bits < 0;
}

static CP_ERROR integers(const struct cp_expression_env *env, uint8_t op, struct cp_number a,
			 struct cp_number b, struct cp_thing *ret)
{
	int order = cp_number_order(a, b);
	struct cp_number n;
	bool fits;

	if (is_comparison(op))
		return compared(env, op, order<0, !order, order> 0, ret);
	if ((op == CP_OP_DIVIDE || op == CP_OP_REMAINDER) && !b.i)
		return cp_error_new(CP_ERR_USAGE, 0, "division by 0");
	if ((op == CP_OP_SHIFT_LEFT || op == CP_OP_SHIFT_RIGHT) && (b.i < 0 || b.i > 127))
		return cp_error_new(CP_ERR_USAGE, 0, "shifted by less than 0 or more than 127");
	switch (op) {
	case CP_OP_MULTIPLY:
		fits = product(a, b, &n);
		break;
	case CP_OP_DIVIDE:
		fits = sized(is_negative(a) != is_negative(b),
			     size_without_sign(a) / size_without_sign(b), &n);
		break;
	case CP_OP_REMAINDER:
		fits = sized(is_negative(a), size_without_sign(a) % size_without_sign(b), &n);
		break;
	case CP_OP_ADD:
		fits = sum(a, b, &n);
		break;
	case CP_OP_SUBTRACT:
		fits = difference(a, b, &n);
		break;
	case CP_OP_SHIFT_LEFT:
		fits = shifted_left(a, (int)b.i, &n);
		break;
	case CP_OP_SHIFT_RIGHT:
		fits = shifted_right(a, (int)b.i, &n);
		break;
	default:
		fits = by_bits(op, a, b, &n);
	}
	return integer_or_not(env, fits, n, ret);
}

/* The type of elements that a pointer or an array leads to; NULL: it is neither. */
static const struct cp_type *element_of(const struct cp_thing *thing)
{
	const struct cp_type *t = cp_type_strip(thing->type);

	if (!t || (t->kind != CP_TYPE_POINTER && !(t->kind == CP_TYPE_ARRAY && thing->in_memory)))
		return NULL;
	return t->target ? t->target : cp_type_of_c("char");
}

static uint64_t size_of(const struct cp_type *element)
{
	const struct cp_type *t = cp_type_complete(cp_type_image(element), cp_type_strip(element));

	return t->size ? t->size : 1;
}

/* p + n, p - n, p - q; false: it is none of these. */
static bool pointers(const struct cp_expression_env *env, uint8_t op, struct cp_thing *a,
		     struct cp_number x, struct cp_thing *b, struct cp_number y,
		     struct cp_number *ret, const struct cp_type **type_ret)
{
	const struct cp_type *of = element_of(a), *other = element_of(b);

	if (op == CP_OP_ADD && !of && other)
		return pointers(env, op, b, y, a, x, ret, type_ret);
	if ((op != CP_OP_ADD && op != CP_OP_SUBTRACT) || !of || (op == CP_OP_ADD && other))
		return false;
	if (other) {
		*ret = integer((x.i - y.i) / (cp_wide)size_of(of));
		*type_ret = cp_type_of_c("long");
		return true;
	}
	y.i = (cp_wide)((uwide)y.i * size_of(of));
	*ret = integer(
		(cp_wide)(op == CP_OP_ADD ? (uwide)x.i + (uwide)y.i : (uwide)x.i - (uwide)y.i));
	*type_ret = cp_type_pointer_to(env->arena, of);
	return true;
}

/* The text that a thing is, or that pointers lead to; NULL: it is none, *null_ret: NULL is
 * where it would be. */
static const cprof_value *text_of(const struct cp_expression_env *env, struct cp_thing thing,
				  bool *null_ret)
{
	const struct cp_type *t;
	const cprof_value *v;
	struct cp_number n;
	unsigned i;

	for (i = 0; i < LINKS; i++) {
		thing = cp_thing_referred(env, thing);
		v = cp_thing_value(env, &thing);
		if (v && v->kind == CPROF_VALUE_STRING)
			return v;
		t = cp_type_strip(thing.type);
		if (thing.error || !t || t->kind != CP_TYPE_POINTER || !t->target)
			return NULL;
		n = cp_number_of(env, &thing);
		*null_ret = n.kind == CP_NUMBER_INTEGER && !n.i;
		if (*null_ret || n.kind != CP_NUMBER_INTEGER)
			return NULL;
		thing = cp_thing_at(t->target, (uint64_t)n.i);
	}
	return NULL;
}

/* Compares texts by what they say; no text is less. *done_ret false: not both are text. */
static CP_ERROR texts(const struct cp_expression_env *env, const struct cp_thing *a,
		      const struct cp_thing *b, int *ret, bool *done_ret)
{
	struct cp_value_limits limits = *env->limits;
	struct cp_expression_env whole = *env;
	bool no_x = false, no_y = false;
	const cprof_value *x, *y;
	uint32_t n;

	limits.string = limits.string > TEXT_MOST ? limits.string : TEXT_MOST;
	whole.limits = &limits;
	x = text_of(&whole, *a, &no_x);
	y = text_of(&whole, *b, &no_y);
	*done_ret = (x || no_x) && (y || no_y);
	*ret = no_y - no_x;
	if (!x || !y)
		return NULL;
	n = x->u.text.length < y->u.text.length ? x->u.text.length : y->u.text.length;
	*ret = n ? memcmp(x->u.text.bytes, y->u.text.bytes, n) : 0;
	if (!*ret && (x->cut || y->cut))
		return cp_error_new(CP_ERR_USAGE, 0, "the texts are too long to be compared");
	if (!*ret)
		*ret = (x->u.text.length > n) - (y->u.text.length > n);
	return NULL;
}

/* Is it written as text, or a library's? Pointers to characters compare as C has it. */
static bool is_text(const struct cp_expression_env *env, const struct cp_thing *thing)
{
	const struct cp_type *t = cp_type_strip(thing->type);
	const cprof_value *v;

	if (t && t->kind == CP_TYPE_ARRAY)
		return thing->source == CPROF_SOURCE_CONST && !thing->in_memory;
	if (!t || (t->kind != CP_TYPE_STRUCT && t->kind != CP_TYPE_UNION))
		return false;
	v = cp_thing_value(env, thing);
	return v && v->kind == CPROF_VALUE_STRING;
}

CP_ERROR cp_number_binary(const struct cp_expression_env *env, uint8_t op, struct cp_thing *a,
			  struct cp_thing *b, struct cp_thing *ret)
{
	const struct cp_type *type = NULL;
	struct cp_number x, y, n;
	bool done = false;
	int order = 0;

	if (is_comparison(op) && (is_text(env, a) || is_text(env, b)))
		CP_TRY(texts(env, a, b, &order, &done));
	if (done)
		return compared(env, op, order<0, !order, order> 0, ret);
	x = cp_number_of(env, a);
	y = cp_number_of(env, b);
	if (a->error || b->error) {
		*ret = a->error ? *a : *b;
		return NULL;
	}
	if (x.kind == CP_NUMBER_NONE || y.kind == CP_NUMBER_NONE)
		return no_number(x.kind == CP_NUMBER_NONE ? a : b);
	if (x.kind == CP_NUMBER_FLOAT || y.kind == CP_NUMBER_FLOAT)
		return floats(env, op, as_real(x), as_real(y), ret);
	if (!pointers(env, op, a, x, b, y, &n, &type))
		return integers(env, op, x, y, ret);
	CP_TRY(cp_number_thing(env, n, type, ret));
	ret->source = CPROF_SOURCE_MEMORY;
	return NULL;
}
