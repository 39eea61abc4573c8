/* SPDX-License-Identifier: MIT
 *
 * The targets of a switch.
 */
#ifndef CP_ARCH_X86_64_JUMP_TABLE_H
#define CP_ARCH_X86_64_JUMP_TABLE_H

#include "arch/insn.h"

/* cp_jump_table(), with a handle of capstone's that gives details. */
bool cp_x86_jump_table(size_t handle, const uint8_t *code, size_t size, uint64_t start, uint64_t pc,
		       const struct cp_reader *memory, uint64_t *targets, size_t max,
		       size_t *count_ret);

#endif
