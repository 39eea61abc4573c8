/* SPDX-License-Identifier: MIT
 *
 * What the disassembler's names of registers and moves mean.
 */
#ifndef CP_ARCH_X86_64_OPERANDS_H
#define CP_ARCH_X86_64_OPERANDS_H

#include <stdint.h>

#include "arch/capstone.h"

#define CP_X86_GENERAL 16 /* general registers */
#define CP_X86_NONE 0xffu

/* The number (x86's; cp_x86_dwarf() tells DWARF's) of the general register that
 * `reg` is, or is a part of; CP_X86_NONE: of none. *width_ret: its low bytes that
 * are named; 0: bits 8 to 15, or none. */
unsigned cp_x86_general(unsigned reg, uint8_t *width_ret);

/* How many bytes a move, to or from general, vector or other registers and memory,
 * moves as they are; 0: it is none. */
unsigned cp_x86_move_size(const cs_insn *insn);

#endif
