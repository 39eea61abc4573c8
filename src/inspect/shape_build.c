/* SPDX-License-Identifier: MIT
 *
 * Values of types by their declarations, wherever those lead to in memory.
 */
#include "inspect/shape_build.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "image/find.h"
#include "image/templates.h"
#include "inspect/bytes.h"
#include "inspect/classify.h"
#include "inspect/number.h"
#include "inspect/readable.h"
#include "inspect/scalar.h"
#include "inspect/shape_units.h"
#include "inspect/shape_values.h"
#include "inspect/shape_walk.h"
#include "inspect/value.h"
#include "inspect/wide.h"

#define APART (UINT64_C(1) << 63) /* no program's */
#define STEPS_EACH 64 /* nodes and slots looked at for an element that is shown */
#define STEPS_LEAST 4096
#define MEMBERS_MAX 1000 /* looked at for what a type is aligned to */

/* ---- memory ---- */

/* What is being built is read once: its own bytes are those at hand. */
struct overlay {
	struct cp_build *b;
	struct cp_bytes from;
};

static size_t read_overlay(void *ctx, uint64_t address, void *buffer, size_t size)
{
	struct overlay *o = ctx;
	struct cp_bytes at;
	bool tried;

	if (o->from.address && address >= o->from.address &&
	    address - o->from.address < o->from.size &&
	    size <= o->from.size - (address - o->from.address)) {
		if (cp_gap_in(&o->from, (address - o->from.address) * 8, size * 8))
			return 0;
		memcpy(buffer, o->from.at + (address - o->from.address), size);
		return size;
	}
	at = cp_build_memory(o->b, address, size, &tried);
	if (at.size)
		memcpy(buffer, at.at, at.size);
	return at.size;
}

/* Is that within what is in no memory? */
static bool is_apart(const struct cp_build *b, uint64_t address)
{
	return b->apart.size && address - b->apart.address < b->apart.size;
}

/* ---- things as values ---- */

/* What a capture lacks may be readable all the same. */
static void put_error(struct cp_build *b, cprof_value *v, uint8_t error, uint64_t address)
{
	if (error == CPROF_VALUE_UNREADABLE && is_apart(b, address))
		cp_build_error(v, CPROF_VALUE_OPTIMIZED_OUT, 0);
	else if (error == CPROF_VALUE_UNREADABLE && !cp_build_is_whole(b))
		cp_build_error(v, CPROF_VALUE_UNAVAILABLE, 0);
	else
		cp_build_error(v, error, address);
}

static void build_thing(struct cp_build *b, cprof_value *v, const struct cp_thing *thing,
			unsigned depth, unsigned hops)
{
	const struct cp_type *t = cp_type_strip(thing->type);
	struct cp_bytes from = { thing->bytes, thing->size, 0, thing->gaps, thing->within };
	bool tried = true;
	uint64_t size;

	v->name = v->name ? v->name : "";
	v->type = thing->type && thing->type->text ? thing->type->text : "";
	v->source = b->source;
	if (thing->error || !t) {
		put_error(b, v, thing->error ? thing->error : CPROF_VALUE_UNAVAILABLE,
			  thing->address);
		return;
	}
	t = cp_type_complete(cp_type_image(t), t);
	size = thing->bits
		       ? thing->bits->offset +
				 (thing->bits->bit_offset + (uint64_t)thing->bits->bit_size + 7) / 8
		       : t->size;
	if (thing->in_memory) {
		size = size < b->limits->value ? size : b->limits->value;
		if (is_apart(b, thing->address)) {
			from = cp_build_part(b->apart, thing->address - b->apart.address, size);
			from.address = 0;
		} else {
			from = cp_build_memory(b, thing->address, size, &tried);
			from.address = thing->address;
		}
	}
	if (size && !from.size)
		cp_build_error(v, tried ? CPROF_VALUE_UNREADABLE : CPROF_VALUE_UNAVAILABLE,
			       tried ? thing->address : 0);
	else if (thing->bits)
		cp_build_bits(b, v, thing->bits, from);
	else
		cp_build_value(b, v, thing->type, from, depth, hops);
}

/* ---- what holds elements ---- */

struct listing {
	struct cp_build *b;
	CP_VEC(cprof_value) items;
	unsigned depth, hops;
	bool cut, entries;
};

