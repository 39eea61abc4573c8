/* SPDX-License-Identifier: MIT
 *
 * What a condition looks at, by types alone. As far as a capture has it, calls need not be
 * held for it; a container's elements, what is behind the limits of values, casts and their
 * like are read while the thread stands. What makes no sense of any value is an error, and
 * not a condition that never holds.
 */
#include "inspect/condition_way.h"

#include <string.h>

#include "base/text.h"
#include "image/typenames.h"
#include "inspect/condition.h"
#include "inspect/members.h"
#include "inspect/readable.h"
#include "inspect/shapes.h"
#include "inspect/signature.h"
#include "inspect/statics.h"
#include "inspect/type_names.h"

#define SOMEWHERE 0x10000u /* an address that is not NULL */
#define LEVELS 16

struct way {
	const struct cp_signature *signature;
	const struct cp_expression_env *env; /* has no memory */
	const struct cp_condition_names *outside; /* or NULL */
	bool held;
};

/* What a part of the condition is; `type` NULL: that is not known. */
struct part {
	const struct cp_type *type; /* complete, no reference */
	bool is_text; /* a library's */
	bool referred;
	/* As values of captures have it: how deep, behind how many pointers, and where in
	 * what is copied. */
	unsigned depth, hops;
	uint64_t at;
};

static CP_ERROR look(struct way *w, const struct cp_condition_node *n, struct part *ret);

static const struct cp_type *completed(const struct cp_type *type)
{
	const struct cp_type *t = cp_type_strip(type);

	return t ? cp_type_complete(cp_type_image(t), t) : NULL;
}

static const char *text_of(const struct cp_type *t)
{
	return t->text ? t->text : "(unknown)";
}

static CP_ERROR hold(struct way *w, struct part *ret)
{
	w->held = true;
	*ret = (struct part){ 0 };
	return NULL;
}

static bool is_pointer(const struct part *p)
{
	return p->type && p->type->kind == CP_TYPE_POINTER;
}

static bool is_object(const struct part *p)
{
	return p->type && (p->type->kind == CP_TYPE_STRUCT || p->type->kind == CP_TYPE_UNION);
}

/* A form of Rust's, which says by a name what it is. */
static bool has_forms(const struct part *p)
{
	const struct cp_type_details *d = is_object(p) ? cp_type_details(p->type) : NULL;

	return d && d->variant_count;
}

/* ---- from one to the next ---- */

/* What a pointer or a reference leads to. */
static CP_ERROR follow(struct way *w, struct part *p)
{
	const struct cp_value_limits *limits = &w->signature->limits;

	if (p->depth > limits->depth ||
	    (is_pointer(p) && p->hops >= limits->pointers && !cp_type_characters(p->type)))
		w->held = true;
	p->hops += is_pointer(p);
	p->depth++;
	p->at = 0;
	p->type = completed(p->type->target);
	return NULL;
}

/* What stands for something else is what it stands for, if types alone tell that. */
static CP_ERROR see_through(struct way *w, struct part *p)
{
	const struct cp_shape_row *row;
	struct cp_shape shape;
	unsigned i;

	for (i = 0; i < LEVELS && p->type; i++) {
		if (p->type->kind == CP_TYPE_REFERENCE) {
			CP_TRY(follow(w, p));
			p->referred = true;
			continue;
		}
		row = is_object(p) ? cp_shape_next(NULL, p->type, NULL) : NULL;
		if (!row)
			return NULL;
		p->is_text = row->kind == CP_SHAPE_TEXT;
		if (p->is_text)
			return NULL;
		if (row->kind != CP_SHAPE_VALUE ||
		    !cp_shape_by_type(cp_type_image(p->type), p->type, row, &shape))
			return hold(w, p);
		p->at += shape.pointer;
		p->type = completed(shape.type);
	}
	return NULL;
}

static void check_place(struct way *w, const struct part *p)
{
	if (p->type && p->at + p->type->size > w->signature->limits.value)
		w->held = true;
}

/* How many bases and structures without a name lead to a member. */
static unsigned levels_to(const struct cp_type *type, const char *name, unsigned depth)
{
	const struct cp_type_details *d = cp_type_details(type);
	unsigned best = LEVELS, inner;
	const struct cp_type *t;
	uint32_t i;

	for (i = 0; d && i < d->member_count; i++)
		if (!strcmp(d->members[i].name, name))
			return 0;
	for (i = 0; d && i < d->member_count && depth < LEVELS; i++) {
		if (*d->members[i].name && !(d->members[i].flags & CP_MEMBER_BASE))
			continue;
		t = completed(d->members[i].type);
		inner = t ? 1 + levels_to(t, name, depth + 1) : LEVELS;
		best = inner < best ? inner : best;
	}
	return best;
}

