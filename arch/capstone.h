/* SPDX-License-Identifier: MIT
 *
 * capstone, loaded when it is first opened: what its own header declares, and of that the
 * functions below alone. cs_open() fails where the library can't be loaded; the others are for
 * who has a handle.
 */
#ifndef CP_ARCH_CAPSTONE_H
#define CP_ARCH_CAPSTONE_H

#include <capstone/capstone.h>

/* clang-format off */
#define CP_CAPSTONE_FUNCTIONS(f) \
	f(cs_open) f(cs_close) f(cs_option) f(cs_malloc) f(cs_free) f(cs_disasm_iter) \
	f(cs_regs_access) f(cs_insn_group) f(cs_reg_write)
/* clang-format on */

#endif
