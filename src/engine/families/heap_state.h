/* SPDX-License-Identifier: MIT
 *
 * What is known of blocks, for the files that watch them. Private to src/engine.
 */
#ifndef CP_ENGINE_FAMILIES_HEAP_STATE_H
#define CP_ENGINE_FAMILIES_HEAP_STATE_H

#include <cprof/heap.h>

#include "base/map.h"
#include "base/vec.h"
#include "engine/families/heap_names.h"
#include "engine/target/state.h"

struct engine_heap_types;

#define ENGINE_HEAP_IS_FREE 0 /* instead of a time */

/* What a record of a site says, where it says nothing else (heap_runs.c). */
enum engine_heap_plain {
	ENGINE_HEAP_UNKNOWN, /* not looked at */
	ENGINE_HEAP_NOT,
	ENGINE_HEAP_BEGINS,
	ENGINE_HEAP_ENDS,
	ENGINE_HEAP_FREES,
};

struct engine_heap_site {
	const cprof_function *function;
	const cprof_image *image;
	uint64_t pc; /* run-time */
	uint32_t traced;
	uint8_t what; /* enum engine_heap_plain */
	uint8_t role;
	/* Words of its record: what a walk begins with, from there; arguments, NONE: it has no
	 * such; the result; and how many there are. */
	uint8_t saved, size, times, address, result, words;
};

/* Does a library call its own function there, and not what stands in for it? */
struct engine_heap_caller {
	uint64_t address; /* of the return; 0: none */
	uint32_t site;
	bool internal;
};
#define ENGINE_HEAP_CALLERS 256

/* Addresses that a process was seen to allocate -> when that was, last. */
struct engine_heap_blocks {
	const cprof_process *process;
	struct cp_map at;
	uint64_t from_ns; /* when watching began; UINT64_MAX: it pauses */
	uint64_t pauses;
	uint64_t lost_ns; /* up to when calls were lost, last */
	/* For runs, good as long as the session's `changes` are these. */
	CP_VEC(struct engine_heap_site) sites; /* by site */
	struct engine_heap_caller *callers; /* owned; by a hash of the address; NULL: none */
	uint64_t changes;
};

struct engine_heap {
	bool found; /* some image has such a function */
	CP_VEC(struct engine_heap_blocks) blocks;
	cprof_allocation_statistics statistics; /* of processes that had pauses */
	uint64_t every; /* one about every so many bytes is told; 0: all are */
	bool all; /* some profiler wants to be told of all */
	struct engine_heap_types *types; /* owned; NULL: not asked for */
	cprof_allocation current;
	bool has_current;
	/* By thread, the call of an allocator that ended last in a jump: struct cp_call, owned.
	 * Another one may have its frame and return address now. */
	struct cp_map ended;
	CP_VEC(cprof_allocation_event) told; /* of the run under way */
};

#define ENGINE_HEAP_NONE 0xff
/* Positions of arguments: `size` times `times` are the bytes, `address` is freed or
 * moved, the result is written to `where`. */
struct engine_heap_arguments {
	uint8_t size, times, address, where;
};
extern const struct engine_heap_arguments engine_heap_arguments[ROLES];

static inline struct engine_heap *engine_heap_of(const cprof_session *s)
{
	return s->own[ENGINE_FAMILY_HEAP];
}

/* How many bytes there are to one block that is told, about; 0: all blocks are told. */
static inline uint64_t engine_heap_every(const cprof_session *s)
{
	return engine_heap_of(s)->all ? 0 : engine_heap_of(s)->every;
}

static inline bool engine_heap_moves(uint8_t role)
{
	return role == REALLOC || role == REALLOCARRAY || role == RUST_REALLOC;
}

static inline uint64_t engine_heap_product(uint64_t count, uint64_t size)
{
	uint64_t ret;

	return __builtin_mul_overflow(count, size, &ret) ? UINT64_MAX : ret;
}

/* The blocks of a process, made when they aren't there; NULL without memory. Good until the
 * next one is made. */
struct engine_heap_blocks *engine_heap_blocks(struct engine_heap *h, const cprof_process *p);
/* What it refers to. */
void engine_heap_blocks_free(struct engine_heap_blocks *blocks);
/* Notes that a block is free. False: it was already. A block allocated later than `until_ns`
 * is another one, which another thread got there: realloc() is told when it returns. */
bool engine_heap_set_free(struct engine_heap_blocks *blocks, uint64_t address, uint64_t until_ns);
/* Does the library of the image call its own function at `pc` by a call that returns to
 * `caller`, and not whatever has that name in the program? */
bool engine_heap_is_internal(cprof_process *p, const cprof_image *image, uint64_t pc,
			     uint64_t caller);
/* The last call of the thread that ended in a jump; NULL: none did. */
struct cp_call *engine_heap_ended(const struct engine_heap *h, int32_t tid);

#endif
