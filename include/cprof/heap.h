/* SPDX-License-Identifier: MIT
 *
 * cprof/heap.h - what the program allocates and frees.
 *
 * gc_allocation, gc_moves, heap_resized, heap_free and gc_resize (cprof/events.h) come
 * from breakpoints in the functions that allocate: malloc() and its like of the C
 * library or of what stands in for it (jemalloc, tcmalloc, mimalloc, a static one),
 * operator new and delete that are no calls of those, a global allocator of Rust's.
 * Where one such function calls another for the same block, that is told once, by the
 * name that the program called. An allocator that was inlined, or has no name left, is
 * not seen; nor is memory that the program maps itself.
 *
 *     gc_allocation   when the function returns
 *     gc_moves        likewise: realloc() that answered another address, {from, to}
 *     heap_resized    likewise, the same address
 *     heap_free       before it is freed, so an address is free before it is
 *                     allocated anew, whichever thread does that
 *
 *     gc_resize       another size: what the allocator has from the kernel and may use,
 *                     the program's break included, whoever moves it. What it maps, but
 *                     may not read or write, is not counted; nor what it mapped before
 *                     cprof was attached. A callback must be set when the session starts
 *
 * Two stops an allocation, one where it is freed. The stack is captured: walk it
 * with cprof_do_stack_snapshot(cprof_current_thread(), ...). A process that allocates and frees more
 * often in a second than cprof_profiler_set_max_rate() has for globbed functions,
 * and has done so four seconds' worth, is watched in pieces:
 * cprof_get_allocation_statistics().
 */
#ifndef CPROF_HEAP_H
#define CPROF_HEAP_H

#include <cprof/functions.h>
#include <cprof/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Without this call there are none of the events above. False: too late. [init]
 * Mono: mono_profiler_enable_allocations. */
CPROF_API bool cprof_profiler_enable_allocations(void);

/* Asks for a sample of the blocks, one about every so many bytes, unless a profiler
 * asks for all; of several requests the least number counts. A block of s bytes is told
 * with a probability of p = 1 - exp(-s/every) and stands for 1/p blocks; what was told
 * is told when it is freed. Each allocation still costs a stop, and where it is freed
 * another. False: too late, or 0. [init] */
CPROF_API bool cprof_profiler_sample_allocations(uint64_t every);

/* The object of gc_allocation and heap_resized then has `type_name`, and `type` where the
 * program has debug information of it, as far as names on the stack tell it: what
 * std::allocator<T>, std::make_unique<T>, Rust's Vec<T>, Box<T> and the like (mangled the new
 * way) allocate for. So it is a guess, and a plain `new T` or malloc() is not told. A walk of
 * the stack for each allocation; names once for each place. False: too late. [init] */
CPROF_API bool cprof_profiler_enable_allocation_types(void);

/* More of the event being delivered. [cb] */
typedef struct cprof_allocation {
	const cprof_function *function; /* the one that the program called; NULL: not known */
	cprof_addr address; /* of the block that is allocated, resized or freed */
	cprof_addr previous; /* gc_moves: where it was; else 0 */
	uint64_t size; /* bytes asked for; freed: 0 */
	uint64_t begin_ns; /* monotonic: when the function was called */
} cprof_allocation;
CPROF_API bool cprof_current_allocation(cprof_allocation *ret);

/* Statistics of the processes in which watching paused, so far. What was allocated
 * before a pause may have been freed in it; what is freed after one may be anybody's. */
typedef struct cprof_allocation_statistics {
	uint64_t pauses; /* 0: all allocations were seen */
	uint64_t paused_ns, watched_ns; /* of these processes' time */
	uint64_t every; /* bytes from one to the next that is told; 0: all are */
	uint64_t passed; /* stops for blocks that are not told */
} cprof_allocation_statistics;
CPROF_API void cprof_get_allocation_statistics(cprof_allocation_statistics *ret);

#ifdef __cplusplus
}
#endif
#endif
