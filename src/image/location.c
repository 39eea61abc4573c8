/* SPDX-License-Identifier: MIT
 *
 * DWARF 5, sections 2.5 and 2.6: a stack of words, and what the words say in
 * the end. Jumps make it able to loop: steps are counted.
 */
#include "image/location.h"

#include <dwarf.h>
#include <string.h>

#include "base/cursor.h"

#define STACK_MAX 64
#define STEPS_MAX 1000
#define NESTED_MAX 4

struct machine {
	const struct cp_location_env *env;
	struct cp_cursor code;
	const uint8_t *begin;
	uint64_t stack[STACK_MAX];
	unsigned depth, nested;
	enum cp_location_status status;
	struct cp_located now; /* of the piece being described */
	bool described; /* by something else than an address on the stack */
	struct cp_located *parts;
	size_t count;
};

static enum cp_location_status run(const struct cp_location_env *env, const uint8_t *expr,
				   size_t size, unsigned nested, struct cp_located *parts,
				   size_t *count_ret);

static void fail(struct machine *m, enum cp_location_status status)
{
	if (m->status == CP_LOCATION_OK)
		m->status = status;
}

static void push(struct machine *m, uint64_t value)
{
	if (m->depth == STACK_MAX)
		fail(m, CP_LOCATION_BAD);
	else
		m->stack[m->depth++] = value;
}

static uint64_t pop(struct machine *m)
{
	if (!m->depth) {
		fail(m, CP_LOCATION_BAD);
		return 0;
	}
	return m->stack[--m->depth];
}

/* True for a name: nothing is known of it but that it is a register plus a number. */
static bool is_name(const struct machine *m, uint64_t value)
{
	return m->env->named && cp_location_is_name(value);
}

static uint64_t pop_number(struct machine *m)
{
	uint64_t value = pop(m);

	if (is_name(m, value))
		fail(m, CP_LOCATION_UNKNOWN);
	return value;
}

static void pick(struct machine *m, unsigned index)
{
	if (index >= m->depth)
		fail(m, CP_LOCATION_BAD);
	else
		push(m, m->stack[m->depth - 1 - index]);
}

static void push_register(struct machine *m, uint64_t number, int64_t offset)
{
	const struct cp_regs *regs = m->env->regs;

	if (number >= CP_REG_MAX || !regs || !(regs->known >> number & 1))
		fail(m, number >= CP_REG_MAX ? CP_LOCATION_BAD : CP_LOCATION_UNKNOWN);
	else
		push(m, regs->r[number] + (uint64_t)offset);
}

static void describe(struct machine *m, enum cp_located_kind kind, uint64_t value)
{
	m->now = (struct cp_located){ .kind = (uint8_t)kind, .value = value };
	m->described = true;
}

static void dereference(struct machine *m, size_t size)
{
	uint64_t address = pop(m), value = 0;

	if (!size || size > 8)
		fail(m, CP_LOCATION_BAD);
	else if (!m->env->memory || !cp_read_exact(m->env->memory, address, &value, size))
		fail(m, CP_LOCATION_UNKNOWN);
	push(m, value);
}

static void frame_base(struct machine *m, int64_t offset)
{
	const struct cp_location_env *env = m->env;
	struct cp_located base[CP_LOCATED_MAX];
	size_t count;

	if (!env->frame_base || m->nested >= NESTED_MAX ||
	    run(env, env->frame_base, env->frame_base_size, m->nested + 1, base, &count) !=
		    CP_LOCATION_OK ||
	    count != 1) {
		fail(m, CP_LOCATION_UNKNOWN);
		return;
	}
	if (base->kind == CP_LOCATED_REGISTER)
		push_register(m, base->value, offset);
	else if (base->kind == CP_LOCATED_MEMORY || base->kind == CP_LOCATED_VALUE)
		push(m, base->value + (uint64_t)offset);
	else
		fail(m, CP_LOCATION_BAD);
}

/* A value as it was when the function was entered. */
static void entry_value(struct machine *m)
{
	uint64_t size = cp_cursor_uleb(&m->code);
	const uint8_t *expr = cp_cursor_bytes(&m->code, size);
	struct cp_location_env env = *m->env;
	struct cp_located part[CP_LOCATED_MAX];
	size_t count;

	env.regs = env.entry;
	env.entry = NULL;
	env.passed = NULL;
	env.memory = NULL; /* what it was then is not known */
	if (m->code.bad || !env.regs || m->nested >= NESTED_MAX ||
	    run(&env, expr, size, m->nested + 1, part, &count) != CP_LOCATION_OK || count != 1) {
		fail(m, m->code.bad ? CP_LOCATION_BAD : CP_LOCATION_UNKNOWN);
		return;
	}
	if (part->kind != CP_LOCATED_REGISTER) {
		push(m, part->value);
	} else if (part->value < CP_REG_MAX && (env.regs->known >> part->value & 1)) {
		push(m, env.regs->r[part->value]);
	} else {
		fail(m, CP_LOCATION_UNKNOWN);
	}
}

