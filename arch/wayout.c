/* SPDX-License-Identifier: MIT
 *
 * The way out of a function: from somewhere in it to its return, along its own code.
 *
 *     deregister_tm_clones()          stack pointer        rbp
 *     movb   $1, completed            sp                   rbp
 *     pop    %rbp                     sp + 8               what lies at sp
 *     ret                             the return address is at sp + 8
 *
 * Where a function begins need not be known, and nothing of how it got here: what it
 * will take off the stack is what it has put there. Each register's value is
 * followed as one of
 *
 *     a register of here, plus a number  ·  a word of the stack of here  ·  not known
 *
 * A word of the stack that is written on the way tells nothing of here, unless a register of
 * here was put there: functions that are just setting up their frame do that.
 */
#include "arch/wayout.h"

#include <string.h>

#include "arch/capstone.h"
#include "arch/x86_64/insn.h"
#include "arch/x86_64/operands.h"

#define LONGEST 15 /* bytes of an instruction */
#define INSNS_MOST 400u /* of one way out */
#define BRANCHES_MOST 32u
#define STORES_MOST 24u
#define PUSH_FP 0x55 /* the first byte of functions */

/* by x86's numbers, not DWARF's */
enum { SP = 4, BP = 5 };
/* rax, rcx, rdx, rsi, rdi, r8 to r11 */
#define CLOBBERED 0x0fc7u

struct value {
	enum { UNKNOWN, REGISTER, WORD } is;
	uint8_t reg; /* of here */
	int64_t offset; /* from what it holds: the value, or where the word lies */
};

struct way {
	uint64_t pc;
	struct value regs[CP_X86_GENERAL];
	struct stored {
		struct value at, value;
	} stored[STORES_MOST]; /* words of the stack, the latest last */
	unsigned stored_count;
	uint16_t pushed; /* registers of here that were put onto the stack, by x86's numbers */
	bool called; /* the instruction before was a call */
};

struct search {
	csh handle;
	cs_insn *insn; /* the decoder's */
	const struct cp_reader *code;
	const struct cp_way_ends *ends;
	struct way ahead[BRANCHES_MOST];
	unsigned count;
	uint64_t seen[INSNS_MOST];
	unsigned seen_count;
	struct cp_way_out *found;
	unsigned returns;
};

static struct value plus(struct value v, int64_t offset)
{
	v.offset += offset;
	return v.is == REGISTER ? v : (struct value){ .is = UNKNOWN };
}

static struct value unknown(void)
{
	return (struct value){ .is = UNKNOWN };
}

static bool is_on_stack(const struct value *at)
{
	return at->is == REGISTER && (at->reg == SP || at->reg == BP);
}

/* The word at `at`, for register `to`: what was stored there, or one of here. How far rsp and rbp
 * are from each other is not known: what was pushed may be where rbp leads to. */
static struct value word_at(const struct way *w, struct value at, unsigned to)
{
	unsigned i = w->stored_count;
	int64_t apart;

	if (!is_on_stack(&at))
		return unknown();
	while (i--) {
		if (w->stored[i].at.reg != at.reg)
			continue;
		apart = w->stored[i].at.offset - at.offset;
		if (!apart)
			return w->stored[i].value;
		if (apart > -8 && apart < 8)
			return unknown();
	}
	if (w->stored_count == STORES_MOST || (at.reg == SP && at.offset < 0) ||
	    (at.reg == BP && w->pushed >> to & 1))
		return unknown();
	at.is = WORD;
	return at;
}

static void store(struct way *w, struct value at, struct value value)
{
	if (!is_on_stack(&at) || w->stored_count == STORES_MOST)
		return;
	w->stored[w->stored_count++] = (struct stored){ at, value };
	if (value.is == REGISTER && !value.offset)
		w->pushed |= (uint16_t)(1u << value.reg);
}

static unsigned number_of(unsigned reg, bool *whole_ret)
{
	uint8_t width;
	unsigned number = cp_x86_general(reg, &width);

	*whole_ret = width == 8;
	return number;
}

/* What an operand of 8 bytes is worth. */
static struct value value_of(const struct way *w, const cs_x86_op *op)
{
	bool whole;
	unsigned number;

	if (op->type == X86_OP_REG) {
		number = number_of(op->reg, &whole);
		return number != CP_X86_NONE && whole ? w->regs[number] : unknown();
	}
	if (op->type != X86_OP_MEM || op->mem.index != X86_REG_INVALID ||
	    op->mem.segment != X86_REG_INVALID)
		return unknown();
	number = number_of(op->mem.base, &whole);
	return number != CP_X86_NONE && whole ? plus(w->regs[number], op->mem.disp) : unknown();
}

