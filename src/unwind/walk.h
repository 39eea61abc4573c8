/* SPDX-License-Identifier: MIT
 *
 * The walk's own insides, shared by the unwinders: see walk.c.
 */
#ifndef CP_UNWIND_WALK_H
#define CP_UNWIND_WALK_H

#include "unwind/space.h"

struct cp_walk {
	struct cp_unwind_space *space;
	const struct cp_arch *arch;
	const struct cp_unwind_capture *capture;
	struct cp_reader memory; /* the copy, then the process if it is held */
	uint64_t copied; /* words can be read at stack_base ... stack_base + copied - 1 */
};

/* The frame that a walk stands at. */
struct cp_walk_at {
	struct cp_regs regs;
	const struct cp_step *here; /* what to do at pc, if that was looked up last */
	bool exact; /* pc is of an instruction about to run */
	bool leaf; /* the first frame */
	bool guessed; /* it was, or one before it */
	bool certain_only; /* don't guess: a trial */
	unsigned jumps; /* moves that did not go up the stack */
};

/* How a step went. */
struct cp_walk_step {
	enum cp_unwind_by by;
	uint64_t cfa; /* of the frame stepped from; 0: unknown */
	bool signal; /* that frame is a signal trampoline */
	enum cp_unwind_end end; /* why there is no caller */
	bool entered; /* the pc is a function\'s first instruction, not a return address */
};

enum cp_walk_applied {
	CP_WALK_APPLIED,
	CP_WALK_NEEDS_REG, /* one that is not known */
	CP_WALK_NEEDS_MEMORY, /* not in the copy */
	CP_WALK_SENSELESS,
};

/* What an attempt to apply a rule lacked. */
struct cp_walk_lack {
	unsigned reg;
	uint64_t addr;
};

/* Moves `at` to the caller's registers by `rule`; on failure it is unchanged
 * and *lack_ret says what was missing. */
enum cp_walk_applied cp_walk_apply(const struct cp_walk *walk, struct cp_walk_at *at,
				   const struct cp_rule *rule, uint64_t *cfa_ret,
				   struct cp_walk_lack *lack_ret);

/* Moves `at` to its caller, or says in `ret` why there is none. */
bool cp_walk_step(const struct cp_walk *walk, struct cp_walk_at *at, struct cp_walk_step *ret);

/* True for the code that a signal handler returns to. */
bool cp_walk_at_trampoline(const struct cp_walk *walk, uint64_t pc, bool exact);

bool cp_walk_read_word(const struct cp_walk *walk, uint64_t addr, uint64_t *ret);

/* ---- guess.c ---- */

/* The caller of a frame that no rule exists for. */
bool cp_guess_caller(const struct cp_walk *walk, struct cp_walk_at *at, struct cp_walk_step *ret);
/* The caller of a frame whose rule needs `reg`, which is not known. */
bool cp_guess_register(const struct cp_walk *walk, struct cp_walk_at *at,
		       const struct cp_step *step, unsigned reg, struct cp_walk_step *ret);
/* The caller by the frame pointer alone. */
bool cp_guess_by_fp(const struct cp_walk *walk, struct cp_walk_at *at, struct cp_walk_step *ret);

/* ---- the unwinders ---- */

/* A way to walk. `step` does what cp_walk_step() does. */
struct cp_unwinder_ops {
	bool (*step)(const struct cp_walk *walk, struct cp_walk_at *at, struct cp_walk_step *ret);
	/* Instead of `step`: the whole walk. */
	void (*walk)(const struct cp_walk *walk, struct cp_frame *frames, size_t max,
		     size_t *count_ret, enum cp_unwind_end *end_ret);
};

/* libunwind.c; only for captures of this machine's own ISA. */
void cp_libunwind_walk(const struct cp_walk *walk, struct cp_frame *frames, size_t max,
		       size_t *count_ret, enum cp_unwind_end *end_ret);
/* Nothing is walked unless the thread is held. */
void cp_libunwind_ptrace_walk(const struct cp_walk *walk, struct cp_frame *frames, size_t max,
			      size_t *count_ret, enum cp_unwind_end *end_ret);

#endif
