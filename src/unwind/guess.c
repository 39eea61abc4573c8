/* SPDX-License-Identifier: MIT
 *
 * Callers where the rules end: code without call frame information, and rules
 * that need a register nobody knows (of a blocked thread, only pc and sp are).
 *
 * Nothing is believed because it looks like a pointer. A return address must
 * lie in executable memory right behind a call instruction; and a direct call
 * says whom it called, which is compared with where the walk stands:
 *
 *	   call parse ──► target is the function of our pc,      CERTAIN
 *	                  perhaps through a PLT entry or a jump
 *	   call *%rax ──► could be                               POSSIBLE
 *	   call other ──► no, unless `other` got here somehow    MISMATCH
 *
 * Code without rules that runs to a return says itself where its return address is
 * (code.c), which only has to be one. Else the frame found is tried out: the walk goes on from it by rules alone,
 * and a real frame leads to the root of the stack, which an old one, left
 * over by a call that has returned, rarely does. Old frames lie below the real
 * one, inside of what the function has reserved but not written; so what its
 * first instructions take off the stack pointer says where not to look.
 */
#include "unwind/guess.h"

#include "arch/decoder.h"
#include "unwind/code.h"
#include "unwind/step.h"

#define CALL_MAX 8 /* bytes of a call instruction, at most */
#define NEAR (64u << 10) /* of a function without CFI: how far in we may be */
#define CODE_SIZE 256 /* of a function that is looked into */
#define SCAN_WORDS 8192u /* how far up to look */
#define SCAN_WORDS_PLAIN 512u /* the same where no rule narrows it */
#define TRIALS_MAX 24u
#define TRIAL_STEPS 64u

#define BIT(n) (UINT64_C(1) << (n))

enum match {
	MATCH_NONE, /* not a return address */
	MATCH_MISMATCH,
	MATCH_POSSIBLE,
	MATCH_CERTAIN,
};

/* True when a PLT entry is at `target`; *slot_ret is where it keeps its own. */
static bool is_stub(const struct cp_walk *walk, uint64_t target, uint64_t *slot_ret)
{
	uint8_t code[16];
	size_t got = cp_space_read_constant(walk->space, target, code, sizeof(code));

	return walk->arch->jump_slot(code, got, target, slot_ret);
}

/* A call's target, through the PLT if it goes there. */
static uint64_t through_plt(const struct cp_walk *walk, uint64_t target)
{
	const struct cp_reader *memory = walk->space->memory;
	uint64_t slot, value;

	if (!is_stub(walk, target, &slot) || !cp_read_exact(memory, slot, &value, sizeof(value)))
		return target;
	return value;
}

/* True when a call of `target` gets to `pc`, in the function at `function`
 * (0: unknown). */
static bool reaches(const struct cp_walk *walk, uint64_t target, uint64_t pc, uint64_t function)
{
	uint8_t code[CODE_SIZE];
	uint64_t slot;
	size_t got;

	if (!function && target > pc) /* PLT entries jump back to the first one */
		return target - pc < NEAR && is_stub(walk, target, &slot);
	if (!function)
		return pc - target < NEAR;
	if (target == function)
		return true;
	got = cp_space_read_constant(walk->space, target, code, sizeof(code));
	return walk->arch->jumps_to(code, got, target, function);
}

/* Judges `ra` as the return address of the function at `pc`. */
static enum match match(const struct cp_walk *walk, uint64_t ra, uint64_t pc, uint64_t function)
{
	uint8_t code[CALL_MAX];
	uint64_t target;
	size_t got;

	if (!cp_space_code_at(walk->space, ra - 1))
		return MATCH_NONE;
	got = cp_space_read_constant(walk->space, ra - CALL_MAX, code, sizeof(code));
	if (got < CALL_MAX)
		return MATCH_NONE;
	if (!walk->arch->call_before(code, CALL_MAX, ra, &target)) /* or a signal handler's */
		return cp_space_step(walk->space, ra, false)->kind == CP_STEP_SIGRETURN
			       ? MATCH_CERTAIN
			       : MATCH_NONE;
	if (!target)
		return MATCH_POSSIBLE;
	if (reaches(walk, target, pc, function) ||
	    reaches(walk, through_plt(walk, target), pc, function))
		return MATCH_CERTAIN;
	return MATCH_MISMATCH;
}