static bool add(void *ctx, const struct cp_thing *key, const struct cp_thing *value)
{
	struct listing *l = ctx;
	struct cp_build *b = l->b;
	cprof_value item = { .name = "", .type = "", .source = b->source }, *pair;

	if (l->items.count >= b->limits->elements || !b->left) {
		l->cut = true;
		return false;
	}
	if (key) {
		pair = cp_arena_array(b->arena, 2, sizeof(*pair));
		if (!pair)
			return false;
		memset(pair, 0, 2 * sizeof(*pair));
		pair[0].name = "key";
		pair[1].name = "value";
		build_thing(b, &pair[0], key, l->depth + 1, l->hops);
		build_thing(b, &pair[1], value, l->depth + 1, l->hops);
		item.kind = CPROF_VALUE_STRUCT;
		item.entry = true;
		item.items = pair;
		item.count = 2;
	} else {
		build_thing(b, &item, value, l->depth + 1, l->hops);
	}
	if (cp_vec_push(&l->items, item))
		return true;
	l->cut = true;
	return false;
}

static bool is_unavailable(const cprof_value *v)
{
	return v->kind == CPROF_VALUE_ERROR && v->error == CPROF_VALUE_UNAVAILABLE;
}

/* Elements that a capture does not have are left out. */
static void drop_unavailable(struct listing *l)
{
	const cprof_value *last;

	while (l->items.count) {
		last = &l->items.items[l->items.count - 1];
		if (!is_unavailable(last) && !(last->entry && is_unavailable(&last->items[0]) &&
					       is_unavailable(&last->items[1])))
			break;
		l->items.count--;
		l->cut = true;
	}
}

/* How many there are, where none of them is at hand. */
static void build_size(struct cp_build *b, cprof_value *v, struct cp_shape_scope *scope)
{
	const enum cp_shape_term term =
		scope->row->kind == CP_SHAPE_ITEMS && scope->row->terms[CP_TERM_length]
			? CP_TERM_length
			: CP_TERM_count;
	struct cp_thing thing = { 0 };
	int64_t count = 0;
	struct cp_error *err = cp_shape_number(scope, term, &count, &thing);

	if (err || thing.error || !cp_build_count(b, v, (uint64_t)count))
		cp_build_error(v, CPROF_VALUE_UNAVAILABLE, 0);
	cp_error_free(err);
}

static CP_ERROR build_elements(struct cp_build *b, cprof_value *v, struct cp_shape_scope *scope,
			       unsigned depth, unsigned hops)
{
	struct listing l = { .b = b, .depth = depth, .hops = hops };
	uint64_t steps = (uint64_t)b->limits->elements * STEPS_EACH + STEPS_LEAST;
	struct cp_error *err = cp_shape_walk(scope, steps, add, &l);
	cprof_value *items;

	if (err && !l.items.count) {
		cp_vec_free(&l.items);
		return err;
	}
	if (!cp_build_is_whole(b))
		drop_unavailable(&l);
	if (l.cut && !l.items.count && !cp_build_is_whole(b)) {
		build_size(b, v, scope);
		cp_vec_free(&l.items);
		cp_error_free(err);
		return NULL;
	}
	items = cp_arena_array(b->arena, l.items.count + 1, sizeof(*items));
	if (items && l.items.count)
		memcpy(items, l.items.items, l.items.count * sizeof(*items));
	v->kind = CPROF_VALUE_ARRAY;
	v->address = is_apart(b, scope->self.address) ? 0 : scope->self.address;
	v->entry = scope->row->terms[CP_TERM_key];
	v->items = items;
	v->count = items ? (uint32_t)l.items.count : 0;
	v->cut = l.cut || err;
	cp_error_free(err);
	cp_vec_free(&l.items);
	return NULL;
}

/* ---- text ---- */

/* Characters of 2 or 4 bytes. */
static void build_wide(struct cp_build *b, cprof_value *v, uint64_t pointer, uint64_t length,
		       uint64_t unit)
{
	uint64_t want = length < b->limits->string ? length : b->limits->string;
	struct cp_bytes at = { .address = pointer };
	bool tried;

	if (want)
		at = cp_build_memory(b, pointer, want * unit, &tried);
	at.address = pointer;
	if (want && at.size < unit)
		put_error(b, v, CPROF_VALUE_UNREADABLE, pointer);
	else
		cp_build_wide(b, v, at, unit, length);
}

