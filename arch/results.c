/* SPDX-License-Identifier: MIT
 *
 * Which registers of results a function sets for its caller: a value that is moved
 * there and not read again before the `ret` was meant for somebody else.
 *
 *     mov  0x8(%rsp),%eax        rax: set
 *     mov  0xc(%rsp),%edx        rdx: set
 *     add  $0x18,%rsp
 *     ret                        a pair; were it packed into rax, rdx would be read
 */
#include "arch/results.h"

#include <elf.h>
#include <stdlib.h>

#include "arch/capstone.h"
#include "arch/decoder.h"
#include "arch/x86_64/operands.h"

enum { AX = 0, DX = 2 };
#define SET_PLAIN 15u
#define ARITHMETIC 8

static unsigned result_of(unsigned reg)
{
	uint8_t width;

	switch (cp_x86_general(reg, &width)) {
	case AX:
		return CP_RESULT_FIRST;
	case DX:
		return CP_RESULT_SECOND;
	default:
		break;
	}
	switch (reg) {
	case X86_REG_XMM0:
	case X86_REG_YMM0:
		return CP_RESULT_FIRST_VECTOR;
	case X86_REG_XMM1:
	case X86_REG_YMM1:
		return CP_RESULT_SECOND_VECTOR;
	default:
		return 0;
	}
}

/* Instructions that nobody makes but for what they write; not those that write
 * more than one wants, as a division or an exchange does. */
static bool is_meant(const cs_insn *insn)
{
	const cs_x86_op *op = insn->detail->x86.operands;

	switch (insn->id) {
	case X86_INS_XOR:
	case X86_INS_XORPS:
	case X86_INS_XORPD:
	case X86_INS_PXOR:
		return op[0].type == X86_OP_REG && op[1].type == X86_OP_REG &&
		       op[0].reg == op[1].reg;
	case X86_INS_MOV:
	case X86_INS_MOVABS:
	case X86_INS_MOVZX:
	case X86_INS_MOVSX:
	case X86_INS_MOVSXD:
	case X86_INS_LEA:
	case X86_INS_MOVSS:
	case X86_INS_MOVSD:
	case X86_INS_MOVAPS:
	case X86_INS_MOVAPD:
	case X86_INS_MOVUPS:
	case X86_INS_MOVUPD:
	case X86_INS_MOVQ:
	case X86_INS_MOVD:
	case X86_INS_SETE:
	case X86_INS_SETNE:
	case X86_INS_SETA:
	case X86_INS_SETAE:
	case X86_INS_SETB:
	case X86_INS_SETBE:
	case X86_INS_SETG:
	case X86_INS_SETGE:
	case X86_INS_SETL:
	case X86_INS_SETLE:
	case X86_INS_ADDSS:
	case X86_INS_ADDSD:
	case X86_INS_SUBSS:
	case X86_INS_SUBSD:
	case X86_INS_MULSS:
	case X86_INS_MULSD:
	case X86_INS_DIVSS:
	case X86_INS_DIVSD:
	case X86_INS_CVTSI2SD:
	case X86_INS_CVTSI2SS:
	case X86_INS_CVTSS2SD:
	case X86_INS_CVTSD2SS:
		return op[0].type == X86_OP_REG;
	default:
		return false;
	}
}

/* Arithmetic, which may be there for its flags: then something reads them. */
static bool is_arithmetic(const cs_insn *insn)
{
	const cs_x86 *x = &insn->detail->x86;

	switch (insn->id) {
	case X86_INS_ADD:
	case X86_INS_SUB:
	case X86_INS_AND:
	case X86_INS_OR:
	case X86_INS_XOR:
	case X86_INS_NOT:
	case X86_INS_NEG:
	case X86_INS_INC:
	case X86_INS_DEC:
	case X86_INS_SHL:
	case X86_INS_SHR:
	case X86_INS_SAR:
	case X86_INS_CMOVE:
	case X86_INS_CMOVNE:
	case X86_INS_CMOVS:
	case X86_INS_CMOVNS:
	case X86_INS_CMOVA:
	case X86_INS_CMOVAE:
	case X86_INS_CMOVB:
	case X86_INS_CMOVBE:
	case X86_INS_CMOVG:
	case X86_INS_CMOVGE:
	case X86_INS_CMOVL:
	case X86_INS_CMOVLE:
		return x->operands[0].type == X86_OP_REG;
	case X86_INS_IMUL:
		return x->op_count > 1;
	default:
		return false;
	}
}

