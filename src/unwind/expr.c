/* SPDX-License-Identifier: MIT
 *
 * The machine of DWARF 5, section 2.5: a stack of 64-bit words. Jumps make it
 * able to loop, so a budget of steps ends it; what touches the stack checks
 * its depth through pop() and push(), which remember a failure instead of
 * returning one.
 */
#include "unwind/expr.h"
#include "base/cursor.h"
#include "unwind/dwarf.h"

#define STACK_MAX 64
#define STEPS_MAX 1000

struct machine {
	struct cp_expr_env *env;
	struct cp_cursor code;
	const uint8_t *begin;
	uint64_t stack[STACK_MAX];
	unsigned depth;
	enum cp_expr_status status;
};

static void push(struct machine *m, uint64_t value)
{
	if (m->depth == STACK_MAX)
		m->status = CP_EXPR_BAD;
	else
		m->stack[m->depth++] = value;
}

static uint64_t pop(struct machine *m)
{
	if (!m->depth) {
		m->status = CP_EXPR_BAD;
		return 0;
	}
	return m->stack[--m->depth];
}

/* The word `index` below the top. */
static void pick(struct machine *m, unsigned index)
{
	if (index >= m->depth)
		m->status = CP_EXPR_BAD;
	else
		push(m, m->stack[m->depth - 1 - index]);
}

static void push_register(struct machine *m, uint64_t reg, int64_t offset)
{
	if (reg >= m->env->nregs) {
		m->status = CP_EXPR_BAD;
	} else if (!(m->env->regs->known >> reg & 1)) {
		m->status = CP_EXPR_UNKNOWN;
		m->env->unknown_reg = (unsigned)reg;
	} else {
		push(m, m->env->regs->r[reg] + (uint64_t)offset);
	}
}

/* Both ISAs are little-endian: a short read fills the low bytes. */
static void deref(struct machine *m, size_t size)
{
	uint64_t addr = pop(m), value = 0;

	if (!size || size > sizeof(value)) {
		m->status = CP_EXPR_BAD;
	} else if (m->status == CP_EXPR_OK && !cp_read_exact(m->env->memory, addr, &value, size)) {
		m->status = CP_EXPR_MEMORY;
		m->env->unread_addr = addr;
	}
	push(m, value);
}

static void jump(struct machine *m, bool taken)
{
	int16_t by = (int16_t)cp_cursor_u16(&m->code);

	if (!taken)
		return;
	if (by < m->begin - m->code.at || by > m->code.end - m->code.at)
		m->status = CP_EXPR_BAD;
	else
		m->code.at += by;
}

static bool constant(struct machine *m, uint8_t op)
{
	switch (op) {
	case DW_OP_addr:
	case DW_OP_const8u:
	case DW_OP_const8s:
		push(m, cp_cursor_u64(&m->code));
		return true;
	case DW_OP_const1u:
		push(m, cp_cursor_u8(&m->code));
		return true;
	case DW_OP_const1s:
		push(m, (uint64_t)(int64_t)(int8_t)cp_cursor_u8(&m->code));
		return true;
	case DW_OP_const2u:
		push(m, cp_cursor_u16(&m->code));
		return true;
	case DW_OP_const2s:
		push(m, (uint64_t)(int64_t)(int16_t)cp_cursor_u16(&m->code));
		return true;
	case DW_OP_const4u:
		push(m, cp_cursor_u32(&m->code));
		return true;
	case DW_OP_const4s:
		push(m, (uint64_t)(int64_t)(int32_t)cp_cursor_u32(&m->code));
		return true;
	case DW_OP_constu:
		push(m, cp_cursor_uleb(&m->code));
		return true;
	case DW_OP_consts:
		push(m, (uint64_t)cp_cursor_sleb(&m->code));
		return true;
	default:
		return false;
	}
}

static void rotate(struct machine *m)
{
	uint64_t first = pop(m), second = pop(m), third = pop(m);

	push(m, first);
	push(m, third);
	push(m, second);
}

static void swap(struct machine *m)
{
	uint64_t first = pop(m), second = pop(m);

	push(m, first);
	push(m, second);
}

static bool move_words(struct machine *m, uint8_t op)
{
	switch (op) {
	case DW_OP_dup:
		pick(m, 0);
		return true;
	case DW_OP_drop:
		pop(m);
		return true;
	case DW_OP_over:
		pick(m, 1);
		return true;
	case DW_OP_pick:
		pick(m, cp_cursor_u8(&m->code));
		return true;
	case DW_OP_swap:
		swap(m);
		return true;
	case DW_OP_rot:
		rotate(m);
		return true;
	case DW_OP_deref:
		deref(m, 8);
		return true;
	case DW_OP_deref_size:
		deref(m, cp_cursor_u8(&m->code));
		return true;
	default:
		return false;
	}
}

