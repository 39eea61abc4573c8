/* SPDX-License-Identifier: MIT
 *
 * Variables of libraries of which a program has copies.
 */
#ifndef CP_IMAGE_COPIES_H
#define CP_IMAGE_COPIES_H

#include "image/image.h"

/* A program that was linked without regard to where libraries are (which gcc's are, position
 * independent or not) has a copy of variables of theirs that it uses, and everybody uses that.
 * Where the one of `library` at `at` is in `program`; false: there is none. */
bool cp_image_copy(struct cp_image *program, struct cp_image *library, struct cp_vaddr at,
		   struct cp_vaddr *ret);

#endif
