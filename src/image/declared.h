/* SPDX-License-Identifier: MIT
 *
 * Where variables are that a file only declares, as those of objects without debug
 * information: their symbols tell.
 */
#ifndef CP_IMAGE_DECLARED_H
#define CP_IMAGE_DECLARED_H

#include "base/arena.h"
#include "image/image.h"
#include "image/types.h"

/* Gives a variable the place of the symbol `linkage`, or where that is NULL `name`, or of one
 * that is that when it is demangled; what that takes is in `arena`. False: there is none. */
bool cp_image_place_declared(struct cp_image *image, const char *linkage, const char *name,
			     struct cp_arena *arena, struct cp_variable *variable);

#endif
