/* SPDX-License-Identifier: MIT
 *
 * Which rows of a listing are worth showing: those near others that have weight.
 */
#ifndef CP_REPORT_REGION_H
#define CP_REPORT_REGION_H

#include "report/profile/listing.h"

/* The lines of one of a listing's functions, sorted. */
struct cp_region {
	const struct cp_listing_line **lines; /* the caller's to free; they are the listing's */
	size_t count;
	uint32_t first, last; /* from the declaration on, where that is not far */
	bool hot; /* one has weight */
};

/* False: there are none; what is to be freed is NULL or empty. */
bool cp_region_of(const struct cp_listing *l, uint32_t function, struct cp_region *ret);
/* Is a line with weight no further away than `context`? UINT32_MAX: all are near. */
bool cp_region_is_near(const struct cp_region *r, uint32_t line, uint32_t context);
/* The same of the instruction `number`, from 0. */
bool cp_listing_insn_is_near(const struct cp_listing *l, size_t number, uint32_t context);

#endif
