/* SPDX-License-Identifier: MIT
 *
 * AArch64 branches, by the encodings of the Arm Architecture Reference Manual
 * (C4.1, "Branches, Exception Generating and System instructions"). All other
 * instructions go on to the next one.
 */
#include "arch/aarch64/insn.h"

#include <string.h>

/* A signed field of `bits` at `shift`, in words, as an offset in bytes. */
static uint64_t offset(uint32_t insn, unsigned shift, unsigned bits)
{
	int64_t field = (int64_t)((uint64_t)insn << (64 - shift - bits)) >> (64 - bits);

	return (uint64_t)(field * 4);
}

/* br, blr, ret and their forms that check an authentication code; eret. */
static enum cp_flow register_branch(uint32_t insn)
{
	switch (insn >> 21 & 15) { /* opc; bit 24 is the form with a modifier */
	case 0:
	case 8:
		return CP_FLOW_JUMP_INDIRECT;
	case 1:
	case 9:
		return CP_FLOW_CALL_INDIRECT;
	case 2: /* ret */
	case 4: /* eret */
		return CP_FLOW_RETURN;
	default:
		return CP_FLOW_END;
	}
}

static enum cp_flow flow(uint32_t insn, uint64_t pc, uint64_t *target_ret)
{
	if ((insn & 0x7c000000) == 0x14000000) { /* b, bl */
		*target_ret = pc + offset(insn, 0, 26);
		return insn >> 31 ? CP_FLOW_CALL : CP_FLOW_JUMP;
	}
	if ((insn & 0xff000000) == 0x54000000 || /* b.cond, bc.cond */
	    (insn & 0x7e000000) == 0x34000000) { /* cbz, cbnz */
		*target_ret = pc + offset(insn, 5, 19);
		return CP_FLOW_BRANCH;
	}
	if ((insn & 0x7e000000) == 0x36000000) { /* tbz, tbnz */
		*target_ret = pc + offset(insn, 5, 14);
		return CP_FLOW_BRANCH;
	}
	if ((insn & 0xfe000000) == 0xd6000000)
		return register_branch(insn);
	if ((insn & 0xffe0001f) == 0xd4000001) /* svc */
		return CP_FLOW_SYSCALL;
	if ((insn & 0xffe0001f) == 0xd4200000 || /* brk */
	    (insn & 0xffe0001f) == 0xd4400000 || /* hlt */
	    insn >> 16 == 0) /* udf */
		return CP_FLOW_END;
	return CP_FLOW_ON;
}

bool cp_aarch64_decode(const uint8_t *code, size_t size, uint64_t pc, struct cp_insn *ret)
{
	uint64_t target = 0;
	enum cp_flow to;
	uint32_t insn;

	if (size < 4)
		return false;
	insn = (uint32_t)code[0] | (uint32_t)code[1] << 8 | (uint32_t)code[2] << 16 |
	       (uint32_t)code[3] << 24;
	to = flow(insn, pc, &target);
	*ret = (struct cp_insn){
		.pc = pc,
		.target = target,
		.size = 4,
		.flow = (uint8_t)to,
		/* bti, bti c, bti j, bti jc; also paciasp and pacibsp land, but do something */
		.landing_pad = (insn & 0xffffff3f) == 0xd503241f,
		.nop = insn == 0xd503201f,
	};
	return true;
}
