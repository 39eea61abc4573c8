/* SPDX-License-Identifier: MIT
 *
 * Functions that lie on top of each other: see overlap.c.
 */
#ifndef CP_PROBE_OVERLAP_H
#define CP_PROBE_OVERLAP_H

#include "probe/blocks.h"

struct cp_probe_overlaps;
/* `functions` is borrowed. NULL: no memory. */
struct cp_probe_overlaps *cp_probe_overlaps_create(const struct cp_probe_functions *functions);
void cp_probe_overlaps_destroy(struct cp_probe_overlaps *overlaps);
/* Checks the blocks of a function after cp_probe_blocks_find(), with the `code` that
 * it left: no breakpoint may stand (size 0) where it would be in the middle of an
 * instruction of another function. */
CP_ERROR cp_probe_overlaps_check(struct cp_probe_overlaps *overlaps, const struct cp_code *code,
				 struct cp_decoder *decoder, const struct cp_reader *memory,
				 const struct cp_probe_function *function,
				 struct cp_probe_blocks *found);

#endif
