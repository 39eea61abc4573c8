/* SPDX-License-Identifier: MIT
 *
 * Expressions over the memory of a program. Each part of one is a thing: a place in
 * memory with a type, or bytes that were worked out. Integers are as wide as it takes,
 * as in conditions; what can't be had makes what depends on it something that can't be
 * had, and is no error of the expression.
 */
#include "inspect/evaluate.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "image/find.h"
#include "inspect/bases.h"
#include "inspect/build.h"
#include "inspect/condition.h"
#include "inspect/members.h"
#include "inspect/number.h"
#include "inspect/shapes.h"
#include "inspect/traits.h"
#include "inspect/type_names.h"

#define STEPS_MAX 10000
#define LINKS 16 /* of what stands for something that stands for something */
#define ELEMENTS_MAX (UINT64_C(1) << 32)

struct evaluation {
	const struct cp_expression_env *env;
	const struct cp_thing *offset_base; /* names are members of it: offsetof */
	unsigned steps; /* left */
};

static CP_ERROR evaluate(struct evaluation *e, const struct cp_condition_node *n,
			 struct cp_thing *ret);

static CP_ERROR no_sense(const char *what, const struct cp_thing *thing)
{
	if (!thing->type && thing->in_memory)
		return cp_error_hint(cp_error_new(CP_ERR_USAGE, 0,
						  "%s: no debug information tells its type", what),
				     "cast it: *(int *)&NAME");
	return cp_error_new(CP_ERR_USAGE, 0, "%s: it is of type %s", what,
			    thing->type && thing->type->text ? thing->type->text : "(unknown)");
}

static struct cp_thing unavailable(uint8_t error, uint64_t address)
{
	return (struct cp_thing){ .error = error,
				  .address = address,
				  .source = CPROF_SOURCE_MEMORY };
}

/* ---- places ---- */

/* The address that a pointer holds, or where an array begins. */
static CP_ERROR address_in(struct evaluation *e, struct cp_thing *thing,
			   const struct cp_type **target_ret, uint64_t *ret)
{
	const struct cp_type *t = cp_type_strip(thing->type);
	struct cp_number n;

	*target_ret = t ? t->target : NULL;
	if (t && (t->kind == CP_TYPE_ARRAY || t->kind == CP_TYPE_VECTOR) && thing->in_memory) {
		*ret = thing->address;
		return NULL;
	}
	if (!t || t->kind != CP_TYPE_POINTER)
		return no_sense("no pointer and no array", thing);
	n = cp_number_of(e->env, thing);
	*ret = (uint64_t)n.i;
	return NULL;
}

/* Follows a smart pointer, a cell, to the pointer or value that it stands for. */
static CP_ERROR stands_for(struct evaluation *e, struct cp_thing *a, bool *ret)
{
	const struct cp_shapes *shapes = e->env->shapes;

	*ret = false;
	if (a->error || !shapes)
		return NULL;
	CP_TRY(shapes->ops->behind(e->env, a, a, ret));
	if (!*ret)
		*ret = cp_trait_behind(e->env, a, a);
	*a = cp_thing_referred(e->env, *a);
	return NULL;
}

static CP_ERROR dereference(struct evaluation *e, struct cp_thing a, struct cp_thing *ret)
{
	const struct cp_type *target, *t;
	uint64_t address;
	bool stands;

	a = cp_thing_referred(e->env, a);
	CP_TRY(stands_for(e, &a, &stands));
	if (a.error) {
		*ret = a;
		return NULL;
	}
	t = cp_type_strip(a.type);
	if (stands && t && t->kind != CP_TYPE_POINTER) {
		*ret = a;
		return NULL;
	}
	if (t && t->kind == CP_TYPE_POINTER && t->target && cp_thing_implied(&a, t->target, 0, ret))
		return NULL;
	CP_TRY(address_in(e, &a, &target, &address));
	*ret = a.error ? a : cp_thing_at(target, address);
	if (!a.error && (!target || cp_type_strip(target)->kind == CP_TYPE_VOID))
		return cp_error_hint(no_sense("nothing is known of what it points to", &a),
				     "cast it: *(int *)p");
	return NULL;
}