/* All that an instruction writes, but for what moves values about, is not known behind it. */
static bool forget_written(struct search *s, struct way *w)
{
	cs_regs reads, writes;
	uint8_t read_count, write_count, i;
	unsigned number;
	bool whole;

	if (cs_regs_access(s->handle, s->insn, reads, &read_count, writes, &write_count) !=
	    CS_ERR_OK)
		return false;
	for (i = 0; i < write_count; i++) {
		number = number_of(writes[i], &whole);
		if (number != CP_X86_NONE)
			w->regs[number].is = UNKNOWN;
	}
	return true;
}

/* What takes from the stack, or puts there. False: another instruction. */
static bool move_stack(const cs_insn *insn, struct way *w)
{
	const cs_x86 *x = &insn->detail->x86;
	const cs_x86_op *to = &x->operands[0];
	struct value *sp = &w->regs[SP];

	if (insn->id == X86_INS_PUSH) {
		struct value value = to->type == X86_OP_REG ? value_of(w, to) : unknown();

		*sp = plus(*sp, to->size == 2 ? -2 : -8);
		store(w, *sp, value);
		return true;
	}
	if (insn->id == X86_INS_LEAVE) {
		*sp = plus(w->regs[BP], 8);
		w->regs[BP] = word_at(w, w->regs[BP], BP);
		return true;
	}
	if (insn->id == X86_INS_MOV && to->type == X86_OP_MEM) {
		store(w, value_of(w, to), to->size == 8 ? value_of(w, &x->operands[1]) : unknown());
		return true;
	}
	return false;
}

/* What a general register is to hold. False: what such an instruction leaves is not known. */
static bool move_register(const cs_insn *insn, struct way *w, unsigned number)
{
	const cs_x86_op *from = &insn->detail->x86.operands[1];
	struct value value = unknown();

	switch (insn->id) {
	case X86_INS_POP:
		value = word_at(w, w->regs[SP], number);
		w->regs[SP] = plus(w->regs[SP], 8);
		break;
	case X86_INS_MOV:
		value = value_of(w, from);
		if (from->type == X86_OP_MEM)
			value = word_at(w, value, number);
		break;
	case X86_INS_LEA:
		value = value_of(w, from);
		break;
	case X86_INS_ADD:
	case X86_INS_SUB:
		if (from->type != X86_OP_IMM)
			return false;
		value = plus(w->regs[number], insn->id == X86_INS_ADD ? from->imm : -from->imm);
		break;
	default:
		return false;
	}
	w->regs[number] = value;
	return true;
}

/* Instructions that move the stack pointer, or values. False: another one. */
static bool move(const cs_insn *insn, struct way *w)
{
	const cs_x86_op *to = &insn->detail->x86.operands[0];
	bool whole = false;
	unsigned number;

	if (move_stack(insn, w))
		return true;
	if (!insn->detail->x86.op_count || to->type != X86_OP_REG)
		return false;
	number = number_of(to->reg, &whole);
	return whole && number != CP_X86_NONE && move_register(insn, w, number);
}

/* ---- a return ---- */

static void take(const struct way *w, struct cp_way_out *ret)
{
	const struct value *sp = &w->regs[SP];
	unsigned i;

	*ret = (struct cp_way_out){ .base = (uint8_t)cp_x86_dwarf(sp->reg), .cfa = sp->offset + 8 };
	for (i = 0; i < CP_X86_GENERAL; i++) {
		const struct value *v = &w->regs[i];
		unsigned dwarf = cp_x86_dwarf(i);

		if (i == SP || CLOBBERED >> i & 1)
			continue;
		if (v->is == REGISTER && v->reg == i && !v->offset) {
			ret->kept |= (uint16_t)(1u << dwarf);
		} else if (v->is == WORD && v->reg == sp->reg && v->offset + 8 < ret->cfa) {
			ret->saved |= (uint16_t)(1u << dwarf);
			ret->at[dwarf] = v->offset;
		}
	}
}

/* False: another return is known which has its return address elsewhere. */
static bool returned(struct search *s, const struct way *w)
{
	struct cp_way_out this;
	unsigned i;

	if (w->regs[SP].is != REGISTER || (w->regs[SP].reg != SP && w->regs[SP].reg != BP) ||
	    (w->regs[SP].reg == SP && w->regs[SP].offset < 0))
		return false;
	take(w, &this);
	if (!s->returns++) {
		*s->found = this;
		return true;
	}
	if (s->found->base != this.base || s->found->cfa != this.cfa)
		return false;
	s->found->kept &= this.kept;
	s->found->saved &= this.saved;
	for (i = 0; i < CP_WAY_OUT_REGS; i++)
		if (s->found->at[i] != this.at[i])
			s->found->saved &= (uint16_t) ~(1u << i);
	return true;
}