static bool unary(struct machine *m, uint8_t op)
{
	uint64_t a;

	switch (op) {
	case DW_OP_abs:
		a = pop(m);
		push(m, (int64_t)a < 0 ? -a : a);
		return true;
	case DW_OP_neg:
		push(m, -pop(m));
		return true;
	case DW_OP_not:
		push(m, ~pop(m));
		return true;
	case DW_OP_plus_uconst:
		a = pop(m);
		push(m, a + cp_cursor_uleb(&m->code));
		return true;
	default:
		return false;
	}
}

/* The one quotient that does not fit is left as it is. */
static int64_t divide(struct machine *m, int64_t a, int64_t b)
{
	if (!b)
		m->status = CP_EXPR_BAD;
	return !b || (a == INT64_MIN && b == -1) ? a : a / b;
}

static bool binary(struct machine *m, uint8_t op)
{
	uint64_t b = m->depth > 0 ? m->stack[m->depth - 1] : 0;
	uint64_t a = m->depth > 1 ? m->stack[m->depth - 2] : 0;
	int64_t sa = (int64_t)a, sb = (int64_t)b;
	uint64_t value;

	switch (op) {
	/* clang-format off */
	case DW_OP_and: value = a & b; break;
	case DW_OP_or: value = a | b; break;
	case DW_OP_xor: value = a ^ b; break;
	case DW_OP_plus: value = a + b; break;
	case DW_OP_minus: value = a - b; break;
	case DW_OP_mul: value = a * b; break;
	case DW_OP_div: value = (uint64_t)divide(m, sa, sb); break;
	case DW_OP_mod: value = b ? a % b : 0; break;
	case DW_OP_shl: value = b < 64 ? a << b : 0; break;
	case DW_OP_shr: value = b < 64 ? a >> b : 0; break;
	case DW_OP_shra: value = (uint64_t)(sa >> (b < 64 ? b : 63)); break;
	case DW_OP_eq: value = a == b; break;
	case DW_OP_ne: value = a != b; break;
	case DW_OP_lt: value = sa < sb; break;
	case DW_OP_le: value = sa <= sb; break;
	case DW_OP_gt: value = sa > sb; break;
	case DW_OP_ge: value = sa >= sb; break;
	/* clang-format on */
	default:
		return false;
	}
	pop(m);
	pop(m);
	push(m, value);
	return true;
}

static void step(struct machine *m, uint8_t op)
{
	uint64_t reg;

	if (op >= DW_OP_lit0 && op <= DW_OP_lit31) {
		push(m, op - DW_OP_lit0);
	} else if (op >= DW_OP_breg0 && op <= DW_OP_breg31) {
		push_register(m, op - DW_OP_breg0, cp_cursor_sleb(&m->code));
	} else if (op == DW_OP_bregx) {
		reg = cp_cursor_uleb(&m->code);
		push_register(m, reg, cp_cursor_sleb(&m->code));
	} else if (op == DW_OP_skip) {
		jump(m, true);
	} else if (op == DW_OP_bra) {
		jump(m, pop(m) != 0);
	} else if (op != DW_OP_nop && !constant(m, op) && !move_words(m, op) && !unary(m, op) &&
		   !binary(m, op)) {
		m->status = CP_EXPR_BAD;
	}
}

enum cp_expr_status cp_expr_eval(struct cp_expr_env *env, const uint8_t *expr, size_t size,
				 const uint64_t *initial, uint64_t *ret)
{
	struct machine m = { .env = env, .code = cp_cursor(expr, size), .begin = expr };
	unsigned steps = 0;

	if (initial)
		push(&m, *initial);
	while (m.status == CP_EXPR_OK && cp_cursor_left(&m.code)) {
		if (++steps > STEPS_MAX)
			return CP_EXPR_BAD;
		step(&m, cp_cursor_u8(&m.code));
		if (m.code.bad)
			return CP_EXPR_BAD;
	}
	if (m.status == CP_EXPR_OK && !m.depth)
		return CP_EXPR_BAD;
	if (m.status == CP_EXPR_OK)
		*ret = m.stack[m.depth - 1];
	return m.status;
}
