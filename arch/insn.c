/* SPDX-License-Identifier: MIT
 *
 * Instructions: the door, by instruction set.
 */
#include "arch/insn.h"

#include <elf.h>
#include <string.h>

#include "arch/aarch64/insn.h"
#include "arch/x86_64/insn.h"
#include "arch/x86_64/jump_table.h"
#include "arch/x86_64/moves.h"
#include "arch/x86_64/step.h"

bool cp_decode(struct cp_decoder *decoder, const uint8_t *code, size_t size, uint64_t pc,
	       struct cp_insn *ret)
{
	if (decoder->arch->e_machine == EM_AARCH64)
		return cp_aarch64_decode(code, size, pc, ret);
	return cp_x86_decode(code, size, pc, ret);
}

bool cp_jump_table(struct cp_decoder *decoder, const uint8_t *code, size_t size, uint64_t start,
		   uint64_t pc, const struct cp_reader *memory, uint64_t *targets, size_t max,
		   size_t *count_ret)
{
	size_t handle;

	return cp_decoder_capstone(decoder, &handle) &&
	       cp_x86_jump_table(handle, code, size, start, pc, memory, targets, max, count_ret);
}

void cp_decode_moves(struct cp_decoder *decoder, const uint8_t *code, size_t size, uint64_t pc,
		     struct cp_moves *ret)
{
	struct cs_insn *scratch;
	size_t handle = 0;

	*ret = (struct cp_moves){ .to = CP_MOVES_NONE, .from = CP_MOVES_NONE, .written = 0xffff };
	scratch = cp_decoder_capstone(decoder, &handle);
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

void cp_trap_fill(const struct cp_arch *arch, uint8_t *code, size_t size)
{
	size_t i, length;
	const uint8_t *trap = cp_trap_code(arch, &length);

	if (length == 1)
		memset(code, *trap, size);
	for (i = 0; length > 1 && i < size; i++)
		code[i] = trap[i % length];
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
