/* SPDX-License-Identifier: MIT
 *
 * Instructions that are executed elsewhere.
 */
#ifndef CP_ARCH_X86_64_STEP_H
#define CP_ARCH_X86_64_STEP_H

#include "arch/insn.h"

bool cp_x86_step_prepare(const uint8_t *code, size_t size, uint64_t pc, uint64_t slot,
			 uint8_t *slot_code, struct cp_step *ret);

#endif
