/* SPDX-License-Identifier: MIT
 *
 * Instructions as a person reads them.
 */
#ifndef CP_ARCH_LISTING_H
#define CP_ARCH_LISTING_H

#include "arch/insn.h"

enum cp_syntax { CP_SYNTAX_ATT, CP_SYNTAX_INTEL };

struct cp_listed {
	char text[224]; /* mnemonic and operands; of a direct jump or call the mnemonic alone */
	uint8_t size; /* bytes; 1 of what is no instruction */
	uint8_t flow; /* enum cp_flow */
	uint64_t target; /* of a direct jump or call; else 0 */
	uint64_t memory; /* the address of an operand that is relative to pc; 0: none */
};

/* The instruction at the start of `code` (`size` bytes are there, one at least), which is
 * at `pc`; what can't be read is a byte (".byte 0x06"). The decoder is for listings
 * alone. */
void cp_arch_list(struct cp_decoder *decoder, enum cp_syntax syntax, const uint8_t *code,
		  size_t size, uint64_t pc, struct cp_listed *ret);

#endif
