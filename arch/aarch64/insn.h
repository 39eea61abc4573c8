/* SPDX-License-Identifier: MIT
 *
 * AArch64 instructions, as far as where they lead.
 */
#ifndef CP_ARCH_AARCH64_INSN_H
#define CP_ARCH_AARCH64_INSN_H

#include "arch/insn.h"

bool cp_aarch64_decode(const uint8_t *code, size_t size, uint64_t pc, struct cp_insn *ret);

#endif
