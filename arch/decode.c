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

/* ---- arguments ---- */

#define X86_ARGUMENTS 7
#define X86_VECTORS 8

static const struct {
	uint8_t number; /* DWARF's */
	uint16_t names[4];
} x86_arguments[X86_ARGUMENTS] = {
	{ 5, { X86_REG_RDI, X86_REG_EDI, X86_REG_DI, X86_REG_DIL } },
	{ 4, { X86_REG_RSI, X86_REG_ESI, X86_REG_SI, X86_REG_SIL } },
	{ 1, { X86_REG_RDX, X86_REG_EDX, X86_REG_DX, X86_REG_DL } },
	{ 2, { X86_REG_RCX, X86_REG_ECX, X86_REG_CX, X86_REG_CL } },
	{ 8, { X86_REG_R8, X86_REG_R8D, X86_REG_R8W, X86_REG_R8B } },
	{ 9, { X86_REG_R9, X86_REG_R9D, X86_REG_R9W, X86_REG_R9B } },
	{ 0, { X86_REG_RAX, X86_REG_EAX, X86_REG_AX, X86_REG_AL } },
};

static bool x86_is(unsigned reg, size_t argument)
{
	size_t i;

	for (i = 0; i < 4; i++)
		if (x86_arguments[argument].names[i] == reg)
			return true;
	return false;
}

/* What a plain move to memory stores; X86_REG_INVALID: it is none. */
static unsigned x86_stores(const cs_insn *insn)
{
	const cs_x86 *x = &insn->detail->x86;

	if (x->op_count != 2 || x->operands[0].type != X86_OP_MEM ||
	    x->operands[1].type != X86_OP_REG)
		return X86_REG_INVALID;
	switch (insn->id) {
	case X86_INS_MOV:
	case X86_INS_MOVSS:
	case X86_INS_MOVSD:
	case X86_INS_MOVAPS:
	case X86_INS_MOVAPD:
	case X86_INS_MOVUPS:
	case X86_INS_MOVUPD:
	case X86_INS_MOVDQA:
	case X86_INS_MOVDQU:
	case X86_INS_MOVQ:
	case X86_INS_MOVD:
	case X86_INS_MOVLPS:
	case X86_INS_MOVLPD:
		return x->operands[1].reg;
	default:
		return X86_REG_INVALID;
	}
}

static void x86_store(unsigned reg, struct cp_arch_arguments *a)
{
	size_t i;

	for (i = 0; i < X86_ARGUMENTS; i++)
		if (x86_is(reg, i))
			a->stored |= a->kept & UINT64_C(1) << x86_arguments[i].number;
	if (reg >= X86_REG_XMM0 && reg < X86_REG_XMM0 + X86_VECTORS)
		a->vectors_stored |= a->vectors_kept & 1u << (reg - X86_REG_XMM0);
}

static void x86_overwrite(unsigned reg, struct cp_arch_arguments *a)
{
	size_t i;

	for (i = 0; i < X86_ARGUMENTS; i++)
		if (x86_is(reg, i))
			a->kept &= ~(UINT64_C(1) << x86_arguments[i].number);
	if (reg >= X86_REG_XMM0 && reg < X86_REG_XMM0 + X86_VECTORS)
		a->vectors_kept &= ~(1u << (reg - X86_REG_XMM0));
}

static void x86_follow(csh handle, const cs_insn *insn, struct cp_arch_arguments *a)
{
	cs_regs reads, writes;
	uint8_t read_count, write_count, i;

	x86_store(x86_stores(insn), a);
	if (cs_regs_access(handle, insn, reads, &read_count, writes, &write_count) != CS_ERR_OK) {
		*a = (struct cp_arch_arguments){ 0 };
		return;
	}
	for (i = 0; i < write_count; i++)
		x86_overwrite(writes[i], a);
}

struct cp_arch_arguments cp_arch_follow_arguments(const struct cp_arch *arch, const uint8_t *code,
						  size_t size, uint64_t start, uint64_t pc)
{
	struct cp_arch_arguments a = { .kept = UINT64_MAX, .vectors_kept = UINT32_MAX };
	uint64_t at = start;
	cs_insn *insn;
	csh handle;

	if (arch->e_machine != EM_X86_64 || cs_open(CS_ARCH_X86, CS_MODE_64, &handle) != CS_ERR_OK)
		return (struct cp_arch_arguments){ .kept = start == pc ? UINT64_MAX : 0,
						   .vectors_kept = start == pc ? UINT32_MAX : 0 };
	cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON);
	insn = cs_malloc(handle);
	while (insn && at < pc && cs_disasm_iter(handle, &code, &size, &at, insn))
		x86_follow(handle, insn, &a);
	if (!insn || at != pc)
		a = (struct cp_arch_arguments){ 0 };
	if (insn)
		cs_free(insn, 1);
	cs_close(&handle);
	return a;
}