/* What a pointer or a reference leads to; else the thing itself. */
static CP_ERROR referred(struct evaluation *e, struct cp_thing *a)
{
	const struct cp_type *t;

	*a = cp_thing_referred(e->env, *a);
	t = cp_type_strip(a->type);
	if (!a->error && t && t->kind == CP_TYPE_POINTER) {
		CP_TRY(dereference(e, *a, a));
		*a = cp_thing_referred(e->env, *a);
	}
	return NULL;
}

/* a.name and a->name: through pointers and references as it takes. */
static CP_ERROR member(struct evaluation *e, struct cp_thing a, const char *name, unsigned links,
		       struct cp_thing *ret)
{
	struct cp_error *err, *other;
	bool stands = false;

	CP_TRY(referred(e, &a));
	if (a.error) {
		*ret = a;
		return NULL;
	}
	err = cp_member_find(e->env, &a, name, ret);
	if (!err || err->code != CP_ERR_NOT_FOUND)
		return err;
	other = stands_for(e, &a, &stands);
	if (other || !stands || !links) {
		cp_error_free(other);
		return err;
	}
	cp_error_free(err);
	return member(e, a, name, links - 1, ret);
}

static CP_ERROR member_named(struct evaluation *e, const struct cp_condition_node *n,
			     struct cp_thing *ret)
{
	struct cp_error *err = NULL;
	struct cp_thing a;
	bool done = false;

	CP_TRY(evaluate(e, n->a, &a));
	if (!n->integer)
		err = member(e, a, n->text, LINKS, ret);
	if (n->integer || (err && err->code == CP_ERR_NOT_FOUND)) {
		struct cp_error *other = referred(e, &a);

		if (!other)
			other = cp_member_count(e->env, &a, n->text, ret, &done);
		if (!other && !done && !n->integer)
			other = cp_member_static(e->env, a.type, n->text, ret, &done);
		if (done)
			cp_error_free(err);
		if (done || !err)
			err = other;
		else
			cp_error_free(other);
	}
	if (!err && n->integer && !done)
		err = cp_error_new(CP_ERR_USAGE, 0,
				   "%s() is a function: those of the program are not called",
				   n->text);
	return err;
}

/* a.*b and a->*b. */
static CP_ERROR pointed(struct evaluation *e, const struct cp_condition_node *n,
			struct cp_thing *ret)
{
	struct cp_thing a, pointer;
	const struct cp_type *t;

	CP_TRY(evaluate(e, n->a, &a));
	CP_TRY(evaluate(e, n->b, &pointer));
	a = cp_thing_referred(e->env, a);
	t = cp_type_strip(a.type);
	if (!a.error && t && t->kind == CP_TYPE_POINTER)
		CP_TRY(dereference(e, a, &a));
	pointer = cp_thing_referred(e->env, pointer);
	if (!a.error && !pointer.error)
		return cp_member_pointed(e->env, &a, &pointer, ret);
	*ret = a.error ? a : pointer;
	return NULL;
}

static CP_ERROR number_of(struct evaluation *e, struct cp_thing *index, int64_t *ret)
{
	struct cp_number number = cp_number_of(e->env, index);

	if (index->error)
		return NULL;
	if (number.kind != CP_NUMBER_INTEGER || number.large || number.i > INT64_MAX ||
	    number.i < INT64_MIN)
		return no_sense("no index", index);
	*ret = (int64_t)number.i;
	return NULL;
}

static CP_ERROR index_of(struct evaluation *e, const struct cp_condition_node *n, int64_t *ret,
			 struct cp_thing *lacking_ret)
{
	CP_TRY(evaluate(e, n, lacking_ret));
	return number_of(e, lacking_ret, ret);
}

