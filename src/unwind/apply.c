/* SPDX-License-Identifier: MIT
 *
 * What a walk reads, and a rule applied to the registers of a frame.
 */
#include "unwind/apply.h"

#include <string.h>

#include "unwind/expr.h"

#define BIT(n) (UINT64_C(1) << (n))

/* ---- memory ---- */

static inline bool within(uint64_t base, size_t all, uint64_t addr, size_t size)
{
	return addr - base < all && size <= all - (addr - base);
}

const uint8_t *cp_walk_in_copy(const struct cp_unwind_capture *c, uint64_t addr, size_t size)
{
	if (within(c->stack_base, c->stack_size, addr, size))
		return c->stack + (addr - c->stack_base);
	if (within(c->below_base, c->below_size, addr, size))
		return c->below + (addr - c->below_base);
	return NULL;
}

static size_t read_memory(void *ctx, uint64_t addr, void *buffer, size_t size)
{
	const struct cp_walk *walk = ctx;
	const struct cp_unwind_capture *c = walk->capture;
	const uint8_t *copied = cp_walk_in_copy(c, addr, size);

	if (copied) {
		memcpy(buffer, copied, size);
		return size;
	}
	if (!c->held)
		return 0;
	return walk->space->memory->read(walk->space->memory->ctx, addr, buffer, size);
}

static inline bool read_word(const struct cp_walk *walk, uint64_t addr, uint64_t *ret)
{
	uint64_t offset = addr - walk->capture->stack_base;

	if (offset < walk->copied) {
		memcpy(ret, walk->capture->stack + offset, sizeof(*ret));
		return true;
	}
	return cp_read_exact(&walk->memory, addr, ret, sizeof(*ret));
}

void cp_walk_init(struct cp_walk *walk, struct cp_unwind_space *space,
		  const struct cp_unwind_capture *capture)
{
	*walk = (struct cp_walk){
		.space = space,
		.arch = space->arch,
		.capture = capture,
		.memory = { read_memory, walk },
	};
	if (capture->stack_size >= sizeof(uint64_t))
		walk->copied = capture->stack_size - sizeof(uint64_t) + 1;
}

bool cp_walk_read_word(const struct cp_walk *walk, uint64_t addr, uint64_t *ret)
{
	return read_word(walk, addr, ret);
}

/* ---- applying a rule ---- */

/* Epilogues take registers off the stack and leave their rules as they were: what lies below the
 * stack pointer is of no copy, but the register has its value already. */
static inline bool is_taken_off(const struct cp_walk_at *at, const struct cp_arch *arch,
				unsigned reg, uint64_t where)
{
	return at->exact && where < at->regs.r[arch->sp] && at->regs.known & BIT(reg);
}

/* Nearly all rules: a register and an offset, and saved registers. */
static enum cp_walk_applied apply_simple(const struct cp_walk *walk, struct cp_walk_at *at,
					 const struct cp_rule *rule, uint64_t *cfa_ret,
					 struct cp_walk_lack *lack)
{
	const struct cp_arch *arch = walk->arch;
	struct cp_regs *regs = &at->regs;
	uint64_t cfa, value, known = regs->known & rule->keep, offset;
	const struct cp_rule_reg *r = rule->regs, *last = rule->regs + rule->count;
	/* Locals, because a store to a register could change any of these. */
	const uint64_t base = walk->capture->stack_base, copied = walk->copied;
	const uint8_t *stack = walk->capture->stack;

	if (!(regs->known & BIT(rule->cfa_reg))) {
		lack->reg = rule->cfa_reg;
		return CP_WALK_NEEDS_REG;
	}
	cfa = regs->r[rule->cfa_reg] + (uint64_t)rule->cfa_offset;
	lack->addr = cfa + (uint64_t)r->offset;
	if (!read_word(walk, lack->addr, &value))
		return CP_WALK_NEEDS_MEMORY;
	regs->r[arch->pc] = regs->r[rule->ra_reg] = value;
	while (++r < last) {
		offset = cfa + (uint64_t)r->offset - base;
		if (offset < copied)
			memcpy(&regs->r[r->reg], stack + offset, sizeof(value));
		else if (read_word(walk, base + offset, &value))
			regs->r[r->reg] = value;
		else if (!is_taken_off(at, arch, r->reg, base + offset))
			continue;
		known |= BIT(r->reg);
	}
	regs->r[arch->sp] = cfa;
	regs->known = known | BIT(arch->pc) | BIT(arch->sp) | BIT(rule->ra_reg);
	*cfa_ret = cfa;
	return CP_WALK_APPLIED;
}

static enum cp_walk_applied lacking(const struct cp_expr_env *env, enum cp_expr_status status,
				    struct cp_walk_lack *lack)
{
	switch (status) {
	case CP_EXPR_OK:
		return CP_WALK_APPLIED;
	case CP_EXPR_UNKNOWN:
		lack->reg = env->unknown_reg;
		return CP_WALK_NEEDS_REG;
	case CP_EXPR_MEMORY:
		lack->addr = env->unread_addr;
		return CP_WALK_NEEDS_MEMORY;
	case CP_EXPR_BAD:
		break;
	}
	return CP_WALK_SENSELESS;
}

