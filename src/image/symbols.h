/* SPDX-License-Identifier: MIT
 *
 * The symbol table of an image: see symbols.c.
 */
#ifndef CP_IMAGE_SYMBOLS_H
#define CP_IMAGE_SYMBOLS_H

#include "image/image.h"

struct cp_symbols;

void cp_symbols_destroy(struct cp_symbols *table);

#endif
