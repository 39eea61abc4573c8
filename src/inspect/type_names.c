/* SPDX-License-Identifier: MIT */
#include "inspect/type_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "image/find.h"
#include "inspect/members.h"
#include "inspect/number.h"
#include "inspect/shapes.h"
#include "inspect/spelling.h"

/* ---- types ---- */

/* What is behind the declarator that begins at `c`: `[3][4]` is three of four. */
static const struct cp_type *with_suffixes(struct cp_arena *arena, const struct cp_type *t,
					   const char *c, const char *end)
{
	const char *close;

	while (c < end && *c == ' ')
		c++;
	if (c >= end)
		return t;
	close = *c == '(' || *c == '[' ? cp_spelling_bracket(c) : NULL;
	if (!close || close > end)
		return t;
	t = with_suffixes(arena, t, close, end);
	if (!t)
		return NULL;
	return *c == '[' ? cp_type_array_of(arena, t, strtoull(c + 1, NULL, 10))
			 : cp_type_function_of(arena, t, c, (size_t)(close - c));
}

/* A type with what is behind its name: `*[4]`, `(*)[4]`, `(*)(int)`. NULL without memory. */
static const struct cp_type *with_marks(struct cp_arena *arena, const struct cp_type *t,
					const char *c, const char *end)
{
	const char *inner = NULL, *close = NULL;

	for (; t && c < end && *c != '[' && !inner; c++) {
		if (*c == '*' || *c == '&')
			t = cp_type_pointer_to(arena, t);
		else if (*c == '(')
			inner = c;
	}
	if (inner) {
		close = cp_spelling_bracket(inner);
		c = close ? close : end;
	}
	t = t ? with_suffixes(arena, t, c, end) : NULL;
	return t && close ? with_marks(arena, t, inner + 1, close - 1) : t;
}

/* Where the name ends and marks begin. */
static size_t name_size(const char *text)
{
	unsigned depth = 0;
	const char *c;

	for (c = text; *c; c++) {
		if (!depth && (strchr("*[&", *c) || cp_spelling_declares(c)))
			break;
		depth += *c == '<' || *c == '(';
		depth -= depth && (*c == '>' || *c == ')');
	}
	return (size_t)(c - text);
}

/* `struct node *[4]`: a name, then what is behind it. */
CP_ERROR cp_type_by_text(const struct cp_expression_env *env, const char *text,
			 const struct cp_type **ret)
{
	size_t size = name_size(text), name = size;
	const struct cp_type *t;
	char *plain;

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
	*ret = with_marks(env->arena, t, text + size, text + strlen(text));
	return *ret ? NULL : cp_error_nomem();
}

/* ---- enumerators ---- */

/* `A`, `E::A`, `ns::E::A`, of what an enum is in `ns::A`. */
static bool is_path_of(const char *full, const char *path, size_t size)
{
	size_t all = strlen(full);

	return size <= all && !memcmp(full + all - size, path, size) &&
	       (size == all || (all - size >= 2 && !memcmp(full + all - size - 2, "::", 2)));
}

/* Is an enumerator of the type what `path`, of which `last` is the last part, may be in? */
static bool is_in(const struct cp_type *t, const char *path, const char *last)
{
	const char *full = cp_type_full_name(t), *name = cp_name_last_part(full);
	char *scope;
	bool is;

	path += cp_starts_with(path, "::") ? 2 : 0;
	if (last < path + 3 || is_path_of(full, path, (size_t)(last - path) - 2))
		return true;
	scope = name >= full + 3 ? strndup(full, (size_t)(name - full) - 2) : NULL;
	is = scope && is_path_of(scope, path, (size_t)(last - path) - 2);
	free(scope);
	return is;
}

bool cp_enumerator_value(const struct cp_type *type, const char *name, int64_t *ret)
{
	const struct cp_type *t = cp_type_strip(type);
	const char *last = cp_name_last_part(name);
	const struct cp_type_details *d;
	uint32_t i;

	if (!t || t->kind != CP_TYPE_ENUM)
		return false;
	t = cp_type_complete(cp_type_image(t), t);
	d = cp_type_details(t);
	for (i = 0; d && i < d->enumerator_count; i++) {
		if (strcmp(d->enumerators[i].name, last) != 0)
			continue;
		*ret = d->enumerators[i].value;
		return is_in(t, name, last);
	}
	return false;
}

bool cp_enumerator_of(const struct cp_expression_env *env, const struct cp_type *type,
		      const char *name, struct cp_thing *ret)
{
	struct cp_error *err;
	int64_t value;

	if (!cp_enumerator_value(type, name, &value))
		return false;
	err = cp_number_thing(env, (struct cp_number){ CP_NUMBER_INTEGER, .i = value }, type, ret);
	cp_error_free(err);
	return !err;
}

const struct cp_type *cp_enumeration_in(struct cp_image *image, const char *name)
{
	const struct cp_type *type = NULL;
	struct cp_found found;
	struct cp_error *err = cp_image_find_enumerators(image, name, &found);

	if (!err && found.types.count)
		type = found.types.items[0].type;
	if (!err)
		cp_found_free(&found);
	cp_error_free(err);
	return type;
}

/* `E::B` where E is another name of an enum. What is no type takes all debug information to
 * tell, and a function is none. */
static bool enumerator_named(const struct cp_expression_env *env, const char *name,
			     struct cp_thing *ret)
{
	const struct cp_type *type;
	const char *last;

	if (strchr(name, '('))
		return false;
	type = cp_name_scope(env, name, &last);
	return type && cp_enumerator_of(env, type, last, ret);
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

/* ---- names ---- */

/* `Derived::count`, of a base that has such a static member. */
static bool is_inherited(const struct cp_expression_env *env, const char *name,
			 struct cp_thing *ret)
{
	const char *last;
	const struct cp_type *type = strchr(name, '(') ? NULL : cp_name_scope(env, name, &last);
	bool done = false;

	if (type)
		cp_error_free(cp_member_static(env, type, last, ret, &done));
	return done;
}

CP_ERROR cp_name_meant(const struct cp_expression_env *env, const char *name, const char *file,
		       struct cp_thing *ret)
{
	static const struct {
		const char *name;
		int value;
	} words[] = { { "NULL", 0 }, { "nullptr", 0 }, { "true", 1 }, { "false", 0 } };
	struct cp_number number = { .kind = CP_NUMBER_INTEGER };
	struct cp_error *err = env->variable(env->ctx, name, file, ret);
	size_t i;

	if (!err || err->code != CP_ERR_NOT_FOUND || file)
		return err;
	for (i = 0; i < CP_ARRAY_SIZE(words); i++) {
		if (strcmp(name, words[i].name) != 0)
			continue;
		cp_error_free(err);
		number.i = words[i].value;
		return cp_number_thing(env, number, cp_number_type(number), ret);
	}
	if (!enumerator_named(env, name, ret) && !is_inherited(env, name, ret))
		return err;
	cp_error_free(err);
	return NULL;
}