/* The address and the type of what is in a row: where a pointer leads to, or an array. */
static CP_ERROR beginning(struct cp_shape_scope *scope, const struct cp_type **target_ret,
			  uint64_t *ret, struct cp_thing *thing_ret)
{
	int64_t address = 0;
	const struct cp_type *t;

	CP_TRY(cp_shape_number(scope, CP_TERM_at, &address, thing_ret));
	t = cp_type_strip(thing_ret->type);
	if (thing_ret->error)
		return NULL;
	if (!t || (t->kind != CP_TYPE_POINTER && t->kind != CP_TYPE_ARRAY) || !t->target)
		return cp_error_new(CP_ERR_USAGE, 0, "'%s' is no pointer",
				    scope->row->terms[CP_TERM_at]);
	*target_ret = t->target;
	t = cp_type_strip(t->target);
	cp_type_complete(cp_type_image(t), t);
	*ret = (uint64_t)address;
	return NULL;
}

CP_ERROR cp_shape_row_at(struct cp_shape_scope *scope, const struct cp_type **target_ret,
			 uint64_t *pointer_ret, uint64_t *count_ret, struct cp_thing *thing_ret)
{
	enum cp_shape_term last = scope->row->kind == CP_SHAPE_TEXT ? CP_TERM_length
				  : scope->row->terms[CP_TERM_end]  ? CP_TERM_end
								    : CP_TERM_count;
	const struct cp_type *target = NULL;
	uint64_t size;
	int64_t n = 0;

	CP_TRY(beginning(scope, &target, pointer_ret, thing_ret));
	if (!thing_ret->error)
		CP_TRY(cp_shape_number(scope, last, &n, thing_ret));
	if (thing_ret->error)
		return NULL;
	size = cp_type_strip(target)->size;
	if (!size && (last != CP_TERM_count || !cp_type_has_size(cp_type_strip(target))))
		return cp_error_new(CP_ERR_USAGE, 0, "its elements have no size");
	if (last == CP_TERM_end)
		n = (int64_t)(((uint64_t)n - *pointer_ret) / size);
	*target_ret = target;
	*count_ret = n < 0 ? 0 : (uint64_t)n;
	return NULL;
}

static CP_ERROR build_text(struct cp_build *b, cprof_value *v, struct cp_shape_scope *scope)
{
	const struct cp_type *target = NULL;
	uint64_t pointer = 0, length = 0, unit;
	struct cp_thing thing;

	CP_TRY(cp_shape_row_at(scope, &target, &pointer, &length, &thing));
	unit = thing.error ? 0 : cp_type_strip(target)->size;
	if (thing.error)
		put_error(b, v, thing.error, thing.address);
	else if (unit == 1)
		cp_build_text(b, v, pointer, length);
	else if (unit == 2 || unit == 4)
		build_wide(b, v, pointer, length, unit);
	else
		return cp_error_new(CP_ERR_USAGE, 0, "it is no text");
	return NULL;
}

/* ---- what is one thing ---- */

/* Does `used` want what a function was made of? It is the name of a constant, or a size
 * that the type must not be above; behind a `!`, the contrary. */
static bool is_wanted(const struct cp_template *made, const char *used, const struct cp_type *type)
{
	bool contrary = used && *used == '!';
	const struct cp_type *t;

	if (!used)
		return true;
	used += contrary;
	if (*used < '0' || *used > '9')
		return made->has_constant && !made->constant == contrary;
	t = cp_type_strip(type);
	t = cp_type_complete(cp_type_image(t), t);
	return (t->size <= strtoull(used, NULL, 10)) != contrary;
}

/* The type that a function tells of. */
static bool type_by_code(struct cp_shape_scope *scope, uint64_t code, const struct cp_type **ret)
{
	const char *const *terms = scope->row->terms, *used = terms[CP_TERM_used];
	const char *behind = terms[CP_TERM_behind];
	uint64_t number = behind[0] == '$' ? strtoull(behind + 1, NULL, 10) : 0;
	const struct cp_shapes *shapes = scope->shapes;
	struct cp_template made;

	if (!shapes || !shapes->template_of ||
	    !shapes->template_of(shapes->ctx, code, used && *used == '!' ? used + 1 : used,
				 &made) ||
	    !cp_shape_fits(terms[CP_TERM_member], made.name) || number - 1 >= made.count ||
	    made.arguments[number - 1].is_value || !made.arguments[number - 1].type)
		return false;
	*ret = made.arguments[number - 1].type;
	return is_wanted(&made, used, *ret);
}

/* Objects are where their type is aligned, which no term can say of one told by code. */
static uint64_t aligned(uint64_t address, const struct cp_type *type)
{
	const struct cp_type *t = cp_type_strip(type);
	unsigned budget = MEMBERS_MAX;
	uint64_t align;

	cp_type_complete(cp_type_image(t), t);
	align = cp_type_alignment(t, &budget);
	return (address + align - 1) / align * align;
}

