/* SPDX-License-Identifier: MIT
 *
 * All events of a block at once, for who writes them again.
 */
#ifndef CP_RECORD_BLOCK_EVENTS_H
#define CP_RECORD_BLOCK_EVENTS_H

#include "base/arena.h"
#include "base/buf.h"
#include "record/call_block_decode.h"

/* Begins as zeros, and can be used again for the same recording: forms of blocks that were
 * read one after the other are the same pointers where they are the same. */
struct cp_block_events {
	struct cp_call_block_reader reader;
	struct cp_buf raw, bytes; /* a chunk, unpacked; of the block */
	size_t chunk; /* + 1; 0: none */
	CP_VEC(struct cp_call_entry) entries; /* numbers are those of the recording's tables */
	struct cp_arena values; /* of the entries */
	uint32_t thread;
};

/* Reads the events of a block that can be told. False without memory. */
bool cp_block_events_read(const struct cp_record *record, const struct cp_record_call_block_at *at,
			  struct cp_block_events *ret);
void cp_block_events_free(struct cp_block_events *events);

#endif