static enum cp_walk_applied find_cfa(struct cp_expr_env *env, const struct cp_rule *rule,
				     uint64_t *ret, struct cp_walk_lack *lack)
{
	if (rule->cfa_reg == CP_CFI_NO_REG)
		return lacking(env,
			       cp_expr_eval(env, rule->cfa_expr, rule->cfa_expr_size, NULL, ret),
			       lack);
	if (!(env->regs->known & BIT(rule->cfa_reg))) {
		lack->reg = rule->cfa_reg;
		return CP_WALK_NEEDS_REG;
	}
	*ret = env->regs->r[rule->cfa_reg] + (uint64_t)rule->cfa_offset;
	return CP_WALK_APPLIED;
}

/* A register of the caller by its rule. */
static enum cp_walk_applied find_reg(struct cp_expr_env *env, const struct cp_rule_reg *r,
				     uint64_t cfa, uint64_t *ret, struct cp_walk_lack *lack)
{
	enum cp_walk_applied got = CP_WALK_APPLIED;
	uint64_t where = cfa + (uint64_t)r->offset;

	switch ((enum cp_rule_kind)r->kind) {
	case CP_RULE_REGISTER:
		lack->reg = (unsigned)r->offset;
		*ret = env->regs->r[r->offset];
		return env->regs->known & BIT(r->offset) ? CP_WALK_APPLIED : CP_WALK_NEEDS_REG;
	case CP_RULE_VAL_OFFSET:
		*ret = where;
		return CP_WALK_APPLIED;
	case CP_RULE_EXPR:
	case CP_RULE_VAL_EXPR:
		got = lacking(env, cp_expr_eval(env, r->expr, r->expr_size, &cfa, &where), lack);
		break;
	case CP_RULE_OFFSET:
		break;
	case CP_RULE_UNSPECIFIED:
	case CP_RULE_SAME:
	case CP_RULE_UNDEFINED:
		return CP_WALK_SENSELESS; /* never in a rule's list */
	}
	if (got != CP_WALK_APPLIED)
		return got;
	if (r->kind == CP_RULE_VAL_EXPR) {
		*ret = where;
		return CP_WALK_APPLIED;
	}
	lack->addr = where;
	return cp_read_exact(env->memory, where, ret, sizeof(*ret)) ? CP_WALK_APPLIED
								    : CP_WALK_NEEDS_MEMORY;
}

/* Any rule. */
static enum cp_walk_applied apply_general(const struct cp_walk *walk, struct cp_walk_at *at,
					  const struct cp_rule *rule, uint64_t *cfa_ret,
					  struct cp_walk_lack *lack)
{
	const struct cp_arch *arch = walk->arch;
	struct cp_regs old = at->regs, new = old;
	struct cp_expr_env env = { .regs = &old, .nregs = arch->nregs, .memory = &walk->memory };
	enum cp_walk_applied got;
	uint64_t cfa, value;
	unsigned i;

	got = find_cfa(&env, rule, &cfa, lack);
	if (got != CP_WALK_APPLIED)
		return got;
	new.known = (old.known & rule->keep) | BIT(arch->sp);
	new.r[arch->sp] = cfa;
	for (i = 0; i < rule->count; i++) {
		const struct cp_rule_reg *r = &rule->regs[i];

		got = find_reg(&env, r, cfa, &value, lack);
		if (got == CP_WALK_APPLIED) {
			new.r[r->reg] = value;
			new.known |= BIT(r->reg);
		} else if (r->reg == rule->ra_reg) {
			return got;
		} else if (r->kind == CP_RULE_OFFSET &&
			   is_taken_off(at, arch, r->reg, cfa + (uint64_t)r->offset)) {
			new.known |= BIT(r->reg);
		} else {
			new.known &= ~BIT(r->reg);
		}
	}
	if (!(new.known &BIT(rule->ra_reg))) {
		lack->reg = rule->ra_reg;
		return CP_WALK_NEEDS_REG;
	}
	if (rule->ra_signed)
		new.r[rule->ra_reg] &= arch->code_mask;
	new.r[arch->pc] = new.r[rule->ra_reg];
	new.known |= BIT(arch->pc);
	at->regs = new;
	*cfa_ret = cfa;
	return CP_WALK_APPLIED;
}

enum cp_walk_applied cp_walk_apply(const struct cp_walk *walk, struct cp_walk_at *at,
				   const struct cp_rule *rule, uint64_t *cfa_ret,
				   struct cp_walk_lack *lack_ret)
{
	if (rule->simple)
		return apply_simple(walk, at, rule, cfa_ret, lack_ret);
	return apply_general(walk, at, rule, cfa_ret, lack_ret);
}