/* Element `i` of what is a row of them. */
static CP_ERROR element(struct evaluation *e, struct cp_thing a, int64_t i, struct cp_thing *ret)
{
	const struct cp_type *t, *target, *of;
	uint64_t address = 0;

	a = cp_thing_referred(e->env, a);
	if (a.error) {
		*ret = a;
		return NULL;
	}
	t = cp_type_strip(a.type);
	if (t && (t->kind == CP_TYPE_ARRAY || t->kind == CP_TYPE_VECTOR) && !a.in_memory) {
		of = cp_type_strip(t->target);
		*ret = (struct cp_thing){ .type = t->target, .source = a.source };
		if (!of || i < 0 || (uint64_t)i >= t->count ||
		    ((uint64_t)i + 1) * of->size > a.size)
			return cp_error_new(CP_ERR_USAGE, 0, "there is no element %lld",
					    (long long)i);
		ret->bytes = a.bytes + (uint64_t)i * of->size;
		ret->size = of->size;
		ret->gaps = a.gaps;
		ret->within = a.within + (uint64_t)i * of->size;
		return NULL;
	}
	of = t && t->kind == CP_TYPE_POINTER ? cp_type_strip(t->target) : NULL;
	if (of && cp_thing_implied(&a, t->target, i * (int64_t)of->size, ret))
		return NULL;
	CP_TRY(address_in(e, &a, &target, &address));
	of = target ? cp_type_complete(cp_type_image(target), cp_type_strip(target)) : NULL;
	if (!a.error && (!of || !of->size))
		return no_sense("its elements have no size", &a);
	*ret = a.error ? a : cp_thing_at(target, address + (uint64_t)i * of->size);
	return NULL;
}

/* What holds an array knows how many there are; an array of C's has what is beside it. */
static CP_ERROR check_bound(const struct cp_thing *whole, const struct cp_thing *a, int64_t i)
{
	const struct cp_type *t = cp_type_strip(whole->type), *row = cp_type_strip(a->type);

	if (a->error || !t || t->kind != CP_TYPE_STRUCT || !row || row->kind != CP_TYPE_ARRAY ||
	    !(row->flags & CP_TYPE_COUNTED) || (i >= 0 && (uint64_t)i < row->count))
		return NULL;
	return cp_error_new(CP_ERR_USAGE, 0, "there is no element %lld of %llu", (long long)i,
			    (unsigned long long)row->count);
}

static CP_ERROR subscript(struct evaluation *e, const struct cp_condition_node *n,
			  struct cp_thing *ret)
{
	const struct cp_shapes *shapes = e->env->shapes;
	struct cp_thing a, whole, index;
	struct cp_error *err;
	bool done = false;
	int64_t i = 0;

	CP_TRY(evaluate(e, n->a, &a));
	whole = a = cp_thing_elements(e->env, a);
	err = evaluate(e, n->b, &index);
	if (err && !a.error && err->code == CP_ERR_NOT_FOUND && n->b->op == CP_OP_NAME &&
	    !n->b->file)
		return cp_enumerator_key(e->env, &a, n->b->text, err, ret);
	if (err)
		return err;
	if (a.error || index.error) {
		*ret = a.error ? a : index;
		return NULL;
	}
	if (shapes)
		CP_TRY(shapes->ops->element(e->env, &a, &index, ret, &done));
	if (done)
		return NULL;
	a = shapes ? *ret : a;
	if (n->b->op == CP_OP_TEXT)
		return no_sense("nothing that texts are keys of", &a);
	CP_TRY(number_of(e, &index, &i));
	if (!index.error)
		CP_TRY(check_bound(&whole, &a, i));
	if (!index.error)
		return element(e, a, i, ret);
	*ret = index;
	return NULL;
}

/* `count` elements that begin with `first`, as an array. */
static CP_ERROR row(struct evaluation *e, const struct cp_thing *first, int64_t count,
		    struct cp_thing *ret)
{
	if (count < 0 || (uint64_t)count > ELEMENTS_MAX)
		return cp_error_new(CP_ERR_USAGE, 0, "%lld elements are no row of them",
				    (long long)count);
	if (!first->in_memory || first->bits)
		return cp_error_new(CP_ERR_USAGE, 0, "it is not in memory, so nothing follows it");
	*ret = *first;
	ret->type = cp_type_elements_of(e->env->arena, first->type, (uint64_t)count);
	return ret->type ? NULL : cp_error_nomem();
}

