/* SPDX-License-Identifier: MIT
 *
 * Bounds of functions that no symbol names: see functions.c.
 */
#ifndef CP_IMAGE_FUNCTIONS_H
#define CP_IMAGE_FUNCTIONS_H

#include "image/raw_symbols.h"

/* Function bounds from .eh_frame that `known` does not cover. */
bool cp_symbols_add_unwind(struct cp_elf *elf, const struct cp_spans *known,
			   struct cp_raw_symbols *raw);

#endif
