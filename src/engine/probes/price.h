/* SPDX-License-Identifier: MIT
 *
 * What a call costs that is seen by detours.
 */
#ifndef CP_ENGINE_PROBES_PRICE_H
#define CP_ENGINE_PROBES_PRICE_H

#include <stdint.h>

#include "base/doubt.h"

/* In picoseconds, of a call without values. All 0: not known. */
struct engine_price {
	uint32_t within_ps; /* what it is longer by, from its entry's time to its exit's */
	uint32_t whole_ps; /* what a call around it is longer by */
	/* What half a call took, certainly and perhaps, for it is added to a sum a million times a
	 * second (engine_price_take()). */
	struct cp_taken half;
};

/* So many records without values were written: half a call each. */
static inline void engine_price_take(const struct engine_price *price, double records,
				     struct cp_taken *taken)
{
	taken->ns += records * price->half.ns;
	taken->range += records * price->half.range;
}

/* By a function that does nothing, with detours as programs get them, called here. Takes
 * half a millisecond. */
struct engine_price engine_price(void);

#endif
