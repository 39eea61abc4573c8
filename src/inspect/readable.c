/* SPDX-License-Identifier: MIT */
#include "inspect/readable.h"

#include <string.h>

#include "base/types.h"

#define ALIASES_MAX 64

bool cp_type_is_character(const struct cp_type *type)
{
	unsigned i;

	/* uint8_t, u8, byte are numbers, whatever they are made of. */
	for (i = 0; type && type->kind == CP_TYPE_ALIAS && i < ALIASES_MAX; i++) {
		if (type->name && strcmp(type->name, "char8_t") != 0 &&
		    (strchr(type->name, '8') || strstr(type->name, "yte")))
			return false;
		type = type->target;
	}
	return type && type->kind == CP_TYPE_CHAR;
}

const struct cp_type *cp_type_characters(const struct cp_type *type)
{
	const struct cp_type *t = cp_type_strip(type), *of;

	if (!t || (t->kind != CP_TYPE_POINTER && t->kind != CP_TYPE_ARRAY) || !t->target)
		return NULL;
	of = cp_type_strip(t->target);
	return of->size == 1 && cp_type_is_character(t->target) ? of : NULL;
}

uint64_t cp_type_wide_characters(const struct cp_type *type)
{
	static const char *const names[] = { "wchar_t", "char16_t", "char32_t" };
	const struct cp_type *t = cp_type_strip(type), *of;
	unsigned i, k;

	if (!t || (t->kind != CP_TYPE_POINTER && t->kind != CP_TYPE_ARRAY) || !t->target)
		return 0;
	of = t->target;
	for (i = 0; of && i < ALIASES_MAX; i++) {
		for (k = 0; of->name && k < CP_ARRAY_SIZE(names); k++)
			if (!strcmp(of->name, names[k]))
				return cp_type_strip(of)->size == 2 || cp_type_strip(of)->size == 4
					       ? cp_type_strip(of)->size
					       : 0;
		of = of->kind == CP_TYPE_ALIAS ? of->target : NULL;
	}
	return 0;
}

bool cp_type_is_flexible(const struct cp_type *type)
{
	const struct cp_type *t = cp_type_strip(type);

	/* One that was made is as long as it says. */
	return t && t->kind == CP_TYPE_ARRAY && t->unit && !t->bound && !t->count &&
	       (cp_language_is_c(t->language) || cp_language_is_cplusplus(t->language));
}

bool cp_type_has_flexible(const struct cp_type *type)
{
	const struct cp_type *t = cp_type_strip(type);
	const struct cp_type_details *d;

	if (!t || t->kind != CP_TYPE_STRUCT)
		return false;
	d = cp_type_details(cp_type_complete(cp_type_image(t), t));
	return d && d->member_count && cp_type_is_flexible(d->members[d->member_count - 1].type);
}

bool cp_type_is_reserved(const struct cp_type *type)
{
	const struct cp_type_details *d = cp_type_details(type);

	return d && d->member_count && (!type->name || type->name[0] == '_') &&
	       !(type->flags & CP_TYPE_CLASSES) && d->members[0].name[0] == '_';
}

bool cp_type_has_size(const struct cp_type *type)
{
	if (!type || type->flags & CP_TYPE_DECLARED)
		return false;
	return type->size || (type->kind >= CP_TYPE_INT && type->kind <= CP_TYPE_UNION);
}
