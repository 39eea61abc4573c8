/* SPDX-License-Identifier: MIT
 *
 * System calls about signals that go by way of our code.
 */
#ifndef CP_ARCH_X86_64_SIGCALL_H
#define CP_ARCH_X86_64_SIGCALL_H

#include "arch/insn.h"

/* For cp_step_unslot(): a thread at offset `at` of such a slot. */
uint64_t cp_sigcall_unslot(const struct cp_step *step, uint64_t site, uint64_t at,
			   struct cp_regs *regs);

#endif