static CP_ERROR range(struct evaluation *e, const struct cp_condition_node *n, struct cp_thing *ret)
{
	const struct cp_shapes *shapes = e->env->shapes;
	int64_t from = 0, to = 0;
	struct cp_thing a, whole, index;
	uint64_t count = 0;
	bool done = false;

	CP_TRY(evaluate(e, n->a, &a));
	whole = a = cp_thing_elements(e->env, a);
	CP_TRY(index_of(e, n->b, &from, &index));
	if (!index.error)
		CP_TRY(index_of(e, n->c, &to, &index));
	if (a.error || index.error) {
		*ret = a.error ? a : index;
		return NULL;
	}
	if (to < from)
		return cp_error_new(CP_ERR_USAGE, 0, "[%lld..%lld] ends before it begins",
				    (long long)from, (long long)to);
	if (shapes && from >= 0)
		CP_TRY(shapes->ops->range(e->env, &a, (uint64_t)from, (uint64_t)(to - from) + 1,
					  ret, &done));
	if (done)
		return NULL;
	if (shapes)
		CP_TRY(shapes->ops->row(e->env, &a, &a, &count, &done));
	CP_TRY(check_bound(&whole, &a, from));
	CP_TRY(check_bound(&whole, &a, to));
	if (done && !a.error && (from < 0 || (uint64_t)to >= count))
		return cp_error_new(CP_ERR_USAGE, 0, "[%lld..%lld] is not within its %llu elements",
				    (long long)from, (long long)to, (unsigned long long)count);
	if (done && !a.error)
		a.address += (uint64_t)from * cp_type_strip(a.type)->size;
	else if (!a.error)
		CP_TRY(element(e, a, from, &a));
	if (!a.error)
		return row(e, &a, to - from + 1, ret);
	*ret = a;
	return NULL;
}

static CP_ERROR repeat(struct evaluation *e, const struct cp_condition_node *n,
		       struct cp_thing *ret)
{
	struct cp_thing a, count;
	int64_t times = 0;

	CP_TRY(evaluate(e, n->a, &a));
	CP_TRY(index_of(e, n->b, &times, &count));
	if (!a.error && !count.error)
		return row(e, &a, times, ret);
	*ret = a.error ? a : count;
	return NULL;
}

/* Is it a function by its name, which stands for its address? */
static bool is_function(const struct cp_condition_node *n, const struct cp_thing *a)
{
	const struct cp_type *t = cp_type_strip(a->type), *to;

	to = t && t->kind == CP_TYPE_POINTER ? cp_type_strip(t->target) : NULL;
	return n->op == CP_OP_NAME && !a->in_memory && to && to->kind == CP_TYPE_FUNCTION;
}

static CP_ERROR address_of(struct evaluation *e, const struct cp_condition_node *n,
			   struct cp_thing *ret)
{
	struct cp_thing a;
	struct cp_error *err = evaluate(e, n->a, &a);
	bool done = false;

	/* `S::a` by itself is nothing, unless it is static. */
	if (err && err->code == CP_ERR_NOT_FOUND && n->a->op == CP_OP_NAME && !n->a->file)
		err = cp_member_pointer(e->env, n->a->text, err, ret, &done);
	if (!err && !done && is_function(n->a, &a)) {
		/* A virtual one is a pointer to a member. */
		*ret = a;
		err = cp_member_pointer(e->env, n->a->text, cp_error_new(CP_ERR_NOT_FOUND, 0, " "),
					ret, &done);
		cp_error_free(err);
		return NULL;
	}
	if (err || done)
		return err;
	a = cp_thing_referred(e->env, a);
	if (a.error && a.error != CPROF_VALUE_NOT_CONSTRUCTED) {
		*ret = a;
		return NULL;
	}
	if (!a.in_memory || a.bits)
		return cp_error_new(CP_ERR_USAGE, 0, "%s has no address",
				    a.bits ? "a bit-field" : "what is in no memory");
	return cp_number_thing(e->env, (struct cp_number){ CP_NUMBER_INTEGER, .i = a.address },
			       cp_type_pointer_to(e->env->arena, a.type), ret);
}

/* What an operator works on: the number in an optional, an atomic, a cell. */
static CP_ERROR operand(struct evaluation *e, struct cp_thing *a)
{
	const struct cp_type *t;
	bool stands = true;
	unsigned i;

	*a = cp_thing_referred(e->env, *a);
	for (i = 0; i < LINKS && stands; i++) {
		t = cp_type_strip(a->type);
		if (!t || (t->kind != CP_TYPE_STRUCT && t->kind != CP_TYPE_UNION))
			break;
		CP_TRY(stands_for(e, a, &stands));
	}
	return NULL;
}

/* ---- types as operands ---- */

/* A pointer to an object as one to what it is a base of, or has as one. */
static CP_ERROR cast_pointer(struct evaluation *e, const struct cp_type *from,
			     const struct cp_type *to, struct cp_number *number, struct cp_thing *a)
{
	uint64_t address = (uint64_t)number->i;
	uint8_t error;

	if (from->kind != CP_TYPE_POINTER || to->kind != CP_TYPE_POINTER || !from->target ||
	    !to->target)
		return NULL;
	CP_TRY(cp_base_cast(e->env, from->target, to->target, &address, &error));
	number->i = address;
	a->error = error;
	return NULL;
}

