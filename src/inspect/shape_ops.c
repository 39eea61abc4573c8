/* SPDX-License-Identifier: MIT
 *
 * Elements of containers in expressions: v[0], m["key"], *pointer.
 */
#include "inspect/shape_ops.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/members.h"
#include "inspect/number.h"
#include "inspect/plan_shapes.h"
#include "inspect/shape_build.h"
#include "inspect/shape_walk.h"

#define STEPS (UINT64_C(1) << 20) /* nodes and slots, to find one */
#define GATHERED_MOST (UINT64_C(1) << 20) /* bytes */
#define LINKS 16 /* of what stands for something that stands for something */

static const struct cp_type *completed(const struct cp_type *type)
{
	const struct cp_type *t = cp_type_strip(type);

	return t ? cp_type_complete(cp_type_image(t), t) : NULL;
}

/* What is asked of the declarations of a thing's type, until one fits. */
struct question {
	const struct cp_expression_env *env;
	struct cp_error *(*ask)(struct question *q, struct cp_shape_scope *scope, bool *fits_ret);
	const struct cp_thing *index; /* of the element, or NULL */
	struct cp_thing found;
	uint64_t from, count; /* elements */
	bool done;
};

static CP_ERROR ask(struct question *q, const struct cp_thing *thing)
{
	const struct cp_type *t = completed(thing->type);
	const struct cp_shapes *shapes = q->env->shapes;
	const struct cp_shape_row *row = NULL;
	struct cp_shape_scope scope;
	struct cp_error *err;
	bool fits = false;

	while (!thing->error && t && !thing->bits && (row = cp_shape_next(shapes, t, row))) {
		if (!cp_shape_scope_init(&scope, q->env, shapes, row, thing))
			return cp_error_nomem();
		err = q->ask(q, &scope, &fits);
		cp_shape_scope_deinit(&scope);
		if (fits)
			return err;
		cp_error_free(err);
	}
	return NULL;
}

/* ---- what it stands for ---- */

static CP_ERROR ask_behind(struct question *q, struct cp_shape_scope *scope, bool *fits_ret)
{
	enum cp_shape_kind kind = scope->row->kind;
	const char *word;

	if (kind < CP_SHAPE_VALUE || kind > CP_SHAPE_NODE)
		return NULL;
	CP_TRY(cp_shape_stands_for(scope, &q->found, &word));
	if (word)
		q->found = (struct cp_thing){ .error = CPROF_VALUE_NOT_CONSTRUCTED };
	*fits_ret = q->done = true;
	return NULL;
}

/* ---- whether it holds something ---- */

static CP_ERROR ask_holds(struct question *q, struct cp_shape_scope *scope, bool *fits_ret)
{
	const char *const *terms = scope->row->terms;
	bool choice = scope->row->kind == CP_SHAPE_CHOICE;
	int64_t when = 0;

	if ((!choice && scope->row->kind != CP_SHAPE_HELD) || !terms[CP_TERM_when])
		return NULL;
	CP_TRY(cp_shape_number(scope, choice && terms[CP_TERM_used] ? CP_TERM_used : CP_TERM_when,
			       &when, &q->found));
	q->count = when != 0;
	*fits_ret = q->done = true;
	return NULL;
}

static CP_ERROR holds(const struct cp_expression_env *env, const struct cp_thing *thing, bool *ret,
		      bool *done_ret)
{
	struct question q = { .env = env, .ask = ask_holds };

	CP_TRY(ask(&q, thing));
	*done_ret = q.done && !q.found.error;
	*ret = q.count;
	return NULL;
}

static CP_ERROR behind(const struct cp_expression_env *env, const struct cp_thing *thing,
		       struct cp_thing *ret, bool *done_ret)
{
	struct question q = { .env = env, .ask = ask_behind };

	CP_TRY(ask(&q, thing));
	*done_ret = q.done;
	if (q.done)
		*ret = q.found;
	else if (!thing->error)
		cp_member_form(env, thing, ret, done_ret);
	return NULL;
}

/* ---- elements ---- */

struct hunt {
	struct question *q;
	int64_t index; /* wanted: elements of what has no keys */
	uint64_t seen;
	bool found;
};

