/* SPDX-License-Identifier: MIT
 *
 * Chunks with calls, which each walk through the calls unpacks anew; and with samples. Those of a large file
 * stay there, so that memory does not grow with it; others are kept as they were read.
 */
#ifndef CP_RECORD_KEPT_H
#define CP_RECORD_KEPT_H

#include "record/reader.h"

/* A regular file of this size or more is read again. */
#define CP_RECORD_LARGE ((uint64_t)4 << 20)

/* From now on chunks stay in the file that `fd` is open for, if that is worth it and
 * possible; `fd` remains the caller's. False without memory. */
bool cp_record_keep_file(struct cp_record *r, int fd);
/* Keeps a chunk whose payload is good and stands at `offset` of the file; false without
 * memory. */
bool cp_record_keep_chunk(struct cp_record *r, const struct cp_record_chunk *chunk,
			  const uint8_t *payload, uint64_t offset);
/* The payload of a chunk, into `ret`; false when it can't be had, without memory
 * (*no_memory_ret), or because the file is not what it was. */
bool cp_record_unpack_kept(const struct cp_record *r, size_t chunk, struct cp_buf *ret,
			   bool *no_memory_ret);
/* What is told of the calls is not all, because the file is not what it was. */
CP_ERROR cp_record_kept_check(const struct cp_record *r);
void cp_record_free_kept(struct cp_record *r);

#endif
