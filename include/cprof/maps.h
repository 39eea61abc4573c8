/* SPDX-License-Identifier: MIT
 *
 * cprof/maps.h - what the program maps into its memory and out of it.
 *
 * mapping_created and mapping_removed (cprof/events.h) come from breakpoints in the C
 * library's mmap(), munmap(), mremap() and brk(), which sbrk() comes to, when they
 * return and have succeeded. Calls by whatever code are told, the allocator's, too:
 *
 *     mmap      created; with MAP_FIXED, what was there is removed before
 *     munmap    removed: each piece of a mapping that was told, with what was said of it
 *     mremap    moved or resized: the old one is removed, then the new one created,
 *               with `previous`
 *     brk       more: what is added is created; less: that is removed
 *
 * What is created less what is removed is there, whatever happened. A process that is
 * forked begins with its parent's; an exec or the end of the process ends all of them,
 * and no event tells that. Not seen: what the kernel and glibc's dynamic linker map for
 * a program and its libraries, the stack's growth, System V shared memory, calls by
 * programs without a C library, or with one that has no names left. What was mapped
 * unseen may be told to be removed: then only where it was is known.
 *
 * Two stops a call; at the end of mmap() the thread is held, until the file behind the
 * descriptor is known. The stack is captured: walk it with
 * cprof_do_stack_snapshot(cprof_current_thread(), ...). Times: cprof_current_call().
 */
#ifndef CPROF_MAPS_H
#define CPROF_MAPS_H

#include <cprof/functions.h>
#include <cprof/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cprof_mapping_kind {
	CPROF_MAPPING_UNKNOWN = 0, /* it was mapped unseen */
	CPROF_MAPPING_ANONYMOUS = 1,
	CPROF_MAPPING_FILE = 2, /* or a device, shared memory, memfd_create() */
	CPROF_MAPPING_BREAK = 3 /* the program's break moved */
} cprof_mapping_kind;

/* Without this call there are none of these events. A function with more of them in a
 * second than cprof_profiler_set_max_rate() has for named functions is not watched any
 * more, with a method_disarmed. False: too late. [init] */
CPROF_API bool cprof_profiler_enable_mappings(void);

/* More of the event being delivered. In mapping_removed, all but `function` and
 * `begin_ns` is as it was in mapping_created. [cb] */
typedef struct cprof_mapping {
	/* the function that the program called; NULL: not known, or, in
	 * mapping_removed, the removal was noticed when something else was mapped there */
	const cprof_function *function;
	cprof_addr address; /* these two in whole pages */
	uint64_t size;
	cprof_addr previous; /* mremap: the address of the mapping that this was; else 0 */
	cprof_mapping_kind kind;
	int protection; /* PROT_*, as it was asked for; mprotect() may have changed it */
	int flags; /* MAP_* */
	int fd; /* the process's number for the file at the time; -1: none, or not known */
	uint64_t offset; /* in the file */
	const char *path; /* of the file, as /proc/PID/fd has it; NULL: none, or not known */
	uint64_t created_ns; /* monotonic; 0: not known */
	uint64_t begin_ns; /* monotonic: when the function was called */
} cprof_mapping;
CPROF_API bool cprof_current_mapping(cprof_mapping *ret);

#ifdef __cplusplus
}
#endif
#endif
