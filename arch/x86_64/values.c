/* SPDX-License-Identifier: MIT
 *
 * Abstract execution of the few instructions that compilers make of `switch`.
 *
 *     cmp $7,%edi                 the low 4 bytes of A are compared with 7
 *     ja default                  below: fact "the low 4 bytes of A are <= 7"
 *     mov %edi,%eax               rax: the low 4 bytes of A
 *     lea table(%rip),%rdx        rdx: a constant
 *     movslq (%rdx,%rax,4),%rax   rax: an entry of the table, by A's low bytes
 *     add %rdx,%rax               rax: a target
 *     jmp *%rax
 *
 * Whatever an instruction writes becomes a new symbol, of which nothing is
 * known, unless it is one of those understood here.
 */
#include "arch/x86_64/values.h"

#include <stddef.h>

#include "arch/x86_64/operands.h"

#define UNKNOWN CP_X86_NONE
#define ABSOLUTE 16

enum { AX, CX, DX, BX, SP, BP, SI, DI };

uint64_t cp_values_most(uint8_t width)
{
	return width >= 8 ? UINT64_MAX : (UINT64_C(1) << width * 8) - 1;
}

static uint8_t least(uint8_t a, uint8_t b)
{
	return a < b ? a : b;
}

static struct cp_value fresh(struct cp_values *v, uint8_t width)
{
	return (struct cp_value){ .kind = CP_PLAIN, .width = width, .symbol = v->next_symbol++ };
}

static struct cp_value constant(uint64_t number)
{
	return (struct cp_value){ .kind = CP_CONST, .width = 8, .number = number };
}

static bool same(const struct cp_value *a, const struct cp_value *b)
{
	return a->kind == b->kind && a->width == b->width && a->scale == b->scale &&
	       a->symbol == b->symbol && a->number == b->number && a->base == b->base &&
	       a->guess == b->guess;
}

void cp_values_reset(struct cp_values *v, uint32_t next_symbol)
{
	size_t i;

	*v = (struct cp_values){ .next_symbol = next_symbol + 1 };
	for (i = 0; i < 16; i++) {
		v->reg[i] = fresh(v, 8);
		v->reg[i].guess = (uint8_t)(i + 1);
	}
	for (i = 0; i < CP_CELLS; i++)
		v->cells[i].base = UNKNOWN;
}

/* A register that still has its value from before may be the address of a
 * table that was put there outside of a loop: that is left to be found out. */
static bool is_address(const struct cp_value *value)
{
	return value->kind == CP_CONST ||
	       (value->kind == CP_PLAIN && value->width == 8 && value->guess);
}

/* ---- facts ---- */

uint64_t cp_values_max(const struct cp_values *v, const struct cp_value *value)
{
	uint64_t max = cp_values_most(value->width);
	size_t i;

	for (i = 0; i < CP_FACTS; i++) {
		const struct cp_fact *f = &v->facts[i];

		/* A limit of more bytes of a register holds for fewer. */
		if (f->symbol == value->symbol && f->width >= value->width && f->symbol &&
		    f->max < max)
			max = f->max;
	}
	return max;
}

static void learn(struct cp_values *v, const struct cp_value *value, uint8_t width, uint64_t max)
{
	if (value->kind != CP_PLAIN || max >= cp_values_most(width))
		return;
	v->facts[v->next_fact++ % CP_FACTS] = (struct cp_fact){
		.symbol = value->symbol,
		.width = width,
		.max = max,
	};
}

void cp_values_branch(struct cp_values *v, unsigned id, bool taken)
{
	uint8_t width = least(v->what.width, v->compared_width);
	uint64_t max = v->with;
	/* A value with fewer bytes than are compared is never negative. */
	bool positive = v->what.width < v->compared_width && v->with <= INT32_MAX;

	if (!v->compared)
		return;
	if (id == X86_INS_JA || (id == X86_INS_JG && positive)) {
		if (!taken)
			learn(v, &v->what, width, max);
	} else if (id == X86_INS_JBE || (id == X86_INS_JLE && positive)) {
		if (taken)
			learn(v, &v->what, width, max);
	} else if (id == X86_INS_JAE || (id == X86_INS_JGE && positive)) {
		if (!taken && max)
			learn(v, &v->what, width, max - 1);
	} else if (id == X86_INS_JB || (id == X86_INS_JL && positive)) {
		if (taken && max)
			learn(v, &v->what, width, max - 1);
	}
}

/* ---- memory ---- */

