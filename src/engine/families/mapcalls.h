/* SPDX-License-Identifier: MIT
 *
 * The C library's calls that map memory, for those who look for them: mappings, and
 * the size of the heap. Private to src/engine.
 */
#ifndef CP_ENGINE_FAMILIES_MAPCALLS_H
#define CP_ENGINE_FAMILIES_MAPCALLS_H

#include <cprof/cprof.h>

struct cp_call;
struct engine_hit;

/* Roles of these calls, the same in all families that look for them. */
enum {
	ENGINE_MAP_BRK = 1, /* (end) */
	ENGINE_MAP_MMAP, /* (address, size, protection, flags, fd, offset) */
	ENGINE_MAP_MUNMAP, /* (address, size) */
	ENGINE_MAP_MREMAP, /* (address, old size, size, flags) */
	ENGINE_MAP_MPROTECT, /* (address, size, protection) */
	ENGINE_MAP_ROLES
};

/* A call that succeeded. Sizes are of whole pages. */
struct engine_map_call {
	uint8_t role;
	const struct cp_call *call;
	uint64_t address; /* mmap: what it answered; brk: the new end, to the byte */
	uint64_t size; /* mremap: before */
	uint64_t moved_to, new_size; /* mremap */
	uint32_t protection, flags;
	int fd; /* of mmap; -1: none, or too big a number */
	uint64_t offset;
};

uint64_t engine_whole_pages(uint64_t size);
/* Where the process's break was before it was first moved; 0: not known. */
uint64_t engine_break_start(const cprof_process *p);
/* The role of a name of `length` bytes; 0: none. */
uint8_t engine_map_role(const char *name, size_t length);
/* A function with such a role is entered: puts its arguments into the call's words. */
void engine_map_entered(uint8_t role, const struct engine_hit *hit, struct cp_call *call);
/* What a call that returns has done. False: it failed, or changed nothing. */
bool engine_map_returned(const cprof_session *s, uint8_t role, const struct cp_call *call,
			 struct engine_map_call *ret);

#endif
