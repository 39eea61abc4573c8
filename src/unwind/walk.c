/* SPDX-License-Identifier: MIT
 *
 * Walking a stack.
 *
 * A frame is a function that has begun and not yet returned. The capture
 * gives the registers of the innermost one, the leaf. Each step finds what
 * the registers were in its caller, as if the function returned at once:
 *
 *	 higher addresses
 *	│ frame of main           │
 *	│ return address into main│ ◄─ CFA of parse() - 8
 *	├─────────────────────────┤ ◄─ CFA of parse(): main's sp at the call
 *	│ main's rbx              │ ◄─ CFA - 16: "rbx is saved at CFA - 16"
 *	│ locals of parse         │
 *	│ return address to parse │ ◄─ CFA of read() - 8
 *	├─────────────────────────┤ ◄─ CFA of read(): parse's sp at the call
 *	└─────────────────────────┘ ◄─ sp of the leaf, read()
 *	 lower addresses
 *
 * For every pc, call frame information has a rule: the canonical frame address
 * (CFA) is some register plus an offset, or an expression; and each register
 * that the function has overwritten is saved at an offset from there. So a
 * step is an addition and a few loads, once the rule is at hand (space.c).
 *
 * What makes it right instead of nearly right:
 *
 * - Known registers. Rules cover what a call preserves. rax, rcx and the like
 *   are gone in every frame but the leaf, so their bit in `known` is cleared;
 *   so is that of a saved register whose slot can't be read. Some functions do
 *   save them and say so, which helps to go on; but what libgcc saves while it
 *   unwinds is overwritten with what the handler shall find, so it is not told.
 * - pc or pc - 1. A return address may be the first byte of the next function
 *   (after a call that never returns), so the rule is that of the byte before;
 *   but the leaf's pc, and the pc of a frame interrupted by a signal, are of
 *   instructions about to run, and looked up as they are.
 * - Signals. The kernel builds a frame that "returns" to a trampoline. Either
 *   the trampoline has CFI, of the augmentation S, or its code is recognised.
 *   All registers of the interrupted frame are then known.
 * - Progress. A caller's sp is above its callee's. It is not where stacks are
 *   switched: at a signal on an alternate stack, or in code written to do so.
 *   A few such jumps are followed, not more, so that a walk can't circle.
 *
 * Without a rule, guess.c tries what can be verified. What was found that way,
 * and all that is above it, is flagged.
 */
#include "unwind/walk.h"
#include "unwind/expr.h"

#include <string.h>

#define JUMPS_MAX 16
#define NEWBORN_BYTES 24

#define BIT(n) (UINT64_C(1) << (n))

/* ---- memory ---- */

static inline bool within(uint64_t base, size_t all, uint64_t addr, size_t size)
{
	return addr - base < all && size <= all - (addr - base);
}

/* Where the capture has these bytes, or NULL. */
static const uint8_t *in_copy(const struct cp_unwind_capture *c, uint64_t addr, size_t size)
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
	const uint8_t *copied = in_copy(c, addr, size);

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

bool cp_walk_read_word(const struct cp_walk *walk, uint64_t addr, uint64_t *ret)
{
	return read_word(walk, addr, ret);
}

/* ---- applying a rule ---- */

/* Nearly all rules: a register and an offset, and saved registers. */
static enum cp_walk_applied apply_simple(const struct cp_walk *walk, struct cp_walk_at *at,
					 const struct cp_rule *rule, uint64_t *cfa_ret,
					 struct cp_walk_lack *lack)
{
	const struct cp_arch *arch = walk->arch;
	struct cp_regs *regs = &at->regs;
	uint64_t cfa, value, known = regs->known & rule->keep, offset;
	const struct cp_rule_reg *r = rule->regs, *last = rule->regs + rule->count;
	/* In locals, because a store to a register could change any of them. */
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
		else if (!read_word(walk, base + offset, &regs->r[r->reg]))
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

/* One register of the caller. */
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

/* ---- one step ---- */

static bool end(struct cp_walk_step *ret, enum cp_unwind_end why)
{
	ret->end = why;
	return false;
}

/* The registers that the kernel saved for the signal's return. */
static bool leave_sigframe(const struct cp_walk *walk, struct cp_walk_at *at,
			   struct cp_walk_step *ret)
{
	const struct cp_arch *arch = walk->arch;
	uint64_t sp = at->regs.r[arch->sp];
	struct cp_regs regs = { 0 };
	unsigned i;