static CP_ERROR member(struct way *w, struct part p, const char *name, struct part *ret)
{
	struct cp_thing thing, found;
	unsigned levels;

	CP_TRY(see_through(w, &p));
	if (is_pointer(&p)) {
		if (!p.type->target)
			return cp_error_new(CP_ERR_USAGE, 0, "%s has no members", text_of(p.type));
		CP_TRY(follow(w, &p));
		CP_TRY(see_through(w, &p));
	}
	/* Libraries' types have names for how many there are; forms have members of forms. */
	if (!p.type || p.is_text || has_forms(&p))
		return hold(w, ret);
	thing = cp_thing_at(p.type, SOMEWHERE);
	CP_TRY(cp_member_find(w->env, &thing, name, &found));
	if (!found.type)
		return hold(w, ret);
	levels = levels_to(p.type, name, 0);
	if (p.depth + levels >= w->signature->limits.depth)
		w->held = true;
	p.depth += levels + 1;
	p.type = completed(found.type);
	p.at = found.error ? 0 : p.at + found.address - SOMEWHERE;
	check_place(w, &p);
	p.referred = false;
	*ret = p;
	return NULL;
}

static CP_ERROR dereference(struct way *w, struct part p, struct part *ret)
{
	bool is_text = p.type && cp_type_characters(p.type);

	CP_TRY(see_through(w, &p));
	*ret = p;
	if (!p.type || (p.referred && !is_pointer(&p)))
		return NULL;
	if (is_text)
		return NULL; /* its first character is at hand */
	if (p.type->kind == CP_TYPE_ARRAY || has_forms(&p))
		return hold(w, ret);
	if (!is_pointer(&p))
		return cp_error_new(CP_ERR_USAGE, 0, "no pointer and no array: it is of type %s",
				    text_of(p.type));
	CP_TRY(follow(w, ret));
	return NULL;
}

static CP_ERROR element(struct way *w, const struct cp_condition_node *n, struct part *ret)
{
	const struct cp_value_limits *limits = &w->signature->limits;
	const struct cp_condition_node *index = n->b;
	const struct cp_type *of;
	struct part p, ignored;

	CP_TRY(look(w, n->a, &p));
	if (index->op != CP_OP_INTEGER) {
		if (index->op != CP_OP_NAME)
			CP_TRY(look(w, index, &ignored));
		return hold(w, ret);
	}
	if (p.type && p.type->kind == CP_TYPE_REFERENCE)
		CP_TRY(see_through(w, &p));
	of = p.type && p.type->target ? completed(p.type->target) : NULL;
	if (!of || (p.type->kind != CP_TYPE_ARRAY && p.type->kind != CP_TYPE_POINTER))
		return hold(w, ret);
	if (cp_type_characters(p.type)
		    ? index->integer >= limits->string
		    : index->integer >= limits->elements || (is_pointer(&p) && index->integer))
		w->held = true;
	if (is_pointer(&p) && !cp_type_characters(p.type)) {
		CP_TRY(follow(w, &p));
	} else {
		w->held |= p.depth >= limits->depth && !cp_type_characters(p.type);
		p.depth++;
		p.at += index->integer < limits->value ? index->integer * of->size : limits->value;
		p.type = of;
		check_place(w, &p);
	}
	p.referred = false;
	*ret = p;
	return NULL;
}

/* ---- names ---- */

static bool is_parameter(const struct way *w, const struct cp_condition_node *n, size_t *ret)
{
	for (*ret = 0; *ret < w->signature->parameter_count; (*ret)++)
		if (!n->file && !strcmp(w->signature->parameters[*ret].name, n->text))
			return true;
	return false;
}

static bool is_word(const char *text)
{
	static const char *const words[] = { "NULL", "nullptr", "true", "false", NULL };

	return cp_is_any(text, words);
}

/* What the object has of that name that the function is a method of. */
static bool is_of_this(const struct way *w, const char *name, struct part *this_ret)
{
	const struct cp_type *t;
	struct cp_thing object, found;
	struct cp_error *err;

	if (!cp_signature_has_this(w->signature))
		return false;
	*this_ret = (struct part){ .type = completed(w->signature->parameters[0].type) };
	t = is_pointer(this_ret) ? completed(this_ret->type->target) : NULL;
	if (!t)
		return false;
	object = cp_thing_at(t, SOMEWHERE);
	err = cp_member_find(w->env, &object, name, &found);
	cp_error_free(err);
	return !err && found.type;
}