static CP_ERROR held(struct cp_shape_scope *scope, struct cp_thing *ret, const char **word_ret)
{
	const struct cp_type *type = NULL;
	int64_t n = 1;

	if (scope->row->terms[CP_TERM_when])
		CP_TRY(cp_shape_number(scope, CP_TERM_when, &n, ret));
	if (!n) {
		*word_ret = scope->row->terms[CP_TERM_none];
		return NULL;
	}
	CP_TRY(cp_shape_number(scope, CP_TERM_code, &n, ret));
	if (ret->error)
		return NULL;
	if (!type_by_code(scope, (uint64_t)n, &type))
		return cp_error_new(CP_ERR_NOT_FOUND, 0, "the function tells of no type");
	CP_TRY(cp_shape_number(scope, CP_TERM_at, &n, ret));
	if (!ret->error)
		*ret = (struct cp_thing){ .type = type,
					  .in_memory = true,
					  .address = aligned((uint64_t)n, type),
					  .source = CPROF_SOURCE_MEMORY };
	return NULL;
}

/* The thing that a value is, or the word that stands for it. */
CP_ERROR cp_shape_stands_for(struct cp_shape_scope *scope, struct cp_thing *ret,
			     const char **word_ret)
{
	const struct cp_type *type = NULL;
	int64_t index = 1;
	bool end = false;

	*word_ret = NULL;
	if (scope->row->kind == CP_SHAPE_HELD)
		return held(scope, ret, word_ret);
	if (scope->row->kind == CP_SHAPE_NODE) {
		CP_TRY(cp_shape_node(scope, ret, &end));
		*word_ret = end ? scope->row->terms[CP_TERM_none] : NULL;
		return NULL;
	}
	if (scope->row->kind == CP_SHAPE_CHOICE) {
		CP_TRY(cp_shape_number(scope, CP_TERM_when, &index, ret));
		*word_ret = index || ret->error ? NULL : scope->row->terms[CP_TERM_none];
	}
	if (scope->row->kind != CP_SHAPE_VARIANT)
		return *word_ret || (scope->row->kind == CP_SHAPE_CHOICE && ret->error)
			       ? NULL
			       : cp_shape_term(scope, CP_TERM_value, ret);
	CP_TRY(cp_shape_number(scope, CP_TERM_index, &index, ret));
	if (ret->error)
		return NULL;
	if (index < 0 || !cp_shape_argument(scope, NULL, (uint64_t)index, &type)) {
		*word_ret = scope->row->terms[CP_TERM_none];
		return NULL;
	}
	CP_TRY(cp_shape_number(scope, CP_TERM_at, &index, ret));
	if (!ret->error)
		*ret = (struct cp_thing){ .type = type,
					  .in_memory = true,
					  .address = (uint64_t)index,
					  .source = CPROF_SOURCE_MEMORY };
	return NULL;
}

/* What a lambda is called in the name of a function that was made for it: between what
 * is before and behind it in a list of arguments. */
static const char *lambda_in(struct cp_build *b, const char *function)
{
	const char *mark = strstr(function, "{lambda("), *from, *end;
	unsigned depth = 0;

	if (mark) {
		end = strchr(mark, '}');
		end += end != NULL;
	} else {
		mark = strstr(function, "$_"); /* clang's */
		end = mark ? mark + 2 + strspn(mark + 2, "0123456789") : NULL;
	}
	if (!end)
		return NULL;
	for (from = mark; from > function; from--) {
		depth += from[-1] == ')' || from[-1] == '>';
		if (!depth && (from[-1] == ' ' || from[-1] == '(' || from[-1] == '<'))
			break;
		depth -= from[-1] == '(' || from[-1] == '<';
	}
	return cp_arena_copy(b->arena, from, (size_t)(end - from));
}

/* The name of the type that is held: a class without one is a lambda's. */
static const char *held_name(struct cp_build *b, struct cp_shape_scope *scope,
			     const struct cp_type *type)
{
	const struct cp_capture *capture = b->request->capture;
	const struct cp_type *t = cp_type_strip(type);
	const char *function, *name = NULL;
	struct cp_thing thing;
	int64_t code = 0;

	if (t->name || t->kind != CP_TYPE_STRUCT || !capture->symbol)
		return cp_type_full_name(type);
	cp_error_free(cp_shape_number(scope, CP_TERM_code, &code, &thing));
	function = capture->symbol(capture->symbol_ctx, (uint64_t)code);
	name = function ? lambda_in(b, function) : NULL;
	return name ? name : cp_type_full_name(type);
}