/* Other segments don't count in 64-bit mode; notrack is spelled as one. */
static bool is_elsewhere(const x86_op_mem *mem)
{
	return mem->segment == X86_REG_FS || mem->segment == X86_REG_GS;
}

/* base + disp without an index: *base_ret is UNKNOWN otherwise. */
static void place(const cs_insn *insn, const x86_op_mem *mem, uint8_t *base_ret, int64_t *disp_ret)
{
	uint8_t width;

	*base_ret = UNKNOWN;
	*disp_ret = mem->disp;
	if (mem->index != X86_REG_INVALID || is_elsewhere(mem))
		return;
	if (mem->base == X86_REG_RIP) {
		*base_ret = ABSOLUTE;
		*disp_ret += (int64_t)(insn->address + insn->size);
	} else if (mem->base == X86_REG_INVALID) {
		*base_ret = ABSOLUTE;
	} else {
		*base_ret = (uint8_t)cp_x86_general(mem->base, &width);
		if (width != 8)
			*base_ret = UNKNOWN;
	}
}

static bool overlap(const struct cp_cell *cell, int64_t disp, uint8_t size)
{
	return disp < cell->disp + cell->size && cell->disp < disp + size;
}

/* A write there; to places that aren't known, it may be anywhere. */
static void forget_memory(struct cp_values *v, uint8_t base, int64_t disp, uint8_t size)
{
	size_t i;

	for (i = 0; i < CP_CELLS; i++) {
		struct cp_cell *cell = &v->cells[i];

		if (cell->base != base || base == UNKNOWN || overlap(cell, disp, size))
			cell->base = UNKNOWN;
	}
}

static void forget_cells_at(struct cp_values *v, uint8_t base)
{
	size_t i;

	for (i = 0; i < CP_CELLS; i++) {
		if (v->cells[i].base == base)
			v->cells[i].base = UNKNOWN;
	}
}

static void set_cell(struct cp_values *v, uint8_t base, int64_t disp, uint8_t size,
		     struct cp_value value)
{
	v->cells[v->next_cell++ % CP_CELLS] = (struct cp_cell){
		.base = base,
		.size = size,
		.disp = disp,
		.value = value,
	};
}

static void set_reg(struct cp_values *v, unsigned reg, struct cp_value value)
{
	v->reg[reg] = value;
	forget_cells_at(v, (uint8_t)reg);
}

/* ---- operands ---- */

/* table(,index,size), with the table in a register or as the displacement. */
static bool table_entry(struct cp_values *v, const cs_insn *insn, const x86_op_mem *mem,
			uint8_t size, struct cp_value *ret)
{
	struct cp_value parts[2] = { constant(0), constant(0) }, *table = &parts[0];
	struct cp_value *index = &parts[1];
	uint8_t width;
	unsigned reg;

	if (is_elsewhere(mem) || (size != 4 && size != 8) || insn->detail->x86.addr_size != 8)
		return false;
	if (mem->base != X86_REG_INVALID && (reg = cp_x86_general(mem->base, &width)) != UNKNOWN)
		*table = v->reg[reg];
	else if (mem->base != X86_REG_INVALID)
		return false;
	if (mem->index == X86_REG_INVALID || (reg = cp_x86_general(mem->index, &width)) == UNKNOWN)
		return false;
	*index = v->reg[reg];
	if (mem->scale != 1 && index->kind == CP_PLAIN) {
		index->kind = CP_SCALED;
		index->scale = (uint8_t)mem->scale;
	}
	if (index->kind == CP_CONST && mem->scale == 1) {
		table = &parts[1];
		index = &parts[0];
	}
	if (index->kind != CP_SCALED || index->scale != size || !is_address(table))
		return false;
	*ret = (struct cp_value){
		.kind = CP_ENTRY,
		.width = index->width,
		.scale = size,
		.symbol = index->symbol,
		.number = table->number + (uint64_t)mem->disp,
		.guess = table->guess,
	};
	return true;
}

static struct cp_value load(struct cp_values *v, const cs_insn *insn, const cs_x86_op *op)
{
	struct cp_value value;
	uint8_t base;
	int64_t disp;
	size_t i;

	if (table_entry(v, insn, &op->mem, op->size, &value))
		return value;
	value = fresh(v, least(op->size, 8));
	place(insn, &op->mem, &base, &disp);
	if (base == UNKNOWN || (op->size != 1 && op->size != 2 && op->size != 4 && op->size != 8))
		return value;
	for (i = 0; i < CP_CELLS; i++) {
		const struct cp_cell *cell = &v->cells[i];

		if (cell->base != base || cell->disp != disp || cell->size < op->size)
			continue;
		if (cell->size == op->size)
			return cell->value;
		if (cell->value.kind == CP_PLAIN) { /* its low bytes */
			value = cell->value;
			value.width = least(value.width, op->size);
			value.guess = 0;
			return value;
		}
	}
	set_cell(v, base, disp, op->size, value);
	return value;
}

