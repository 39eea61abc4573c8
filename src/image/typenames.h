/* SPDX-License-Identifier: MIT
 *
 * What types are called: see typenames.c.
 */
#ifndef CP_IMAGE_TYPENAMES_H
#define CP_IMAGE_TYPENAMES_H

#include "image/types.h"

/* Tells the names of all that has members, those of classes with all that they
 * are in; some more than once. Nothing without debug information. */
void cp_image_type_names(struct cp_image *image, void (*tell)(void *ctx, const char *name),
			 void *ctx);

/* What a type is called with all that it is in: "ns::Widget", "main()::local"; as C has it
 * where nothing names it ("const char *"). Lives as long as its image. */
const char *cp_type_full_name(const struct cp_type *type);

#endif
