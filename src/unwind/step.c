/* SPDX-License-Identifier: MIT */
#include "unwind/step.h"

#define JUMPS_MAX 16

bool cp_step_leave_sigframe(const struct cp_walk *walk, struct cp_walk_at *at,
			    struct cp_walk_step *ret)
{
	const struct cp_arch *arch = walk->arch;
	uint64_t sp = at->regs.r[arch->sp];
	struct cp_regs regs = { 0 };
	unsigned i;

	for (i = 0; i < arch->nregs; i++) {
		if (!cp_walk_read_word(walk, sp + (uint64_t)arch->sigframe[i], &regs.r[i]))
			return cp_step_end(ret, CP_UNWIND_END_CUT);
		regs.known |= UINT64_C(1) << i;
	}
	at->regs = regs;
	ret->by = CP_UNWIND_BY_SIGFRAME;
	ret->cfa = sp;
	ret->signal = true;
	return true;
}

/* Memory above the copy is its end; so is another stack. */
static enum cp_unwind_end unread(const struct cp_walk *walk, const struct cp_walk_at *at,
				 uint64_t addr)
{
	const struct cp_unwind_capture *c = walk->capture;

	if (c->held || (addr < c->stack_base && !at->jumps))
		return CP_UNWIND_END_BAD;
	return CP_UNWIND_END_CUT;
}

static bool by_rule(const struct cp_walk *walk, struct cp_walk_at *at, const struct cp_step *step,
		    struct cp_walk_step *ret)
{
	struct cp_walk_lack lack = { 0 };

	if (step->rule->root)
		return cp_step_end(ret, CP_UNWIND_END_ROOT);
	ret->signal = step->rule->signal;
	switch (cp_walk_apply(walk, at, step->rule, &ret->cfa, &lack)) {
	case CP_WALK_APPLIED:
		ret->by = CP_UNWIND_BY_CFI;
		return true;
	case CP_WALK_NEEDS_REG:
		ret->lacks = CP_WALK_LACKS_REG;
		ret->reg = lack.reg;
		return cp_step_end(ret, CP_UNWIND_END_NO_INFO);
	case CP_WALK_NEEDS_MEMORY:
		return cp_step_end(ret, unread(walk, at, lack.addr));
	case CP_WALK_SENSELESS:
		break;
	}
	return cp_step_end(ret, CP_UNWIND_END_BAD);
}

/* A stack made by hand (makecontext) "returns" to the first instruction of a
 * function, which nobody has called: nothing is beyond it. */
static bool returns_to_entry(const struct cp_walk *walk, const struct cp_walk_at *at)
{
	uint64_t pc = at->regs.r[walk->arch->pc];
	const struct cp_step *step = cp_space_step(walk->space, pc, true);

	return !at->exact && step->kind == CP_STEP_RULE && step->function == pc;
}

static bool without_rule(const struct cp_walk *walk, struct cp_walk_at *at,
			 struct cp_walk_step *ret)
{
	if (returns_to_entry(walk, at)) {
		ret->entered = true;
		return cp_step_end(ret, CP_UNWIND_END_ROOT);
	}
	ret->lacks = CP_WALK_LACKS_RULE;
	return cp_step_end(ret, CP_UNWIND_END_NO_INFO);
}

static bool by_kind(const struct cp_walk *walk, struct cp_walk_at *at, struct cp_walk_step *ret)
{
	const struct cp_step *step = at->here;

	if (!step)
		step = cp_space_step(walk->space, at->regs.r[walk->arch->pc], at->exact);
	at->here = NULL;
	switch (step->kind) {
	case CP_STEP_RULE:
		return by_rule(walk, at, step, ret);
	case CP_STEP_SIGRETURN:
		return cp_step_leave_sigframe(walk, at, ret);
	case CP_STEP_UNMAPPED: /* the leaf: a call through a wild pointer */
	case CP_STEP_NONE:
		break;
	}
	return without_rule(walk, at, ret);
}

/* True for a step up the stack, or one of a few jumps. */
static bool progressed(const struct cp_walk *walk, struct cp_walk_at *at, uint64_t old_pc,
		       uint64_t old_sp)
{
	const struct cp_arch *arch = walk->arch;
	uint64_t sp = at->regs.r[arch->sp];

	if (sp > old_sp)
		return true;
	if (sp == old_sp && at->leaf && !arch->ret_size && at->regs.r[arch->pc] != old_pc)
		return true; /* a leaf that keeps its return address in a register */
	return sp != old_sp && ++at->jumps <= JUMPS_MAX;
}

bool cp_step_finish(const struct cp_walk *walk, struct cp_walk_at *at, uint64_t old_pc,
		    uint64_t old_sp, struct cp_walk_step *ret)
{
	if (!progressed(walk, at, old_pc, old_sp))
		return cp_step_end(ret, CP_UNWIND_END_BAD);
	at->exact = ret->signal;
	at->leaf = false;
	if (ret->by == CP_UNWIND_BY_FP || ret->by == CP_UNWIND_BY_SCAN)
		at->guessed = true;
	return true;
}

bool cp_step_certain(const struct cp_walk *walk, struct cp_walk_at *at, struct cp_walk_step *ret)
{
	const struct cp_arch *arch = walk->arch;
	uint64_t old_pc = at->regs.r[arch->pc], old_sp = at->regs.r[arch->sp];

	*ret = (struct cp_walk_step){ .by = CP_UNWIND_BY_NOTHING };
	if (!(at->regs.known & UINT64_C(1) << arch->sp))
		return cp_step_end(ret, CP_UNWIND_END_NO_INFO);
	return by_kind(walk, at, ret) && cp_step_finish(walk, at, old_pc, old_sp, ret);
}

bool cp_step_at_trampoline(const struct cp_walk *walk, uint64_t pc, bool exact)
{
	const struct cp_step *step = cp_space_step(walk->space, pc, exact);

	return step->kind == CP_STEP_SIGRETURN ||
	       (step->kind == CP_STEP_RULE && step->rule->signal);
}
