/* SPDX-License-Identifier: MIT
 *
 * A recording as sums by thread, piece of time and stack: what a page needs to show any
 * range of time, however long the recording is.
 *
 *     samples ────┐                      ┌─ thread 0 ─┬ bucket 0: (node 7, 10 ms, 1), ...
 *     calls ──────┤  series, cells of ───┤            └ bucket 1: ...
 *     heap, ... ──┘                      └─ thread 1 ...
 *
 * A node is a stack as a path from the root, whose steps have labels: functions mostly. All
 * series share the nodes.
 */
#ifndef CP_REPORT_TIMELINE_H
#define CP_REPORT_TIMELINE_H

#include "base/error.h"
#include "base/map.h"
#include "base/spread.h"
#include "base/vec.h"
#include "report/profile/profile.h"
#include "report/profile/spots.h"
#include "report/profile/tree.h"

enum cp_series {
	CP_SERIES_RUNNING, /* samples: ns */
	CP_SERIES_WAITING, /* of threads that did not run: ns */
	CP_SERIES_CALLS, /* traced ones, by themselves: ns */
	CP_SERIES_ALLOCATED, /* bytes, blocks */
	CP_SERIES_FREED, /* the same, when and where they were no more */
	CP_SERIES_LOCKS, /* waits for them: ns */
	CP_SERIES_THROWN, /* exceptions */
	CP_SERIES_SPANS, /* announced by the program, by themselves: ns */
	CP_SERIES_COUNT, /* of those by node */
	/* By CP_TIMELINE_DURATION of label and duration, in the place of a node: calls that are
	 * over. */
	CP_SERIES_DURATIONS = CP_SERIES_COUNT,
	/* Samples, by set of rows (cp_spots) in the place of a node: ns. */
	CP_SERIES_ROWS_RUNNING,
	CP_SERIES_ROWS_WAITING,
	CP_SERIES_ALL
};

/* How long something took is known to a sixteenth of an octave, which is 6 %. */
#define CP_TIMELINE_DURATION(label, ns) \
	((uint32_t)(label) << 10 | cp_spread_bucket(ns) / (CP_SPREAD_OCTAVE / 16))

enum cp_label_kind {
	CP_LABEL_ALL,
	CP_LABEL_PROCESS,
	CP_LABEL_THREAD,
	CP_LABEL_TRUNCATED,
	CP_LABEL_SMALL, /* what was too little to be kept apart */
	CP_LABEL_FUNCTION,
	CP_LABEL_THING, /* a lock, the type of an exception, a span: `text` */
};

struct cp_label {
	enum cp_label_kind kind;
	uint32_t ref; /* process, thread, function */
	const char *text; /* raw, owned by the interner; of a thing */
};

#define CP_TIMELINE_INLINED 1u
#define CP_TIMELINE_GUESSED 2u

struct cp_timeline_node {
	uint32_t parent; /* before it; of the root itself */
	uint32_t label;
	uint32_t flags; /* CP_TIMELINE_* */
	/* The child that was asked for last, by its label and whether it is inlined; 0: none */
	uint32_t near;
};

struct cp_timeline_cell {
	uint32_t thread, bucket, node;
	int64_t weight, ticks;
};

struct cp_timeline_series {
	CP_VEC(struct cp_timeline_cell) cells; /* by thread, bucket, node */
	/* private */
	size_t summed; /* of these, the first that are added up */
	uint32_t *near; /* by a hash of the place, one of it, + 1, behind those; owned */
	/* then: */
	struct cp_map own; /* node -> label + 1 that its cells are put down to, if not its own */
};

struct cp_timeline {
	const struct cp_profile *p; /* borrowed */
	const struct cp_spots *spots; /* borrowed; NULL: no rows */
	enum cp_tree_roots roots;
	uint64_t from_ns; /* from the start of the recording */
	uint64_t bucket_ns;
	uint32_t buckets;
	bool live_unknown; /* what was freed is not known of all that was allocated */
	CP_VEC(struct cp_label) labels;
	CP_VEC(struct cp_timeline_node) nodes; /* the first one is the root */
	struct cp_timeline_series series[CP_SERIES_ALL];
	/* private */
	struct cp_interner label_keys, node_keys;
	uint32_t *function_labels; /* + 1; 0: not made so far */
	struct cp_map stacks; /* thread's root, stack -> node */
};

/* All that `p` holds and its filter lets through; `spots` (may be NULL) as long as it. */
CP_ERROR cp_timeline_build(const struct cp_profile *p, enum cp_tree_roots roots,
			   const struct cp_spots *spots, struct cp_timeline *ret);
void cp_timeline_deinit(struct cp_timeline *t);
/* Has it anything to show? */
bool cp_timeline_has_cells(const struct cp_timeline *t);
/* Appends a label's raw text. */
void cp_label_text(const struct cp_timeline *t, const struct cp_label *label, struct cp_buf *out);

/* ---- for who fills it ---- */

CP_ERROR cp_timeline_label(struct cp_timeline *t, const struct cp_label *like, uint32_t *ret);
CP_ERROR cp_timeline_child(struct cp_timeline *t, uint32_t parent, const struct cp_label *label,
			   uint32_t flags, uint32_t *ret);
/* The node that stacks of a thread stand on. */
CP_ERROR cp_timeline_root(struct cp_timeline *t, uint32_t thread, uint32_t *ret);
/* That of a frame of `p`. */
CP_ERROR cp_timeline_frame(struct cp_timeline *t, uint32_t parent, uint32_t frame, uint32_t *ret);
CP_ERROR cp_timeline_stack(struct cp_timeline *t, uint32_t thread, uint32_t stack, uint32_t *ret);
/* The bucket of a time from the start of the recording. */
uint32_t cp_timeline_bucket(const struct cp_timeline *t, uint64_t ns);
/* What is added is weight and ticks of the cell. */
CP_ERROR cp_timeline_add(struct cp_timeline *t, enum cp_series series,
			 const struct cp_timeline_cell *cell);
/* Spreads the cell's weight over the time from `from_ns` to `to_ns`; its ticks go to the
 * end. What is not longer than a bucket stays in one piece, in that of `to_ns`. */
CP_ERROR cp_timeline_spread(struct cp_timeline *t, enum cp_series series,
			    struct cp_timeline_cell cell, uint64_t from_ns, uint64_t to_ns);

#endif
