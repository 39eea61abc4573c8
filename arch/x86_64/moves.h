/* SPDX-License-Identifier: MIT
 *
 * What an instruction does with addresses of functions.
 */
#ifndef CP_ARCH_X86_64_MOVES_H
#define CP_ARCH_X86_64_MOVES_H

#include "arch/insn.h"

/* cp_decode_moves(), with a handle of capstone's that gives details and an instruction
 * of its to decode into. */
void cp_x86_moves(size_t handle, void *scratch, const uint8_t *code, size_t size, uint64_t pc,
		  struct cp_moves *ret);

#endif