	for (i = 0; i < arch->nregs; i++) {
		if (!read_word(walk, sp + (uint64_t)arch->sigframe[i], &regs.r[i]))
			return end(ret, CP_UNWIND_END_CUT);
		regs.known |= BIT(i);
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
		return end(ret, CP_UNWIND_END_ROOT);
	ret->signal = step->rule->signal;
	switch (cp_walk_apply(walk, at, step->rule, &ret->cfa, &lack)) {
	case CP_WALK_APPLIED:
		ret->by = CP_UNWIND_BY_CFI;
		return true;
	case CP_WALK_NEEDS_REG:
		if (at->certain_only)
			return end(ret, CP_UNWIND_END_NO_INFO);
		return cp_guess_register(walk, at, step, lack.reg, ret);
	case CP_WALK_NEEDS_MEMORY:
		return end(ret, unread(walk, at, lack.addr));
	case CP_WALK_SENSELESS:
		break;
	}
	return end(ret, CP_UNWIND_END_BAD);
}

/* A stack made by hand (makecontext) "returns" to the first instruction of a
 * function, which nobody has called: nothing is beyond it. */
static bool returns_to_entry(const struct cp_walk *walk, const struct cp_walk_at *at)
{
	uint64_t pc = at->regs.r[walk->arch->pc];
	const struct cp_step *step = cp_space_step(walk->space, pc, true);

	return !at->exact && step->kind == CP_STEP_RULE && step->function == pc;
}

/* A new thread comes out of its system call in clone(), which describes itself
 * only from a few instructions on, where it says that it has no caller. */
static bool is_newborn(const struct cp_walk *walk, const struct cp_walk_at *at)
{
	uint64_t pc = at->regs.r[walk->arch->pc], i;

	for (i = 1; at->leaf && i <= NEWBORN_BYTES; i++) {
		const struct cp_step *step = cp_space_step(walk->space, pc + i, true);

		if (step->kind == CP_STEP_RULE)
			return step->rule->root;
	}
	return false;
}

static bool without_rule(const struct cp_walk *walk, struct cp_walk_at *at,
			 struct cp_walk_step *ret)
{
	if (returns_to_entry(walk, at)) {
		ret->entered = true;
		return end(ret, CP_UNWIND_END_ROOT);
	}
	if (at->certain_only)
		return end(ret, CP_UNWIND_END_NO_INFO);
	if (cp_guess_caller(walk, at, ret))
		return true;
	return end(ret, is_newborn(walk, at) ? CP_UNWIND_END_ROOT : ret->end);
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
		return leave_sigframe(walk, at, ret);
	case CP_STEP_UNMAPPED: /* the leaf: a call through a wild pointer */
	case CP_STEP_NONE:
		break;
	}
	return without_rule(walk, at, ret);
}

/* Up the stack, or one of a few jumps. */
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

bool cp_walk_step(const struct cp_walk *walk, struct cp_walk_at *at, struct cp_walk_step *ret)
{
	const struct cp_arch *arch = walk->arch;
	uint64_t old_pc = at->regs.r[arch->pc], old_sp = at->regs.r[arch->sp];

	*ret = (struct cp_walk_step){ .by = CP_UNWIND_BY_NOTHING };
	if (!(at->regs.known & BIT(arch->sp)))
		return end(ret, CP_UNWIND_END_NO_INFO);
	if (!by_kind(walk, at, ret))
		return false;
	if (!progressed(walk, at, old_pc, old_sp))
		return end(ret, CP_UNWIND_END_BAD);
	at->exact = ret->signal;
	at->leaf = false;
	if (ret->by == CP_UNWIND_BY_FP || ret->by == CP_UNWIND_BY_SCAN)
		at->guessed = true;
	return true;
}

/* ---- the unwinders ---- */

bool cp_walk_at_trampoline(const struct cp_walk *walk, uint64_t pc, bool exact)
{
	const struct cp_step *step = cp_space_step(walk->space, pc, exact);

	return step->kind == CP_STEP_SIGRETURN ||
	       (step->kind == CP_STEP_RULE && step->rule->signal);
}

/* Frame pointers only; the kernel's signal frames are passed by their layout. */
static bool fp_step(const struct cp_walk *walk, struct cp_walk_at *at, struct cp_walk_step *ret)
{
	const struct cp_arch *arch = walk->arch;
	uint64_t old_pc = at->regs.r[arch->pc], old_sp = at->regs.r[arch->sp];
	bool trampoline = cp_walk_at_trampoline(walk, old_pc, at->exact);
	bool moved;

	*ret = (struct cp_walk_step){ .by = CP_UNWIND_BY_NOTHING };
	moved = trampoline ? leave_sigframe(walk, at, ret) : cp_guess_by_fp(walk, at, ret);
	if (!moved)
		return false;
	if (!progressed(walk, at, old_pc, old_sp))
		return end(ret, CP_UNWIND_END_BAD);
	at->exact = ret->signal;
	at->leaf = false;
	at->guessed |= !trampoline;
	return true;
}

static const struct cp_unwinder_ops unwinders[] = {
	[CP_UNWINDER_OWN] = { .step = cp_walk_step },
	[CP_UNWINDER_LIBUNWIND] = { .walk = cp_libunwind_walk },
	[CP_UNWINDER_FP] = { .step = fp_step },
	[CP_UNWINDER_LIBUNWIND_PTRACE] = { .walk = cp_libunwind_ptrace_walk },
};

/* Only what the ISA has is copied: a frame has room for the largest. */
static inline void copy_regs(const struct cp_arch *arch, const struct cp_regs *from,
			     struct cp_regs *to)
{
	unsigned i;