/* The function's own statics come first. */
static bool is_outside(const struct way *w, const struct cp_condition_node *n,
		       const struct cp_type **ret)
{
	const struct cp_variable *own = n->file ? NULL : cp_static_in(w->signature, n->text);

	if (own) {
		*ret = own->type;
		return true;
	}
	return w->outside && w->outside->find(w->outside->ctx, n->text, n->file, ret);
}

/* Is it no name of the function's own: an enumerator's, perhaps? */
static bool is_foreign(const struct way *w, const struct cp_condition_node *n)
{
	struct part object;
	size_t i;

	return n->op == CP_OP_NAME && !n->file && !is_word(n->text) && !is_parameter(w, n, &i) &&
	       !is_of_this(w, n->text, &object);
}

static CP_ERROR no_argument(const struct cp_condition_node *n)
{
	return cp_error_new(CP_ERR_USAGE, 0, "there is no argument %s", n->text);
}

/* Enums are in each unit anew. */
static bool is_other_enum(const struct cp_type *t, const struct cp_type *of)
{
	return t && t->kind == CP_TYPE_ENUM && t != of &&
	       strcmp(cp_type_full_name(t), cp_type_full_name(of)) != 0;
}

/* A name of nothing in the function, beside what `n` is: true where that tells its
 * enumerator. */
static CP_ERROR beside(struct way *w, const struct cp_condition_node *name,
		       const struct cp_condition_node *n, uint8_t op, bool *ret)
{
	const struct cp_type *type;
	struct part other;
	int64_t value;

	if (n->op == CP_OP_INTEGER || n->op == CP_OP_FLOAT || n->op == CP_OP_TEXT)
		return NULL;
	CP_TRY(look(w, n, &other));
	CP_TRY(see_through(w, &other));
	*ret = !other.type || has_forms(&other) ||
	       cp_enumerator_value(other.type, name->text, &value);
	if (*ret)
		w->held |= op != CP_OP_EQUAL && op != CP_OP_UNEQUAL && op != CP_OP_AND;
	if (*ret || other.type->kind != CP_TYPE_ENUM ||
	    (is_outside(w, name, &type) && !is_other_enum(completed(type), other.type)))
		return NULL;
	if (is_foreign(w, n))
		return no_argument(name);
	return cp_error_new(CP_ERR_USAGE, 0, "%s has no enumerator %s", text_of(other.type),
			    name->text);
}

static CP_ERROR named(struct way *w, const struct cp_condition_node *n, struct part *ret)
{
	const struct cp_type *type = NULL;
	struct part object;
	size_t i;

	*ret = (struct part){ 0 };
	if (is_parameter(w, n, &i)) {
		ret->type = completed(w->signature->parameters[i].type);
		return NULL;
	}
	if (!n->file && is_word(n->text))
		return NULL;
	if (!n->file && !cp_static_in(w->signature, n->text) && is_of_this(w, n->text, &object))
		return member(w, object, n->text, ret);
	w->held = true;
	if (is_outside(w, n, &type)) {
		ret->type = completed(type);
		return NULL;
	}
	return !w->outside && (n->file || strstr(n->text, "::")) ? NULL : no_argument(n);
}

/* ---- operators ---- */

/* Is it a number, an address, or what stands for one? */
static CP_ERROR operand(struct way *w, struct part *p, bool texts)
{
	CP_TRY(see_through(w, p));
	if (has_forms(p)) {
		w->held = true;
		p->type = NULL;
	}
	if (!is_object(p) || (p->is_text && texts))
		return NULL;
	return cp_error_new(CP_ERR_USAGE, 0, "no number: it is of type %s", text_of(p->type));
}

static bool is_compared(uint8_t op)
{
	return op == CP_OP_EQUAL || op == CP_OP_UNEQUAL;
}

static bool is_ordered(uint8_t op)
{
	return op >= CP_OP_LESS && op <= CP_OP_UNEQUAL;
}

static bool is_text(const struct part *p, const struct cp_condition_node *n)
{
	return n->op == CP_OP_TEXT || p->is_text || (p->type && cp_type_characters(p->type));
}

/* Beside text, a pointer is the text that it leads to; `literal`: is that written as such? */
static CP_ERROR as_text(struct way *w, struct part *p, bool literal)
{
	const struct cp_type *type = p->type;
	bool held = w->held;
	unsigned i;

	for (i = 0; i < LEVELS && is_pointer(p) && p->type->target && !cp_type_characters(p->type);
	     i++) {
		CP_TRY(follow(w, p));
		CP_TRY(see_through(w, p));
	}
	if (!p->type || p->is_text || is_pointer(p) || p->type->kind == CP_TYPE_ARRAY ||
	    has_forms(p))
		return NULL;
	if (literal)
		return cp_error_new(CP_ERR_USAGE, 0, "no text: it is of type %s", text_of(type));
	w->held = held;
	return NULL;
}

