/* SPDX-License-Identifier: MIT
 *
 * Terms of declarations are expressions whose names are members: of the node or the
 * pair at hand, then of the value itself. Besides there are
 *
 *     $i       the number of an element
 *     $node    a pointer to the node
 *     $self    a pointer to the value itself
 *     $1, $2   arguments of the value's template: types, and values
 *     $a$b$1   the first argument of the template that the member a.b is of
 */
#include "inspect/shape_terms.h"

#include <stdlib.h>
#include <string.h>

#include "image/find.h"
#include "image/templates.h"
#include "inspect/evaluate.h"
#include "inspect/members.h"
#include "inspect/number.h"
#include "inspect/type_names.h"

#define ARGUMENTS_MAX 64

static CP_ERROR no_type(const char *name)
{
	return cp_error_new(CP_ERR_NOT_FOUND, 0, "there is no type %s", name);
}

static const struct cp_type *completed(const struct cp_type *type)
{
	const struct cp_type *t = cp_type_strip(type);

	return t ? cp_type_complete(cp_type_image(t), t) : NULL;
}

/* ---- arguments of templates ---- */

static bool argument(const struct cp_type *of, uint64_t number, struct cp_type_argument *ret)
{
	struct cp_type_argument arguments[ARGUMENTS_MAX];
	const struct cp_type *t = completed(of);
	size_t n;

	if (!t || number >= ARGUMENTS_MAX)
		return false;
	n = cp_type_arguments(cp_type_image(t), t, arguments, ARGUMENTS_MAX);
	if (number >= n)
		return false;
	*ret = arguments[number];
	return true;
}

bool cp_shape_argument(struct cp_shape_scope *scope, const struct cp_type *of, uint64_t number,
		       const struct cp_type **ret)
{
	struct cp_type_argument a;

	if (!argument(of ? of : scope->self.type, number, &a) || a.is_value)
		return false;
	*ret = a.type;
	return a.type != NULL;
}

/* gcc says nothing of the arguments of a template that another names before it is whole
 * (_List_iterator's) but in the name. */
static bool argument_by_name(struct cp_shape_scope *scope, const struct cp_type *of,
			     uint64_t number, const struct cp_type **ret)
{
	const struct cp_type *t = cp_type_strip(of);
	const char *at = t && t->name ? strchr(t->name, '<') : NULL, *end;
	struct cp_error *err;
	unsigned depth = 0;
	char text[256];
	uint64_t n = 0;

	for (end = at ? ++at : ""; *end && (depth || *end != '>'); end++) {
		depth += *end == '<' || *end == '(';
		depth -= depth && (*end == '>' || *end == ')');
		if (depth || *end != ',')
			continue;
		if (n++ == number)
			break;
		at = end + 1 + (end[1] == ' ');
	}
	if (!*end || n < number || n > number + 1 || (size_t)(end - at) >= sizeof(text))
		return false;
	memcpy(text, at, (size_t)(end - at));
	text[end - at] = '\0';
	err = cp_type_by_text(&scope->env, text, ret);
	cp_error_free(err);
	return !err;
}

CP_ERROR cp_shape_type(struct cp_shape_scope *scope, const char *name, const struct cp_type **ret)
{
	const struct cp_type *t = scope->self.type;
	struct cp_thing at = scope->self;
	const char *part = name, *end;
	struct cp_error *err;
	char member[256];
	uint64_t number;

	if (*name != '$' && scope->shapes && scope->shapes->find_type)
		return scope->shapes->find_type(scope->shapes->ctx, name, ret);
	if (*name != '$')
		return no_type(name);
	for (; *part == '$'; part = end) {
		end = part + 1 + strcspn(part + 1, "$");
		number = strtoull(part + 1, NULL, 10);
		if (part[1] >= '0' && part[1] <= '9') {
			if (!number || (!cp_shape_argument(scope, t, number - 1, &t) &&
					!argument_by_name(scope, t, number - 1, &t)))
				return no_type(name);
			continue;
		}
		if ((size_t)(end - part) > sizeof(member))
			return no_type(name);
		memcpy(member, part + 1, (size_t)(end - part) - 1);
		member[end - part - 1] = '\0';
		err = cp_member_find(&scope->env, &at, member, &at);
		if (err)
			return err;
		t = at.type;
	}
	*ret = t;
	return NULL;
}

/* ---- names ---- */

static CP_ERROR find_type(void *ctx, const char *name, const struct cp_type **ret)
{
	return cp_shape_type(ctx, name, ret);
}

static CP_ERROR special(struct cp_shape_scope *scope, const char *name, struct cp_thing *ret)
{
	struct cp_number number = { .kind = CP_NUMBER_INTEGER };
	struct cp_type_argument a;

	if (!strcmp(name, "$node") && scope->node.type) {
		*ret = scope->node;
		return NULL;
	}
	if (!strcmp(name, "$self") && scope->self.in_memory) {
		number.i = scope->self.address;
		return cp_number_thing(&scope->env, number,
				       cp_type_pointer_to(scope->env.arena, scope->self.type), ret);
	}
	if (!strcmp(name, "$i")) {
		number.i = scope->index;
		return cp_number_thing(&scope->env, number, cp_type_of_c("long"), ret);
	}
	if (name[1] >= '1' && name[1] <= '9' &&
	    argument(scope->self.type, strtoull(name + 1, NULL, 10) - 1, &a) && a.is_value) {
		number.i = a.value;
		return cp_number_thing(&scope->env, number, cp_type_of_c("long"), ret);
	}
	return cp_error_new(CP_ERR_NOT_FOUND, 0, "there is no %s", name);
}

