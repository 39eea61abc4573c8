/* SPDX-License-Identifier: MIT
 *
 * Sources and code of recordings that are merged.
 */
#ifndef CP_RECORD_MERGE_ENCLOSED_H
#define CP_RECORD_MERGE_ENCLOSED_H

#include "record/encode.h"
#include "record/merge_coverage.h"

/* Writes what the recordings enclose, in an order of its own: each text of a path, and the
 * code of each symbol, once. */
void cp_merge_enclosed(const struct cp_merge_from *from, size_t count,
		       struct cp_record_encoder *to);

#endif
