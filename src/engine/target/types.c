/* SPDX-License-Identifier: MIT */
#include "engine/target/types.h"

#include "engine/target/state.h"
#include "image/find.h"

const struct cp_type *engine_type_named(const cprof_assembly *a, const char *name)
{
	const struct cp_type *type = NULL;
	struct cp_found found;
	struct cp_error *err;

	if (!a->image)
		return NULL;
	err = cp_image_find_types(a->image, name, &found);
	if (err) {
		cp_error_free(err);
		return NULL;
	}
	if (found.types.count)
		type = found.types.items[0].type;
	cp_found_free(&found);
	return type;
}
