/* SPDX-License-Identifier: MIT
 *
 * What a walk reads, and a rule applied to the registers of a frame: see walk.c.
 */
#ifndef CP_UNWIND_APPLY_H
#define CP_UNWIND_APPLY_H

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
	unsigned jumps; /* moves that did not go up the stack */
};

/* The outcome of a step from a frame to its caller. */
struct cp_walk_step {
	enum cp_unwind_by by;
	uint64_t cfa; /* of the frame stepped from; 0: unknown */
	bool signal; /* that frame is a signal trampoline */
	enum cp_unwind_end end; /* why there is no caller */
	bool entered; /* the pc is a function\'s first instruction, not a return address */
	/* What the step ended for the lack of, where a guess may help. */
	enum cp_walk_lacks {
		CP_WALK_LACKS_NOTHING,
		CP_WALK_LACKS_RULE,
		CP_WALK_LACKS_REG,
	} lacks;
	unsigned reg; /* that is lacking */
};

enum cp_walk_applied {
	CP_WALK_APPLIED,
	CP_WALK_NEEDS_REG, /* one that is not known */
	CP_WALK_NEEDS_MEMORY, /* not in the copy */
	CP_WALK_SENSELESS,
};

/* The register or the memory for the lack of which a rule could not be applied. */
struct cp_walk_lack {
	unsigned reg;
	uint64_t addr;
};

/* Moves `at` to the caller's registers by `rule`; on failure it is unchanged
 * and *lack_ret says what was missing. */
enum cp_walk_applied cp_walk_apply(const struct cp_walk *walk, struct cp_walk_at *at,
				   const struct cp_rule *rule, uint64_t *cfa_ret,
				   struct cp_walk_lack *lack_ret);

/* `walk` stays where it is: its reader points to it. */
void cp_walk_init(struct cp_walk *walk, struct cp_unwind_space *space,
		  const struct cp_unwind_capture *capture);

/* These bytes in the capture; NULL: it lacks them. */
const uint8_t *cp_walk_in_copy(const struct cp_unwind_capture *c, uint64_t addr, size_t size);
bool cp_walk_read_word(const struct cp_walk *walk, uint64_t addr, uint64_t *ret);

#endif
