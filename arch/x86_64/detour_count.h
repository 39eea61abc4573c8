/* SPDX-License-Identifier: MIT
 *
 * The code of detours that count.
 */
#ifndef CP_ARCH_X86_64_DETOUR_COUNT_H
#define CP_ARCH_X86_64_DETOUR_COUNT_H

#include "arch/x86_64/detour_move.h"

/* As cp_x86_detour(), of one with counts. */
void cp_x86_counting(struct cp_x86_emit *e, const struct cp_detour *detour,
		     uint64_t at_ret[CP_DETOUR_WINDOW]);

#endif
