/* SPDX-License-Identifier: MIT
 *
 * DATA chunks: the rows of tables, and a section or more of each kind of events
 * (encode_kinds.h). Used by one thread at a time: the writer's own, or whoever
 * merges. Out of memory is remembered in the sink.
 */
#ifndef CP_RECORD_ENCODE_H
#define CP_RECORD_ENCODE_H

#include "base/map.h"
#include "base/vec.h"
#include "record/annotation_encode.h"
#include "record/call_block_encode.h"
#include "record/call_encode.h"
#include "record/coverage_encode.h"
#include "record/enclosed_encode.h"
#include "record/life_encode.h"
#include "record/sample_encode.h"
#include "record/sink.h"
#include "record/sum_encode.h"

#define CP_RECORD_NUMBER_MAX 10 /* bytes of an LEB128 number, at most */

struct cp_record_column {
	CP_VEC(uint64_t) v;
};

struct cp_record_table {
	CP_VEC(uint64_t) values; /* `width` for each row, kept for writing it again */
	CP_VEC(uint32_t) written; /* the epoch in which each row was written last */
	/* of the rows that go into the chunk under way: number, then values */
	struct cp_record_column pending[1 + CP_RECORD_WIDTH_MAX];
};

/* How a kind of events is written. */
struct cp_record_encode_kind {
	/* Puts the kind's sections of the chunk under way into e->payload. */
	void (*put)(struct cp_record_encoder *e);
	void (*free)(struct cp_record_encoder *e);
};

struct cp_record_encoder {
	struct cp_record_sink *sink; /* borrowed */
	const struct cp_record_encode_kind *kinds; /* static; ends without functions */
	struct cp_record_table tables[CP_RECORD_TABLE_END];
	struct cp_interner strings, functions, frames, shapes;
	CP_VEC(uint64_t) chain; /* rows that wait for those they refer to */
	/* the chunk under way, besides the tables' pending rows */
	struct cp_record_sampling samples;
	struct cp_record_calls calls;
	struct cp_record_blocks blocks;
	struct cp_record_covering covering;
	struct cp_record_annotating annotations;
	struct cp_record_living lives;
	struct cp_record_summing sums;
	struct cp_record_enclosing enclosing;
	struct cp_buf text, parts, totals, counters;
	struct cp_buf payload, body;
	size_t pending; /* at most so large, unpacked */
	/* since the rows in use were last written again */
	uint32_t epoch;
	uint64_t table_bytes, sample_bytes; /* calls and annotations count as samples */
};

void cp_record_encoder_init(struct cp_record_encoder *e, struct cp_record_sink *sink,
			    const struct cp_record_encode_kind *kinds);
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
/* Was there memory? Else the sink has failed. */
bool cp_record_encode_ok(struct cp_record_encoder *e, bool ok);
/* Writes the chunk under way if it has become large. */
void cp_record_encode_check(struct cp_record_encoder *e);
/* Row `number` of `table`, the next one or (tables that replace) an old one. */
void cp_record_encode_row(struct cp_record_encoder *e, enum cp_record_section table,
			  uint32_t number, const uint64_t *values);
void cp_record_encode_totals(struct cp_record_encoder *e, const struct cp_record_totals *t);
/* `body` as of their section; the last one counts. */
void cp_record_encode_counters(struct cp_record_encoder *e, const struct cp_buf *body);
void cp_record_encode_part(struct cp_record_encoder *e, uint32_t number, const struct cp_buf *info,
			   const struct cp_record_totals *t, const struct cp_record_damage *d);
/* Writes the chunk under way. */
void cp_record_encode_flush(struct cp_record_encoder *e);

#endif
