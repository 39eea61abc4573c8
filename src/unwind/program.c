/* SPDX-License-Identifier: MIT
 *
 * The programs inside call frame information (DWARF 5, 6.4.2). A program
 * fills a table with one row for each address where something changes:
 *
 *	advance_loc 1      ──►  row for [start, start+1)    cfa = rsp+8   ra at cfa-8
 *	def_cfa_offset 16       row for [start+1, start+4)  cfa = rsp+16  rbp at cfa-16
 *	offset rbp, 2           ...
 *	advance_loc 3      ──►
 *
 * A row is complete when the program moves on to a higher address, or ends.
 */
#include "unwind/program.h"
#include "unwind/dwarf.h"

/* DW_CFA_remember_state nests; compilers reach 2 or 3. */
#define REMEMBER_MAX 16

struct run {
	const struct cp_cfi_source *source;
	const struct cp_cie *cie;
	struct cp_cfi_cursor c;
	unsigned nregs;
	const struct cp_cfi_row *initial; /* for restore; NULL in a CIE */
	struct cp_cfi_row row;
	struct cp_cfi_row remembered[REMEMBER_MAX];
	unsigned depth;
	uint64_t loc, end;
	bool (*emit)(void *ctx, uint64_t from, const struct cp_cfi_row *row);
	void *ctx;
	bool bad, stopped;
};

static void move_to(struct run *run, uint64_t loc)
{
	if (loc < run->loc || !run->emit) {
		run->bad = true;
		return;
	}
	if (loc == run->loc)
		return;
	if (!run->emit(run->ctx, run->loc, &run->row) || loc >= run->end)
		run->stopped = true;
	run->loc = loc;
}

static void advance(struct run *run, uint64_t delta)
{
	uint64_t bytes;

	if (__builtin_mul_overflow(delta, run->cie->code_align, &bytes) ||
	    __builtin_add_overflow(run->loc, bytes, &bytes))
		run->bad = true;
	else
		move_to(run, bytes);
}

/* Factored offsets of hostile sizes wrap; they point nowhere either way. */
static int64_t factored(const struct run *run, uint64_t value)
{
	return (int64_t)(value * (uint64_t)run->cie->data_align);
}

/* Vector registers and the like are no concern of ours: rules for them are
 * read and forgotten. */
static void set(struct run *run, uint64_t reg, enum cp_rule_kind kind, int64_t offset)
{
	if (reg < run->nregs)
		run->row.regs[reg] = (struct cp_cfi_value){ .kind = kind, .offset = offset };
}

static void set_expr(struct run *run, struct cp_cfi_value *value, enum cp_rule_kind kind)
{
	uint64_t size = cp_cursor_uleb(&run->c.c);
	const uint8_t *expr = cp_cursor_bytes(&run->c.c, size);

	if (expr && value)
		*value = (struct cp_cfi_value){ kind, (uint32_t)size, .expr = expr };
}

static void restore(struct run *run, uint64_t reg)
{
	if (reg >= run->nregs)
		return;
	if (run->initial)
		run->row.regs[reg] = run->initial->regs[reg];
	else
		run->bad = true;
}

static void set_cfa(struct run *run, uint64_t reg, int64_t offset)
{
	run->row.cfa_reg = reg < run->nregs ? (uint8_t)reg : CP_CFI_NO_REG;
	run->row.cfa = (struct cp_cfi_value){ .kind = CP_RULE_OFFSET, .offset = offset };
}

/* Register or offset alone change only a CFA that has both. */
static void change_cfa(struct run *run, uint64_t reg, int64_t offset)
{
	if (run->row.cfa.kind == CP_RULE_OFFSET)
		set_cfa(run, reg, offset);
	else
		run->bad = true;
}

static void remember(struct run *run)
{
	if (run->depth == REMEMBER_MAX)
		run->bad = true;
	else
		run->remembered[run->depth++] = run->row;
}

static void recall(struct run *run)
{
	if (run->depth)
		run->row = run->remembered[--run->depth];
	else
		run->bad = true;
}

static bool step_location(struct run *run, uint8_t op)
{
	uint64_t loc;

	switch (op) {
	case DW_CFA_set_loc:
		if (!cp_cfi_read_pointer(run->source, &run->c, run->cie->pointer_encoding, 0, &loc))
			run->bad = true;
		else
			move_to(run, loc);
		return true;
	case DW_CFA_advance_loc1:
		advance(run, cp_cursor_u8(&run->c.c));
		return true;
	case DW_CFA_advance_loc2:
		advance(run, cp_cursor_u16(&run->c.c));
		return true;
	case DW_CFA_advance_loc4:
		advance(run, cp_cursor_u32(&run->c.c));
		return true;
	case DW_CFA_MIPS_advance_loc8:
		advance(run, cp_cursor_u64(&run->c.c));
		return true;
	default:
		return false;
	}
}