	to->known = from->known;
	for (i = 0; i < arch->nregs; i++)
		to->r[i] = from->r[i];
}

static void walk_steps(const struct cp_walk *walk, const struct cp_unwinder_ops *ops,
		       struct cp_frame *frames, size_t max, size_t *count_ret,
		       enum cp_unwind_end *end_ret)
{
	const struct cp_arch *arch = walk->arch;
	struct cp_walk_at at = { .regs = walk->capture->regs, .exact = true, .leaf = true };
	struct cp_walk_step step;
	bool more = true;
	size_t n = 0;

	while (more && n < max) {
		struct cp_frame *frame = &frames[n++];

		frame->pc.v = at.regs.r[arch->pc];
		frame->flags =
			(at.exact ? CP_FRAME_EXACT_PC : 0) | (at.guessed ? CP_FRAME_GUESSED : 0);
		copy_regs(arch, &at.regs, &frame->regs);
		if (!at.exact)
			frame->regs.known &= arch->callee_saved;
		more = ops->step(walk, &at, &step);
		frame->cfa.v = step.cfa;
		frame->by = more ? step.by : CP_UNWIND_BY_NOTHING;
		frame->flags |= (step.signal ? CP_FRAME_SIGNAL : 0) |
				(step.entered ? CP_FRAME_EXACT_PC : 0);
		if (!more)
			break;
		at.here = cp_space_step(walk->space, at.regs.r[arch->pc], at.exact);
		if (at.here->kind == CP_STEP_UNMAPPED && !at.exact) {
			frame->by = CP_UNWIND_BY_NOTHING;
			more = end(&step, at.regs.r[arch->pc] ? CP_UNWIND_END_UNMAPPED
							      : CP_UNWIND_END_ROOT);
		}
	}
	*count_ret = n;
	*end_ret = more ? CP_UNWIND_END_MAX : step.end;
}

void cp_unwind_walk(struct cp_unwind_space *space, enum cp_unwinder by,
		    const struct cp_unwind_capture *capture, struct cp_frame *frames, size_t max,
		    size_t *count_ret, enum cp_unwind_end *end_ret)
{
	struct cp_walk walk = { .space = space, .arch = space->arch, .capture = capture };
	const struct cp_unwinder_ops *ops = &unwinders[by];

	walk.memory = (struct cp_reader){ read_memory, &walk };
	if (capture->stack_size >= sizeof(uint64_t))
		walk.copied = capture->stack_size - sizeof(uint64_t) + 1;
	*count_ret = 0;
	*end_ret = CP_UNWIND_END_NO_INFO;
	if (!(capture->regs.known & BIT(walk.arch->pc)))
		return;
	if (ops->walk)
		ops->walk(&walk, frames, max, count_ret, end_ret);
	else
		walk_steps(&walk, ops, frames, max, count_ret, end_ret);
}

bool cp_unwind_left_copy(const struct cp_arch *arch, const struct cp_unwind_capture *capture,
			 const struct cp_frame *frames, size_t count, uint64_t *link_ret)
{
	const uint64_t sp = BIT(arch->sp);
	size_t i = count;

	while (i > 1 && !(frames[i - 2].flags & CP_FRAME_SIGNAL))
		i--;
	if (i < 2 || !(frames[i - 2].regs.known & frames[i - 1].regs.known & sp) ||
	    in_copy(capture, frames[i - 1].regs.r[arch->sp], 1))
		return false;
	*link_ret = frames[i - 2].regs.r[arch->sp] + (uint64_t)arch->sigframe[arch->sp];
	return true;
}
