/* SPDX-License-Identifier: MIT
 *
 * A sample of blocks, one about every so many bytes: what is not chosen costs a subtraction,
 * what is freed a look at a byte. Each thread has its own way to the next byte that chooses:
 * ways are exponential, so it makes no difference who allocates it.
 */
#ifndef CP_ARCH_X86_64_DETOUR_SAMPLE_H
#define CP_ARCH_X86_64_DETOUR_SAMPLE_H

#include "arch/x86_64/detour_move.h"

/* With rax, rcx and flags free. Goes on where the block is chosen whose size the call asks
 * for, or was the one that it moves; else it takes the jump that is returned. A block of
 * nothing counts as one byte, one of more than can be as none. */
size_t cp_x86_put_sample(struct cp_x86_emit *e, const struct cp_detour_rings *rings,
			 const struct cp_detour_block *block);
/* Was the block at the address in a register perhaps chosen? The jump where not. */
size_t cp_x86_put_if_chosen(struct cp_x86_emit *e, const struct cp_detour_rings *rings,
			    uint8_t address);
/* If so, there is one less, by the record for which there is room now. */
void cp_x86_count_down(struct cp_x86_emit *e, const struct cp_detour_rings *rings, uint8_t address);
/* In the register is a chosen block's address. */
void cp_x86_note_chosen(struct cp_x86_emit *e, const struct cp_detour_rings *rings,
			uint8_t address);

#endif
