/* SPDX-License-Identifier: MIT
 *
 * Of several functions at once: to which of their source lines and instructions each stack
 * adds. What stacks add to are few sets, so that sums by time can be kept by set.
 *
 *     stack ─► set ─► spots: a row of a listing, and whether it is the stack's own
 */
#ifndef CP_REPORT_SPOTS_H
#define CP_REPORT_SPOTS_H

#include "report/profile/listing.h"

/* A row that has weight. */
struct cp_spot {
	uint32_t listing;
	uint32_t row; /* of its lines or instructions */
	bool insn;
};

struct cp_spots {
	CP_VEC(struct cp_listing *) listings; /* owned; complete before cp_spots_build() */
	CP_VEC(struct cp_spot) spots;
	CP_VEC(uint32_t) codes; /* of all sets, one after the other: spot * 2, + 1: own */
	CP_VEC(size_t) sets; /* where each begins there; one more at the end */
	uint32_t *by_stack; /* owned; set + 1; 0: none of the rows */
	/* private */
	struct cp_interner set_keys;
	struct cp_map numbers; /* listing, kind and row -> spot + 1 */
};

CP_ERROR cp_spots_build(struct cp_spots *s, const struct cp_profile *p);
/* Forgets what was built, and keeps the listings. */
void cp_spots_clear(struct cp_spots *s);
void cp_spots_deinit(struct cp_spots *s);
/* The spot of a row; CP_RECORD_NONE: it has no weight. */
uint32_t cp_spots_of(const struct cp_spots *s, uint32_t listing, uint32_t row, bool insn);

#endif
