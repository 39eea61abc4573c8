/* SPDX-License-Identifier: MIT */
#include "unwind/code.h"

#include <stdlib.h>

#include "arch/wayout.h"
#include "unwind/program.h"

#define RULES_MOST 4096u

static size_t read_code(void *ctx, uint64_t addr, void *buffer, size_t size)
{
	return cp_space_read_constant(ctx, addr, buffer, size);
}

/* Code that has rules of its own is another function. It begins where nothing but the return
 * address is on the stack. */
static enum cp_way_where where(void *ctx, uint64_t pc)
{
	const struct cp_unwind_space *space = ctx;
	const struct cp_step *step = cp_space_step(ctx, pc, true);

	if (step->kind == CP_STEP_NONE)
		return CP_WAY_INSIDE;
	return step->kind == CP_STEP_RULE && step->function == pc && step->rule->simple &&
			       step->rule->cfa_reg == space->arch->sp &&
			       step->rule->cfa_offset == space->arch->ret_size
		       ? CP_WAY_BEGINS
		       : CP_WAY_BEYOND;
}

/* The way out as a rule; owned by the caller. */
static struct cp_rule *make_rule(const struct cp_arch *arch, const struct cp_way_out *way)
{
	struct cp_rule *rule =
		calloc(1, sizeof(*rule) + (CP_WAY_OUT_REGS + 1) * sizeof(struct cp_rule_reg));
	unsigned i;

	if (!rule)
		return NULL;
	*rule = (struct cp_rule){
		.cfa_reg = way->base,
		.cfa_offset = way->cfa,
		.ra_reg = (uint8_t)arch->pc,
		.keep = way->kept,
		.simple = true,
	};
	rule->regs[rule->count++] = (struct cp_rule_reg){
		.reg = (uint8_t)arch->pc,
		.kind = CP_RULE_OFFSET,
		.offset = -(int64_t)arch->ret_size,
	};
	for (i = 0; i < CP_WAY_OUT_REGS; i++)
		if (way->saved >> i & 1)
			rule->regs[rule->count++] = (struct cp_rule_reg){
				.reg = (uint8_t)i,
				.kind = CP_RULE_OFFSET,
				.offset = way->at[i] - way->cfa,
			};
	return rule;
}

static struct cp_rule *find_rule(struct cp_unwind_space *space, uint64_t pc, bool exact)
{
	const struct cp_space_code *code = cp_space_code_at(space, exact ? pc : pc - 1);
	const struct cp_reader reader = { read_code, space };
	const struct cp_way_ends ends = { where, space };
	struct cp_way_out way;

	if (!code || !code->constant)
		return NULL;
	if (!space->decoder)
		space->decoder = cp_decoder_create(space->arch);
	return cp_arch_way_out(space->decoder, &reader, pc, !exact, &ends, &way)
		       ? make_rule(space->arch, &way)
		       : NULL;
}

const struct cp_rule *cp_code_rule(struct cp_unwind_space *space, uint64_t pc, bool exact)
{
	uint64_t key = pc << 1 | exact;
	const uint64_t *known = cp_map_get(&space->code_rules, key);
	struct cp_rule *rule;

	if (known)
		return (const struct cp_rule *)(uintptr_t)*known;
	if (space->code_rules.count >= RULES_MOST)
		cp_space_forget_rules(space);
	rule = find_rule(space, pc, exact);
	if (!cp_map_put(&space->code_rules, key, (uintptr_t)rule)) {
		free(rule);
		return NULL;
	}
	return rule;
}
