/* SPDX-License-Identifier: MIT
 *
 * A recording that somebody follows while it is written: it does not wait to be written
 * together then, but for its names. The tap is borrowed until the writer is destroyed.
 */
#ifndef CP_RECORD_TAP_H
#define CP_RECORD_TAP_H

#include "record/record.h"

/* Who is told what is recorded as it is written. The writer's own thread calls it. */
struct cp_record_tap {
	/* The payload of a chunk (enum cp_record_chunk_type), as cp_record_follow_chunk()
	 * takes it. An error ends the recording. */
	struct cp_error *(*chunk)(void *ctx, unsigned type, const void *bytes, size_t size);
	/* Some time went by, with or without a chunk: CP_RECORD_TAP_NS at most. */
	struct cp_error *(*tick)(void *ctx);
	void *ctx;
};
#define CP_RECORD_TAP_NS 40000000

#endif
