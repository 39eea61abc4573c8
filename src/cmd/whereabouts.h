/* SPDX-License-Identifier: MIT
 *
 * What an address of a program is in: see whereabouts.c.
 */
#ifndef CP_CMD_WHEREABOUTS_H
#define CP_CMD_WHEREABOUTS_H

#include "cmd/frames.h"
#include "cmd/holding.h"
#include "cmd/regions.h"

enum cp_whereabouts_kind {
	CP_WHERE_STATIC, /* a static variable */
	CP_WHERE_THREAD_LOCAL,
	CP_WHERE_STACK, /* in a frame; `variable` may be NULL: saved, spilled */
	CP_WHERE_UNUSED, /* below a stack pointer */
	CP_WHERE_THREAD, /* above all frames: the thread's own block, its thread-local variables */
	CP_WHERE_HEAP,
	CP_WHERE_MAPPING, /* anything else */
};

struct cp_whereabouts {
	enum cp_whereabouts_kind kind;
	char *variable; /* owned, with the way to a member of it; NULL: none */
	char *function; /* owned; of the frame */
	pid_t tid;
	size_t frame;
	const char *mapping; /* the regions'; "" none */
};

struct cp_map_of_all {
	struct cp_inspected *in; /* borrowed */
	const struct cp_regions *regions; /* borrowed */
	const struct cp_leaves *leaves; /* threads whose stacks are known; borrowed */
	struct cp_frames frames;
	pid_t walked; /* whose frames those are */
	CP_VEC(struct cp_stack_of {
		const struct cp_leaf *leaf;
		uint64_t start;
		uint64_t sp;
		uint64_t top;
	})
	stacks;
	CP_VEC(struct cp_placed_global {
		uint64_t start;
		uint64_t end;
		const struct cp_global *global;
		pid_t tid; /* 0: of all threads */
	})
	globals; /* by address */
	CP_VEC(struct cp_globals *) found;
};

/* All that is needed to tell of many addresses. */
CP_ERROR cp_map_of_all_open(struct cp_map_of_all *map, struct cp_inspected *in,
			    const struct cp_regions *regions, const struct cp_leaves *leaves);
void cp_map_of_all_close(struct cp_map_of_all *map);
/* Quickest in the order of addresses. */
void cp_whereabouts(struct cp_map_of_all *map, uint64_t address, struct cp_whereabouts *ret);
void cp_whereabouts_free(struct cp_whereabouts *where);

#endif
