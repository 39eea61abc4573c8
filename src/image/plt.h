/* SPDX-License-Identifier: MIT
 *
 * Names for the entries of procedure linkage tables: see plt.c.
 */
#ifndef CP_IMAGE_PLT_H
#define CP_IMAGE_PLT_H

#include "image/raw_symbols.h"

/* False only without memory. */
bool cp_symbols_add_plt(struct cp_elf *elf, struct cp_raw_symbols *raw);

#endif
