/* SPDX-License-Identifier: MIT */
#include "inspect/type_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "image/find.h"
#include "inspect/members.h"
#include "inspect/number.h"
#include "inspect/shapes.h"

/* `struct node *[4]`: a name, then what is behind it. */
CP_ERROR cp_type_by_text(const struct cp_expression_env *env, const char *text,
			 const struct cp_type **ret)
{
	size_t size = strlen(text), name = size;
	const struct cp_type *t;
	char *plain;
	const char *c;
	unsigned depth = 0;

	for (c = text; *c && name == size; c++) {
		depth += *c == '<' || *c == '(';
		depth -= depth && (*c == '>' || *c == ')');
		if (!depth && (*c == '*' || *c == '[' || *c == '&'))
			name = (size_t)(c - text);
	}
	plain = cp_arena_copy(env->arena, text, name);
	if (!plain)
		return cp_error_nomem();
	for (; name && plain[name - 1] == ' '; name--)
		plain[name - 1] = '\0';
	while (cp_starts_with(plain, "const ") || cp_starts_with(plain, "volatile "))
		plain = strchr(plain, ' ') + 1;
	if (cp_ends_with(plain, " const"))
		plain[strlen(plain) - strlen(" const")] = '\0';
	t = cp_type_of_c(plain);
	if (!t)
		CP_TRY(env->type(env->ctx, plain, &t));
	for (c = text + name; *c; c++) {
		if (*c == '*' || *c == '&')
			t = cp_type_pointer_to(env->arena, t);
		else if (*c == '[')
			t = cp_type_array_of(env->arena, t, strtoull(c + 1, NULL, 10));
		if (!t)
			return cp_error_nomem();
	}
	*ret = t;
	return NULL;
}

bool cp_enumerator_of(const struct cp_expression_env *env, const struct cp_type *type,
		      const char *name, struct cp_thing *ret)
{
	const struct cp_type *t = cp_type_strip(type);
	const struct cp_type_details *d;
	struct cp_error *err;
	uint32_t i;

	if (!t || t->kind != CP_TYPE_ENUM)
		return false;
	t = cp_type_complete(cp_type_image(t), t);
	d = cp_type_details(t);
	for (i = 0; d && i < d->enumerator_count; i++) {
		if (strcmp(d->enumerators[i].name, name) != 0)
			continue;
		err = cp_number_thing(env,
				      (struct cp_number){ CP_NUMBER_INTEGER,
							  .i = d->enumerators[i].value },
				      type, ret);
		cp_error_free(err);
		return !err;
	}
	return false;
}

bool cp_enumerator_named(const struct cp_expression_env *env, const char *name,
			 struct cp_thing *ret)
{
	const char *last;
	const struct cp_type *type = cp_name_scope(env, name, &last), *t;
	const struct cp_type_details *d;
	uint32_t i;

	t = type ? cp_type_strip(type) : NULL;
	if (!t)
		return false;
	if (t->kind == CP_TYPE_ENUM)
		return cp_enumerator_of(env, type, last, ret);
	t = cp_type_complete(cp_type_image(t), t);
	d = t->kind == CP_TYPE_STRUCT || t->kind == CP_TYPE_UNION ? cp_type_details(t) : NULL;
	for (i = 0; d && i < d->member_count; i++)
		if (d->members[i].type && cp_enumerator_of(env, d->members[i].type, last, ret))
			return true;
	return false;
}

CP_ERROR cp_enumerator_key(const struct cp_expression_env *env, const struct cp_thing *map,
			   const char *name, struct cp_error *why, struct cp_thing *ret)
{
	const char *last = cp_name_last_part(name);
	const struct cp_thing index = { .type = &cp_shape_enumerator,
					.bytes = (const uint8_t *)last,
					.size = strlen(last) };
	struct cp_error *err = NULL;
	bool done = false;

	if (env->shapes)
		err = env->shapes->ops->element(env, map, &index, ret, &done);
	cp_error_free(done ? why : err);
	return done ? err : why;
}
