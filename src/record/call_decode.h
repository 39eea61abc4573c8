/* SPDX-License-Identifier: MIT */
#ifndef CP_RECORD_CALL_DECODE_H
#define CP_RECORD_CALL_DECODE_H

#include "record/decoder.h"

/* A section of d->payload, to be read later. */
bool cp_record_decode_calls(struct cp_record_decoder *d, struct cp_cursor *c);
/* Keeps the chunk just decoded if it has calls, or samples to be read later. `payload` as in the file, at `offset`. */
bool cp_record_keep_calls(struct cp_record_decoder *d, const struct cp_record_chunk *chunk,
			  const uint8_t *payload, uint64_t offset);
/* After the tables; false without memory. Takes from the decoder what tells
 * numbers of the tables from places. */
bool cp_record_build_calls(struct cp_record_decoder *d);
/* The same of a recording that goes on: the calls of the chunks so far can be walked
 * through. */
bool cp_record_build_calls_so_far(struct cp_record_decoder *d);
void cp_record_free_calls(struct cp_record *r);
/* The file's numbers become places. False when the event can't be told. */
bool cp_record_call_resolve(const struct cp_record *r, struct cp_record_call *call);

/* The events of sections, in the order of the file, of one part (CP_RECORD_NONE: all); not
 * those of blocks. NULL without memory. */
struct cp_call_sections *cp_call_sections_open(const struct cp_record *r, uint32_t part);
/* The next, good until the one after that; false: there is none, or no memory. */
bool cp_call_sections_next(struct cp_call_sections *s, const struct cp_record_call **ret,
			   bool *no_memory_ret);
void cp_call_sections_close(struct cp_call_sections *s);

#endif
