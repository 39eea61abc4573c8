/* SPDX-License-Identifier: MIT
 *
 * Where threads are: registers of who sleeps, is held, or is in a core file.
 */
#ifndef CP_CMD_LEAVES_H
#define CP_CMD_LEAVES_H

#include "arch/arch.h"
#include "image/core.h"

#define CP_LEAF_OTHERS 16

struct cp_leaf {
	pid_t tid;
	struct cp_regs regs; /* of who sleeps: pc, sp, and those of the call's arguments */
	bool has_others;
	uint64_t others[CP_LEAF_OTHERS]; /* as cp_arch.other_names */
	const uint8_t *vectors; /* borrowed, as cp_arch_vector_note(); NULL: not known */
	size_t vectors_size;
	uint64_t slept; /* tells one sleep from another; 0: it does not sleep */
};

enum cp_leaf_found { CP_LEAF_FOUND, CP_LEAF_RUNS, CP_LEAF_GONE };

/* The thread as it sleeps, without touching it. */
enum cp_leaf_found cp_leaf_asleep(pid_t pid, pid_t tid, struct cp_leaf *ret);
/* Does it sleep as it did then? */
bool cp_leaf_still_sleeps(pid_t pid, const struct cp_leaf *leaf);
/* A thread of a core; its memory is the core's. False: it has none of that number. */
bool cp_leaf_of_core(const struct cp_core *core, pid_t tid, struct cp_leaf *ret);

#endif
