/* SPDX-License-Identifier: MIT
 *
 * Lives (lives.h) of the chunk under way.
 */
#ifndef CP_RECORD_LIFE_ENCODE_H
#define CP_RECORD_LIFE_ENCODE_H

#include "base/buf.h"
#include "record/lives.h"

struct cp_record_encoder;

struct cp_record_living {
	struct cp_buf bodies;
	uint32_t part; /* of these lives */
};

void cp_record_encode_life(struct cp_record_encoder *e, uint32_t part,
			   const struct cp_record_life *life);
void cp_record_put_lives(struct cp_record_encoder *e);
void cp_record_lives_free(struct cp_record_encoder *e);

#endif
