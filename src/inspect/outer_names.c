/* SPDX-License-Identifier: MIT
 *
 * Conditions ask for the same few names at call after call, and whether there is one takes
 * a look at all debug information.
 */
#include "inspect/outer_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "image/find.h"
#include "inspect/type_names.h"

static void free_name(struct cp_outer_name *n)
{
	if (!n)
		return;
	cp_globals_free(&n->found);
	free(n->key);
	free(n);
}

void cp_outer_names_free(struct cp_outer_names *names)
{
	size_t i;

	for (i = 0; i < names->list.count; i++)
		free_name(names->list.items[i]);
	cp_vec_free(&names->list);
}

static const char *without_root(const char *name)
{
	return cp_starts_with(name, "::") ? name + 2 : name;
}

struct cp_outer_name *cp_outer_variables(struct cp_outer_names *names, struct cp_image *image,
					 const char *name, const char *file)
{
	const struct cp_global_query query = { .name = without_root(name), .file = file };
	CP_FREE char *key = NULL;
	struct cp_outer_name *n, **known;
	struct cp_error *err;

	if (asprintf(&key, "%s\n%s", file ? file : "", query.name) < 0)
		return NULL;
	cp_vec_for_each(&names->list, known)
		if (!strcmp((*known)->key, key))
			return *known;
	n = calloc(1, sizeof(*n));
	err = n ? cp_image_find_globals(image, &query, &n->found) : NULL;
	if (!n || err || !cp_vec_push(&names->list, n)) {
		cp_error_free(err);
		free_name(n);
		return NULL;
	}
	n->key = cp_steal(key);
	return n;
}

struct cp_outer_name *cp_outer_name(struct cp_outer_names *names, struct cp_image *image,
				    const char *name, const char *file)
{
	struct cp_outer_name *n = cp_outer_variables(names, image, name, file);

	if (!n || n->found.list.count)
		return n;
	if (!file && !n->looked_further) {
		n->looked_further = true;
		n->function = cp_function_address(image, without_root(name)).v;
		if (!n->function)
			n->enumeration = cp_enumeration_in(image, without_root(name));
	}
	return n->function || n->enumeration ? n : NULL;
}

/* ---- in a function ---- */

/* Leaves the innermost of what a name is in: "a::b" becomes "a", "a" nothing. */
static void leave(char *scope)
{
	const char *last = cp_name_last_part(scope);

	scope[last > scope + 1 ? last - scope - 2 : 0] = '\0';
}

/* What a function is in, "ns::Class"; "" for nothing. NULL without memory. */
static char *scope_of(const char *function)
{
	char *scope = cp_demangle(function);

	scope = scope ? scope : strdup(function);
	if (!scope)
		return NULL;
	scope[cp_short_name(scope)] = '\0';
	leave(scope);
	return scope;
}

static struct cp_outer_name *look_around(struct cp_outer_names *names, struct cp_image *image,
					 char *scope, const char *name)
{
	for (; *scope; leave(scope)) {
		struct cp_outer_name *n;
		CP_FREE char *full = NULL;

		if (asprintf(&full, "%s::%s", scope, name) < 0)
			return NULL;
		n = cp_outer_variables(names, image, full, NULL);
		if (n && n->found.list.count && !strcmp(n->found.list.items[0].name, full))
			return n;
	}
	return NULL;
}

struct cp_outer_name *cp_outer_variable_within(struct cp_outer_names *names, struct cp_image *image,
					       const char *function, const char *name)
{
	CP_FREE char *key = NULL, *scope = NULL;
	struct cp_outer_name *n, **known;

	if (!function || cp_starts_with(name, "::") ||
	    asprintf(&key, "%s\n\n%s", function, name) < 0)
		return NULL;
	cp_vec_for_each(&names->list, known)
		if (!strcmp((*known)->key, key))
			return (*known)->meant;
	scope = scope_of(function);
	n = calloc(1, sizeof(*n));
	if (!n || !scope || !cp_vec_push(&names->list, n)) {
		free_name(n);
		return NULL;
	}
	n->key = cp_steal(key);
	n->meant = look_around(names, image, scope, name);
	return n->meant;
}

struct cp_outer_name *cp_outer_name_within(struct cp_outer_names *names, struct cp_image *image,
					   const char *function, const char *name, const char *file)
{
	struct cp_outer_name *n =
		file ? NULL : cp_outer_variable_within(names, image, function, name);

	return n ? n : cp_outer_name(names, image, name, file);
}

const struct cp_type *cp_outer_type(const struct cp_outer_name *outer)
{
	return outer->found.list.count ? outer->found.list.items[0].variable.type
				       : outer->enumeration;
}

bool cp_outer_thing(const struct cp_expression_env *env, const struct cp_outer_name *outer,
		    const struct cp_statics *statics, const struct cp_placed_image *of,
		    bool program, const char *name, struct cp_thing *ret)
{
	if (outer->found.list.count) {
		*ret = cp_static_thing(statics, of, program, &outer->found.list.items[0]);
		return true;
	}
	if (outer->function)
		return cp_function_pointer(env->arena, outer->function + of->bias, ret);
	return outer->enumeration && cp_enumerator_of(env, outer->enumeration, name, ret);
}
