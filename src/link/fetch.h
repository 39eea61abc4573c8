/* SPDX-License-Identifier: MIT
 *
 * Memory that is copied at a site, by the tracer or by a detour.
 */
#ifndef CP_LINK_FETCH_H
#define CP_LINK_FETCH_H

#include <stdint.h>

/* Memory to copy along with the registers. A fetch reads at a register, or at
 * a pointer inside what an earlier fetch of the same site read. Those of
 * registers come first; each level is one process_vm_readv(). */
#define CP_FETCH_STRING 1u /* up to and with the first NUL, at most `size` bytes */
#define CP_FETCH_KEPT 2u /* what was kept at the entry (CP_GROUP_KEEPS), not `from` */
/* What `from` holds is how far it is from where the fetch with the number `at` read: of an
 * object, whose vtable says where its virtual bases are */
#define CP_FETCH_BESIDE 64u
/* For detours, as in enum cp_detour_sure (arch/detour.h). OWN: it is on the thread's own
 * stack, or of no use. */
#define CP_FETCH_SURE 4u
#define CP_FETCH_SURE_IF 8u
#define CP_FETCH_SURE_IF_LIKE 16u
#define CP_FETCH_OWN 32u
#define CP_FETCH_UNASKED (CP_FETCH_SURE | CP_FETCH_SURE_IF | CP_FETCH_SURE_IF_LIKE | CP_FETCH_OWN)
struct cp_fetch {
	uint16_t from; /* DWARF number of a register, or CP_FETCH_BLOCK + index of the fetch
			  (in this site) that holds the pointer */
	uint16_t at; /* BLOCK: where in it */
	uint16_t flags;
	uint16_t level; /* 0: from a register; 1: from a block of level 0; ... */
	int32_t offset; /* added to the pointer */
	uint32_t size; /* at most */
	uint32_t guard; /* SURE_IF, SURE_IF_LIKE */
};
#define CP_FETCH_BLOCK 0x100u

#endif
