/* SPDX-License-Identifier: MIT */
#include "cmd/layout_list.h"

#include <fnmatch.h>
#include <string.h>

static int by_name(const void *a, const void *b)
{
	const struct cp_found_type *x = a, *y = b;
	int order = strcmp(x->name, y->name);
	uint64_t size = cp_type_strip(x->type)->size, other = cp_type_strip(y->type)->size;

	if (order)
		return order;
	return size < other ? -1 : size > other;
}

CP_ERROR cp_layout_list(struct cp_image *image, const char *glob, struct cp_found *ret)
{
	size_t i, kept = 0;

	CP_TRY(cp_image_all_types(image, ret));
	for (i = 0; i < ret->types.count; i++)
		if (!glob || !fnmatch(glob, ret->types.items[i].name, 0))
			ret->types.items[kept++] = ret->types.items[i];
	ret->types.count = kept;
	if (kept)
		cp_vec_sort(&ret->types, by_name);
	return NULL;
}

CP_ERROR cp_layout_none(const char *glob)
{
	return glob ? cp_error_hint(cp_error_new(CP_ERR_NOT_FOUND, 0, "no type matches '%s'", glob),
				    "a GLOB is of names in full: 'ns::*', '*Widget'")
		    : cp_error_new(CP_ERR_NOT_FOUND, 0, "the debug information has no types");
}