/* What says of itself what it is: {int=42}, {unexpected=7}. */
static CP_ERROR build_named(struct cp_build *b, cprof_value *v, const char *name,
			    const struct cp_thing *thing, unsigned depth, unsigned hops)
{
	cprof_value *item = cp_arena_alloc(b->arena, sizeof(*item));

	if (!item || !name)
		return cp_error_nomem();
	build_thing(b, item, thing, depth + 1, hops);
	item->name = name;
	v->kind = CPROF_VALUE_STRUCT;
	v->items = item;
	v->count = 1;
	return NULL;
}

static CP_ERROR build_one(struct cp_build *b, cprof_value *v, struct cp_shape_scope *scope,
			  unsigned depth, unsigned hops)
{
	struct cp_thing thing = { 0 };
	const char *word;

	CP_TRY(cp_shape_stands_for(scope, &thing, &word));
	word = word ? cp_arena_copy(b->arena, word, strlen(word)) : NULL;
	if (word && scope->row->terms[CP_TERM_other]) {
		CP_TRY(cp_shape_term(scope, CP_TERM_other, &thing));
		return build_named(b, v, word, &thing, depth, hops);
	}
	if (word) {
		v->kind = CPROF_VALUE_ENUM;
		v->symbol = word;
		return NULL;
	}
	if (scope->row->kind == CP_SHAPE_HELD && !thing.error)
		return build_named(b, v, held_name(b, scope, thing.type), &thing, depth, hops);
	build_thing(b, v, &thing, depth, hops);
	cp_build_holding(b, v, scope->row->terms[CP_TERM_none]);
	cp_shape_put_unit(b, v, cp_type_strip(scope->self.type), scope->row);
	return NULL;
}

static CP_ERROR build_by(struct cp_build *b, cprof_value *v, struct cp_shape_scope *scope,
			 unsigned depth, unsigned hops)
{
	const struct cp_type *target = NULL;
	uint64_t pointer = 0, count = 0;
	struct cp_thing thing;

	if (scope->row->kind == CP_SHAPE_TEXT)
		return build_text(b, v, scope);
	if (scope->row->kind >= CP_SHAPE_ITEMS)
		return build_elements(b, v, scope, depth, hops);
	if (scope->row->kind != CP_SHAPE_ROW)
		return build_one(b, v, scope, depth, hops);
	CP_TRY(cp_shape_row_at(scope, &target, &pointer, &count, &thing));
	if (thing.error)
		put_error(b, v, thing.error, thing.address);
	else if (!cp_build_row(b, v, target, pointer, count, depth, hops))
		cp_build_error(v, CPROF_VALUE_UNAVAILABLE, pointer);
	return NULL;
}

static bool build_at(struct cp_build *b, cprof_value *v, const struct cp_type *t,
		     const struct cp_shape_row *row, const struct cp_bytes *from, unsigned depth,
		     unsigned hops)
{
	struct overlay overlay = { b, *from };
	const struct cp_reader reader = { read_overlay, &overlay };
	const struct cp_expression_env env = { .arena = b->arena,
					       .memory = &reader,
					       .values = b->request->arena,
					       .limits = b->limits,
					       .shapes = NULL };
	const struct cp_thing self = {
		.type = t, .in_memory = true, .address = from->address, .source = b->source
	};
	struct cp_shape_scope scope;
	struct cp_error *err;

	if (!cp_shape_scope_init(&scope, &env, b->shapes, row, &self))
		return false;
	err = build_by(b, v, &scope, depth, hops);
	cp_shape_scope_deinit(&scope);
	cp_error_free(err);
	/* Of a member that is only declared, another declaration may make sense. */
	return !err && !(v->kind == CPROF_VALUE_ERROR && v->error == CPROF_VALUE_INCOMPLETE);
}

/* Declarations go by addresses, which what came in registers has none of. */
bool cp_shape_build(struct cp_build *b, cprof_value *v, const struct cp_type *t,
		    const struct cp_shape_row *row, const struct cp_bytes *from, unsigned depth,
		    unsigned hops)
{
	const struct cp_bytes outer = b->apart;
	struct cp_bytes here = *from;
	bool built;

	if (!here.address) {
		here.address = APART;
		b->apart = here;
	}
	built = build_at(b, v, t, row, &here, depth, hops);
	b->apart = outer;
	return built;
}