static CP_ERROR binary(struct way *w, const struct cp_condition_node *n)
{
	const struct cp_condition_node *text = n->a->op == CP_OP_TEXT	? n->a
					       : n->b->op == CP_OP_TEXT ? n->b
									: NULL;
	bool enumerator = false;
	struct part a, b;

	if (is_foreign(w, n->b))
		CP_TRY(beside(w, n->b, n->a, n->op, &enumerator));
	else if (is_foreign(w, n->a))
		CP_TRY(beside(w, n->a, n->b, n->op, &enumerator));
	if (enumerator)
		return NULL;
	CP_TRY(look(w, n->a, &a));
	CP_TRY(look(w, n->b, &b));
	CP_TRY(operand(w, &a, is_ordered(n->op)));
	CP_TRY(operand(w, &b, is_ordered(n->op)));
	if (is_ordered(n->op) && is_text(&a, n->a))
		CP_TRY(as_text(w, &b, n->a->op == CP_OP_TEXT));
	if (is_ordered(n->op) && is_text(&b, n->b))
		CP_TRY(as_text(w, &a, n->b->op == CP_OP_TEXT));
	if (text && (!is_compared(n->op) || text->length >= w->signature->limits.string))
		w->held = true;
	if (!text && (a.is_text || b.is_text) && !is_compared(n->op))
		w->held = true;
	return NULL;
}

static CP_ERROR truth(struct way *w, const struct cp_condition_node *n)
{
	struct part p;

	CP_TRY(look(w, n, &p));
	return operand(w, &p, false);
}

static CP_ERROR look(struct way *w, const struct cp_condition_node *n, struct part *ret)
{
	struct part p;

	*ret = (struct part){ 0 };
	switch (n->op) {
	case CP_OP_INTEGER:
	case CP_OP_FLOAT:
	case CP_OP_TEXT:
		return NULL;
	case CP_OP_NAME:
		return named(w, n, ret);
	case CP_OP_MEMBER:
		CP_TRY(look(w, n->a, &p));
		return n->integer ? hold(w, ret) : member(w, p, n->text, ret);
	case CP_OP_DEREFERENCE:
		CP_TRY(look(w, n->a, &p));
		return dereference(w, p, ret);
	case CP_OP_INDEX:
		return element(w, n, ret);
	case CP_OP_NOT:
		return truth(w, n->a);
	case CP_OP_INVERT:
	case CP_OP_NEGATE:
	case CP_OP_PLUS:
		CP_TRY(look(w, n->a, &p));
		return operand(w, &p, false);
	case CP_OP_BOTH:
	case CP_OP_EITHER:
		CP_TRY(truth(w, n->a));
		return truth(w, n->b);
	case CP_OP_CHOOSE:
		CP_TRY(truth(w, n->a));
		CP_TRY(look(w, n->b, &p));
		return look(w, n->c, &p);
	default:
		if (n->op > CP_OP_CHOOSE)
			return hold(w, ret);
		return binary(w, n);
	}
}

/* Does it lead on from arguments? */
static bool leads_on(const struct cp_condition_node *n)
{
	return n && (n->op == CP_OP_MEMBER || n->op == CP_OP_INDEX || n->op == CP_OP_DEREFERENCE ||
		     leads_on(n->a) || leads_on(n->b) || leads_on(n->c));
}

CP_ERROR cp_condition_way(const struct cp_condition *condition,
			  const struct cp_signature *signature,
			  const struct cp_condition_names *outside, enum cp_condition_way *ret)
{
	struct cp_arena arena = { 0 };
	const struct cp_expression_env env = { .arena = &arena,
					       .memory = &cp_no_memory,
					       .limits = &signature->limits };
	struct way w = { .signature = signature, .env = &env, .outside = outside };
	struct cp_error *err = signature->described ? truth(&w, condition->root) : NULL;

	w.held |= signature->entry.beyond && leads_on(condition->root);
	cp_arena_free(&arena);
	if (!err)
		*ret = w.held ? CP_CONDITION_HELD : CP_CONDITION_CAPTURED;
	return err;
}

bool cp_condition_is_member(const struct cp_signature *signature, const char *name)
{
	struct cp_arena arena = { 0 };
	const struct cp_expression_env env = { .arena = &arena,
					       .memory = &cp_no_memory,
					       .limits = &signature->limits };
	const struct way w = { .signature = signature, .env = &env };
	struct part object;
	bool is = is_of_this(&w, name, &object);

	cp_arena_free(&arena);
	return is;
}
