/* SPDX-License-Identifier: MIT */
#ifndef CP_RECORD_CALL_DECODE_H
#define CP_RECORD_CALL_DECODE_H

#include "record/decoder.h"

/* A section of d->payload, to be read later. */
bool cp_record_decode_calls(struct cp_record_decoder *d, struct cp_cursor *c);
/* Keeps the chunk just decoded if it has calls. `payload` as in the file. */
bool cp_record_keep_calls(struct cp_record_decoder *d, const struct cp_record_chunk *chunk,
			  const uint8_t *payload);
/* After the tables; false without memory. Takes from the decoder what tells
 * numbers of the tables from places. */
bool cp_record_build_calls(struct cp_record_decoder *d);
void cp_record_free_calls(struct cp_record *r);
/* As cp_record_each_call(), of one part (CP_RECORD_NONE: all). */
CP_ERROR cp_record_each_call_of(const struct cp_record *r, uint32_t part, cp_record_call_fn each,
				void *ctx);

#endif