/* What the caller passed for a parameter. */
static void passed(struct machine *m)
{
	const struct cp_passed *known = m->env->passed;
	uint64_t die = cp_cursor_u64(&m->code);
	uint32_t i;

	for (i = 0; known && i < known->count; i++)
		if (known->items[i].die == die) {
			push(m, known->items[i].value);
			return;
		}
	if (known && known->all)
		push(m, 0);
	else
		fail(m, CP_LOCATION_UNKNOWN);
}

static void convert(struct machine *m)
{
	unsigned size = cp_cursor_u8(&m->code), encoding = cp_cursor_u8(&m->code);
	uint64_t value = size < 8 ? pop_number(m) : pop(m);

	if (size < 8) {
		value &= (UINT64_C(1) << 8 * size) - 1;
		if (encoding == DW_ATE_signed && size)
			value = (uint64_t)((int64_t)(value << (64 - 8 * size)) >> (64 - 8 * size));
	}
	push(m, value);
}

static void jump(struct machine *m, bool taken)
{
	int16_t by = (int16_t)cp_cursor_u16(&m->code);
	ptrdiff_t to = m->code.at - m->begin + by;

	if (!taken)
		return;
	if (to < 0 || to > m->code.end - m->begin)
		fail(m, CP_LOCATION_BAD);
	else
		m->code.at = m->begin + to;
}

static void divide(struct machine *m, uint8_t op, uint64_t a, uint64_t b)
{
	if (!b)
		fail(m, CP_LOCATION_BAD);
	else if (op == DW_OP_mod)
		push(m, a % b);
	else
		push(m, b == UINT64_MAX ? -a : (uint64_t)((int64_t)a / (int64_t)b));
}

/* Names can be added to, once, and be taken from. */
static void check_names(struct machine *m, uint8_t op, uint64_t a, uint64_t b)
{
	bool can = op == DW_OP_plus    ? !is_name(m, a) || !is_name(m, b)
		   : op == DW_OP_minus ? !is_name(m, b)
				       : !is_name(m, a) && !is_name(m, b);

	if (!can)
		fail(m, CP_LOCATION_UNKNOWN);
}

/* Operations on two operands; false: it is none of these. */
static bool binary(struct machine *m, uint8_t op)
{
	uint64_t b, a;

	if (!(op == DW_OP_and || (op >= DW_OP_div && op <= DW_OP_mul) || op == DW_OP_or ||
	      op == DW_OP_plus || (op >= DW_OP_shl && op <= DW_OP_xor) ||
	      (op >= DW_OP_eq && op <= DW_OP_ne)))
		return false;
	b = pop(m);
	a = pop(m);
	check_names(m, op, a, b);
	switch (op) {
	case DW_OP_and:
		return push(m, a & b), true;
	case DW_OP_div:
	case DW_OP_mod:
		return divide(m, op, a, b), true;
	case DW_OP_minus:
		return push(m, a - b), true;
	case DW_OP_mul:
		return push(m, a * b), true;
	case DW_OP_or:
		return push(m, a | b), true;
	case DW_OP_plus:
		return push(m, a + b), true;
	case DW_OP_shl:
		return push(m, b < 64 ? a << b : 0), true;
	case DW_OP_shr:
		return push(m, b < 64 ? a >> b : 0), true;
	case DW_OP_shra:
		return push(m, (uint64_t)((int64_t)a >> (b < 63 ? b : 63))), true;
	case DW_OP_xor:
		return push(m, a ^ b), true;
	case DW_OP_eq:
		return push(m, a == b), true;
	case DW_OP_ge:
		return push(m, (int64_t)a >= (int64_t)b), true;
	case DW_OP_gt:
		return push(m, (int64_t)a > (int64_t)b), true;
	case DW_OP_le:
		return push(m, (int64_t)a <= (int64_t)b), true;
	case DW_OP_lt:
		return push(m, (int64_t)a < (int64_t)b), true;
	default:
		return push(m, a != b), true;
	}
}

