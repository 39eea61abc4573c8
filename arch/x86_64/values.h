/* SPDX-License-Identifier: MIT
 *
 * What is known of the values in registers and memory at a place in a
 * function, as far as finding the bounds of a jump table needs it.
 */
#ifndef CP_ARCH_X86_64_VALUES_H
#define CP_ARCH_X86_64_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/capstone.h"

enum cp_kind {
	CP_PLAIN, /* the low `width` bytes of `symbol`, zero-extended */
	CP_CONST, /* `number` */
	CP_SCALED, /* PLAIN times `scale` */
	CP_ENTRY, /* an entry of `scale` bytes of the table at `number`, index PLAIN */
	CP_SIGNED_ENTRY, /* the same of 4 bytes, sign-extended */
	CP_TARGET, /* SIGNED_ENTRY with `base` added */
};

struct cp_value {
	uint8_t kind; /* enum cp_kind */
	uint8_t width; /* 1, 2, 4, 8 */
	uint8_t scale;
	uint32_t symbol; /* two values with the same one come from the same */
	uint64_t number, base;
	uint8_t guess; /* 1 + a register: may be an address that was put there before;
			  ENTRY, TARGET: `number` and `base` are relative to it */
};

/* The low `width` bytes of `symbol` are at most `max`. */
struct cp_fact {
	uint32_t symbol;
	uint8_t width;
	uint64_t max;
};

/* Memory at a register and a displacement, until something may have changed it. */
struct cp_cell {
	uint8_t base; /* 16: absolute; 0xff: cell not used */
	uint8_t size;
	int64_t disp;
	struct cp_value value;
};

#define CP_CELLS 12
#define CP_FACTS 24

struct cp_values {
	struct cp_value reg[16];
	struct cp_cell cells[CP_CELLS];
	struct cp_fact facts[CP_FACTS];
	unsigned next_cell, next_fact;
	uint32_t next_symbol;
	/* The last comparison: low `compared_width` bytes of it with a number. */
	bool compared;
	uint8_t compared_width; /* of the instruction */
	struct cp_value what;
	uint64_t with;
};

/* Forgets everything. Symbols continue at `next_symbol`. */
void cp_values_reset(struct cp_values *v, uint32_t next_symbol);
/* Follows the execution of one instruction. */
void cp_values_step(struct cp_values *v, csh handle, const cs_insn *insn);
/* A branch on condition `id` (X86_INS_JA, ...) was taken, or not. */
void cp_values_branch(struct cp_values *v, unsigned id, bool taken);
/* Both ways lead here: only what holds in both is kept, in *v. */
void cp_values_merge(struct cp_values *v, const struct cp_values *other);
/* The most a PLAIN value can be. */
uint64_t cp_values_max(const struct cp_values *v, const struct cp_value *value);
/* The most that `width` bytes can be. */
uint64_t cp_values_most(uint8_t width);
/* The kind of value that an indirect jump goes to: TARGET, ENTRY, or something else. */
struct cp_value cp_values_target(struct cp_values *v, const cs_insn *insn);

#endif