/* The end of a walk from a frame by rules alone. */
enum trial {
	TRIAL_BROKEN, /* into nonsense */
	TRIAL_STUCK, /* to a frame that needs another guess */
	TRIAL_CUT, /* to the end of the copy */
	TRIAL_ROOT,
};

static enum trial try_out(const struct cp_walk *walk, const struct cp_walk_at *from)
{
	struct cp_walk_at at = *from;
	struct cp_walk_step step;
	unsigned n;

	for (n = 0; n < TRIAL_STEPS; n++) {
		if (!at.regs.r[walk->arch->pc])
			return TRIAL_ROOT;
		if (!at.exact && !cp_space_code_at(walk->space, at.regs.r[walk->arch->pc] - 1))
			return TRIAL_BROKEN;
		if (!cp_step_certain(walk, &at, &step)) {
			switch (step.end) {
			case CP_UNWIND_END_ROOT:
				return TRIAL_ROOT;
			case CP_UNWIND_END_CUT:
				return TRIAL_CUT;
			case CP_UNWIND_END_NO_INFO:
				return TRIAL_STUCK;
			case CP_UNWIND_END_MAX:
			case CP_UNWIND_END_BAD:
			case CP_UNWIND_END_UNMAPPED:
				return TRIAL_BROKEN;
			}
		}
	}
	return TRIAL_CUT;
}

/* ---- the best of several ---- */

struct choice {
	struct cp_walk_at at; /* the caller */
	uint64_t cfa;
	unsigned score; /* 0: none yet */
	unsigned trials;
};

/* Scores. A call that could be is worth no more than one that seems not to
 * be: the nearest wins. A frame of just the size that the function's first
 * instructions make is worth most. */
#define SCORE(certain, trial) ((certain)*8u + (unsigned)(trial))
#define SCORE_BEST SCORE(1, TRIAL_ROOT)

/* Takes `at` when it is better than what was found below it. */
static void consider(const struct cp_walk *walk, struct choice *choice, bool certain,
		     const struct cp_walk_at *at, uint64_t cfa)
{
	unsigned score;
	enum trial trial;

	if (choice->trials >= TRIALS_MAX || SCORE(certain, TRIAL_ROOT) <= choice->score)
		return;
	choice->trials++;
	trial = try_out(walk, at);
	score = SCORE(certain, trial);
	/* An unlikely call is believed only if it leads to the root. */
	if (trial == TRIAL_BROKEN || (!certain && trial < TRIAL_CUT) || score <= choice->score)
		return;
	choice->at = *at;
	choice->cfa = cfa;
	choice->score = score;
}

static bool take(struct choice *choice, struct cp_walk_at *at, struct cp_walk_step *ret,
		 enum cp_unwind_by by)
{
	if (!choice->score)
		return cp_step_end(ret, CP_UNWIND_END_NO_INFO);
	*at = choice->at;
	ret->by = by;
	ret->cfa = choice->cfa;
	return true;
}

/* ---- a register that a rule needs ---- */

/* The lowest CFA that the function's frame can have. */
static uint64_t lowest_cfa(const struct cp_walk *walk, const struct cp_walk_at *at,
			   const struct cp_step *step)
{
	const struct cp_arch *arch = walk->arch;
	uint64_t pc = at->regs.r[arch->pc], sp = at->regs.r[arch->sp], depth;
	uint8_t code[CODE_SIZE];
	size_t got;

	if (!step->function)
		return sp;
	got = cp_space_read_constant(walk->space, step->function, code, sizeof(code));
	if (!walk->space->decoder)
		walk->space->decoder = cp_decoder_create(arch);
	depth = cp_arch_frame_depth(walk->space->decoder, code, got, step->function, pc);
	return depth ? sp + depth + arch->ret_size : sp;
}

/* Every word of the stack is tried as the register's value: for the usual
 * "CFA is rbp + 16" that means a saved rbp with a return address above it. */
