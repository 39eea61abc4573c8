/* SPDX-License-Identifier: MIT
 *
 * Basic blocks of a function, for coverage. Pure.
 *
 * A block is a run of instructions that is entered at its top alone and left
 * at its end alone. Calls end one: what follows a call that never returns was
 * not reached.
 *
 *     cmp; jle ─┬─ next ── call f │ after the call ─┐
 *               └─ target ◄──────────────────────────┘
 */
#ifndef CP_PROBE_BLOCKS_H
#define CP_PROBE_BLOCKS_H

#include "probe/code.h"
#include "probe/plan.h"

#define CP_NO_BLOCK UINT32_MAX

struct cp_probe_block {
	uint64_t address; /* link-time */
	uint32_t size;
	uint8_t insn_size; /* of its first instruction; 0: no breakpoint may stand there */
	uint8_t code[16]; /* the bytes of that */
	/* 1 + number of the block that it goes on in: the one behind it (also when
	 * a call returns, or its conditional jump is not taken), or that which it
	 * jumps to. 0: none of these. */
	uint32_t next;
	/* Once its function runs it may be entered in ways that are not told here: by an
	 * exception, by a jump that is computed. */
	bool open;
};

/* A way that a switch has from one block to another, by number. */
struct cp_probe_case {
	uint32_t from, to;
};

/* A conditional jump, the last instruction of `block`. */
struct cp_probe_branch {
	uint64_t address;
	uint8_t size; /* 0: no breakpoint may stand there */
	uint8_t code[16];
	uint32_t block;
	uint64_t target; /* where it jumps to */
	uint32_t target_block; /* 1 + its number; 0: none of these */
	/* The block that is reached in no other way than by this direction: when
	 * it was, so was the direction. CP_NO_BLOCK: the jump itself has to be
	 * watched. */
	uint32_t taken_block, passed_block;
};

struct cp_probe_blocks {
	CP_VEC(struct cp_probe_block) blocks; /* by address */
	CP_VEC(struct cp_probe_branch) branches; /* by address */
	CP_VEC(struct cp_probe_case) cases;
	/* Where direct jumps and calls lead out of the function. */
	CP_VEC(uint64_t) outside;
	uint32_t entry; /* index */
	bool complete; /* decoded to its end; else the entry's block alone, of size 0 */
	const char *why_text; /* static; "" when complete */
};

/* Finds the blocks of a function; memory and functions as for
 * cp_probe_plan_function(). `code` is scratch, kept for reuse. A function that can't
 * be decoded to its end has just its entry. Clears and refills *ret. */
CP_ERROR cp_probe_blocks_find(struct cp_code *code, struct cp_decoder *decoder,
			      const struct cp_reader *memory,
			      const struct cp_probe_functions *functions,
			      const struct cp_probe_function *function,
			      struct cp_probe_blocks *ret);
void cp_probe_blocks_free(struct cp_probe_blocks *blocks);

#endif
