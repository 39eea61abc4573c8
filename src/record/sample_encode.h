/* SPDX-License-Identifier: MIT
 *
 * Samples of the chunk under way.
 */
#ifndef CP_RECORD_SAMPLE_ENCODE_H
#define CP_RECORD_SAMPLE_ENCODE_H

#include "base/vec.h"
#include "record/record.h"

struct cp_record_encoder;

struct cp_record_sampling {
	CP_VEC(struct cp_record_sample) list;
	uint32_t part; /* of these samples */
};

/* The sample's thread and stack must exist. */
void cp_record_encode_sample(struct cp_record_encoder *e, uint32_t part,
			     const struct cp_record_sample *s);
void cp_record_put_samples(struct cp_record_encoder *e);
void cp_record_samples_free(struct cp_record_encoder *e);

#endif
