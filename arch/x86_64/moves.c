/* SPDX-License-Identifier: MIT
 *
 * Addresses of functions on their way from memory to a call:
 *
 *     mov 0x2f5b(%rip),%rbx       rbx: what is kept in that slot
 *     call *%rbx                  goes there
 *     call *0x2e76(%rip)          goes there at once
 */
#include "arch/x86_64/moves.h"

#include "arch/x86_64/insn.h"
#include "arch/x86_64/operands.h"

#define REX_W 8u
#define LOAD 0x8b
#define STORE 0x89
#define ALL 0xffffu
#define COUNTER 2 /* of `loop` */

static uint16_t bit(unsigned number)
{
	return (uint16_t)(1u << number);
}

/* The general register that one is, or is a part of; 0: none. */
static uint16_t bit_of(unsigned reg)
{
	uint8_t width;
	unsigned number = cp_x86_general(reg, &width);

	return number == CP_X86_NONE ? 0 : bit(cp_x86_dwarf(number));
}

/* The disassembler is not relied on alone for what is written: the first operand
 * counts, for one, unless the instruction is known to read it. */
static bool may_write(const cs_insn *insn, unsigned operand)
{
	switch (insn->id) {
	case X86_INS_CMP:
	case X86_INS_TEST:
	case X86_INS_PUSH:
	case X86_INS_NOP:
	case X86_INS_BT:
		return false;
	case X86_INS_XCHG:
	case X86_INS_XADD:
	case X86_INS_MULX:
		return true;
	default:
		return !operand || insn->detail->x86.operands[operand].access & CS_AC_WRITE;
	}
}

static uint16_t written(csh handle, const cs_insn *insn)
{
	const cs_x86 *x = &insn->detail->x86;
	cs_regs reads, writes;
	uint8_t read_count, write_count, i;
	uint16_t answer = 0;

	for (i = 0; i < x->op_count; i++)
		if (x->operands[i].type == X86_OP_REG && may_write(insn, i))
			answer |= bit_of(x->operands[i].reg);
	if (cs_regs_access(handle, insn, reads, &read_count, writes, &write_count) != CS_ERR_OK)
		return ALL;
	for (i = 0; i < write_count; i++)
		answer |= bit_of(writes[i]);
	return answer;
}

static uint16_t not_preserved(void)
{
	return (uint16_t)~cp_arch_x86_64.callee_saved;
}

/* The address of an operand relative to the instruction. */
static uint64_t slot_of(const struct cp_x86_insn *insn, const struct cp_x86_operand *operand,
			uint64_t pc)
{
	return pc + insn->size + (uint64_t)(int64_t)operand->disp;
}

/* Its own, of eight bytes, in the flat address space. */
static bool is_plain(const struct cp_x86_insn *insn)
{
	return insn->map == CP_X86_ONE && insn->has_modrm && !insn->segment && !insn->addrsize &&
	       !insn->opsize && !insn->lock;
}

static bool transfers(const struct cp_x86_insn *insn, const struct cp_insn *flow,
		      const uint8_t *code, struct cp_moves *ret)
{
	struct cp_x86_operand to;

	if (flow->flow != CP_FLOW_CALL && flow->flow != CP_FLOW_CALL_INDIRECT &&
	    flow->flow != CP_FLOW_JUMP_INDIRECT && flow->flow != CP_FLOW_SYSCALL)
		return false;
	ret->written = flow->flow == CP_FLOW_JUMP_INDIRECT ? 0 : not_preserved();
	if (flow->flow == CP_FLOW_CALL || flow->flow == CP_FLOW_SYSCALL || !is_plain(insn))
		return true;
	cp_x86_operand(insn, code, &to);
	if (!to.memory)
		ret->from = to.base;
	else if (cp_x86_rip_relative(insn))
		ret->slot = slot_of(insn, &to, flow->pc);
	return true;
}

/* mov of a whole register, from memory at a fixed place or another register. */
static bool moves(const struct cp_x86_insn *insn, const uint8_t *code, uint64_t pc,
		  struct cp_moves *ret)
{
	struct cp_x86_operand rm;
	uint8_t reg = cp_x86_dwarf(CP_X86_REG(insn) | (insn->rex & 4 ? 8 : 0));

	if (!is_plain(insn) || !(insn->rex & REX_W) ||
	    (insn->opcode != LOAD && insn->opcode != STORE))
		return false;
	cp_x86_operand(insn, code, &rm);
	ret->written = 0;
	if (rm.memory && insn->opcode == STORE)
		return true;
	ret->to = insn->opcode == LOAD ? reg : rm.base;
	ret->written = bit(ret->to);
	if (!rm.memory)
		ret->from = insn->opcode == LOAD ? rm.base : reg;
	else if (cp_x86_rip_relative(insn))
		ret->slot = slot_of(insn, &rm, pc);
	return true;
}

void cp_x86_moves(size_t handle, void *scratch, const uint8_t *code, size_t size, uint64_t pc,
		  struct cp_moves *ret)
{
	cs_insn *insn = scratch;
	struct cp_x86_insn parts;
	struct cp_insn flow;

	*ret = (struct cp_moves){ .to = CP_MOVES_NONE, .from = CP_MOVES_NONE, .written = ALL };
	if (!cp_x86_take_apart(code, size, &parts))
		return;
	cp_x86_flow(&parts, code, pc, &flow);
	if (transfers(&parts, &flow, code, ret))
		return;
	if (flow.flow != CP_FLOW_ON || flow.landing_pad || flow.nop) {
		ret->written = flow.flow == CP_FLOW_BRANCH ? bit(COUNTER) : 0;
		return;
	}
	if (!moves(&parts, code, pc, ret) && cs_disasm_iter(handle, &code, &size, &pc, insn) &&
	    insn->size == parts.size)
		ret->written = written(handle, insn);
}
