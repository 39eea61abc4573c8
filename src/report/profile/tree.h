/* SPDX-License-Identifier: MIT
 *
 * The call tree of a profile: every stack laid over the others from the root.
 * Flame graphs and `report --tree` are drawings of it.
 */
#ifndef CP_REPORT_TREE_H
#define CP_REPORT_TREE_H

#include "report/profile/profile.h"

struct cp_buf;

/* The level that stands below the outermost functions. */
enum cp_tree_roots {
	CP_ROOTS_AUTO, /* processes when there are several */
	CP_ROOTS_NONE,
	CP_ROOTS_PROCESS,
	CP_ROOTS_THREAD,
};

enum cp_node_kind {
	CP_NODE_ALL, /* the root of the tree, always node 0 */
	CP_NODE_PROCESS, /* ref: process */
	CP_NODE_THREAD, /* ref: thread */
	CP_NODE_TRUNCATED, /* stacks that don't reach the root stand on this */
	CP_NODE_FUNCTION, /* ref: function */
};

#define CP_NO_NODE UINT32_MAX

struct cp_node {
	enum cp_node_kind kind;
	bool inlined;
	uint32_t ref;
	uint32_t frame; /* the first frame seen here (kind function) */
	uint32_t parent, first, next; /* children: most total first */
	struct cp_cost self, total;
	uint32_t
		deepest; /* times that the function stands here on itself, or in a circle; 0: once */
	uint64_t guessed; /* of total: this frame was guessed */
};

struct cp_tree {
	const struct cp_profile *profile; /* borrowed */
	CP_VEC(struct cp_node) nodes;
	uint32_t depth; /* levels, with the root */
};

CP_ERROR cp_tree_build(const struct cp_profile *p, enum cp_tree_roots roots, struct cp_tree *ret);
/* With functions that call themselves, or each other in a circle, on one node each. */
CP_ERROR cp_tree_build_folded(const struct cp_profile *p, enum cp_tree_roots roots,
			      struct cp_tree *ret);
void cp_tree_deinit(struct cp_tree *tree);

/* The node after `node`, children before siblings; CP_NO_NODE after the last.
 * *depth goes along: 0 for the root. */
uint32_t cp_tree_next(const struct cp_tree *tree, uint32_t node, uint32_t *depth);

/* The roots that AUTO means for `p`. */
enum cp_tree_roots cp_tree_roots_for(const struct cp_profile *p, enum cp_tree_roots roots);

/* Appends a node's raw name. */
void cp_tree_name(const struct cp_tree *tree, uint32_t node, struct cp_buf *out);
/* "name (tid)", raw. */
void cp_thread_name(const struct cp_profile *p, uint32_t thread, struct cp_buf *out);
void cp_process_name(const struct cp_profile *p, uint32_t process, struct cp_buf *out);

#endif
