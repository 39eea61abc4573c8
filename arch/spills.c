/* SPDX-License-Identifier: MIT
 *
 * Where a function's first instructions put what it was passed: each byte of
 * registers and of the stack says which byte of the entry's it is, or that
 * nobody knows.
 *
 *     sub  $0x18,%rsp            sp: -0x18
 *     mov  %dil,%al              al: byte 0 of rdi
 *     mov  %al,0x7(%rsp)         [-0x11]: byte 0 of rdi
 *     mov  %rsi,0x8(%rsp)        [-0x10]: bytes 0 to 7 of rsi
 */
#include "arch/spills.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "arch/capstone.h"
#include "arch/decoder.h"
#include "arch/x86_64/insn.h"
#include "arch/x86_64/operands.h"

#define VECTOR_BYTES 16
#define UNKNOWN 0
#define AWAY INT64_MIN

struct state {
	struct cp_spills *to;
	/* by x86's numbers, not DWARF's */
	uint16_t general[CP_X86_GENERAL][8], vector[CP_ARCH_VECTORS][VECTOR_BYTES];
	int64_t sp, fp; /* from the stack pointer of the entry; AWAY: not known */
	bool leaked; /* a register may hold an address in the frame */
};

enum { SP = 4, BP = 5 };

/* The bytes of a register, and how many of them there are; NULL: it is none whose
 * bytes are followed. The second byte (ah) counts as the whole of it. */
static uint16_t *bytes_of(struct state *s, unsigned reg, unsigned *size_ret)
{
	uint8_t width;
	unsigned number = cp_x86_general(reg, &width);

	if (number != CP_X86_NONE) {
		*size_ret = width ? width : 8;
		return s->general[number];
	}
	*size_ret = VECTOR_BYTES;
	if (reg >= X86_REG_XMM0 && reg < X86_REG_XMM0 + CP_ARCH_VECTORS)
		return s->vector[reg - X86_REG_XMM0];
	if (reg >= X86_REG_YMM0 && reg < X86_REG_YMM0 + CP_ARCH_VECTORS)
		return s->vector[reg - X86_REG_YMM0];
	return NULL;
}

static void forget_register(struct state *s, unsigned reg)
{
	unsigned size, whole;
	uint16_t *bytes = bytes_of(s, reg, &size);

	if (!bytes)
		return;
	whole = size == 4 ? 8 : size; /* the upper half becomes 0 */
	memset(bytes, 0, whole * sizeof(*bytes));
	if (bytes == s->general[SP])
		s->sp = AWAY;
	if (bytes == s->general[BP])
		s->fp = AWAY;
}

/* The place of an operand in the stack, from the stack pointer of the entry. */
static int64_t place_of(const struct state *s, const cs_x86_op *op)
{
	int64_t base = op->mem.base == X86_REG_RSP   ? s->sp
		       : op->mem.base == X86_REG_RBP ? s->fp
						     : AWAY;

	if (op->mem.index != X86_REG_INVALID || op->mem.segment != X86_REG_INVALID || base == AWAY)
		return AWAY;
	return base + op->mem.disp;
}

static uint16_t *frame_byte(struct state *s, int64_t at)
{
	return at < 0 && at >= -CP_SPILLS_FRAME ? &s->to->frame[CP_SPILLS_FRAME + at] : NULL;
}

/* The bytes at `at`: of the frame, or above the return address, where the caller put
 * them. */
static uint16_t memory_byte(struct state *s, int64_t at)
{
	const uint16_t *byte = frame_byte(s, at);

	if (byte)
		return *byte;
	return at >= 8 && at < 8 + CP_SPILLS_STACK ? (uint16_t)(CP_SPILL_STACK + at) : UNKNOWN;
}

/* `from` NULL: nobody knows what. False: it may have been anywhere. */
static bool store(struct state *s, const cs_x86_op *op, const uint16_t *from, unsigned size)
{
	int64_t at = place_of(s, op);
	uint16_t *byte;
	unsigned i;

	if (at == AWAY)
		return !s->leaked && op->mem.base != X86_REG_RSP && op->mem.base != X86_REG_RBP;
	for (i = 0; i < size; i++) {
		byte = frame_byte(s, at + i);
		if (byte)
			*byte = from ? from[i] : UNKNOWN;
	}
	return true;
}

/* How many bytes a move moves; 0: it is none that is followed. */
static unsigned moves(const cs_insn *insn)
{
	const cs_x86_op *op = insn->detail->x86.operands;

	switch (insn->id) {
	case X86_INS_MOVABS:
		return op[0].size;
	case X86_INS_MOVZX:
		return op[1].size;
	default:
		return cp_x86_move_size(insn);
	}
}

/* False: not to be followed any further. */
static bool move(struct state *s, const cs_insn *insn, unsigned size)
{
	const cs_x86_op *to = &insn->detail->x86.operands[0], *from = to + 1;
	uint16_t moved[VECTOR_BYTES] = { 0 };
	const uint16_t *source;
	uint16_t *target;
	unsigned width, i;
	int64_t at;

	if (from->type == X86_OP_REG) {
		source = bytes_of(s, from->reg, &width);
		if (source && size <= width)
			memcpy(moved, source, size * sizeof(*moved));
	} else if (from->type == X86_OP_MEM) {
		at = place_of(s, from);
		for (i = 0; i < size && at != AWAY; i++)
			moved[i] = memory_byte(s, at + i);
	}
	if (to->type == X86_OP_MEM)
		return store(s, to, moved, size);
	/* Its other bytes go, or stay: nobody will ask for those. */
	forget_register(s, to->reg);
	target = bytes_of(s, to->reg, &width);
	if (target && size <= width && target != s->general[SP])
		memcpy(target, moved, size * sizeof(*moved));
	if (to->reg == X86_REG_RBP && from->type == X86_OP_REG && from->reg == X86_REG_RSP)
		s->fp = s->sp;
	return true;
}

