/* SPDX-License-Identifier: MIT
 *
 * Instructions, where knowing single encodings is not enough: the one user of
 * capstone.
 */
#include "arch/arch.h"

#include <capstone/capstone.h>
#include <elf.h>

/* Adds what an instruction takes off sp to *depth. False ends the straight
 * line: it goes elsewhere, or does to sp what can't be followed. */
static bool x86_takes(const cs_insn *insn, csh handle, uint64_t *depth)
{
	const cs_x86 *x = &insn->detail->x86;
	const cs_x86_op *to = &x->operands[0], *from = &x->operands[1];

	if (cs_insn_group(handle, insn, CS_GRP_JUMP) || cs_insn_group(handle, insn, CS_GRP_CALL) ||
	    cs_insn_group(handle, insn, CS_GRP_RET))
		return false;
	if (insn->id == X86_INS_PUSH) {
		*depth += to->size == 2 ? 2 : 8;
		return true;
	}
	if (x->op_count == 2 && to->type == X86_OP_REG && to->reg == X86_REG_RSP) {
		if (insn->id == X86_INS_AND)
			return true; /* more, but nobody knows how much */
		if (insn->id == X86_INS_LEA && from->mem.base == X86_REG_RSP &&
		    from->mem.index == X86_REG_INVALID)
			*depth -= (uint64_t)from->mem.disp;
		else if (insn->id == X86_INS_SUB && from->type == X86_OP_IMM)
			*depth += (uint64_t)from->imm;
		else if (insn->id == X86_INS_ADD && from->type == X86_OP_IMM)
			*depth -= (uint64_t)from->imm;
		else
			return insn->id == X86_INS_CMP || insn->id == X86_INS_TEST;
		return true;
	}
	return !cs_reg_write(handle, insn, X86_REG_RSP);
}

uint64_t cp_arch_frame_depth(const struct cp_arch *arch, const uint8_t *code, size_t size,
			     uint64_t start, uint64_t pc)
{
	uint64_t depth = 0, at = start;
	cs_insn *insn;
	csh handle;

	if (arch->e_machine != EM_X86_64 || cs_open(CS_ARCH_X86, CS_MODE_64, &handle) != CS_ERR_OK)
		return 0;
	cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON);
	insn = cs_malloc(handle);
	while (insn && at < pc && cs_disasm_iter(handle, &code, &size, &at, insn)) {
		if (!x86_takes(insn, handle, &depth))
			break;
	}
	if (insn)
		cs_free(insn, 1);
	cs_close(&handle);
	return (int64_t)depth < 0 ? 0 : depth;
}
