/* SPDX-License-Identifier: MIT
 *
 * The unwind table of one ELF object: from a link-time pc to the rule that
 * finds its caller. Only functions that were asked for are compiled into
 * rows; a rule is stored once however many rows share it. Tables hold no
 * address of a process, so all processes that map the object share one.
 */
#ifndef CP_UNWIND_TABLE_H
#define CP_UNWIND_TABLE_H

#include "unwind/cfi.h"
#include "unwind/unwind.h"

/* A register of the caller; only kinds that say where it is. */
struct cp_rule_reg {
	uint8_t reg;
	uint8_t kind; /* enum cp_rule_kind: OFFSET or above */
	uint32_t expr_size;
	union {
		int64_t offset;
		const uint8_t *expr;
	};
};

/* The way from a frame to its caller. A rule lives as long as its table. */
struct cp_rule {
	uint8_t cfa_reg; /* CP_CFI_NO_REG: by cfa_expr */
	uint8_t ra_reg; /* the return address is this register of the caller */
	uint8_t count; /* of regs; the return address is the first, if it is in there */
	bool root; /* there is no caller */
	bool signal; /* the caller was interrupted, not left by a call */
	bool ra_signed;
	/* CFA of register and offset, every register saved at an offset from
	 * it, the return address among them: the walk's fast path. */
	bool simple;
	uint32_t cfa_expr_size;
	union {
		int64_t cfa_offset;
		const uint8_t *cfa_expr;
	};
	uint64_t keep; /* registers that hold the same in the caller */
	struct cp_rule_reg regs[];
};

/* A process's memory, as a table's object is mapped in it. */
struct cp_table_memory {
	const struct cp_reader *reader;
	uint64_t bias; /* run-time minus link-time address */
};

struct cp_table;

/* Reads the ELF and program headers at run-time address `base`, where file
 * offset 0 is mapped. NULL: no ELF file of this ISA is there, or no memory. */
struct cp_table *cp_table_create(const struct cp_arch *arch, const struct cp_reader *reader,
				 uint64_t base);
void cp_table_destroy(struct cp_table *table);

/* Link-time addresses: of what is mapped from file offset 0, and the extent
 * of the segments. */
uint64_t cp_table_first(const struct cp_table *table);
uint64_t cp_table_low(const struct cp_table *table);
uint64_t cp_table_high(const struct cp_table *table);

/* True when the program headers map code at `file_offset` to `at`. */
bool cp_table_maps(const struct cp_table *table, struct cp_vaddr at, uint64_t file_offset);

/* True the first time: sections from the file should be added now. */
bool cp_table_ask_files(struct cp_table *table);
/* Adds a section from a file; it is searched when those before have nothing. */
void cp_table_add_section(struct cp_table *table, const struct cp_unwind_section *section);

/* Searches the object's memory for an .eh_frame that no header leads to, as
 * static programs have it; once, and only when no other section is known. */
void cp_table_search(struct cp_table *table, const struct cp_table_memory *memory);

/* The rule at `pc`, NULL for none. *function_ret (may be NULL) is where the
 * FDE's range starts: mostly, but not always, a function. */
const struct cp_rule *cp_table_find(struct cp_table *table, const struct cp_table_memory *memory,
				    struct cp_vaddr pc, struct cp_vaddr *function_ret);

/* The object's .eh_frame_hdr, for libunwind's own search. False when it has
 * none of the usual kind (32-bit values relative to the header). */
bool cp_table_has_hdr(const struct cp_table *table); /* of any kind */
struct cp_table_hdr {
	struct cp_vaddr at, entries;
	uint64_t count;
};
bool cp_table_hdr(struct cp_table *table, const struct cp_table_memory *memory,
		  struct cp_table_hdr *ret);

#endif
