/* SPDX-License-Identifier: MIT
 *
 * Instructions, where knowing single encodings is not enough: the one user of
 * capstone.
 *
 * The depth of a frame is found by following what a function's instructions
 * do to the stack pointer, along every path from its first one, until one
 * gets to the pc that is asked for:
 *
 *	start: push %rbp          0 ──► 8
 *	       mov  %rsp, %rbp                 rbp is at depth 8
 *	       sub  $64, %rsp     8 ──► 72
 *	       je   out ──────────────────┐
 *	  pc:  ...                72      │
 *	 out:  leave              0  ◄────┘    rbp again, and popped
 *
 * Each address is looked at once: compilers keep the depth at an address the
 * same on all paths, except where they align the stack pointer or make room of
 * a size that only run time knows; from there on the depth is a lower bound.
 */
#include "arch/arch.h"

#include <capstone/capstone.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define PATHS_MAX 128 /* that wait to be followed */
#define INSNS_MAX 4000 /* followed, all together */
#define NO_DEPTH UINT32_MAX
#define ANY UINT32_MAX

struct state {
	uint64_t at;
	uint32_t depth; /* of sp below the return address */
	uint32_t fp_depth; /* where the frame pointer points; NO_DEPTH: elsewhere */
	uint32_t slack; /* sp may be lower by this; ANY: or more */
};

struct explorer {
	csh handle;
	const uint8_t *code;
	size_t size;
	uint64_t start, pc;
	uint8_t *seen; /* of each byte: an instruction there was followed */
	struct state waiting[PATHS_MAX];
	size_t nwaiting;
	unsigned insns;
};

static void later(struct explorer *e, struct state s, uint64_t at)
{
	s.at = at;
	if (e->nwaiting < PATHS_MAX && at - e->start < e->size && !e->seen[at - e->start])
		e->waiting[e->nwaiting++] = s;
}

/* sp becomes what is `offset` above rbp. */
static bool from_fp(struct state *s, int64_t offset)
{
	if (s->fp_depth == NO_DEPTH)
		return false;
	s->depth = (uint32_t)((int64_t)s->fp_depth - offset);
	s->slack = 0;
	return true;
}

/* and $-64, %rsp: sp was a multiple of 8 already. */
static void align(struct state *s, const cs_x86_op *mask)
{
	if (mask->type != X86_OP_IMM || mask->imm > -8 || mask->imm < -4096 || s->slack == ANY)
		s->slack = ANY;
	else
		s->slack += (uint32_t)-mask->imm - 8;
}

/* An instruction whose first operand is rsp. */
static bool x86_sets_sp(const cs_insn *insn, struct state *s)
{
	const cs_x86_op *from = &insn->detail->x86.operands[1];
	bool known = from->type == X86_OP_IMM;

	switch (insn->id) {
	case X86_INS_SUB:
		s->depth += known ? (uint32_t)from->imm : 0;
		s->slack = known ? s->slack : ANY;
		return true;
	case X86_INS_ADD:
		s->depth -= known ? (uint32_t)from->imm : 0;
		return known;
	case X86_INS_AND:
		align(s, from);
		return true;
	case X86_INS_LEA:
		if (from->mem.index != X86_REG_INVALID)
			return false;
		if (from->mem.base == X86_REG_RBP)
			return from_fp(s, from->mem.disp);
		s->depth -= (uint32_t)from->mem.disp;
		return from->mem.base == X86_REG_RSP;
	case X86_INS_MOV:
		return from->type == X86_OP_REG && from->reg == X86_REG_RBP && from_fp(s, 0);
	default:
		return insn->id == X86_INS_CMP || insn->id == X86_INS_TEST;
	}
}

/* An instruction that goes on behind itself. */
static bool x86_straight(const struct explorer *e, const cs_insn *insn, struct state *s)
{
	const cs_x86 *x = &insn->detail->x86;
	const cs_x86_op *to = &x->operands[0], *from = &x->operands[1];

	switch (insn->id) {
	case X86_INS_PUSH:
		s->depth += 8;
		return true;
	case X86_INS_POP:
		s->depth -= 8;
		if (to->type == X86_OP_REG && to->reg == X86_REG_RBP)
			s->fp_depth = NO_DEPTH;
		return true;
	case X86_INS_LEAVE:
		if (!from_fp(s, 8))
			return false;
		s->fp_depth = NO_DEPTH;
		return true;
	default:
		break;
	}
	if (x->op_count == 2 && to->type == X86_OP_REG && to->reg == X86_REG_RSP)
		return x86_sets_sp(insn, s);
	if (insn->id == X86_INS_MOV && to->type == X86_OP_REG && to->reg == X86_REG_RBP &&
	    from->type == X86_OP_REG && from->reg == X86_REG_RSP)
		s->fp_depth = s->slack ? NO_DEPTH : s->depth;
	else if (cs_reg_write(e->handle, insn, X86_REG_RBP) && insn->id != X86_INS_CALL)
		s->fp_depth = NO_DEPTH;
	return insn->id == X86_INS_CALL || !cs_reg_write(e->handle, insn, X86_REG_RSP);
}

/* Follows one path; true when it came to the pc, as *s was there. */
static bool x86_follow(struct explorer *e, cs_insn *insn, struct state *s)
{
	while (s->at != e->pc) {
		uint64_t at = s->at, offset = at - e->start;
		const uint8_t *code = e->code + offset;
		size_t left = e->size - offset;
		const cs_x86_op *to = &insn->detail->x86.operands[0];

		if (offset >= e->size || e->seen[offset] || ++e->insns > INSNS_MAX ||
		    !cs_disasm_iter(e->handle, &code, &left, &at, insn))
			return false;
		e->seen[offset] = 1;
		s->at = at;
		if (cs_insn_group(e->handle, insn, CS_GRP_RET) || insn->id == X86_INS_UD2 ||
		    insn->id == X86_INS_HLT || (insn->id == X86_INS_INT3 && offset))
			return false;
		if (cs_insn_group(e->handle, insn, CS_GRP_JUMP)) {
			if (to->type == X86_OP_IMM)
				later(e, *s, (uint64_t)to->imm);
			if (insn->id == X86_INS_JMP)
				return false;
		} else if (!x86_straight(e, insn, s)) {
			return false;
		}
		if (s->depth > INT32_MAX)
			return false;
	}
	return true;
}

bool cp_arch_frame_depth(const struct cp_arch *arch, const uint8_t *code, size_t size,
			 uint64_t start, uint64_t pc, uint64_t *ret, uint64_t *slack_ret)
{
	struct explorer e = { .code = code, .size = size, .start = start, .pc = pc };
	struct state s = { .fp_depth = NO_DEPTH };
	bool found = false;
	cs_insn *insn;

	if (arch->e_machine != EM_X86_64 ||
	    cs_open(CS_ARCH_X86, CS_MODE_64, &e.handle) != CS_ERR_OK)
		return false;
	cs_option(e.handle, CS_OPT_DETAIL, CS_OPT_ON);
	insn = cs_malloc(e.handle);
	e.seen = calloc(size ? size : 1, 1);
	later(&e, s, start);
	while (insn && e.seen && e.nwaiting && !found) {
		s = e.waiting[--e.nwaiting];
		found = x86_follow(&e, insn, &s);
	}
	free(e.seen);
	if (insn)
		cs_free(insn, 1);
	cs_close(&e.handle);
	if (found) {
		*ret = s.depth;
		*slack_ret = s.slack == ANY ? UINT64_MAX : s.slack;
	}
	return found;
}
