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
#include "unwind/guess.h"
#include "unwind/by_libunwind.h"
#include "unwind/step.h"

#define NEWBORN_BYTES 24

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

static bool guess(const struct cp_walk *walk, struct cp_walk_at *at, struct cp_walk_step *ret)
{
	switch (ret->lacks) {
	case CP_WALK_LACKS_REG:
		return cp_guess_register(walk, at, ret->reg, ret);
	case CP_WALK_LACKS_RULE:
		if (cp_guess_caller(walk, at, ret))
			return true;
		return cp_step_end(ret, is_newborn(walk, at) ? CP_UNWIND_END_ROOT : ret->end);
	case CP_WALK_LACKS_NOTHING:
		break;
	}
	return false;
}

static bool own_step(const struct cp_walk *walk, struct cp_walk_at *at, struct cp_walk_step *ret)
{
	const struct cp_arch *arch = walk->arch;
	uint64_t old_pc = at->regs.r[arch->pc], old_sp = at->regs.r[arch->sp];

	return cp_step_certain(walk, at, ret) ||
	       (guess(walk, at, ret) && cp_step_finish(walk, at, old_pc, old_sp, ret));
}

/* Frame pointers only; the kernel's signal frames are passed by their layout. */
static bool fp_step(const struct cp_walk *walk, struct cp_walk_at *at, struct cp_walk_step *ret)
{
	const struct cp_arch *arch = walk->arch;
	uint64_t old_pc = at->regs.r[arch->pc], old_sp = at->regs.r[arch->sp];

	*ret = (struct cp_walk_step){ .by = CP_UNWIND_BY_NOTHING };
	if (!(cp_step_at_trampoline(walk, old_pc, at->exact) ? cp_step_leave_sigframe(walk, at, ret)
							     : cp_guess_by_fp(walk, at, ret)))
		return false;
	return cp_step_finish(walk, at, old_pc, old_sp, ret);
}

/* A way to walk. */
struct unwinder {
	bool (*step)(const struct cp_walk *walk, struct cp_walk_at *at, struct cp_walk_step *ret);
	/* Instead of `step`: the whole walk. */
	void (*walk)(const struct cp_walk *walk, struct cp_frame *frames, size_t max,
		     size_t *count_ret, enum cp_unwind_end *end_ret);
};

static const struct unwinder unwinders[] = {
	[CP_UNWINDER_OWN] = { .step = own_step },
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

static void walk_steps(const struct cp_walk *walk, const struct unwinder *ops,
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
			more = cp_step_end(&step, at.regs.r[arch->pc] ? CP_UNWIND_END_UNMAPPED
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
	struct cp_walk walk;
	const struct unwinder *ops = &unwinders[by];

	cp_walk_init(&walk, space, capture);
	*count_ret = 0;
	*end_ret = CP_UNWIND_END_NO_INFO;
	if (!(capture->regs.known & UINT64_C(1) << walk.arch->pc))
		return;
	space->walk = ++space->walks;
	if (ops->walk)
		ops->walk(&walk, frames, max, count_ret, end_ret);
	else
		walk_steps(&walk, ops, frames, max, count_ret, end_ret);
	space->walk = 0;
}

bool cp_unwind_left_copy(const struct cp_arch *arch, const struct cp_unwind_capture *capture,
			 const struct cp_frame *frames, size_t count, uint64_t *link_ret)
{
	const uint64_t sp = UINT64_C(1) << arch->sp;
	size_t i = count;

	while (i > 1 && !(frames[i - 2].flags & CP_FRAME_SIGNAL))
		i--;
	if (i < 2 || !(frames[i - 2].regs.known & frames[i - 1].regs.known & sp) ||
	    cp_walk_in_copy(capture, frames[i - 1].regs.r[arch->sp], 1))
		return false;
	*link_ret = frames[i - 2].regs.r[arch->sp] + (uint64_t)arch->sigframe[arch->sp];
	return true;
}