/* Are they the same number? As keys of the first one's type are compared. */
static bool is_same(const struct cp_expression_env *env, struct cp_thing *key,
		    struct cp_thing *wanted)
{
	const struct cp_number a = cp_number_of(env, key), b = cp_number_of(env, wanted);
	const struct cp_type *t = cp_type_strip(key->type);
	long double x, y;

	if (a.kind == CP_NUMBER_NONE || b.kind == CP_NUMBER_NONE || key->error)
		return false;
	if (a.kind == CP_NUMBER_INTEGER && b.kind == CP_NUMBER_INTEGER)
		return !cp_number_order(a, b);
	x = a.kind == CP_NUMBER_FLOAT ? a.f : (long double)a.i;
	y = b.kind == CP_NUMBER_FLOAT ? b.f : (long double)b.i;
	y = a.kind != CP_NUMBER_FLOAT || !t ? y
	    : t->size == 4		    ? (long double)(float)y
	    : t->size == 8		    ? (long double)(double)y
					    : y;
	return !(x < y) && !(x > y) && !isnan(x) && !isnan(y);
}

static bool is_called(const cprof_value *key, const struct cp_thing *name)
{
	return key && key->kind == CPROF_VALUE_ENUM && key->symbol &&
	       strlen(key->symbol) == name->size && !memcmp(key->symbol, name->bytes, name->size);
}

/* Is a key the one that is wanted? */
static bool is_key(struct hunt *h, const struct cp_thing *key)
{
	const struct cp_expression_env *env = h->q->env;
	struct cp_thing wanted = *h->q->index, own = *key;
	struct cp_value_limits limits = *env->limits;
	struct cp_expression_env with = *env;
	const cprof_value *a, *b;
	bool same = false;

	limits.string = limits.string > wanted.size ? limits.string : (uint32_t)wanted.size + 1;
	with.limits = &limits;
	with.values = cp_value_arena_create();
	if (!with.values)
		return false;
	a = cp_thing_value(&with, &own);
	if (wanted.type == &cp_shape_enumerator) {
		same = is_called(a, &wanted);
		cp_value_arena_destroy(with.values);
		return same;
	}
	b = cp_thing_value(&with, &wanted);
	if (a && b && a->kind == CPROF_VALUE_STRING && b->kind == CPROF_VALUE_STRING)
		same = !a->cut && a->u.text.length == b->u.text.length &&
		       !memcmp(a->u.text.bytes, b->u.text.bytes, a->u.text.length);
	else if (a && b && a->kind != CPROF_VALUE_STRING && b->kind != CPROF_VALUE_STRING)
		same = is_same(&with, &own, &wanted);
	cp_value_arena_destroy(with.values);
	return same;
}

/* A thing that outlives the step. */
static struct cp_thing kept(const struct cp_expression_env *env, const struct cp_thing *thing)
{
	struct cp_thing copy = *thing;

	if (!copy.in_memory && copy.bytes) {
		copy.bytes = (const uint8_t *)cp_arena_copy(env->arena, copy.bytes, copy.size);
		copy.gaps = cp_gaps_copy(env->arena, copy.gaps);
		if (!copy.bytes || (thing->gaps && !copy.gaps))
			copy.error = CPROF_VALUE_UNAVAILABLE;
	}
	return copy;
}

static bool look(void *ctx, const struct cp_thing *key, const struct cp_thing *value)
{
	struct hunt *h = ctx;

	h->seen++;
	if (!value->error && (key ? !is_key(h, key) : (int64_t)h->seen - 1 != h->index))
		return true;
	h->q->found = kept(h->q->env, value);
	h->found = true;
	return false;
}

static CP_ERROR no_element(int64_t index, uint64_t count)
{
	return cp_error_new(CP_ERR_USAGE, 0, "there is no element %lld of %llu", (long long)index,
			    (unsigned long long)count);
}

static CP_ERROR in_row(struct question *q, struct cp_shape_scope *scope, int64_t index,
		       bool *fits_ret)
{
	const struct cp_type *target = NULL;
	uint64_t pointer = 0, count = 0;

	CP_TRY(cp_shape_row_at(scope, &target, &pointer, &count, &q->found));
	*fits_ret = true;
	if (!q->found.error && (index < 0 || (uint64_t)index >= count))
		return no_element(index, count);
	q->done = true;
	if (!q->found.error)
		q->found = cp_thing_at(target,
				       pointer + (uint64_t)index * cp_type_strip(target)->size);
	return NULL;
}

