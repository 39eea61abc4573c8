/* SPDX-License-Identifier: MIT
 *
 * Arguments of templates: see templates.c.
 */
#ifndef CP_IMAGE_TEMPLATES_H
#define CP_IMAGE_TEMPLATES_H

#include "image/image.h"
#include "image/types.h"

struct cp_type_argument {
	const char *name; /* "" none */
	const struct cp_type *type; /* or of the value; NULL: void */
	bool is_value;
	int64_t value;
};
/* The arguments of a template, in its order: up to `max` are written; answers how
 * many there are. */
size_t cp_type_arguments(struct cp_image *image, const struct cp_type *type,
			 struct cp_type_argument *arguments, size_t max);

#define CP_TEMPLATE_ARGUMENTS 8
struct cp_template {
	const char *name; /* of the class or the function, with its arguments */
	struct cp_type_argument arguments[CP_TEMPLATE_ARGUMENTS];
	size_t count;
	bool has_constant;
	int64_t constant; /* that the class or a base of its has under the name asked for */
};
/* What the function at `at` was made of: its own template, or that of the class that it
 * is a member of. `constant` may be NULL. */
bool cp_image_template_of(struct cp_image *image, struct cp_vaddr at, const char *constant,
			  struct cp_template *ret);

#endif