/* Numbers and addresses; false: it was none of these. */
static bool constant(struct machine *m, uint8_t op)
{
	struct cp_cursor *c = &m->code;

	if (op >= DW_OP_lit0 && op <= DW_OP_lit31)
		return push(m, op - DW_OP_lit0), true;
	switch (op) {
	case DW_OP_addr:
		if (m->env->named) /* nobody knows yet where the image will be */
			fail(m, CP_LOCATION_UNKNOWN);
		return push(m, cp_cursor_u64(c) + m->env->bias), true;
	case DW_OP_const1u:
		return push(m, cp_cursor_u8(c)), true;
	case DW_OP_const1s:
		return push(m, (uint64_t)(int8_t)cp_cursor_u8(c)), true;
	case DW_OP_const2u:
		return push(m, cp_cursor_u16(c)), true;
	case DW_OP_const2s:
		return push(m, (uint64_t)(int16_t)cp_cursor_u16(c)), true;
	case DW_OP_const4u:
		return push(m, cp_cursor_u32(c)), true;
	case DW_OP_const4s:
		return push(m, (uint64_t)(int32_t)cp_cursor_u32(c)), true;
	case DW_OP_const8u:
	case DW_OP_const8s:
		return push(m, cp_cursor_u64(c)), true;
	case DW_OP_constu:
		return push(m, cp_cursor_uleb(c)), true;
	case DW_OP_consts:
		return push(m, (uint64_t)cp_cursor_sleb(c)), true;
	default:
		return false;
	}
}

/* Operations on the stack alone; false: it is none of these. */
static bool stack_operation(struct machine *m, uint8_t op)
{
	uint64_t a, b, c;

	switch (op) {
	case DW_OP_dup:
		return pick(m, 0), true;
	case DW_OP_drop:
		return (void)pop(m), true;
	case DW_OP_over:
		return pick(m, 1), true;
	case DW_OP_pick:
		return pick(m, cp_cursor_u8(&m->code)), true;
	case DW_OP_swap:
		a = pop(m);
		b = pop(m);
		return push(m, a), push(m, b), true;
	case DW_OP_rot:
		a = pop(m);
		b = pop(m);
		c = pop(m);
		return push(m, a), push(m, c), push(m, b), true;
	case DW_OP_abs:
		a = pop_number(m);
		return push(m, (int64_t)a < 0 ? -a : a), true;
	case DW_OP_neg:
		return push(m, -pop_number(m)), true;
	case DW_OP_not:
		return push(m, ~pop_number(m)), true;
	case DW_OP_plus_uconst:
		a = cp_cursor_uleb(&m->code);
		return push(m, pop(m) + a), true;
	case DW_OP_deref:
		return dereference(m, 8), true;
	case DW_OP_deref_size:
		return dereference(m, cp_cursor_u8(&m->code)), true;
	case DW_OP_skip:
		return jump(m, true), true;
	case DW_OP_bra:
		return jump(m, pop_number(m) != 0), true;
	default:
		return binary(m, op);
	}
}

/* Ends a piece of `size` bits, which is not the whole of it. */
static void piece(struct machine *m, uint64_t size, uint64_t skip)
{
	struct cp_located part = m->now;

	if (m->count == CP_LOCATED_MAX || size / 8 > UINT32_MAX || skip / 8 > 4096) {
		fail(m, CP_LOCATION_BAD);
		return;
	}
	if (!m->described && m->depth)
		part = (struct cp_located){ .kind = CP_LOCATED_MEMORY, .value = pop(m) };
	part.size = (uint32_t)(size / 8);
	part.skip = (uint32_t)(skip / 8);
	part.size_bits = size % 8;
	part.skip_bits = skip % 8;
	m->parts[m->count++] = part;
	m->now = (struct cp_located){ 0 };
	m->described = false;
}

static void bit_piece(struct machine *m)
{
	uint64_t bits = cp_cursor_uleb(&m->code), offset = cp_cursor_uleb(&m->code);

	piece(m, bits, offset);
}

static void implicit_value(struct machine *m)
{
	uint64_t size = cp_cursor_uleb(&m->code);

	describe(m, CP_LOCATED_BYTES, size);
	m->now.bytes = cp_cursor_bytes(&m->code, size);
}

static void implied(struct machine *m)
{
	describe(m, CP_LOCATED_IMPLIED, 0);
	m->now.bytes = cp_cursor_bytes(&m->code, CP_OP_IMPLIED_BYTES);
}

static void call_frame(struct machine *m)
{
	if (m->env->cfa)
		push(m, m->env->cfa);
	else
		fail(m, CP_LOCATION_UNKNOWN);
}

