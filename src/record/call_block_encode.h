/* SPDX-License-Identifier: MIT
 *
 * Blocks of calls of the chunk under way: a section is
 *
 *     part, first, count | of each block: size, thread, events, depth, start, costs, bytes
 */
#ifndef CP_RECORD_CALL_BLOCK_ENCODE_H
#define CP_RECORD_CALL_BLOCK_ENCODE_H

#include "base/buf.h"
#include "record/call_block.h"

struct cp_record_encoder;

struct cp_record_blocks {
	struct cp_buf blocks, one;
	uint64_t count; /* events */
	uint32_t part; /* of these */
	bool valued; /* one of them is */
};

/* The thread and the functions of the block must exist. */
void cp_record_encode_block(struct cp_record_encoder *e, uint32_t part,
			    const struct cp_call_block *block);
void cp_record_put_blocks(struct cp_record_encoder *e);
void cp_record_blocks_free(struct cp_record_encoder *e);

#endif
