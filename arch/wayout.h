/* SPDX-License-Identifier: MIT
 *
 * The way out of a function, as its own code tells it: where code has no call frame
 * information. See wayout.c.
 */
#ifndef CP_ARCH_WAYOUT_H
#define CP_ARCH_WAYOUT_H

#include "arch/decoder.h"
#include "base/types.h"

#define CP_WAY_OUT_REGS 16

struct cp_way_out {
	uint8_t base; /* DWARF number of the register that all below is counted from */
	int64_t cfa; /* where the stack pointer is when it has returned: base + cfa; the return
			address is the word below */
	uint16_t kept; /* registers, by DWARF number, that hold what the caller had there */
	uint16_t saved; /* those of which that lies at base + at[] */
	int64_t at[CP_WAY_OUT_REGS];
};

/* What is at an address that a way leads to, for who knows the ends of functions. */
enum cp_way_where {
	CP_WAY_INSIDE, /* of the function, or nobody knows */
	CP_WAY_BEGINS, /* another function's first instruction */
	CP_WAY_BEYOND, /* within another one */
};
struct cp_way_ends {
	enum cp_way_where (*where)(void *ctx, uint64_t pc);
	void *ctx;
};

/* Follows the code at `pc`, which `code` reads, up to where it returns; `called`: it is behind
 * a call. The calls in between
 * are taken to return, and to keep what the ABI has them keep. False: no return is found, or
 * several that differ, or the stack pointer can't be followed. */
bool cp_arch_way_out(struct cp_decoder *decoder, const struct cp_reader *code, uint64_t pc,
		     bool called, const struct cp_way_ends *ends, struct cp_way_out *ret);

#endif