/* The operand's value as an instruction of its size reads it, zero-extended. */
static struct cp_value get(struct cp_values *v, const cs_insn *insn, const cs_x86_op *op)
{
	struct cp_value value;
	uint8_t width;
	unsigned reg;

	if (op->type == X86_OP_IMM)
		return constant((uint64_t)op->imm &
				cp_values_most(insn->detail->x86.operands[0].size));
	if (op->type == X86_OP_MEM)
		return load(v, insn, op);
	reg = op->type == X86_OP_REG ? cp_x86_general(op->reg, &width) : UNKNOWN;
	if (reg == UNKNOWN || !width)
		return fresh(v, 8);
	value = v->reg[reg];
	if (width == 8 || (width == 4 && value.kind == CP_ENTRY && value.scale == 4))
		return value;
	if (value.kind == CP_CONST)
		return constant(value.number & cp_values_most(width));
	if (value.kind != CP_PLAIN)
		return fresh(v, width);
	value.width = least(value.width, width);
	value.guess = 0;
	return value;
}

/* Into a register or memory; 32-bit registers are zero-extended, smaller ones
 * leave the rest of the register. */
static void put(struct cp_values *v, const cs_insn *insn, const cs_x86_op *op,
		struct cp_value value)
{
	uint8_t width, base;
	int64_t disp;
	unsigned reg;

	if (op->type == X86_OP_MEM) {
		place(insn, &op->mem, &base, &disp);
		forget_memory(v, base, disp, op->size);
		if (base != UNKNOWN)
			set_cell(v, base, disp, op->size, value);
		return;
	}
	reg = op->type == X86_OP_REG ? cp_x86_general(op->reg, &width) : UNKNOWN;
	if (reg != UNKNOWN)
		set_reg(v, reg, width >= 4 ? value : fresh(v, 8));
}

/* A byte or two of a register may be compared and extended later: they get a
 * symbol of their own. */
static void put_unknown(struct cp_values *v, const cs_insn *insn, const cs_x86_op *op)
{
	put(v, insn, op, fresh(v, least(op->size, 8)));
}

/* ---- instructions ---- */

static void compare(struct cp_values *v, const cs_insn *insn)
{
	const cs_x86_op *op = insn->detail->x86.operands;
	struct cp_value with = get(v, insn, &op[1]);

	v->what = get(v, insn, &op[0]);
	v->compared = v->what.kind == CP_PLAIN && with.kind == CP_CONST;
	v->compared_width = op[0].size;
	v->with = with.number & cp_values_most(op[0].size);
}

static void extend_signed(struct cp_values *v, const cs_insn *insn, const cs_x86_op *to,
			  const cs_x86_op *from)
{
	struct cp_value value = get(v, insn, from);

	if (value.kind == CP_ENTRY && value.scale == 4 && from->size == 4 && to->size == 8)
		value.kind = CP_SIGNED_ENTRY;
	else if (value.kind != CP_PLAIN ||
		 cp_values_max(v, &value) > cp_values_most(from->size) >> 1)
		value = fresh(v, to->size);
	put(v, insn, to, value);
}

static void add(struct cp_values *v, const cs_insn *insn)
{
	const cs_x86_op *op = insn->detail->x86.operands;
	struct cp_value a = get(v, insn, &op[0]), b = get(v, insn, &op[1]);
	struct cp_value *entry = a.kind == CP_SIGNED_ENTRY ? &a : &b;
	struct cp_value *base = entry == &a ? &b : &a;

	if (op[0].type != X86_OP_REG || op[0].size != 8 || entry->kind != CP_SIGNED_ENTRY ||
	    !is_address(base) || base->guess != entry->guess) {
		put_unknown(v, insn, &op[0]);
		return;
	}
	entry->kind = CP_TARGET;
	entry->base = base->number;
	put(v, insn, &op[0], *entry);
}