static CP_ERROR cast(struct evaluation *e, const struct cp_condition_node *n, struct cp_thing *ret)
{
	const struct cp_type *type = NULL, *t;
	struct cp_number number;
	struct cp_thing a;

	CP_TRY(cp_type_by_text(e->env, n->text, &type));
	CP_TRY(evaluate(e, n->a, &a));
	a = cp_thing_referred(e->env, a);
	t = cp_type_strip(type);
	if (a.error) {
		*ret = a;
		return NULL;
	}
	if (t->kind == CP_TYPE_STRUCT || t->kind == CP_TYPE_UNION || t->kind == CP_TYPE_ARRAY) {
		if (!a.in_memory || a.bits)
			return no_sense("only what is in memory can be taken for a structure", &a);
		*ret = cp_thing_at(type, a.address);
		return cp_base_cast(e->env, a.type, type, &ret->address, &ret->error);
	}
	CP_TRY(operand(e, &a));
	if (!a.type) { /* of no known type: it is what it is taken for */
		a.type = type;
		*ret = a;
		return NULL;
	}
	number = cp_number_of(e->env, &a);
	if (!a.error)
		CP_TRY(cast_pointer(e, cp_type_strip(a.type), t, &number, &a));
	if (a.error) {
		*ret = a;
		return NULL;
	}
	if (number.kind == CP_NUMBER_NONE)
		return no_sense("no number and no pointer", &a);
	return cp_number_thing(e->env, number, type, ret);
}

static CP_ERROR at(struct evaluation *e, const struct cp_condition_node *n, struct cp_thing *ret)
{
	const struct cp_type *type = NULL;
	struct cp_number number;
	struct cp_thing a;

	CP_TRY(cp_type_by_text(e->env, n->text, &type));
	CP_TRY(evaluate(e, n->a, &a));
	number = cp_number_of(e->env, &a);
	if (!a.error && number.kind != CP_NUMBER_INTEGER)
		return no_sense("no address", &a);
	*ret = a.error ? a : cp_thing_at(type, (uint64_t)number.i);
	return NULL;
}

/* `sizeof(x)`: x may be either. */
static CP_ERROR type_or_variable(struct evaluation *e, const char *text, const struct cp_type **ret)
{
	struct cp_error *err = cp_type_by_text(e->env, text, ret), *other;
	struct cp_thing variable;

	if (!err || err->code != CP_ERR_NOT_FOUND || e->offset_base)
		return err;
	other = e->env->variable(e->env->ctx, text, NULL, &variable);
	if (other) {
		cp_error_free(other);
		return err;
	}
	cp_error_free(err);
	*ret = variable.type;
	return NULL;
}

static CP_ERROR size_of(struct evaluation *e, const struct cp_condition_node *n,
			struct cp_thing *ret)
{
	const struct cp_type *type = NULL;
	struct cp_error *err = NULL;
	struct cp_thing a;

	if (n->text)
		err = type_or_variable(e, n->text, &type);
	if (err && (!n->a || err->code != CP_ERR_NOT_FOUND))
		return err;
	if (!n->text || err) {
		cp_error_free(err);
		CP_TRY(evaluate(e, n->a, &a));
		type = a.type;
	}
	if (!type) {
		*ret = unavailable(CPROF_VALUE_UNAVAILABLE, 0);
		return NULL;
	}
	type = cp_type_complete(cp_type_image(type), cp_type_strip(type));
	if (type->kind == CP_TYPE_ARRAY && !(type->flags & CP_TYPE_COUNTED)) {
		*ret = unavailable(CPROF_VALUE_UNAVAILABLE, 0);
		return NULL;
	}
	return cp_number_thing(e->env, (struct cp_number){ CP_NUMBER_INTEGER, .i = type->size },
			       cp_type_of_c("unsigned long"), ret);
}

static CP_ERROR offset_of(struct evaluation *e, const struct cp_condition_node *n,
			  struct cp_thing *ret)
{
	struct cp_thing base = { .in_memory = true }, a;
	struct evaluation inner = { .env = e->env, .offset_base = &base, .steps = e->steps };

