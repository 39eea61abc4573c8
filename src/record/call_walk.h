/* SPDX-License-Identifier: MIT */
#ifndef CP_RECORD_CALL_WALK_H
#define CP_RECORD_CALL_WALK_H

#include "record/reader.h"

/* As cp_record_each_call(), of one part (CP_RECORD_NONE: all). */
CP_ERROR cp_record_each_call_of(const struct cp_record *r, uint32_t part, cp_record_call_fn each,
				void *ctx);
/* The same without events that are in blocks. */
CP_ERROR cp_record_each_plain_call_of(const struct cp_record *r, uint32_t part,
				      cp_record_call_fn each, void *ctx);
/* Which blocks are of a part: those before `*to_ret`. */
void cp_record_blocks_of(const struct cp_record *r, uint32_t part, size_t *from_ret,
			 size_t *to_ret);

#endif
