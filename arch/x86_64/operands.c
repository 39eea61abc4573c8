/* SPDX-License-Identifier: MIT */
#include "arch/x86_64/operands.h"

unsigned cp_x86_general(unsigned reg, uint8_t *width_ret)
{
	static const uint16_t names[CP_X86_GENERAL][4] = {
		{ X86_REG_RAX, X86_REG_EAX, X86_REG_AX, X86_REG_AL },
		{ X86_REG_RCX, X86_REG_ECX, X86_REG_CX, X86_REG_CL },
		{ X86_REG_RDX, X86_REG_EDX, X86_REG_DX, X86_REG_DL },
		{ X86_REG_RBX, X86_REG_EBX, X86_REG_BX, X86_REG_BL },
		{ X86_REG_RSP, X86_REG_ESP, X86_REG_SP, X86_REG_SPL },
		{ X86_REG_RBP, X86_REG_EBP, X86_REG_BP, X86_REG_BPL },
		{ X86_REG_RSI, X86_REG_ESI, X86_REG_SI, X86_REG_SIL },
		{ X86_REG_RDI, X86_REG_EDI, X86_REG_DI, X86_REG_DIL },
		{ X86_REG_R8, X86_REG_R8D, X86_REG_R8W, X86_REG_R8B },
		{ X86_REG_R9, X86_REG_R9D, X86_REG_R9W, X86_REG_R9B },
		{ X86_REG_R10, X86_REG_R10D, X86_REG_R10W, X86_REG_R10B },
		{ X86_REG_R11, X86_REG_R11D, X86_REG_R11W, X86_REG_R11B },
		{ X86_REG_R12, X86_REG_R12D, X86_REG_R12W, X86_REG_R12B },
		{ X86_REG_R13, X86_REG_R13D, X86_REG_R13W, X86_REG_R13B },
		{ X86_REG_R14, X86_REG_R14D, X86_REG_R14W, X86_REG_R14B },
		{ X86_REG_R15, X86_REG_R15D, X86_REG_R15W, X86_REG_R15B },
	};
	static const uint16_t high[4] = { X86_REG_AH, X86_REG_CH, X86_REG_DH, X86_REG_BH };
	unsigned i, j;

	for (i = 0; i < CP_X86_GENERAL; i++) {
		for (j = 0; j < 4; j++) {
			if (names[i][j] == reg) {
				*width_ret = (uint8_t)(8 >> j);
				return i;
			}
		}
	}
	*width_ret = 0; /* bits 8 to 15: part of the family, but no value of its own */
	for (i = 0; i < 4; i++) {
		if (high[i] == reg)
			return i;
	}
	return CP_X86_NONE;
}

unsigned cp_x86_move_size(const cs_insn *insn)
{
	switch (insn->id) {
	case X86_INS_MOV:
		return insn->detail->x86.operands[0].size;
	case X86_INS_MOVSS:
	case X86_INS_MOVD:
		return 4;
	case X86_INS_MOVSD:
	case X86_INS_MOVQ:
	case X86_INS_MOVLPS:
	case X86_INS_MOVLPD:
		return 8;
	case X86_INS_MOVAPS:
	case X86_INS_MOVAPD:
	case X86_INS_MOVUPS:
	case X86_INS_MOVUPD:
	case X86_INS_MOVDQA:
	case X86_INS_MOVDQU:
		return 16;
	default:
		return 0;
	}
}
