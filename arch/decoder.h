/* SPDX-License-Identifier: MIT
 *
 * What decodes many instructions with one handle of capstone's, which is opened
 * when it is first needed; not for several threads at once.
 */
#ifndef CP_ARCH_DECODER_H
#define CP_ARCH_DECODER_H

#include "arch/arch.h"

struct cs_insn;

/* Of arch alone. */
struct cp_decoder {
	const struct cp_arch *arch;
	size_t capstone; /* for what instructions do; 0 until it is needed */
	struct cs_insn *scratch; /* of its */
};

struct cp_decoder *cp_decoder_create(const struct cp_arch *arch); /* NULL: no memory, no support */
void cp_decoder_destroy(struct cp_decoder *decoder);
/* capstone's instruction to decode into, and its handle, which gives details; both are
 * the decoder's. NULL: no memory, or of another instruction set, or no decoder. */
struct cs_insn *cp_decoder_capstone(struct cp_decoder *decoder, size_t *handle_ret);

#endif