/* ---- along the code ---- */

static bool is_new(struct search *s, uint64_t pc)
{
	unsigned i;

	for (i = 0; i < s->seen_count; i++)
		if (s->seen[i] == pc)
			return false;
	if (s->seen_count < INSNS_MOST)
		s->seen[s->seen_count++] = pc;
	return true;
}

static void branch(struct search *s, const struct way *w, uint64_t target)
{
	if (s->count == BRANCHES_MOST)
		return;
	s->ahead[s->count] = *w;
	s->ahead[s->count++].pc = target;
}

/* A jump, which may be a call of another function that this one ends by. */
static bool jump(struct search *s, struct way *w, uint64_t target, bool *on_ret)
{
	enum cp_way_where where = s->ends->where(s->ends->ctx, target);

	w->pc = target;
	*on_ret = where == CP_WAY_INSIDE;
	return where == CP_WAY_BEGINS ? returned(s, w) : true;
}

static bool execute(struct search *s, struct way *w, const uint8_t *bytes, size_t size)
{
	uint64_t at = w->pc;

	if (!cs_disasm_iter(s->handle, &bytes, &size, &at, s->insn))
		return false;
	return move(s->insn, w) || forget_written(s, w);
}

static void forget_clobbered(struct way *w)
{
	unsigned i;

	for (i = 0; i < CP_X86_GENERAL; i++)
		if (CLOBBERED >> i & 1)
			w->regs[i].is = UNKNOWN;
}

/* One instruction. False: the search has failed; *on_ret: whether this way goes on. */
static bool step(struct search *s, struct cp_decoder *decoder, struct way *w, bool *on_ret)
{
	uint8_t bytes[LONGEST];
	size_t got = s->code->read(s->code->ctx, w->pc, bytes, sizeof(bytes));
	struct cp_insn insn;
	bool called = w->called;

	*on_ret = false;
	if (s->ends->where(s->ends->ctx, w->pc) != CP_WAY_INSIDE || !is_new(s, w->pc) ||
	    !cp_decode(decoder, bytes, got, w->pc, &insn))
		return true;
	w->called = insn.flow == CP_FLOW_CALL || insn.flow == CP_FLOW_CALL_INDIRECT;
	switch ((enum cp_flow)insn.flow) {
	case CP_FLOW_RETURN:
		return bytes[0] != 0xc2 && returned(s, w); /* one that takes arguments off */
	case CP_FLOW_END:
	case CP_FLOW_JUMP_INDIRECT:
		return true;
	case CP_FLOW_JUMP:
		return jump(s, w, insn.target, on_ret);
	case CP_FLOW_BRANCH:
		branch(s, w, insn.target);
		break;
	case CP_FLOW_CALL:
	case CP_FLOW_CALL_INDIRECT:
		forget_clobbered(w);
		break;
	case CP_FLOW_ON:
	case CP_FLOW_SYSCALL:
		/* Behind a call that does not return the next function begins. */
		if (called && (insn.landing_pad || insn.nop || bytes[0] == PUSH_FP))
			return true;
		if (!execute(s, w, bytes, got))
			return false;
		break;
	}
	w->pc += insn.size;
	*on_ret = true;
	return true;
}

bool cp_arch_way_out(struct cp_decoder *decoder, const struct cp_reader *code, uint64_t pc,
		     bool called, const struct cp_way_ends *ends, struct cp_way_out *ret)
{
	struct search s = { .code = code, .ends = ends, .found = ret, .count = 1 };
	struct way w = { .pc = pc, .called = called };
	size_t handle = 0;
	unsigned i;
	bool on;

	s.insn = cp_decoder_capstone(decoder, &handle);
	s.handle = handle;
	if (!s.insn)
		return false;
	for (i = 0; i < CP_X86_GENERAL; i++)
		w.regs[i] = (struct value){ .is = REGISTER, .reg = (uint8_t)i };
	s.ahead[0] = w;
	while (s.count) {
		w = s.ahead[--s.count];
		do {
			if (!step(&s, decoder, &w, &on))
				return false;
		} while (on && s.seen_count < INSNS_MOST);
	}
	return s.returns > 0;
}
