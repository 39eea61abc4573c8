/* SPDX-License-Identifier: MIT
 *
 * What decodes many instructions, and capstone, which it opens when it is first needed.
 */
#include "arch/decoder.h"

#include <elf.h>
#include <stdlib.h>

#include "arch/capstone.h"

struct cp_decoder *cp_decoder_create(const struct cp_arch *arch)
{
	struct cp_decoder *decoder;

	if (arch->e_machine != EM_X86_64 && arch->e_machine != EM_AARCH64)
		return NULL;
	decoder = calloc(1, sizeof(*decoder));
	if (decoder)
		decoder->arch = arch;
	return decoder;
}

void cp_decoder_destroy(struct cp_decoder *decoder)
{
	if (decoder && decoder->scratch)
		cs_free(decoder->scratch, 1);
	if (decoder && decoder->capstone)
		cs_close(&decoder->capstone);
	free(decoder);
}

struct cs_insn *cp_decoder_capstone(struct cp_decoder *decoder, size_t *handle_ret)
{
	if (!decoder || decoder->arch->e_machine != EM_X86_64)
		return NULL;
	if (!decoder->capstone) {
		if (cs_open(CS_ARCH_X86, CS_MODE_64, &decoder->capstone) != CS_ERR_OK) {
			decoder->capstone = 0;
			return NULL;
		}
		cs_option(decoder->capstone, CS_OPT_DETAIL, CS_OPT_ON);
	}
	if (!decoder->scratch)
		decoder->scratch = cs_malloc(decoder->capstone);
	*handle_ret = decoder->capstone;
	return decoder->scratch;
}
