/* SPDX-License-Identifier: MIT
 *
 * Rows of tables on their way into a recording: what the parts that decode sections
 * share.
 */
#ifndef CP_RECORD_DECODER_H
#define CP_RECORD_DECODER_H

#include "base/cursor.h"
#include "record/reader.h"
#include "record/sample_sums.h"

#define CP_RECORD_MISSING UINT64_MAX

struct cp_record_decoder {
	struct cp_record *record; /* borrowed; samples and parts go there */
	struct cp_record_rows rows[CP_RECORD_TABLE_END];
	CP_VEC(const char *) strings; /* by place; in the record's arena */
	const uint8_t *payload; /* being read */
	CP_VEC(uint64_t) column; /* of the section being read */
	bool has_totals;
	uint64_t next_sample, next_call, next_annotation; /* the number the next one should have */
	/* What the samples that come next add up to; none: it is not known. */
	CP_VEC(struct cp_record_sample_sum) next_sums;
	uint64_t next_sum_samples, next_sum_end_ns;
	CP_VEC(struct cp_record_unit) units;
	struct cp_map unit_places; /* by a hash of image, revision, index */
	struct cp_map code_frame_places; /* of a row of frames: a place of code that has them */
	size_t code_frames; /* made for places of code */
	bool no_memory;
	bool only_calls; /* tables, calls and totals are wanted */
	uint64_t changes; /* rows of tables that are new, or others than before */
};

/* The place of a row, or CP_RECORD_MISSING. */
uint64_t cp_record_place_by_map(const struct cp_record_rows *rows, uint64_t number);
static inline uint64_t cp_record_place(const struct cp_record_rows *rows, uint64_t number)
{
	return number < rows->direct ? number : cp_record_place_by_map(rows, number);
}
/* The place for a new row; false: there is none, or no memory. */
bool cp_record_new_place(struct cp_record_decoder *d, struct cp_record_rows *rows, uint64_t number);
/* Was there memory? Else it is remembered. */
bool cp_record_decode_ok(struct cp_record_decoder *d, bool ok);
/* Reads `columns` columns of `count` numbers into d->column; false when they
 * are not there. */
bool cp_record_decode_columns(struct cp_record_decoder *d, struct cp_cursor *c, uint64_t count,
			      size_t columns);

#endif