static CP_ERROR find_variable(void *ctx, const char *name, const char *file, struct cp_thing *ret)
{
	struct cp_shape_scope *scope = ctx;
	struct cp_error *err = NULL;

	if (*name == '$')
		return special(scope, name, ret);
	if (file)
		return cp_error_new(CP_ERR_NOT_FOUND, 0, "declarations are over members alone");
	if (scope->focus.type) {
		err = cp_member_find(&scope->env, &scope->focus, name, ret);
		if (!err || err->code == CP_ERR_NOMEM)
			return err;
		cp_error_free(err);
	}
	return cp_member_find(&scope->env, &scope->self, name, ret);
}

/* ---- terms ---- */

bool cp_shape_scope_init(struct cp_shape_scope *scope, const struct cp_expression_env *outer,
			 const struct cp_shapes *shapes, const struct cp_shape_row *row,
			 const struct cp_thing *self)
{
	*scope = (struct cp_shape_scope){
		.outer = outer, .env = *outer, .shapes = shapes, .row = row, .self = *self
	};
	scope->values = cp_value_arena_create();
	scope->env.values = scope->values;
	scope->env.variable = find_variable;
	scope->env.type = find_type;
	scope->env.symbol = NULL;
	scope->env.variable_at = NULL;
	scope->env.ctx = scope;
	return scope->values != NULL;
}

void cp_shape_scope_deinit(struct cp_shape_scope *scope)
{
	size_t i;

	for (i = 0; i < CP_TERMS; i++)
		cp_condition_destroy(scope->parsed[i]);
	cp_arena_free(&scope->step);
	cp_value_arena_destroy(scope->values);
}

void cp_shape_scope_by_step(struct cp_shape_scope *scope, bool by_step)
{
	scope->env.arena = by_step ? &scope->step : scope->outer->arena;
}

void cp_shape_scope_forget(struct cp_shape_scope *scope)
{
	cp_arena_reset(&scope->step);
	cp_value_arena_reset(scope->values);
}

void cp_shape_scope_enter(struct cp_shape_scope *scope, const struct cp_type *pointer,
			  uint64_t address)
{
	memcpy(scope->node_address, &address, sizeof(address));
	scope->node = (struct cp_thing){ .type = pointer,
					 .bytes = scope->node_address,
					 .size = sizeof(scope->node_address),
					 .source = CPROF_SOURCE_MEMORY };
	scope->focus = (struct cp_thing){ .type = cp_type_strip(pointer)->target,
					  .in_memory = true,
					  .address = address,
					  .source = CPROF_SOURCE_MEMORY };
}

/* `..name` is found by the type alone. */
static CP_ERROR anywhere(struct cp_shape_scope *scope, const char *path, struct cp_thing *ret)
{
	const struct cp_type *t = completed(scope->self.type), *type;
	uint64_t offset;

	if (!t || !cp_shape_member(cp_type_image(t), t, path, &offset, &type))
		return cp_error_new(CP_ERR_NOT_FOUND, 0, "there is no %s", path);
	*ret = scope->self;
	ret->type = type;
	ret->address += offset;
	if (ret->in_memory)
		return NULL;
	ret->error = offset + type->size > ret->size ? CPROF_VALUE_UNAVAILABLE : CPROF_VALUE_OK;
	ret->bytes += ret->error ? 0 : offset;
	ret->within += offset;
	ret->size = type->size;
	return NULL;
}

CP_ERROR cp_shape_term(struct cp_shape_scope *scope, enum cp_shape_term term, struct cp_thing *ret)
{
	const char *text = scope->row->terms[term];

	if (!text)
		return cp_error_new(CP_ERR_NOT_FOUND, 0, "it is not declared");
	if (!strncmp(text, "..", 2))
		return anywhere(scope, text, ret);
	if (!scope->parsed[term])
		CP_TRY(cp_expression_parse(text, &scope->parsed[term]));
	return cp_expression_evaluate(scope->parsed[term], &scope->env, ret);
}

CP_ERROR cp_shape_number(struct cp_shape_scope *scope, enum cp_shape_term term, int64_t *ret,
			 struct cp_thing *thing_ret)
{
	struct cp_number number;

	CP_TRY(cp_shape_term(scope, term, thing_ret));
	number = cp_number_of(&scope->env, thing_ret);
	if (thing_ret->error)
		return NULL;
	if (number.kind != CP_NUMBER_INTEGER)
		return cp_error_new(CP_ERR_USAGE, 0, "'%s' is no integer", scope->row->terms[term]);
	*ret = (int64_t)number.i;
	return NULL;
}
