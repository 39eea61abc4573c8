/* SPDX-License-Identifier: MIT
 *
 * The code of detours, to be looked through by who stands in it.
 */
#ifndef CP_ARCH_X86_64_DETOUR_H
#define CP_ARCH_X86_64_DETOUR_H

#include "arch/x86_64/detour_move.h"

/* All of a detour; e->bad tells whether that could be done. at_ret, if wanted: for each
 * instruction of the window, by its offset, where what is done for it begins; others are left
 * as they are. */
void cp_x86_detour(struct cp_x86_emit *e, const struct cp_detour *detour,
		   const struct cp_detour_rings *rings, uint64_t at_ret[CP_DETOUR_WINDOW]);

#endif