	CP_TRY(cp_type_by_text(e->env, n->text, &base.type));
	CP_TRY(evaluate(&inner, n->a, &a));
	if (a.error || !a.in_memory)
		return cp_error_new(CP_ERR_USAGE, 0, "offsetof: no member of %s", n->text);
	if (a.bits)
		a.address += a.bits->offset;
	return cp_number_thing(e->env, (struct cp_number){ CP_NUMBER_INTEGER, .i = a.address },
			       cp_type_of_c("unsigned long"), ret);
}

/* ---- operators ---- */

/* Is it true, as C++ has it: what may hold something does, a pointer is not NULL, a number
 * not 0. A structure is none of these. a->error: that can't be had. */
static CP_ERROR truth(struct evaluation *e, struct cp_thing *a, bool *ret)
{
	const struct cp_shapes *shapes = e->env->shapes;
	bool done = false;

	*a = cp_thing_referred(e->env, *a);
	if (shapes && !a->error)
		CP_TRY(shapes->ops->holds(e->env, a, ret, &done));
	if (!done && !a->error)
		cp_member_holds(e->env, a, ret, &done);
	if (done || a->error)
		return NULL;
	CP_TRY(operand(e, a));
	return cp_number_truth(e->env, a, ret);
}

static CP_ERROR truth_thing(struct evaluation *e, bool value, struct cp_thing *ret)
{
	CP_TRY(cp_number_thing(e->env, (struct cp_number){ CP_NUMBER_INTEGER, .i = value },
			       cp_type_of_c("bool"), ret));
	ret->source = CPROF_SOURCE_MEMORY;
	return NULL;
}

static CP_ERROR logical(struct evaluation *e, const struct cp_condition_node *n,
			struct cp_thing *ret)
{
	bool decides = n->op == CP_OP_EITHER, is = false;
	struct cp_thing a;

	CP_TRY(evaluate(e, n->a, &a));
	CP_TRY(truth(e, &a, &is));
	if (!a.error && is != decides) {
		CP_TRY(evaluate(e, n->b, &a));
		CP_TRY(truth(e, &a, &is));
	}
	*ret = a;
	return a.error ? NULL : truth_thing(e, is, ret);
}

static CP_ERROR unary(struct evaluation *e, const struct cp_condition_node *n, struct cp_thing *ret)
{
	struct cp_thing a;
	bool is = false;

	CP_TRY(evaluate(e, n->a, &a));
	if (n->op == CP_OP_DEREFERENCE)
		return dereference(e, a, ret);
	if (n->op == CP_OP_NOT) {
		CP_TRY(truth(e, &a, &is));
		*ret = a;
		return a.error ? NULL : truth_thing(e, !is, ret);
	}
	CP_TRY(operand(e, &a));
	return cp_number_unary(e->env, n->op, &a, ret);
}

/* The enumerator that a name is, beside what is of an enum. */
static bool enumerator(struct evaluation *e, const struct cp_condition_node *n,
		       const struct cp_thing *beside, struct cp_thing *ret)
{
	struct cp_thing other = cp_thing_referred(e->env, *beside);

	return n->op == CP_OP_NAME && !n->file &&
	       cp_enumerator_of(e->env, other.type, n->text, ret);
}

/* Both, of which either may be an enumerator, which the other one tells. */
static CP_ERROR operands(struct evaluation *e, const struct cp_condition_node *n,
			 struct cp_thing *a, struct cp_thing *b)
{
	struct cp_error *err = evaluate(e, n->a, a), *other;

	if (!err && enumerator(e, n->b, a, b))
		return NULL;
	if (err && n->a->op != CP_OP_NAME)
		return err;
	other = evaluate(e, n->b, b);
	if (!other && enumerator(e, n->a, b, a)) {
		cp_error_free(err);
		return NULL;
	}
	if (err)
		cp_error_free(other);
	return err ? err : other;
}

static CP_ERROR binary(struct evaluation *e, const struct cp_condition_node *n,
		       struct cp_thing *ret)
{
	struct cp_thing a = { 0 }, b = { 0 };
	bool known, done = false;