static CP_ERROR hunt(struct question *q, struct cp_shape_scope *scope, int64_t index,
		     bool *fits_ret)
{
	struct hunt h = { .q = q, .index = index };

	CP_TRY(cp_shape_walk(scope, STEPS, look, &h));
	*fits_ret = true;
	q->done = h.found;
	if (h.found)
		return NULL;
	return scope->row->terms[CP_TERM_key]
		       ? cp_error_new(CP_ERR_USAGE, 0, "none of its %llu keys is that",
				      (unsigned long long)h.seen)
		       : no_element(index, h.seen);
}

static CP_ERROR ask_element(struct question *q, struct cp_shape_scope *scope, bool *fits_ret)
{
	/* Characters of text are in a row, too. */
	const bool is_in_row =
		scope->row->kind == CP_SHAPE_ROW || scope->row->kind == CP_SHAPE_TEXT;
	struct cp_number number = { 0 };
	struct cp_thing index = *q->index;

	if (scope->row->kind < CP_SHAPE_ITEMS && !is_in_row)
		return NULL;
	if (cp_type_strip(index.type)->kind != CP_TYPE_ARRAY)
		number = cp_number_of(q->env, &index);
	if (!scope->row->terms[CP_TERM_key] && number.kind != CP_NUMBER_INTEGER)
		return NULL;
	return is_in_row ? in_row(q, scope, (int64_t)number.i, fits_ret)
			 : hunt(q, scope, (int64_t)number.i, fits_ret);
}

/* Asks of a thing, then of what it stands for; *ret is where that ends. */
static CP_ERROR ask_through(struct question *q, const struct cp_thing *thing, struct cp_thing *ret)
{
	struct cp_thing at = *thing;
	bool stands = true;
	unsigned i;

	for (i = 0; i < LINKS && stands; i++) {
		CP_TRY(ask(q, &at));
		if (q->done)
			break;
		CP_TRY(behind(q->env, &at, &at, &stands));
		at = cp_thing_referred(q->env, at);
	}
	*ret = q->done ? q->found : at;
	return NULL;
}

static CP_ERROR element(const struct cp_expression_env *env, const struct cp_thing *thing,
			const struct cp_thing *index, struct cp_thing *ret, bool *done_ret)
{
	struct question q = { .env = env, .ask = ask_element, .index = index };

	CP_TRY(ask_through(&q, thing, ret));
	*done_ret = q.done;
	return NULL;
}

/* ---- elements in a row ---- */

static CP_ERROR ask_row(struct question *q, struct cp_shape_scope *scope, bool *fits_ret)
{
	const struct cp_type *target = NULL;
	uint64_t pointer = 0;

	if (scope->row->kind != CP_SHAPE_ROW && scope->row->kind != CP_SHAPE_TEXT)
		return NULL;
	CP_TRY(cp_shape_row_at(scope, &target, &pointer, &q->count, &q->found));
	*fits_ret = q->done = true;
	if (!q->found.error)
		q->found = cp_thing_at(target, pointer);
	return NULL;
}

static CP_ERROR row(const struct cp_expression_env *env, const struct cp_thing *thing,
		    struct cp_thing *ret, uint64_t *count_ret, bool *done_ret)
{
	struct question q = { .env = env, .ask = ask_row };

	CP_TRY(ask_through(&q, thing, ret));
	*done_ret = q.done;
	*count_ret = q.count;
	return NULL;
}

static CP_ERROR ask_count(struct question *q, struct cp_shape_scope *scope, bool *fits_ret)
{
	const char *const *terms = scope->row->terms;
	const enum cp_shape_term term = scope->row->kind == CP_SHAPE_ITEMS && terms[CP_TERM_length]
						? CP_TERM_length
						: CP_TERM_count;
	int64_t count = 0;

	if (scope->row->kind == CP_SHAPE_ROW || scope->row->kind == CP_SHAPE_TEXT)
		return ask_row(q, scope, fits_ret);
	if (scope->row->kind < CP_SHAPE_ITEMS || !terms[term])
		return NULL;
	CP_TRY(cp_shape_number(scope, term, &count, &q->found));
	q->count = (uint64_t)count;
	*fits_ret = q->done = true;
	return NULL;
}

