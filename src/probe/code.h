/* SPDX-License-Identifier: MIT
 *
 * The code of one function, followed from its entry.
 */
#ifndef CP_PROBE_CODE_H
#define CP_PROBE_CODE_H

#include "arch/insn.h"
#include "probe/functions.h"

/* Marks of an instruction, beside what it is. */
#define CP_CODE_REACHED 1u /* something leads to it */
#define CP_CODE_TABLE 2u /* an indirect jump whose targets are all known */

struct cp_code_case {
	uint32_t jump; /* number of the instruction that jumps there */
	uint32_t offset;
};

struct cp_code {
	struct cp_decoder *decoder;
	const struct cp_reader *memory;
	const struct cp_probe_functions *functions; /* or NULL */
	const struct cp_probe_function *function;

	struct cp_probe_range ranges[CP_PROBE_RANGES];
	size_t offsets[CP_PROBE_RANGES]; /* of their bytes in `bytes` */
	size_t range_count;

	CP_VEC(uint8_t) bytes;
	CP_VEC(uint32_t)
	starts; /* for each byte: number + 1 of the instruction that begins
				    there, 0: none */
	CP_VEC(struct cp_insn) insns;
	CP_VEC(uint8_t) marks; /* for each instruction */
	CP_VEC(uint32_t) todo; /* offsets of bytes to go on at */
	CP_VEC(uint64_t) targets; /* of the jump table at hand */
	/* Offsets that are entered in other ways than along direct jumps: cases of
	 * a switch; landing pads, and where code begins that nothing leads to. */
	CP_VEC(struct cp_code_case) cases;
	CP_VEC(uint32_t) others;

	/* Set by the caller, for all functions. Who puts breakpoints everywhere
	 * wants to know all of the code, and no more than that: where it leaves the
	 * function in strange ways is no trouble, and what nothing leads to is no
	 * code when there is data, too. */
	bool for_blocks;

	const char *trouble; /* static: why it can't be followed to its end, or NULL */
	size_t unknown_jumps; /* indirect ones that may lead anywhere */
	uint64_t table_work; /* bytes looked through for jump tables */
	bool loops; /* something jumps to the entry, or behind the landing pad there */
	bool overlaps; /* instructions may begin in the middle of others */
};

/* Follows the code of `function` from its entry; then what nothing leads to
 * (exception handlers, cases of a computed goto), unless that looks like data.
 * Clears and refills *code. */
CP_ERROR cp_code_follow(struct cp_code *code, struct cp_decoder *decoder,
			const struct cp_reader *memory, const struct cp_probe_functions *functions,
			const struct cp_probe_function *function);
void cp_code_free(struct cp_code *code);

/* Why it gets no breakpoints at all, be they in reach: tracing would disturb it.
 * NULL: it may have some. */
const char *cp_code_withheld(const struct cp_code *code, const struct cp_probe_function *function);

/* The offset of `address` in `bytes`; false: outside of the ranges. */
bool cp_code_offset(const struct cp_code *code, uint64_t address, size_t *ret);
/* True when the byte at `offset`, where an instruction begins, is also in the
 * middle of another one that is reached. */
bool cp_code_shared_byte(const struct cp_code *code, size_t offset);

#endif