static bool step_cfa(struct run *run, uint8_t op)
{
	struct cp_cursor *c = &run->c.c;
	uint64_t reg;

	switch (op) {
	case DW_CFA_def_cfa:
		reg = cp_cursor_uleb(c);
		set_cfa(run, reg, (int64_t)cp_cursor_uleb(c));
		return true;
	case DW_CFA_def_cfa_sf:
		reg = cp_cursor_uleb(c);
		set_cfa(run, reg, factored(run, (uint64_t)cp_cursor_sleb(c)));
		return true;
	case DW_CFA_def_cfa_register:
		change_cfa(run, cp_cursor_uleb(c), run->row.cfa.offset);
		return true;
	case DW_CFA_def_cfa_offset:
		change_cfa(run, run->row.cfa_reg, (int64_t)cp_cursor_uleb(c));
		return true;
	case DW_CFA_def_cfa_offset_sf:
		change_cfa(run, run->row.cfa_reg, factored(run, (uint64_t)cp_cursor_sleb(c)));
		return true;
	case DW_CFA_def_cfa_expression:
		run->row.cfa_reg = CP_CFI_NO_REG;
		set_expr(run, &run->row.cfa, CP_RULE_VAL_EXPR);
		return true;
	default:
		return false;
	}
}

static bool step_register(struct run *run, uint8_t op)
{
	struct cp_cursor *c = &run->c.c;
	uint64_t reg = cp_cursor_uleb(c);

	switch (op) {
	case DW_CFA_offset_extended:
		set(run, reg, CP_RULE_OFFSET, factored(run, cp_cursor_uleb(c)));
		return true;
	case DW_CFA_offset_extended_sf:
		set(run, reg, CP_RULE_OFFSET, factored(run, (uint64_t)cp_cursor_sleb(c)));
		return true;
	case DW_CFA_GNU_negative_offset_extended:
		set(run, reg, CP_RULE_OFFSET, factored(run, -cp_cursor_uleb(c)));
		return true;
	case DW_CFA_val_offset:
		set(run, reg, CP_RULE_VAL_OFFSET, factored(run, cp_cursor_uleb(c)));
		return true;
	case DW_CFA_val_offset_sf:
		set(run, reg, CP_RULE_VAL_OFFSET, factored(run, (uint64_t)cp_cursor_sleb(c)));
		return true;
	case DW_CFA_register:
		set(run, reg, CP_RULE_REGISTER, (int64_t)cp_cursor_uleb(c));
		return true;
	case DW_CFA_undefined:
		set(run, reg, CP_RULE_UNDEFINED, 0);
		return true;
	case DW_CFA_same_value:
		set(run, reg, CP_RULE_SAME, 0);
		return true;
	case DW_CFA_restore_extended:
		restore(run, reg);
		return true;
	case DW_CFA_expression:
	case DW_CFA_val_expression:
		set_expr(run, reg < run->nregs ? &run->row.regs[reg] : NULL,
			 op == DW_CFA_expression ? CP_RULE_EXPR : CP_RULE_VAL_EXPR);
		return true;
	default:
		return false;
	}
}

static void step(struct run *run)
{
	uint8_t op = cp_cursor_u8(&run->c.c), low = op & 0x3f;

	switch (op & 0xc0) {
	case DW_CFA_advance_loc:
		advance(run, low);
		return;
	case DW_CFA_offset:
		set(run, low, CP_RULE_OFFSET, factored(run, cp_cursor_uleb(&run->c.c)));
		return;
	case DW_CFA_restore:
		restore(run, low);
		return;
	default:
		break;
	}
	switch (op) {
	case DW_CFA_nop:
		return;
	case DW_CFA_remember_state:
		remember(run);
		return;
	case DW_CFA_restore_state:
		recall(run);
		return;
	case DW_CFA_GNU_args_size: /* of pushed arguments; the CFA counts them already */
		cp_cursor_uleb(&run->c.c);
		return;
	case DW_CFA_AARCH64_negate_ra_state_with_pc:
	case DW_CFA_AARCH64_negate_ra_state:
		run->row.ra_signed = !run->row.ra_signed;
		return;
	default:
		if (!step_location(run, op) && !step_cfa(run, op) && !step_register(run, op))
			run->bad = true;
	}
}

static bool finish(struct run *run)
{
	while (!run->bad && !run->stopped && cp_cursor_left(&run->c.c)) {
		step(run);
		run->bad |= run->c.c.bad;
	}
	return !run->bad;
}

bool cp_cfi_run(const struct cp_cfi_source *source, const struct cp_cie *cie,
		const struct cp_fde *fde, unsigned nregs,
		bool (*emit)(void *ctx, uint64_t from, const struct cp_cfi_row *row), void *ctx)
{
	struct run run;

	run.source = source;
	run.cie = cie;
	run.c = fde->program;
	run.nregs = nregs;
	run.initial = &cie->initial;
	run.row = cie->initial;
	run.depth = 0; /* and `remembered` has nothing in it */
	run.loc = fde->start;
	run.end = fde->end;
	run.emit = emit;
	run.ctx = ctx;
	run.bad = run.stopped = false;
	if (!finish(&run)) {
		emit(ctx, run.loc, &(struct cp_cfi_row){ .cfa_reg = CP_CFI_NO_REG });
		return false;
	}
	return run.stopped || emit(ctx, run.loc, &run.row);
}

bool cp_cfi_run_initial(const struct cp_cfi_source *source, const struct cp_cie *cie,
			struct cp_cfi_cursor program, unsigned nregs, struct cp_cfi_row *row)
{
	struct run run = {
		.source = source,
		.cie = cie,
		.c = program,
		.nregs = nregs,
		.row = { .cfa_reg = CP_CFI_NO_REG },
	};

	if (!finish(&run))
		return false;
	*row = run.row;
	return true;
}
