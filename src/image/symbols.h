/* SPDX-License-Identifier: MIT
 *
 * The symbol table of an image: see symbols.c.
 */
#ifndef CP_IMAGE_SYMBOLS_H
#define CP_IMAGE_SYMBOLS_H

#include "image/image.h"

struct cp_symbols;

void cp_symbols_destroy(struct cp_symbols *table);

/* The best name of the function that covers `at`, if `name` is one that it has; else `name`. */
const char *cp_symbols_best_name(struct cp_image *image, struct cp_vaddr at, const char *name);

#endif
