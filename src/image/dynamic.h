/* SPDX-License-Identifier: MIT
 *
 * Dynamic symbols without section headers: see dynamic.c.
 */
#ifndef CP_IMAGE_DYNAMIC_H
#define CP_IMAGE_DYNAMIC_H

#include "image/raw_symbols.h"

/* The dynamic symbols of a file without section headers. */
bool cp_symbols_add_dynamic(struct cp_elf *elf, struct cp_raw_symbols *raw);

#endif
