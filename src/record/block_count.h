/* SPDX-License-Identifier: MIT
 *
 * What blocks of calls hold, when a recording is loaded. A recording of which nothing is missing
 * holds what the blocks' headers say. Of any other one each block is read, by as many threads as
 * there are processors for, since none needs another one.
 */
#ifndef CP_RECORD_BLOCK_COUNT_H
#define CP_RECORD_BLOCK_COUNT_H

#include "record/reader.h"

/* After cp_record_build_calls(): blocks that make no sense go, and what can be told of the others
 * is counted; all of it, if the recording is `whole`. False without memory. */
bool cp_record_count_blocks(struct cp_record *r, bool whole);

#endif
