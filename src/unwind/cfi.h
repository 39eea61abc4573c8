/* SPDX-License-Identifier: MIT
 *
 * Call frame information as bytes: the entries (CIE and FDE) of .eh_frame and
 * .debug_frame, and the small programs in them. Everything here works with
 * link-time addresses, so that what comes out fits every process that maps
 * the object. The bytes may be anything: sizes are checked, loops bounded.
 */
#ifndef CP_UNWIND_CFI_H
#define CP_UNWIND_CFI_H

#include "arch/arch.h"
#include "base/cursor.h"
#include "base/types.h"

/* Where a section's bytes come from: a copy, or a process's memory. */
struct cp_cfi_source {
	const uint8_t *bytes; /* of start ... end; NULL: read `memory` */
	const struct cp_reader *memory;
	uint64_t bias; /* run-time minus link-time address where memory was read; else 0 */
	uint64_t start, end; /* link-time addresses that may be read */
	uint64_t low, high; /* the whole object's, to recognise relocated pointers */
	bool debug_frame; /* else .eh_frame */
};

/* Bytes between start and end; how many could be read. */
size_t cp_cfi_read(const struct cp_cfi_source *source, uint64_t at, void *buffer, size_t size);

/* Room for an entry read out of memory; all-zero at first. */
struct cp_cfi_scratch {
	uint8_t *bytes;
	size_t capacity;
};
void cp_cfi_scratch_free(struct cp_cfi_scratch *scratch);

/* Bytes and the address of the first of them. */
struct cp_cfi_cursor {
	struct cp_cursor c;
	const uint8_t *first;
	uint64_t addr;
};

struct cp_cfi_entry {
	uint64_t at, next; /* its address, and that of the entry behind it */
	bool end; /* a zero length: padding, or the end of .eh_frame */
	bool is_cie;
	uint64_t cie; /* an FDE's CIE */
	struct cp_cfi_cursor body; /* what follows the CIE id or pointer; in scratch or source */
};

/* Reads the entry at `at`. False: it can't be read or makes no sense. */
bool cp_cfi_read_entry(const struct cp_cfi_source *source, uint64_t at,
		       struct cp_cfi_scratch *scratch, struct cp_cfi_entry *ret);

/* A DW_EH_PE_* encoded pointer. `data` is the base of datarel, 0: there is
 * none. False for encodings that need what we don't know. */
bool cp_cfi_read_pointer(const struct cp_cfi_source *source, struct cp_cfi_cursor *c,
			 uint8_t encoding, uint64_t data, uint64_t *ret);

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

/* One row of the table that a program describes. */
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

/* False: unusable. On success, free with cp_cie_deinit(). */
bool cp_cie_parse(const struct cp_cfi_source *source, const struct cp_cfi_entry *entry,
		  unsigned nregs, struct cp_cie *ret);
void cp_cie_deinit(struct cp_cie *cie);

struct cp_fde {
	uint64_t start, end;
	uint64_t lsda; /* its language-specific data area (lsda.h); 0: none */
	struct cp_cfi_cursor program;
};

bool cp_fde_parse(const struct cp_cfi_source *source, const struct cp_cfi_entry *entry,
		  const struct cp_cie *cie, struct cp_fde *ret);

/* Runs an FDE's program; `emit` gets each row and the address it starts to
 * hold at, ascending, and stops the run with false. False when the program is
 * broken: the rows so far are good, and one without a CFA follows them. */
bool cp_cfi_run(const struct cp_cfi_source *source, const struct cp_cie *cie,
		const struct cp_fde *fde, unsigned nregs,
		bool (*emit)(void *ctx, uint64_t from, const struct cp_cfi_row *row), void *ctx);

/* The same for a CIE's instructions, which make one row. */
bool cp_cfi_run_initial(const struct cp_cfi_source *source, const struct cp_cie *cie,
			struct cp_cfi_cursor program, unsigned nregs, struct cp_cfi_row *row);

#endif