/* Follows what an instruction does to sp and fp; false: nothing that is understood. */
static bool frame_step(struct state *s, const cs_insn *insn)
{
	const cs_x86 *x = &insn->detail->x86;
	const cs_x86_op *to = &x->operands[0], *from = to + 1;

	if (insn->id == X86_INS_PUSH) {
		s->sp -= 8;
		store(s, &(cs_x86_op){ .type = X86_OP_MEM, .mem = { .base = X86_REG_RSP } }, NULL,
		      8);
		return true;
	}
	if (x->op_count == 2 && to->type == X86_OP_REG && to->reg == X86_REG_RSP &&
	    from->type == X86_OP_IMM && (insn->id == X86_INS_SUB || insn->id == X86_INS_ADD)) {
		s->sp += insn->id == X86_INS_ADD ? from->imm : -from->imm;
		return true;
	}
	if (insn->id == X86_INS_LEA && from->type == X86_OP_MEM &&
	    (from->mem.base == X86_REG_RSP || from->mem.base == X86_REG_RBP)) {
		int64_t at = place_of(s, from);

		forget_register(s, to->reg);
		if (to->reg == X86_REG_RBP)
			s->fp = at;
		else
			s->leaked = true;
		return true;
	}
	return false;
}

static bool other(struct state *s, csh handle, const cs_insn *insn)
{
	const cs_x86 *x = &insn->detail->x86;
	cs_regs reads, writes;
	uint8_t read_count, write_count, i;

	/* A bool is its lowest bit. */
	if (insn->id == X86_INS_AND && x->op_count == 2 && x->operands[0].size == 1 &&
	    x->operands[0].type == X86_OP_REG && x->operands[1].type == X86_OP_IMM &&
	    x->operands[1].imm == 1)
		return true;
	if (cs_regs_access(handle, insn, reads, &read_count, writes, &write_count) != CS_ERR_OK)
		return false;
	for (i = 0; i < write_count; i++)
		forget_register(s, writes[i]);
	for (i = 0; i < x->op_count; i++) {
		if (x->operands[i].type == X86_OP_REG &&
		    (!i || x->operands[i].access & CS_AC_WRITE) && insn->id != X86_INS_CMP &&
		    insn->id != X86_INS_TEST)
			forget_register(s, x->operands[i].reg);
		if (x->operands[i].type == X86_OP_MEM && insn->id != X86_INS_CMP &&
		    insn->id != X86_INS_TEST && insn->id != X86_INS_LEA &&
		    insn->id != X86_INS_NOP && (!i || x->operands[i].access & CS_AC_WRITE) &&
		    !store(s, &x->operands[i], NULL, x->operands[i].size))
			return false;
	}
	return true;
}

static bool step(struct state *s, csh handle, const cs_insn *insn)
{
	unsigned size = moves(insn);

	if (cs_insn_group(handle, insn, CS_GRP_JUMP) || cs_insn_group(handle, insn, CS_GRP_CALL) ||
	    cs_insn_group(handle, insn, CS_GRP_RET) || insn->detail->x86.prefix[0])
		return size && insn->detail->x86.prefix[0] ? move(s, insn, size) : false;
	if (frame_step(s, insn))
		return s->sp != AWAY;
	if (size && insn->detail->x86.op_count == 2)
		return move(s, insn, size) && s->sp != AWAY;
	return other(s, handle, insn) && s->sp != AWAY;
}

static void begin(struct state *s)
{
	unsigned i, j;

	s->fp = AWAY;
	for (i = 0; i < CP_X86_GENERAL; i++)
		for (j = 0; j < 8; j++)
			s->general[i][j] = CP_SPILL_GENERAL(cp_x86_dwarf(i), j);
	for (i = 0; i < CP_ARCH_VECTORS; i++)
		for (j = 0; j < VECTOR_BYTES; j++)
			s->vector[i][j] = CP_SPILL_VECTOR(i, j);
}

struct cp_spills *cp_arch_find_spills(const struct cp_arch *arch, const uint8_t *code, size_t size,
				      uint64_t start)
{
	struct cp_spills *to = calloc(1, sizeof(*to));
	struct state s = { .to = to };
	struct cp_decoder *decoder = cp_decoder_create(arch);
	csh handle = 0;
	cs_insn *insn = cp_decoder_capstone(decoder, &handle);

	if (!to || !insn) {
		cp_decoder_destroy(decoder);
		free(to);
		return NULL;
	}
	begin(&s);
	while (cs_disasm_iter(handle, &code, &size, &start, insn) && step(&s, handle, insn)) {
		to->sp = s.sp < to->sp ? s.sp : to->sp;
		to->fp = s.fp == AWAY ? to->fp : s.fp;
	}
	cp_decoder_destroy(decoder);
	return to;
}

uint16_t cp_spills_byte(const struct cp_spills *spills, int64_t at)
{
	return at < 0 && at >= -CP_SPILLS_FRAME ? spills->frame[CP_SPILLS_FRAME + at] : UNKNOWN;
}
