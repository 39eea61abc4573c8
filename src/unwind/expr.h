/* SPDX-License-Identifier: MIT
 *
 * DWARF expressions, as call frame information uses them: over registers and
 * memory, with a budget of steps, so that no bytes can keep us busy.
 */
#ifndef CP_UNWIND_EXPR_H
#define CP_UNWIND_EXPR_H

#include "arch/arch.h"
#include "base/types.h"

enum cp_expr_status {
	CP_EXPR_OK,
	CP_EXPR_UNKNOWN, /* needs a register that is not known */
	CP_EXPR_MEMORY, /* needs memory that can't be read */
	CP_EXPR_BAD, /* makes no sense, or took too many steps */
};

struct cp_expr_env {
	const struct cp_regs *regs; /* of the frame */
	unsigned nregs;
	const struct cp_reader *memory;
	/* Set by an evaluation that could not be finished. */
	unsigned unknown_reg;
	uint64_t unread_addr;
};

/* Evaluates `size` bytes at `expr`; *initial (NULL: nothing) is on the stack
 * at the start. The top of the stack goes to *ret. */
enum cp_expr_status cp_expr_eval(struct cp_expr_env *env, const uint8_t *expr, size_t size,
				 const uint64_t *initial, uint64_t *ret);

#endif