	CP_TRY(operands(e, n, &a, &b));
	known = !a.error && !b.error;
	CP_TRY(operand(e, &a));
	CP_TRY(operand(e, &b));
	if (known)
		CP_TRY(cp_number_empty(e->env, n->op, &a, &b, ret, &done));
	if (done)
		return NULL;
	if (a.error || b.error) {
		*ret = a.error ? a : b;
		return NULL;
	}
	return cp_number_binary(e->env, n->op, &a, &b, ret);
}

static CP_ERROR leaf(struct evaluation *e, const struct cp_condition_node *n, struct cp_thing *ret)
{
	struct cp_number number = { .kind = CP_NUMBER_INTEGER };

	switch (n->op) {
	case CP_OP_NAME:
		if (e->offset_base)
			return cp_member_find(e->env, e->offset_base, n->text, ret);
		return cp_name_meant(e->env, n->text, n->file, ret);
	case CP_OP_TEXT:
		*ret = (struct cp_thing){ .type = cp_type_array_of(e->env->arena,
								   cp_type_of_c("char"),
								   n->length + 1u),
					  .bytes = (const uint8_t *)n->text,
					  .size = n->length + 1u,
					  .source = CPROF_SOURCE_CONST };
		return ret->type ? NULL : cp_error_nomem();
	case CP_OP_FLOAT:
		number = (struct cp_number){ CP_NUMBER_FLOAT, .f = n->number };
		return cp_number_thing(e->env, number,
				       cp_type_of_c(n->suffix == 'f'   ? "float"
						    : n->suffix == 'l' ? "long double"
								       : "double"),
				       ret);
	default:
		number.i = n->length ? (cp_wide)(int64_t)n->integer : (cp_wide)n->integer;
		return cp_number_thing(e->env, number, cp_number_type(number), ret);
	}
}

static CP_ERROR choose(struct evaluation *e, const struct cp_condition_node *n,
		       struct cp_thing *ret)
{
	struct cp_thing a;
	bool is = false;

	CP_TRY(evaluate(e, n->a, &a));
	CP_TRY(truth(e, &a, &is));
	if (!a.error)
		return evaluate(e, is ? n->b : n->c, ret);
	*ret = a;
	return NULL;
}

static CP_ERROR evaluate(struct evaluation *e, const struct cp_condition_node *n,
			 struct cp_thing *ret)
{
	if (!e->steps--) {
		e->steps = 0;
		return cp_error_new(CP_ERR_USAGE, 0, "the expression is too long");
	}
	switch (n->op) {
	case CP_OP_INTEGER:
	case CP_OP_FLOAT:
	case CP_OP_TEXT:
	case CP_OP_NAME:
		return leaf(e, n, ret);
	case CP_OP_MEMBER:
		return member_named(e, n, ret);
	case CP_OP_INDEX:
		return subscript(e, n, ret);
	case CP_OP_RANGE:
		return range(e, n, ret);
	case CP_OP_POINTED:
		return pointed(e, n, ret);
	case CP_OP_REPEAT:
		return repeat(e, n, ret);
	case CP_OP_ADDRESS:
		return address_of(e, n, ret);
	case CP_OP_CAST:
		return cast(e, n, ret);
	case CP_OP_AT:
		return at(e, n, ret);
	case CP_OP_SIZEOF:
		return size_of(e, n, ret);
	case CP_OP_OFFSETOF:
		return offset_of(e, n, ret);
	case CP_OP_BOTH:
	case CP_OP_EITHER:
		return logical(e, n, ret);
	case CP_OP_CHOOSE:
		return choose(e, n, ret);
	default:
		return n->b ? binary(e, n, ret) : unary(e, n, ret);
	}
}

CP_ERROR cp_expression_evaluate(const struct cp_condition *expression,
				const struct cp_expression_env *env, struct cp_thing *ret)
{
	struct evaluation e = { .env = env, .steps = STEPS_MAX };
	struct cp_thing got = { 0 };

	CP_TRY(evaluate(&e, expression->root, &got));
	*ret = got;
	return NULL;
}

CP_ERROR cp_expression_holds(const struct cp_condition *expression,
			     const struct cp_expression_env *env, enum cp_truth *ret)
{
	struct evaluation e = { .env = env, .steps = STEPS_MAX };
	struct cp_thing got = { 0 };
	bool is = false;

	CP_TRY(evaluate(&e, expression->root, &got));
	CP_TRY(truth(&e, &got, &is));
	*ret = got.error ? CP_UNKNOWN : is ? CP_TRUE : CP_FALSE;
	return NULL;
}
