/* SPDX-License-Identifier: MIT
 *
 * Rows and samples into DATA chunks. Used by one thread at a time: the
 * writer's own, or whoever merges. Out of memory is remembered in the sink.
 */
#ifndef CP_RECORD_ENCODE_H
#define CP_RECORD_ENCODE_H

#include "base/map.h"
#include "base/vec.h"
#include "record/annotation_encode.h"
#include "record/call_encode.h"
#include "record/coverage_encode.h"
#include "record/lives.h"
#include "record/sink.h"

struct cp_record_column {
	CP_VEC(uint64_t) v;
};

struct cp_record_table {
	CP_VEC(uint64_t) values; /* `width` for each row, kept for writing it again */
	CP_VEC(uint32_t) written; /* the epoch in which each row was written last */
	/* of the rows that go into the chunk under way: number, then values */
	struct cp_record_column pending[1 + CP_RECORD_WIDTH_MAX];
};

struct cp_record_encoder {
	struct cp_record_sink *sink; /* borrowed */
	struct cp_record_table tables[CP_RECORD_TABLE_END];
	struct cp_interner strings, functions, frames, shapes;
	CP_VEC(uint64_t) chain; /* rows that wait for those they refer to */
	/* the chunk under way, besides the tables' pending rows */
	CP_VEC(struct cp_record_sample) samples;
	uint32_t part; /* of these samples */
	struct cp_record_calls calls;
	struct cp_record_covering covering;
	struct cp_record_annotating annotations;
	struct cp_buf text, parts, totals, counters, lives;
	uint32_t life_part; /* of these lives */
	struct cp_buf payload, body;
	size_t pending; /* at most so large, unpacked */
	/* since the rows in use were last written again */
	uint32_t epoch;
	uint64_t table_bytes, sample_bytes; /* calls and annotations count as samples */
};

void cp_record_encoder_init(struct cp_record_encoder *e, struct cp_record_sink *sink);
void cp_record_encoder_deinit(struct cp_record_encoder *e);

/* References (number + 1; 0 for none or NULL) to rows that are made when
 * they are new. The frame's `inlined` and `line` count, its names don't: they
 * are the function's. */
uint64_t cp_record_encode_string(struct cp_record_encoder *e, const char *text);
uint64_t cp_record_encode_function(struct cp_record_encoder *e,
				   const struct cp_record_frame *frame);
uint64_t cp_record_encode_frame(struct cp_record_encoder *e, uint64_t outer, uint64_t function,
				uint32_t line, bool inlined);
/* `values` as the table's columns; the row is in the chunk under way. */
uint64_t cp_record_encode_shape(struct cp_record_encoder *e, const uint64_t *values);
/* Sees to it that row `number` and all that it refers to can be read in the
 * chunk under way. */
void cp_record_encode_use(struct cp_record_encoder *e, unsigned table, uint64_t number);
/* Writes the chunk under way if it has become large. */
void cp_record_encode_check(struct cp_record_encoder *e);
/* Row `number` of `table`, the next one or (tables that replace) an old one. */
void cp_record_encode_row(struct cp_record_encoder *e, enum cp_record_section table,
			  uint32_t number, const uint64_t *values);
/* Its thread and stack must exist. */
void cp_record_encode_sample(struct cp_record_encoder *e, uint32_t part,
			     const struct cp_record_sample *s);
void cp_record_encode_totals(struct cp_record_encoder *e, const struct cp_record_totals *t);
/* `body` as of their section; the last one counts. */
void cp_record_encode_counters(struct cp_record_encoder *e, const struct cp_buf *body);
void cp_record_encode_life(struct cp_record_encoder *e, uint32_t part,
			   const struct cp_record_life *life);
void cp_record_encode_part(struct cp_record_encoder *e, uint32_t number, const struct cp_buf *info,
			   const struct cp_record_totals *t, const struct cp_record_damage *d);
/* Writes the chunk under way. */
void cp_record_encode_flush(struct cp_record_encoder *e);

#endif
