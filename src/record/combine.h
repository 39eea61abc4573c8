/* SPDX-License-Identifier: MIT
 *
 * What merged recordings say of themselves as one.
 */
#ifndef CP_RECORD_COMBINE_H
#define CP_RECORD_COMBINE_H

#include "record/arena.h"
#include "record/record.h"

/* From monotonic time of a recording to real time. */
static inline uint64_t cp_record_shift(const struct cp_record_info *info)
{
	return info->start_real_ns ? info->start_real_ns - info->start_ns : 0;
}

/* `parts` are those that were recorded, in order of their ids. Refuses clocks
 * that count different things. What is returned lives in `arena`. */
CP_ERROR cp_record_combine_info(const struct cp_record_part *const *parts, size_t count,
				struct cp_record_arena *arena, struct cp_record_info *ret);
struct cp_record_totals cp_record_combine_totals(const struct cp_record_part *const *parts,
						 size_t count);

#endif