static void scan_for_register(const struct cp_walk *walk, const struct cp_walk_at *at,
			      const struct cp_step *step, unsigned reg, uint64_t lowest,
			      struct choice *choice)
{
	const struct cp_arch *arch = walk->arch;
	uint64_t pc = at->regs.r[arch->pc], sp = at->regs.r[arch->sp], cfa, i;
	struct cp_walk_at next = *at;
	struct cp_walk_lack lack = { 0 };
	enum match how;

	for (i = 0; i < SCAN_WORDS && choice->score < SCORE_BEST; i++) {
		next.regs.known = at->regs.known | BIT(reg);
		next.regs.r[reg] = (sp & ~UINT64_C(7)) + i * 8;
		if (cp_walk_apply(walk, &next, step->rule, &cfa, &lack) == CP_WALK_APPLIED) {
			how = cfa > sp && cfa >= lowest
				      ? match(walk, next.regs.r[arch->pc], pc, step->function)
				      : MATCH_NONE;
			next.exact = next.leaf = false;
			if (how != MATCH_NONE)
				consider(walk, choice, how == MATCH_CERTAIN || (cfa == lowest),
					 &next, cfa);
			next = *at;
		} else if (lack.addr >= walk->capture->stack_base + walk->capture->stack_size) {
			break;
		}
	}
}

bool cp_guess_register(const struct cp_walk *walk, struct cp_walk_at *at, unsigned reg,
		       struct cp_walk_step *ret)
{
	/* A copy: trials make new steps, and steps don't stay. */
	struct cp_step here = *cp_space_step(walk->space, at->regs.r[walk->arch->pc], at->exact);
	struct choice choice = { .score = 0 };
	uint64_t lowest = lowest_cfa(walk, at, &here);

	scan_for_register(walk, at, &here, reg, lowest, &choice);
	if (!choice.score && lowest > at->regs.r[walk->arch->sp])
		scan_for_register(walk, at, &here, reg, 0, &choice);
	return take(&choice, at, ret, CP_UNWIND_BY_SCAN);
}

/* ---- frames without a rule ---- */

/* The caller if the function had no frame yet: it was just called. */
static enum match just_called(const struct cp_walk *walk, const struct cp_walk_at *at,
			      struct cp_walk_at *ret)
{
	const struct cp_arch *arch = walk->arch;
	uint64_t sp = at->regs.r[arch->sp], pc = at->regs.r[arch->pc], ra;

	if (arch->ret_size) {
		if (!cp_walk_read_word(walk, sp, &ra))
			return MATCH_NONE;
	} else {
		if (!(at->regs.known & BIT(arch->lr)))
			return MATCH_NONE;
		ra = at->regs.r[arch->lr] & arch->code_mask;
	}
	*ret = *at;
	ret->regs.known &= arch->callee_saved;
	ret->regs.r[arch->pc] = ra;
	ret->regs.r[arch->sp] = sp + arch->ret_size;
	ret->exact = ret->leaf = false;
	return match(walk, ra, pc, 0);
}

/* The caller by the frame record that the frame pointer points to: the
 * caller's frame pointer and the return address. */
static enum match by_fp(const struct cp_walk *walk, const struct cp_walk_at *at,
			struct cp_walk_at *ret)
{
	const struct cp_arch *arch = walk->arch;
	uint64_t sp = at->regs.r[arch->sp], fp = at->regs.r[arch->fp], outer, ra;

	if (!(at->regs.known & BIT(arch->fp)) || fp < sp || fp % 8 ||
	    !cp_walk_read_word(walk, fp, &outer) || !cp_walk_read_word(walk, fp + 8, &ra) ||
	    (outer && outer <= fp))
		return MATCH_NONE;
	*ret = *at;
	ret->regs.r[arch->pc] = ra & arch->code_mask;
	ret->regs.r[arch->sp] = fp + 16;
	ret->regs.r[arch->fp] = outer;
	ret->regs.known = BIT(arch->pc) | BIT(arch->sp) | BIT(arch->fp);
	ret->exact = ret->leaf = false;
	return match(walk, ret->regs.r[arch->pc], at->regs.r[arch->pc], 0);
}