/* and, shr with a number: bounded by it. */
static void mask(struct cp_values *v, const cs_insn *insn)
{
	const cs_x86_op *op = insn->detail->x86.operands;
	struct cp_value before = get(v, insn, &op[0]), after = fresh(v, least(op[0].size, 8));
	uint64_t max = before.kind == CP_PLAIN ? cp_values_max(v, &before) : UINT64_MAX;

	if (op[1].type == X86_OP_IMM && insn->id == X86_INS_AND) {
		uint64_t bits = (uint64_t)op[1].imm & cp_values_most(op[0].size);

		max = bits < max ? bits : max;
	} else if (op[1].type == X86_OP_IMM && insn->id == X86_INS_SHR && op[1].imm < 64) {
		max = (max & cp_values_most(op[0].size)) >>
		      (op[1].imm & (op[0].size == 8 ? 63 : 31));
	} else {
		max = UINT64_MAX;
	}
	/* A comparison of half a register holds for all of it. */
	if (after.width == 8 && max <= cp_values_most(4))
		after.width = 4;
	learn(v, &after, after.width, max);
	put(v, insn, &op[0], after);
}

static void lea(struct cp_values *v, const cs_insn *insn)
{
	const cs_x86_op *op = insn->detail->x86.operands;
	const x86_op_mem *mem = &op[1].mem;
	struct cp_value value = fresh(v, op[0].size);
	uint8_t width;
	unsigned reg;

	if (mem->base == X86_REG_RIP && op[0].size == 8) {
		value = constant(insn->address + insn->size + (uint64_t)mem->disp);
	} else if (mem->base == X86_REG_INVALID && mem->index != X86_REG_INVALID && !mem->disp &&
		   mem->scale > 1 && op[0].size == 8) {
		reg = cp_x86_general(mem->index, &width);
		if (reg != UNKNOWN && width == 8 && v->reg[reg].kind == CP_PLAIN) {
			value = v->reg[reg];
			value.kind = CP_SCALED;
			value.scale = (uint8_t)mem->scale;
		}
	}
	put(v, insn, &op[0], value);
}

static void call(struct cp_values *v)
{
	static const uint8_t clobbered[] = { AX, CX, DX, SI, DI, 8, 9, 10, 11 };
	size_t i;

	for (i = 0; i < sizeof(clobbered); i++)
		v->reg[clobbered[i]] = fresh(v, 8);
	for (i = 0; i < CP_CELLS; i++)
		v->cells[i].base = UNKNOWN;
	v->compared = false;
}

static bool only_reads(unsigned id)
{
	return id == X86_INS_CMP || id == X86_INS_TEST || id == X86_INS_PUSH || id == X86_INS_NOP ||
	       id == X86_INS_BT || id == X86_INS_JMP || id == X86_INS_UCOMISS ||
	       id == X86_INS_UCOMISD || id == X86_INS_COMISS || id == X86_INS_COMISD;
}

static bool writes_operand(const cs_insn *insn, unsigned i)
{
	if (i == 0)
		return !only_reads(insn->id);
	return (insn->detail->x86.operands[i].access & CS_AC_WRITE) || insn->id == X86_INS_XCHG ||
	       insn->id == X86_INS_XADD || insn->id == X86_INS_MULX;
}

/* Everything that it writes becomes unknown. What the disassembler says is
 * written is not relied on alone: the first operand is, for one. */
static void other(struct cp_values *v, csh handle, const cs_insn *insn)
{
	const cs_x86 *x = &insn->detail->x86;
	cs_regs reads, writes;
	uint8_t read_count, write_count, width, i;
	unsigned reg;

	v->compared = false;
	for (i = 0; i < x->op_count; i++) {
		if (!writes_operand(insn, i))
			continue;
		if (x->operands[i].type == X86_OP_MEM)
			forget_memory(v, UNKNOWN, 0, 0);
		else
			put_unknown(v, insn, &x->operands[i]);
	}
	if (insn->id == X86_INS_PUSH || x->prefix[0])
		forget_memory(v, UNKNOWN, 0, 0);
	if (cs_regs_access(handle, insn, reads, &read_count, writes, &write_count) != CS_ERR_OK) {
		cp_values_reset(v, v->next_symbol);
		return;
	}
	for (i = 0; i < write_count; i++) {
		reg = cp_x86_general(writes[i], &width);
		if (reg != UNKNOWN)
			set_reg(v, reg, fresh(v, width == 4 ? 4 : 8));
	}
}

static bool keeps_flags(unsigned id)
{
	return id == X86_INS_MOV || id == X86_INS_MOVABS || id == X86_INS_MOVZX ||
	       id == X86_INS_MOVSX || id == X86_INS_MOVSXD || id == X86_INS_LEA ||
	       id == X86_INS_PUSH || id == X86_INS_POP || id == X86_INS_NOP || id == X86_INS_CDQE;
}

