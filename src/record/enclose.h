/* SPDX-License-Identifier: MIT
 *
 * The end of a recording: the sources that its frames lead to, and code (enclosed.h).
 */
#ifndef CP_RECORD_ENCLOSE_H
#define CP_RECORD_ENCLOSE_H

#include "base/vec.h"
#include "record/encode.h"
#include "record/namer.h"

/* What was recorded until now. */
struct cp_record_enclose {
	struct cp_record_encoder *encoder; /* borrowed, all of these */
	const struct cp_record_resolver *resolver;
	const uint64_t *image_keys; /* by the number of the image, what the resolver knows it by */
	size_t image_count;
	uint32_t holds; /* CP_RECORD_HAS_SOURCE and _CODE: what is wanted */
};

/* Encodes all that is wanted and fits, and counts it, and what does not fit, in `totals`. */
void cp_record_enclose(const struct cp_record_enclose *what, struct cp_record_totals *totals);

#endif
