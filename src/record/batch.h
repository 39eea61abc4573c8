/* SPDX-License-Identifier: MIT
 *
 * What was recorded since the last flush, on its way from the thread that
 * records to the writer's own.
 */
#ifndef CP_RECORD_BATCH_H
#define CP_RECORD_BATCH_H

#include "base/buf.h"
#include "base/vec.h"
#include "record/annotations.h"
#include "record/arena.h"
#include "record/call_block.h"
#include "record/calls.h"
#include "record/coverage.h"
#include "record/lives.h"
#include "record/sum_rows.h"

struct cp_record_new_process {
	uint32_t number;
	struct cp_record_process v; /* strings owned */
};
struct cp_record_new_thread {
	uint32_t number;
	struct cp_record_thread v; /* strings owned */
};
struct cp_record_new_image {
	uint32_t number;
	struct cp_record_image v; /* strings owned */
};
/* Locations, nodes and stacks are numbered by their order. */
struct cp_record_new_location {
	uint64_t key, address; /* key: of the image, for the resolver */
	uint32_t image, flags;
};
struct cp_record_new_node {
	uint32_t parent; /* number + 1, or 0 */
	uint32_t location;
};
struct cp_record_new_stack {
	uint32_t node; /* number + 1, or 0 for the empty stack */
	uint32_t flags;
};
/* Made and freed as a whole. */
struct cp_record_new_coverage {
	struct cp_record_arena arena; /* owns all of `v` */
	struct cp_coverage_image v;
};

struct cp_record_batch {
	CP_VEC(struct cp_record_new_process) processes;
	CP_VEC(struct cp_record_new_thread) threads;
	CP_VEC(struct cp_record_new_image) images;
	CP_VEC(struct cp_record_new_location) locations;
	CP_VEC(struct cp_record_new_node) nodes;
	CP_VEC(struct cp_record_new_stack) stacks;
	CP_VEC(struct cp_record_sample) samples;
	CP_VEC(struct cp_record_call) calls;
	struct cp_record_arena values; /* of these */
	CP_VEC(struct cp_record_heap) heap; /* between them */
	CP_VEC(struct cp_call_block) blocks; /* of calls */
	struct cp_record_arena block_bytes; /* of these */
	uint64_t block_calls; /* events in them */
	size_t call_bytes; /* what calls take, about */
	CP_VEC(struct cp_record_annotation) annotations; /* strings are the writer's */
	CP_VEC(struct cp_record_new_coverage *) coverage; /* one of an image */
	CP_VEC(struct cp_record_life) lives; /* strings are the writer's */
	CP_VEC(struct cp_record_sum_bytes) sums;
	struct cp_record_arena sum_bytes; /* of these */
	bool has_totals;
	struct cp_record_totals totals;
	struct cp_buf counters; /* the body of their section; empty: not said */
	struct cp_record_batch *next; /* in the queue */
};

/* False without memory, and then nothing has changed; else `from` is empty. */
bool cp_record_batch_append(struct cp_record_batch *to, struct cp_record_batch *from);
/* Adds a call with a copy of its values. False without memory, and then the
 * batch has it not. */
bool cp_record_batch_call(struct cp_record_batch *batch, const struct cp_record_call *call);
/* A copy whose values are the arena's; answers its size in memory, 0: there is none. */
size_t cp_record_copy_call(struct cp_record_arena *arena, const struct cp_record_call *call,
			   struct cp_record_call *ret);
/* Adds a copy, in the place of one of the same image. False without memory, and
 * then the batch has it not. */
bool cp_record_batch_coverage(struct cp_record_batch *batch, const struct cp_coverage_image *c);
/* Adds a copy. False without memory, and then the batch has it not. */
bool cp_record_batch_block(struct cp_record_batch *batch, const struct cp_call_block *block);
/* Adds an event of the heap, behind the calls so far. False without memory, and then the batch
 * has it not. */
bool cp_record_batch_heap(struct cp_record_batch *batch, const struct cp_record_heap *h);
/* Leaves all calls out. */
void cp_record_batch_drop_calls(struct cp_record_batch *batch);
void cp_record_batch_free(struct cp_record_batch *batch);

#endif