/* The instructions that are understood. */
static bool known(struct cp_values *v, const cs_insn *insn)
{
	const cs_x86 *x = &insn->detail->x86;
	const cs_x86_op *op = x->operands;

	switch (insn->id) {
	case X86_INS_MOV:
	case X86_INS_MOVABS:
	case X86_INS_MOVZX:
		put(v, insn, &op[0], get(v, insn, &op[1]));
		return true;
	case X86_INS_MOVSX:
	case X86_INS_MOVSXD:
		extend_signed(v, insn, &op[0], &op[1]);
		return true;
	case X86_INS_CDQE:
		extend_signed(v, insn,
			      &(cs_x86_op){ .type = X86_OP_REG, .reg = X86_REG_RAX, .size = 8 },
			      &(cs_x86_op){ .type = X86_OP_REG, .reg = X86_REG_EAX, .size = 4 });
		return true;
	case X86_INS_LEA:
		lea(v, insn);
		return true;
	case X86_INS_CMP:
		compare(v, insn);
		return true;
	case X86_INS_SUB:
		compare(v, insn);
		put_unknown(v, insn, &op[0]);
		return true;
	case X86_INS_ADD:
		add(v, insn);
		return true;
	case X86_INS_AND:
	case X86_INS_SHR:
		if (x->op_count != 2)
			return false;
		mask(v, insn);
		return true;
	case X86_INS_NOP:
		return true;
	default:
		return false;
	}
}

/* Moves of segment, control and vector registers have these names too. */
static bool general(const cs_x86 *x)
{
	uint8_t i, width;

	for (i = 0; i < x->op_count; i++) {
		if (x->operands[i].type == X86_OP_REG &&
		    cp_x86_general(x->operands[i].reg, &width) == UNKNOWN)
			return false;
	}
	return true;
}

void cp_values_step(struct cp_values *v, csh handle, const cs_insn *insn)
{
	const cs_x86 *x = &insn->detail->x86;
	bool keeps = keeps_flags(insn->id);

	if (insn->id == X86_INS_CALL || insn->id == X86_INS_SYSCALL || insn->id == X86_INS_LCALL) {
		call(v);
		return;
	}
	if (x->prefix[0] == X86_PREFIX_LOCK || !general(x) || !known(v, insn)) {
		bool compared = v->compared;

		other(v, handle, insn);
		v->compared = keeps && compared;
	} else if (!keeps && insn->id != X86_INS_CMP && insn->id != X86_INS_SUB) {
		v->compared = false;
	}
}

struct cp_value cp_values_target(struct cp_values *v, const cs_insn *insn)
{
	return get(v, insn, &insn->detail->x86.operands[0]);
}

/* ---- ways that meet ---- */

static struct cp_value merged(struct cp_values *v, const struct cp_values *one,
			      const struct cp_value *a, const struct cp_values *other,
			      const struct cp_value *b)
{
	uint64_t max_a, max_b;
	struct cp_value value;
	uint8_t width;

	if (same(a, b))
		return *a;
	if (is_address(a) && is_address(b) && (a->guess || b->guess) &&
	    (!a->guess || !b->guess || a->guess == b->guess)) {
		value = fresh(v, 8);
		value.guess = a->guess ? a->guess : b->guess;
		return value;
	}
	if (a->kind != CP_PLAIN || b->kind != CP_PLAIN)
		return fresh(v, 8);
	width = a->width > b->width ? a->width : b->width;
	max_a = cp_values_max(one, a);
	max_b = cp_values_max(other, b);
	value = fresh(v, width);
	learn(v, &value, width, max_a > max_b ? max_a : max_b);
	return value;
}

/* Where two ways meet, what is known holds only when both say so. */
static void merge_facts(struct cp_values *v, const struct cp_values *other)
{
	size_t i;

	for (i = 0; i < CP_FACTS; i++) {
		struct cp_fact *f = &v->facts[i];
		struct cp_value value = { .kind = CP_PLAIN,
					  .width = f->width,
					  .symbol = f->symbol };
		uint64_t max = f->symbol ? cp_values_max(other, &value) : 0;

		if (f->symbol && max > f->max)
			f->max = max;
	}
}

void cp_values_merge(struct cp_values *v, const struct cp_values *other)
{
	const struct cp_values one = *v;
	size_t i;

	if (other->next_symbol > v->next_symbol)
		v->next_symbol = other->next_symbol;
	merge_facts(v, other);
	for (i = 0; i < 16; i++)
		v->reg[i] = merged(v, &one, &one.reg[i], other, &other->reg[i]);
	for (i = 0; i < CP_CELLS; i++)
		v->cells[i].base = UNKNOWN;
	v->compared = false;
}
