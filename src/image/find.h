/* SPDX-License-Identifier: MIT
 *
 * Types of an image by their names, as someone types them: with all that they are
 * in or without, blanks and inline namespaces as one likes.
 *
 *     Widget    ns::Widget    Box<int>    std::vector<int, std::allocator<int>>
 *     struct node    (anonymous namespace)::Part    main()::local
 */
#ifndef CP_IMAGE_FIND_H
#define CP_IMAGE_FIND_H

#include "base/arena.h"
#include "base/vec.h"
#include "image/typenames.h"

struct cp_found_type {
	const char *name; /* with all that it is in */
	const struct cp_type *type;
};

struct cp_found {
	struct cp_arena arena; /* of names */
	CP_VEC(struct cp_found_type) types;
	const char *near; /* what may have been meant when nothing was found; or NULL */
};

/* Finds all types that are called so in full; if there is none, those whose name
 * ends so. Of definitions that are the same the first is enough; declarations are
 * left out where there is a definition. CP_ERR_NOT_FOUND without debug information. */
CP_ERROR cp_image_find_types(struct cp_image *image, const char *name, struct cp_found *ret);
/* The same of enumerators, "ns::RED", "ns::Color::RED": the enums that they are of. */
CP_ERROR cp_image_find_enumerators(struct cp_image *image, const char *name, struct cp_found *ret);
/* All structures, unions and enumerations that have a name, or a typedef's, but for those in
 * functions: of definitions that are the same the first. Without an order. */
CP_ERROR cp_image_all_types(struct cp_image *image, struct cp_found *ret);
void cp_found_free(struct cp_found *found);
/* The same names and values, in the same order? */
bool cp_enumerators_are_same(const struct cp_type_details *x, const struct cp_type_details *y);

/* Behind the last "::" that is not in brackets. */
const char *cp_name_last_part(const char *name);

#endif
