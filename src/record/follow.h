/* SPDX-License-Identifier: MIT
 *
 * A recording that is still being made, chunk by chunk as they are written: its tables grow,
 * its calls are told once and not kept.
 */
#ifndef CP_RECORD_FOLLOW_H
#define CP_RECORD_FOLLOW_H

#include "record/calls.h"

struct cp_record_follow;

CP_ERROR cp_record_follow_create(struct cp_record_follow **ret);
void cp_record_follow_destroy(struct cp_record_follow *f);
/* What is known so far; borrowed. Of its getters those of tables, info and totals answer.
 * Strings stay where they are, all else moves with a chunk. */
const struct cp_record *cp_record_followed(const struct cp_record_follow *f);
/* Takes the next chunk's payload, as struct cp_record_tap tells it. True in *grown_ret: what
 * is said of threads, locations or stacks is more than before, or something else. */
CP_ERROR cp_record_follow_chunk(struct cp_record_follow *f, unsigned type, const void *bytes,
				size_t size, bool *grown_ret);
/* The calls that came since the last time, in order; false of `each` leaves out the rest. */
CP_ERROR cp_record_follow_calls(struct cp_record_follow *f, cp_record_call_fn each, void *ctx);

#endif