static CP_ERROR count(const struct cp_expression_env *env, const struct cp_thing *thing,
		      struct cp_thing *ret, uint64_t *count_ret, bool *done_ret)
{
	struct question q = { .env = env, .ask = ask_count };

	CP_TRY(ask_through(&q, thing, ret));
	*done_ret = q.done;
	*count_ret = q.count;
	return NULL;
}

/* ---- elements that are apart ---- */

struct gathering {
	struct question *q;
	uint64_t seen, from, count; /* elements that are wanted */
	const struct cp_type *type; /* of each */
	uint8_t *bytes;
	uint64_t size; /* of one */
	uint8_t error; /* why one of them can't be had */
	bool failed; /* no memory */
};

/* Copies one behind the others; false: that was the last one. */
static bool gather(void *ctx, const struct cp_thing *key, const struct cp_thing *value)
{
	struct gathering *g = ctx;
	struct cp_thing element = *value;
	const struct cp_type *t = element.error ? NULL : completed(element.type);
	const uint8_t *bytes;

	(void)key;
	if (element.error) {
		g->error = element.error;
		return false;
	}
	if (g->seen++ < g->from)
		return true;
	if (!g->bytes && t && t->size && t->size <= GATHERED_MOST / g->count) {
		g->type = element.type;
		g->size = t->size;
		g->bytes = cp_arena_alloc(g->q->env->arena, g->size * g->count);
	}
	bytes = t && t->size == g->size && g->bytes ? cp_thing_bytes(g->q->env, &element) : NULL;
	if (!bytes) {
		g->failed = !element.error;
		g->error = element.error;
		return false;
	}
	memcpy(g->bytes + (g->seen - 1 - g->from) * g->size, bytes, g->size);
	return g->seen < g->from + g->count;
}

static CP_ERROR ask_range(struct question *q, struct cp_shape_scope *scope, bool *fits_ret)
{
	struct gathering g = { .q = q, .from = q->from, .count = q->count };

	if (scope->row->kind < CP_SHAPE_ITEMS || scope->row->terms[CP_TERM_key])
		return NULL;
	*fits_ret = q->count > GATHERED_MOST;
	if (*fits_ret)
		return cp_error_new(CP_ERR_USAGE, 0, "those are too many elements");
	CP_TRY(cp_shape_walk(scope, STEPS, gather, &g));
	*fits_ret = true;
	if (!g.error && !g.failed && g.seen < g.from + g.count)
		return cp_error_new(CP_ERR_USAGE, 0, "[%llu..%llu] is not within its %llu elements",
				    (unsigned long long)g.from,
				    (unsigned long long)(g.from + g.count - 1),
				    (unsigned long long)g.seen);
	if (g.failed)
		return cp_error_new(CP_ERR_USAGE, 0, "those are too many elements");
	q->done = true;
	q->found = (struct cp_thing){ .error = g.error, .source = CPROF_SOURCE_MEMORY };
	if (g.error)
		return NULL;
	q->found.type = cp_type_elements_of(q->env->arena, g.type, g.count);
	q->found.bytes = g.bytes;
	q->found.size = g.size * g.count;
	return q->found.type ? NULL : cp_error_nomem();
}

static CP_ERROR range(const struct cp_expression_env *env, const struct cp_thing *thing,
		      uint64_t from, uint64_t count, struct cp_thing *ret, bool *done_ret)
{
	struct question q = { .env = env, .ask = ask_range, .from = from, .count = count };

	CP_TRY(ask_through(&q, thing, ret));
	*done_ret = q.done;
	return NULL;
}

/* ---- all of them ---- */

const struct cp_shape_ops cp_shape_ops = { .plan = cp_plan_shape,
					   .build = cp_shape_build,
					   .behind = behind,
					   .holds = holds,
					   .element = element,
					   .row = row,
					   .count = count,
					   .range = range };
