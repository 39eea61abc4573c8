/* SPDX-License-Identifier: MIT
 *
 * Programs of call frame information, and the rows that they make: see program.c.
 */
#ifndef CP_UNWIND_PROGRAM_H
#define CP_UNWIND_PROGRAM_H

#include "arch/arch.h"
#include "unwind/entry.h"

enum cp_rule_kind {
	CP_RULE_UNSPECIFIED, /* the ABI decides: preserved if callee-saved */
	CP_RULE_SAME,
	CP_RULE_UNDEFINED,
	CP_RULE_OFFSET, /* saved at CFA + offset */
	CP_RULE_VAL_OFFSET, /* is CFA + offset */
	CP_RULE_REGISTER, /* is in register `offset` */
	CP_RULE_EXPR, /* saved where the expression says */
	CP_RULE_VAL_EXPR, /* is what the expression says */
};

struct cp_cfi_value {
	enum cp_rule_kind kind;
	uint32_t expr_size;
	union {
		int64_t offset;
		const uint8_t *expr; /* in the entry's bytes */
	};
};

#define CP_CFI_NO_REG 0xff

/* A row of the table that a program describes. */
struct cp_cfi_row {
	uint8_t cfa_reg; /* CP_CFI_NO_REG: the expression in `cfa`, or nothing */
	struct cp_cfi_value cfa; /* OFFSET from cfa_reg, VAL_EXPR, or UNSPECIFIED */
	bool ra_signed; /* AArch64: return address carries an authentication code */
	struct cp_cfi_value regs[CP_REG_MAX];
};

struct cp_cie {
	uint64_t code_align;
	int64_t data_align;
	unsigned ra_reg;
	uint8_t pointer_encoding;
	uint8_t lsda_encoding; /* DW_EH_PE_omit: its functions have none */
	bool augmented; /* FDEs have augmentation data */
	bool signal; /* frames of a signal trampoline */
	uint8_t *bytes; /* owned: its body, where `initial` points to */
	struct cp_cfi_row initial; /* what its instructions set up */
};

struct cp_fde {
	uint64_t start, end;
	uint64_t lsda; /* its language-specific data area (lsda.h); 0: none */
	struct cp_cfi_cursor program;
};

/* Runs an FDE's program; `emit` gets each row and the address it starts to
 * hold at, ascending, and stops the run with false. False when the program is
 * broken: the rows so far are good, and one without a CFA follows them. */
bool cp_cfi_run(const struct cp_cfi_source *source, const struct cp_cie *cie,
		const struct cp_fde *fde, unsigned nregs,
		bool (*emit)(void *ctx, uint64_t from, const struct cp_cfi_row *row), void *ctx);

/* Runs a CIE's instructions, which make one row. */
bool cp_cfi_run_initial(const struct cp_cfi_source *source, const struct cp_cie *cie,
			struct cp_cfi_cursor program, unsigned nregs, struct cp_cfi_row *row);

#endif
