/* SPDX-License-Identifier: MIT
 *
 * Reads blocks of calls (call_block.h), which anybody may have written.
 */
#ifndef CP_RECORD_CALL_BLOCK_DECODE_H
#define CP_RECORD_CALL_BLOCK_DECODE_H

#include "base/cursor.h"
#include "base/map.h"
#include "record/call_block.h"
#include "record/call_form_decode.h"

struct cp_record;
struct cp_record_decoder;

/* Where a block is. */
struct cp_record_call_block_at {
	size_t chunk;
	size_t offset, size; /* in the unpacked payload */
	uint32_t part;
	uint32_t thread, count; /* as its header says */
	uint32_t kept; /* events that can be told */
};

/* Who a function called last, and where the callees of these are. */
struct cp_call_known {
	struct cp_call_callees callees;
	uint32_t places[CP_CALL_RANKS]; /* + 1; 0: not looked up */
};

/* Where callees of functions are that were looked up before. */
#define CP_CALL_NEAR 512u
struct cp_call_near {
	uint32_t function, place; /* + 1; 0: none */
};

/* A block being read. Begins as zeros, and can be used again. */
struct cp_call_block_reader {
	struct cp_call_block block; /* its header */
	struct cp_cursor c;
	uint32_t left; /* events */
	uint32_t depth; /* at which an enter is expected */
	uint64_t units; /* of time, since the start */
	uint64_t number; /* of the block, here */
	CP_VEC(struct cp_call_open) frames; /* by depth */
	struct cp_map places; /* function + 1 -> callees */
	struct cp_call_near near[CP_CALL_NEAR]; /* by function */
	CP_VEC(struct cp_call_known) callees;
	bool has_values; /* so far, in this block */
	bool bare; /* values are not told; said by who opens blocks */
	const struct cp_record_call *blank; /* whose rarer fields say nothing; NULL: none */
	struct cp_call_form_reader forms;
};

enum cp_call_read {
	CP_CALL_READ,
	CP_CALL_READ_LEAF, /* two events */
	CP_CALL_READ_END,
	CP_CALL_READ_BROKEN,
	CP_CALL_READ_NOMEM
};

/* False: it makes no sense. `bytes` must last. */
bool cp_call_block_open(struct cp_call_block_reader *r, const void *bytes, size_t size);
/* The next event, with numbers of the file. `call` is mostly where the one before was told,
 * of which no more may have been changed since than numbers, and what a LEAVE says. */
enum cp_call_read cp_call_block_next(struct cp_call_block_reader *r, struct cp_record_call *call);
/* Likewise, or the next two, if they are both ends of a call, as most are, and no values are
 * told: its enter, and LEAF. */
enum cp_call_read cp_call_block_next_leaf(struct cp_call_block_reader *r,
					  struct cp_record_call *call, struct cp_record_leaf *leaf);
void cp_call_block_reader_free(struct cp_call_block_reader *r);

/* Notes the blocks of a section. */
bool cp_record_decode_blocks(struct cp_record_decoder *d, struct cp_cursor *c);

#endif