static bool goes_on(csh handle, const cs_insn *insn)
{
	return !cs_insn_group(handle, insn, CS_GRP_JUMP) &&
	       !cs_insn_group(handle, insn, CS_GRP_CALL) &&
	       !cs_insn_group(handle, insn, CS_GRP_RET);
}

/* What is set after an instruction; by arithmetic, a byte further up. */
static unsigned after(csh handle, const cs_insn *insn, unsigned set)
{
	cs_regs reads, writes;
	uint8_t read_count, write_count, i;
	unsigned read = 0, written = 0;
	bool flags = false;

	if (!goes_on(handle, insn) ||
	    cs_regs_access(handle, insn, reads, &read_count, writes, &write_count) != CS_ERR_OK)
		return 0;
	for (i = 0; i < read_count; i++) {
		read |= result_of(reads[i]);
		flags |= reads[i] == X86_REG_EFLAGS;
	}
	for (i = 0; i < write_count; i++)
		written |= result_of(writes[i]);
	if (flags)
		set &= SET_PLAIN;
	set &= ~(read | read << ARITHMETIC | written | written << ARITHMETIC);
	if (is_meant(insn))
		return set | written;
	return is_arithmetic(insn) ? set | written << ARITHMETIC : set;
}

struct sweep {
	csh handle;
	const uint8_t *code;
	size_t size;
	uint64_t start;
	uint8_t *targets; /* of jumps, a byte an address */
	bool arithmetic; /* counts, too */
};

static void note_target(struct sweep *s, const cs_insn *insn)
{
	const cs_x86 *x = &insn->detail->x86;

	if (cs_insn_group(s->handle, insn, CS_GRP_JUMP) && x->op_count == 1 &&
	    x->operands[0].type == X86_OP_IMM && (uint64_t)x->operands[0].imm - s->start < s->size)
		s->targets[(uint64_t)x->operands[0].imm - s->start] = 1;
}

/* All of the code, twice: for where jumps lead, then for what is set. */
static unsigned sweep(struct sweep *s, cs_insn *insn, bool first)
{
	const uint8_t *code = s->code;
	uint64_t at = s->start, pc = at;
	size_t left = s->size;
	unsigned all = ~0u, set = 0;

	while (left && cs_disasm_iter(s->handle, &code, &left, &at, insn)) {
		if (first)
			note_target(s, insn);
		else if (s->targets[pc - s->start])
			set = 0;
		if (cs_insn_group(s->handle, insn, CS_GRP_RET))
			all &= s->arithmetic ? set | set >> ARITHMETIC : set;
		set = after(s->handle, insn, set);
		pc = at;
	}
	return left || all == ~0u ? 0 : all & SET_PLAIN;
}

unsigned cp_arch_sets_results(const struct cp_arch *arch, const uint8_t *code, size_t size,
			      uint64_t start, bool arithmetic)
{
	struct sweep s = { .code = code, .size = size, .start = start, .arithmetic = arithmetic };
	struct cp_decoder *decoder = size ? cp_decoder_create(arch) : NULL;
	cs_insn *insn = cp_decoder_capstone(decoder, &s.handle);
	unsigned found = 0;

	s.targets = insn ? calloc(1, size) : NULL;
	if (s.targets) {
		sweep(&s, insn, true);
		found = sweep(&s, insn, false);
	}
	free(s.targets);
	cp_decoder_destroy(decoder);
	return found;
}
