/* SPDX-License-Identifier: MIT
 *
 * What instructions do to the stack pointer and to the registers of arguments,
 * as capstone tells it. It is asked for operands and effects, in four more
 * places: x86_64/values.c (what leads to a switch's jump), x86_64/moves.c (what
 * calls go through), results.c and spills.c (functions of Rust). Where
 * instructions begin, end and lead to is our own decoder's (x86_64/insn.c).
 */
#include "arch/arch.h"

#include "arch/capstone.h"
#include "arch/decoder.h"
#include "arch/x86_64/insn.h"
#include "arch/x86_64/operands.h"

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

uint64_t cp_arch_frame_depth(struct cp_decoder *decoder, const uint8_t *code, size_t size,
			     uint64_t start, uint64_t pc)
{
	uint64_t depth = 0, at = start;
	csh handle = 0;
	cs_insn *insn = cp_decoder_capstone(decoder, &handle);

	if (!insn)
		return 0;
	while (at < pc && cs_disasm_iter(handle, &code, &size, &at, insn)) {
		if (!x86_takes(insn, handle, &depth))
			break;
	}
	return (int64_t)depth < 0 ? 0 : depth;
}

/* ---- arguments ---- */

#define X86_VECTORS 8

/* rdi, rsi, rdx, rcx, r8, r9, and rax, which tells how many are in vectors: by
 * DWARF's numbers. */
#define X86_ARGUMENTS UINT64_C(0x337)

/* The bit of the argument in a register or its lower part; 0: there is none. */
static uint64_t x86_argument(unsigned reg)
{
	uint8_t width;
	unsigned number = cp_x86_general(reg, &width);

	return number != CP_X86_NONE && width ? X86_ARGUMENTS & UINT64_C(1) << cp_x86_dwarf(number)
					      : 0;
}

/* The register that a plain move to memory stores; X86_REG_INVALID: it is none. */
static unsigned x86_stores(const cs_insn *insn)
{
	const cs_x86 *x = &insn->detail->x86;

	if (x->op_count != 2 || x->operands[0].type != X86_OP_MEM ||
	    x->operands[1].type != X86_OP_REG)
		return X86_REG_INVALID;
	return cp_x86_move_size(insn) ? x->operands[1].reg : X86_REG_INVALID;
}

static void x86_store(unsigned reg, struct cp_arch_arguments *a)
{
	a->stored |= a->kept & x86_argument(reg);
	if (reg >= X86_REG_XMM0 && reg < X86_REG_XMM0 + X86_VECTORS)
		a->vectors_stored |= a->vectors_kept & 1u << (reg - X86_REG_XMM0);
}

static void x86_overwrite(unsigned reg, struct cp_arch_arguments *a)
{
	a->kept &= ~x86_argument(reg);
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

struct cp_arch_arguments cp_arch_follow_arguments(struct cp_decoder *decoder, const uint8_t *code,
						  size_t size, uint64_t start, uint64_t pc)
{
	struct cp_arch_arguments a = { .kept = UINT64_MAX, .vectors_kept = UINT32_MAX };
	uint64_t at = start;
	csh handle = 0;
	cs_insn *insn = cp_decoder_capstone(decoder, &handle);

	if (!insn)
		return (struct cp_arch_arguments){ .kept = start == pc ? UINT64_MAX : 0,
						   .vectors_kept = start == pc ? UINT32_MAX : 0 };
	while (at < pc && cs_disasm_iter(handle, &code, &size, &at, insn))
		x86_follow(handle, insn, &a);
	if (at != pc)
		a = (struct cp_arch_arguments){ 0 };
	return a;
}