/* Return addresses between sp and the frame record, or a bit further up. */
static void scan(const struct cp_walk *walk, const struct cp_walk_at *at, struct choice *choice)
{
	const struct cp_arch *arch = walk->arch;
	uint64_t sp = at->regs.r[arch->sp] & ~UINT64_C(7), ra, i;
	struct cp_walk_at next = *at;
	enum match how;

	next.regs.known = BIT(arch->pc) | BIT(arch->sp);
	next.exact = next.leaf = false;
	for (i = 0; i < SCAN_WORDS_PLAIN && choice->score < SCORE_BEST; i++) {
		if (!cp_walk_read_word(walk, sp + i * 8, &ra))
			break;
		how = match(walk, ra & arch->code_mask, at->regs.r[arch->pc], 0);
		if (how != MATCH_CERTAIN)
			continue;
		next.regs.r[arch->pc] = ra & arch->code_mask;
		next.regs.r[arch->sp] = sp + (i + 1) * 8;
		consider(walk, choice, true, &next, next.regs.r[arch->sp]);
	}
}

static bool move(struct cp_walk_at *at, const struct cp_walk_at *to, struct cp_walk_step *ret,
		 enum cp_unwind_by by, uint64_t cfa)
{
	*at = *to;
	ret->by = by;
	ret->cfa = cfa;
	return true;
}

/* The caller by what the code does until it returns. A call that seems to have been of
 * another function is none that can be believed. */
static bool by_code(const struct cp_walk *walk, const struct cp_walk_at *at, struct cp_walk_at *ret,
		    uint64_t *cfa_ret)
{
	const struct cp_arch *arch = walk->arch;
	uint64_t pc = at->regs.r[arch->pc];
	const struct cp_rule *rule = cp_code_rule(walk->space, pc, at->exact);
	struct cp_walk_lack lack;

	*ret = *at;
	if (!rule || cp_walk_apply(walk, ret, rule, cfa_ret, &lack) != CP_WALK_APPLIED)
		return false;
	ret->exact = ret->leaf = false;
	return match(walk, ret->regs.r[arch->pc], pc, 0) >= MATCH_POSSIBLE;
}

bool cp_guess_caller(const struct cp_walk *walk, struct cp_walk_at *at, struct cp_walk_step *ret)
{
	const struct cp_arch *arch = walk->arch;
	struct cp_walk_at called, framed;
	uint64_t cfa;
	struct choice choice = { .score = 0 };
	enum match how_called = MATCH_NONE, how_framed;

	if (by_code(walk, at, &framed, &cfa))
		return move(at, &framed, ret, CP_UNWIND_BY_CODE, cfa);
	if (at->exact)
		how_called = just_called(walk, at, &called);
	if (how_called >= MATCH_POSSIBLE)
		return move(at, &called, ret, CP_UNWIND_BY_CALL, called.regs.r[arch->sp]);
	/* The ABI's mark of the outermost frame. */
	if (!at->exact && at->regs.known & BIT(arch->fp) && !at->regs.r[arch->fp])
		return cp_step_end(ret, CP_UNWIND_END_ROOT);
	how_framed = by_fp(walk, at, &framed);
	if (how_framed >= MATCH_POSSIBLE)
		return move(at, &framed, ret, CP_UNWIND_BY_FP, framed.regs.r[arch->sp]);
	scan(walk, at, &choice);
	if (choice.score)
		return take(&choice, at, ret, CP_UNWIND_BY_SCAN);
	if (how_called == MATCH_MISMATCH)
		return move(at, &called, ret, CP_UNWIND_BY_SCAN, called.regs.r[arch->sp]);
	if (how_framed == MATCH_MISMATCH)
		return move(at, &framed, ret, CP_UNWIND_BY_FP, framed.regs.r[arch->sp]);
	return cp_step_end(ret, CP_UNWIND_END_NO_INFO);
}

bool cp_guess_by_fp(const struct cp_walk *walk, struct cp_walk_at *at, struct cp_walk_step *ret)
{
	const struct cp_arch *arch = walk->arch;
	struct cp_walk_at next;

	if (at->regs.known & BIT(arch->fp) && !at->regs.r[arch->fp])
		return cp_step_end(ret, CP_UNWIND_END_ROOT);
	if (by_fp(walk, at, &next) == MATCH_NONE)
		return cp_step_end(ret, CP_UNWIND_END_NO_INFO);
	return move(at, &next, ret, CP_UNWIND_BY_FP, next.regs.r[arch->sp]);
}
