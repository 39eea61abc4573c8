/* SPDX-License-Identifier: MIT
 *
 * What detours (arch/detour.h) need in a program, on its way to the tracer: their rings,
 * then their code, then sites (sites.h) that lead to it.
 *
 * CP_REQUEST_RINGS: memory for `first` rings, `size` bytes each, in `pid`: a file that is
 * mapped there, at `hint` if nothing else is there, its first ring at `address`, too, for
 * threads that have none yet. Answers
 * the address of all, and a descriptor to read and write it. EBUSY: the program uses gs.
 * EEXIST with an address: threads may have rings of an earlier cprof; at least `threads` rings
 * with the first at that address take their place.
 */
#ifndef CP_LINK_CODE_H
#define CP_LINK_CODE_H

#include <stddef.h>
#include <string.h>

#include "arch/detour.h"

/* The name of the file of memory that rings are in. */
#define CP_RINGS_NAME "cprof-rings"
/* The one that stays closed, for threads that get none; as the first does, for those that have
 * none yet. */
#define CP_RINGS_CLOSED 1u

/* CP_REQUEST_CODE: the batch at `first` of the plan area, `size` bytes, in `pid`; for the
 * sites of an ARM that follows. It has memory to be mapped, executable, and what
 * is to be written there, which nothing leads to yet.
 *
 *     struct cp_code_batch | chunks (addresses) | detours | what they are made of |
 *     countings | pieces | bytes */
struct cp_code_batch {
	uint64_t size; /* of all of it */
	struct cp_detour_rings rings; /* that the code is for; `slow` 0: no detours but countings */
	uint64_t chunk_size;
	uint32_t chunk_count, detour_count, counting_count, piece_count;
	uint64_t source_size; /* of all that detours are made of */
};

/* A detour and where its code is: for threads that are there. */
struct cp_code_detour {
	uint64_t at;
	uint32_t size;
	uint32_t source; /* offset of its struct cp_detour, without records that it has not */
};

/* Most have one record, of three, which take a kilobyte each. */
static inline size_t cp_code_source_size(const struct cp_detour *d)
{
	return offsetof(struct cp_detour, records) + d->record_count * sizeof(*d->records);
}
_Static_assert(sizeof(struct cp_detour_record) % 8 == 0 &&
		       offsetof(struct cp_detour, records) % 8 == 0,
	       "one behind the other");

/* The same of one that counts, of which there may be a hundred thousand. */
struct cp_code_counting {
	uint64_t at;
	uint64_t pc; /* what follows is as in struct cp_detour */
	uint16_t bytes; /* of the code */
	uint8_t size, count_count;
	uint8_t code[CP_DETOUR_WINDOW];
	struct cp_detour_count counts[CP_DETOUR_COUNTS];
};

static inline void cp_code_of_counting(const struct cp_code_counting *c, struct cp_detour *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->pc = c->pc;
	ret->size = c->size;
	ret->count_count = c->count_count;
	memcpy(ret->code, c->code, sizeof(ret->code));
	memcpy(ret->counts, c->counts, sizeof(ret->counts));
}

struct cp_code_piece {
	uint64_t at;
	uint32_t size;
	uint32_t offset; /* of its bytes */
};

#endif
