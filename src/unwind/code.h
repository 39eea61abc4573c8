/* SPDX-License-Identifier: MIT
 *
 * Rules for code without call frame information: what it does on its way to its return
 * (arch/wayout.h), as call frame information would say it.
 */
#ifndef CP_UNWIND_CODE_H
#define CP_UNWIND_CODE_H

#include "unwind/space.h"

/* The rule at `pc`, as of cp_space_step(), where that knows none. NULL: the code does not tell,
 * or was made at run time. Good until the next call. */
const struct cp_rule *cp_code_rule(struct cp_unwind_space *space, uint64_t pc, bool exact);

#endif
