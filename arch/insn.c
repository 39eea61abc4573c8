/* SPDX-License-Identifier: MIT
 *
 * Instructions: the door, by instruction set.
 */
#include "arch/insn.h"

#include <capstone/capstone.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "arch/aarch64/insn.h"
#include "arch/x86_64/insn.h"

struct cp_decoder {
	const struct cp_arch *arch;
	csh capstone; /* for what instructions do; 0 until it is needed */
	cs_insn *scratch; /* of its */
};

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

bool cp_decode(struct cp_decoder *decoder, const uint8_t *code, size_t size, uint64_t pc,
	       struct cp_insn *ret)
{
	if (decoder->arch->e_machine == EM_AARCH64)
		return cp_aarch64_decode(code, size, pc, ret);
	return cp_x86_decode(code, size, pc, ret);
}

struct cs_insn *cp_x86_capstone(struct cp_decoder *decoder, size_t *handle_ret)
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

bool cp_jump_table(struct cp_decoder *decoder, const uint8_t *code, size_t size, uint64_t start,
		   uint64_t pc, const struct cp_reader *memory, uint64_t *targets, size_t max,
		   size_t *count_ret)
{
	csh handle;

	return cp_x86_capstone(decoder, &handle) &&
	       cp_x86_jump_table(handle, code, size, start, pc, memory, targets, max, count_ret);
}

void cp_decode_moves(struct cp_decoder *decoder, const uint8_t *code, size_t size, uint64_t pc,
		     struct cp_moves *ret)
{
	cs_insn *scratch;
	csh handle = 0;

	*ret = (struct cp_moves){ .to = CP_MOVES_NONE, .from = CP_MOVES_NONE, .written = 0xffff };
	scratch = cp_x86_capstone(decoder, &handle);
	if (scratch)
		cp_x86_moves(handle, scratch, code, size, pc, ret);
}

const uint8_t *cp_trap_code(const struct cp_arch *arch, size_t *size_ret)
{
	static const uint8_t int3[] = { 0xcc }, brk[] = { 0, 0, 0x20, 0xd4 }; /* brk #0 */

	if (arch->e_machine == EM_AARCH64) {
		*size_ret = sizeof(brk);
		return brk;
	}
	*size_ret = sizeof(int3);
	return int3;
}

const uint8_t *cp_nop_code(const struct cp_arch *arch, size_t *size_ret)
{
	static const uint8_t x86[] = { 0x90 }, arm[] = { 0x1f, 0x20, 0x03, 0xd5 };
	bool is_arm = arch->e_machine == EM_AARCH64;

	*size_ret = is_arm ? sizeof(arm) : sizeof(x86);
	return is_arm ? arm : x86;
}

/* AArch64 can be decoded, so that what is recorded there can be looked at; as
 * no tracer runs on it yet, nothing is ever executed in its slots. */
bool cp_step_prepare(struct cp_decoder *decoder, const uint8_t *code, size_t size, uint64_t pc,
		     uint64_t slot, uint8_t *slot_code, struct cp_step *ret)
{
	if (decoder->arch->e_machine == EM_X86_64)
		return cp_x86_step_prepare(code, size, pc, slot, slot_code, ret);
	memset(slot_code, 0, CP_SLOT_SIZE);
	*ret = (struct cp_step){ .how = CP_STEP_REFUSED, .trap_size = 4 };
	return false;
}
