/* SPDX-License-Identifier: MIT
 *
 * Where spans are drawn. A viewer's track holds slices that lie within each
 * other, but what a program announces need not: a span that began in a call
 * may outlast it, two spans may overlap. What does not fit on its thread's or
 * fiber's own track, calls included, gets a lane beside it.
 *
 *     thread   [f()  [span A]      ][g()  ]
 *     (2)         [span B            ]          began in f, ended in g
 *
 * Async spans belong to no thread: those of a name share lanes.
 */
#ifndef CP_REPORT_LANES_H
#define CP_REPORT_LANES_H

#include "report/events/annotations.h"

struct cp_lane_ends { /* of what is open, innermost last: places in the order of time */
	size_t *items;
	size_t count, capacity;
};

struct cp_lane {
	uint32_t track; /* beside which; CP_RECORD_NONE: of async spans */
	uint32_t process;
	const char *name, *category; /* of async spans */
	unsigned number; /* from 2; of async spans from 1 */
	uint32_t next; /* private, as is: the next lane + 1 */
	struct cp_lane_ends ends;
};

struct cp_lanes {
	uint32_t *of; /* by span: its lane + 1; 0: on its own track */
	CP_VEC(struct cp_lane) items;
};

CP_ERROR cp_lanes_build(const struct cp_annotations *a, struct cp_lanes *ret);
void cp_lanes_deinit(struct cp_lanes *lanes);

#endif
