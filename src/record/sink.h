/* SPDX-License-Identifier: MIT
 *
 * Chunks into a descriptor. After the first error nothing more is written,
 * and a file is cut back to its last whole chunk.
 */
#ifndef CP_RECORD_SINK_H
#define CP_RECORD_SINK_H

#include <stdatomic.h>

#include "record/format.h"
#include "record/tap.h"

struct cp_record_sink {
	int fd; /* owned; -1: nothing is written */
	const struct cp_record_tap *tap; /* borrowed; or NULL */
	uint32_t sequence; /* of the next chunk */
	uint64_t samples, calls, annotations; /* written so far, for the END chunk */
	bool quick; /* the next chunk may be larger, for time's sake */
	struct cp_buf out; /* the chunk being written */
	void *zstd;
	_Atomic uint64_t bytes; /* written; may be read by another thread */
	_Atomic(struct cp_error *) error; /* owned; likewise */
};

/* Takes `fd` over, also when it fails. */
CP_ERROR cp_record_sink_init(struct cp_record_sink *sink, int fd);
/* Closes. The error stays the sink's until cp_record_sink_deinit(). */
void cp_record_sink_close(struct cp_record_sink *sink);
void cp_record_sink_deinit(struct cp_record_sink *sink);

void cp_record_sink_preamble(struct cp_record_sink *sink, const struct cp_record_preamble *p);
void cp_record_sink_chunk(struct cp_record_sink *sink, enum cp_record_chunk_type type,
			  const struct cp_buf *payload);
/* The END chunk; `info` is repeated before it, for the case that the first
 * copy is damaged. */
void cp_record_sink_end(struct cp_record_sink *sink, const struct cp_buf *info);
/* Remembers `err` (taken) unless there is one already. */
void cp_record_sink_fail(struct cp_record_sink *sink, struct cp_error *err);

static inline bool cp_record_sink_failed(struct cp_record_sink *sink)
{
	return atomic_load(&sink->error) != NULL;
}

/* Writing to a closed pipe or beyond a size limit raises a signal besides
 * the error. These keep such signals from the calling thread. */
struct cp_record_quiet {
	unsigned long before[16]; /* sigset_t */
	bool pending[2];
};
void cp_record_quiet_begin(struct cp_record_quiet *quiet);
void cp_record_quiet_end(const struct cp_record_quiet *quiet);

#endif
