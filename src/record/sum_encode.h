/* SPDX-License-Identifier: MIT
 *
 * Rows of sums of the chunk under way.
 */
#ifndef CP_RECORD_SUM_ENCODE_H
#define CP_RECORD_SUM_ENCODE_H

#include "base/buf.h"
#include "record/sum_rows.h"

struct cp_record_encoder;

struct cp_record_summing {
	struct cp_buf rows;
	uint32_t part; /* of these */
};

/* What the row refers to must exist. */
void cp_record_encode_sum(struct cp_record_encoder *e, uint32_t part,
			  const struct cp_record_sum_bytes *row);
void cp_record_put_sums(struct cp_record_encoder *e);
void cp_record_sums_free(struct cp_record_encoder *e);

#endif
