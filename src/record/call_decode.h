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
 * numbers of the tables from places. What sections of a `whole` recording say that they hold
 * is believed; of any other they are read. */
bool cp_record_build_calls(struct cp_record_decoder *d, bool whole);
/* The same of a recording that goes on: the calls of the chunks so far can be walked
 * through. */
bool cp_record_build_calls_so_far(struct cp_record_decoder *d);
void cp_record_free_calls(struct cp_record *r);
/* From the file's number to the place; false when it is missing. */
static inline bool cp_record_to_place(const struct cp_record *r, unsigned table, uint32_t *number)
{
	uint64_t place = cp_record_place(&r->call_rows[table], *number);

	*number = (uint32_t)place;
	return place != CP_RECORD_MISSING;
}

/* The file's numbers become places. False when the event can't be told. */
static inline bool cp_record_call_resolve(const struct cp_record *r, struct cp_record_call *call)
{
	if (call->kind >= CP_RECORD_CALL_KINDS ||
	    !cp_record_to_place(r, CP_RECORD_THREADS, &call->thread) ||
	    !cp_record_to_place(r, CP_RECORD_LOCATIONS, &call->function))
		return false;
	if (call->target != CP_RECORD_NONE &&
	    !cp_record_to_place(r, CP_RECORD_LOCATIONS, &call->target))
		call->target = CP_RECORD_NONE;
	if (call->stack != CP_RECORD_NONE &&
	    (!cp_record_to_place(r, CP_RECORD_STACKS, &call->stack) ||
	     r->stacks[call->stack].missing))
		call->stack = CP_RECORD_NONE;
	if (call->entered_by != CP_RECORD_NONE &&
	    !cp_record_to_place(r, CP_RECORD_THREADS, &call->entered_by))
		call->entered_by = CP_RECORD_NONE;
	return true;
}

/* Values of a section, with their parts, that are told at most: they take no bytes where there
 * is nothing to tell of them. */
static inline uint64_t cp_record_call_budget(size_t size)
{
	return (uint64_t)size * 64 + 65536;
}

/* The events of sections, in the order of the file, of one part (CP_RECORD_NONE: all); not
 * those of blocks; with their values, or without. NULL without memory. */
struct cp_call_sections *cp_call_sections_open(const struct cp_record *r, uint32_t part,
					       bool values);
/* The next, good until the one after that; false: there is none, or no memory. */
bool cp_call_sections_next(struct cp_call_sections *s, const struct cp_record_call **ret,
			   bool *no_memory_ret);
/* The payload of a chunk, if it is the one that they are in; good until the next event. */
const struct cp_buf *cp_call_sections_raw(const struct cp_call_sections *s, size_t chunk);
void cp_call_sections_close(struct cp_call_sections *s);

#endif