static void step(struct machine *m)
{
	uint8_t op = cp_cursor_u8(&m->code);
	uint64_t number;

	if (op >= DW_OP_reg0 && op <= DW_OP_reg31) {
		describe(m, CP_LOCATED_REGISTER, op - DW_OP_reg0);
		return;
	}
	if (op >= DW_OP_breg0 && op <= DW_OP_breg31) {
		push_register(m, op - DW_OP_breg0, cp_cursor_sleb(&m->code));
		return;
	}
	if (constant(m, op) || stack_operation(m, op))
		return;
	switch (op) {
	case DW_OP_regx:
		describe(m, CP_LOCATED_REGISTER, cp_cursor_uleb(&m->code));
		break;
	case DW_OP_bregx:
		number = cp_cursor_uleb(&m->code);
		push_register(m, number, cp_cursor_sleb(&m->code));
		break;
	case DW_OP_fbreg:
		frame_base(m, cp_cursor_sleb(&m->code));
		break;
	case DW_OP_call_frame_cfa:
		call_frame(m);
		break;
	case DW_OP_piece:
		number = cp_cursor_uleb(&m->code);
		if (number > UINT32_MAX)
			fail(m, CP_LOCATION_BAD);
		piece(m, number * 8, 0);
		break;
	case DW_OP_bit_piece:
		bit_piece(m);
		break;
	case DW_OP_stack_value:
		describe(m, CP_LOCATED_VALUE, pop(m));
		break;
	case DW_OP_implicit_value:
		implicit_value(m);
		break;
	case DW_OP_entry_value:
		entry_value(m);
		break;
	case DW_OP_form_tls_address:
		number = pop_number(m);
		if (!m->env->thread_local_address ||
		    !m->env->thread_local_address(m->env->ctx, number, &number))
			fail(m, CP_LOCATION_UNKNOWN);
		push(m, number);
		break;
	case CP_OP_CONVERT:
		convert(m);
		break;
	case CP_OP_PASSED:
		passed(m);
		break;
	case CP_OP_IMPLIED:
		implied(m);
		break;
	case DW_OP_nop:
	case DW_OP_GNU_uninit:
		break;
	default:
		fail(m, CP_LOCATION_BAD);
	}
}

static enum cp_location_status run(const struct cp_location_env *env, const uint8_t *expr,
				   size_t size, unsigned nested, struct cp_located *parts,
				   size_t *count_ret)
{
	struct machine m = { .env = env, .begin = expr, .nested = nested, .parts = parts };
	unsigned steps;

	m.code = cp_cursor(expr, size);
	for (steps = 0; m.status == CP_LOCATION_OK && cp_cursor_left(&m.code); steps++) {
		if (steps == STEPS_MAX)
			return CP_LOCATION_BAD;
		step(&m);
		if (m.code.bad)
			return CP_LOCATION_BAD;
	}
	/* Without pieces it is all of it: of no size. */
	if (m.status == CP_LOCATION_OK && (!m.count || m.described || m.depth))
		piece(&m, 0, 0);
	*count_ret = m.count;
	return m.status;
}

enum cp_location_status cp_location_evaluate(const struct cp_location_env *env, const uint8_t *expr,
					     size_t size, struct cp_located *parts,
					     size_t *count_ret)
{
	return run(env, expr, size, 0, parts, count_ret);
}

bool cp_location_is_of_thread(const uint8_t *expr, size_t size)
{
	return size && expr[size - 1] == DW_OP_form_tls_address;
}

/* Is it in pieces, some of them in memory at a fixed address, and none in a frame? */
static bool is_in_fixed_pieces(const uint8_t *expr, size_t size)
{
	const struct cp_location_env env = { .arch = cp_arch_host() };
	struct cp_located parts[CP_LOCATED_MAX];
	size_t count = 0, i, in_memory = 0;

	if (!size || (!memchr(expr, DW_OP_piece, size) && !memchr(expr, DW_OP_bit_piece, size)) ||
	    cp_location_evaluate(&env, expr, size, parts, &count) != CP_LOCATION_OK)
		return false;
	for (i = 0; i < count && parts[i].kind != CP_LOCATED_REGISTER; i++)
		in_memory += parts[i].kind == CP_LOCATED_MEMORY;
	return i == count && in_memory;
}

/* `addr, stack_value` is a local, or a piece of one, that is known to point there. */
bool cp_location_is_static(const uint8_t *expr, size_t size)
{
	const size_t address = 1 + sizeof(uint64_t);

	return cp_location_is_of_thread(expr, size) ||
	       (size >= address && expr[0] == DW_OP_addr &&
		(size == address ||
		 (expr[address] != DW_OP_stack_value && expr[size - 1] != DW_OP_stack_value))) ||
	       is_in_fixed_pieces(expr, size);
}
