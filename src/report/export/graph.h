/* SPDX-License-Identifier: MIT
 *
 * Who calls whom, as a graph: a node a function, an edge a caller and what it calls. Of
 * samples, an edge is what stands below each other in stacks; of traced calls it is calls,
 * also of those that only sums are kept of.
 */
#ifndef CP_REPORT_EXPORT_GRAPH_H
#define CP_REPORT_EXPORT_GRAPH_H

#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"
#include "report/look/brief.h"
#include "report/profile/profile.h"

struct cp_graph_node {
	uint32_t function; /* of the profile */
	struct cp_net_time total, self; /* in the profile's unit */
	uint64_t count; /* calls, or samples that it was in */
};

struct cp_graph_edge {
	uint32_t from, to; /* nodes */
	struct cp_net_time time;
	uint64_t count;
};

struct cp_graph {
	const struct cp_profile *profile; /* borrowed */
	CP_VEC(struct cp_graph_node) nodes; /* most total first */
	CP_VEC(struct cp_graph_edge) edges; /* most first */
	uint64_t whole; /* of all */
	uint64_t most_self;
	size_t left_nodes, left_edges; /* that are too small to be there */
	struct cp_brief names; /* of nodes, where there is little room */
};

/* Nodes and edges that have as large a share of all (0 to 1), and of these edges the
 * `most` largest; 0: all. */
CP_ERROR cp_graph_build(const struct cp_profile *p, double least, size_t most,
			struct cp_graph *ret);
void cp_graph_deinit(struct cp_graph *g);

/* Append in words: "<= 1.20 ms"; "12 calls"; "3 functions and 5 calls smaller than 0.5% are
 * not shown", or nothing. */
void cp_graph_add_amount(const struct cp_graph *g, struct cp_net_time amount, struct cp_buf *out);
void cp_graph_add_count(const struct cp_graph *g, uint64_t count, struct cp_buf *out);
void cp_graph_add_left_out(const struct cp_graph *g, double least, struct cp_buf *out);

#endif
