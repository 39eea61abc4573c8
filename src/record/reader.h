/* SPDX-License-Identifier: MIT
 *
 * Inside a loaded recording, and the way there:
 *
 *   load.c    finds the chunks in the file, whatever happened to it
 *   decode.c  their payload into rows and samples, references checked
 *   reader.c  rows into what the getters answer
 *   call_decode.c  calls, each time that somebody walks through them
 *   coverage_decode.c  coverage; its units into images
 *   annotation_decode.c  annotations
 */
#ifndef CP_RECORD_READER_H
#define CP_RECORD_READER_H

#include "base/map.h"
#include "record/annotations.h"
#include "record/counters.h"
#include "record/arena.h"
#include "record/calls.h"
#include "record/coverage.h"
#include "record/lives.h"
#include "record/format.h"

/* Samples that came from one part, in a row. */
struct cp_record_block {
	uint32_t part;
	size_t first, count;
};

/* Rows of a table as they are read. A number of the file is the row's place
 * here as long as none is missing; from then on a map tells. */
struct cp_record_rows {
	CP_VEC(uint64_t) values; /* references are places + 1 here */
	size_t count;
	size_t direct; /* numbers below this are places */
	struct cp_map places; /* of all other numbers */
};

/* A chunk with calls, as it was in the file. */
struct cp_record_call_chunk {
	uint8_t *bytes; /* owned */
	uint8_t codec;
	uint32_t stored, raw;
};

/* Calls that came from one part, in a row. */
struct cp_record_call_section {
	size_t chunk;
	size_t offset, size; /* in the unpacked payload, behind the first numbers */
	size_t count, kept; /* events; those that can be told */
	uint32_t part;
};

/* Counts of an image as they are in the file: of blocks, of branches taken, of
 * branches passed. */
struct cp_record_counts {
	uint32_t part; /* + 1; 0: of several, 0 and 1 */
	uint32_t flags; /* CP_COVERAGE_* */
	uint64_t *values; /* owned */
};

struct cp_record_coverage {
	struct cp_coverage_image c;
	CP_VEC(struct cp_record_counts) counts; /* by part */
};

/* Some functions of an image; the arrays are in the record's arena. */
struct cp_record_unit {
	uint32_t image; /* place */
	uint64_t revision, index;
	/* Files are places of strings + 1, pieces begin in these arrays. */
	struct cp_coverage_image c;
	struct cp_coverage_function *functions; /* c.functions */
	CP_VEC(struct cp_record_counts) counts;
};

/* Strings are places + 1, in the record's own list; 0: none. Until the record
 * is built, strings and threads are numbers of the file. */
struct cp_record_annotation_row {
	uint64_t ts_ns, id, value;
	uint32_t thread, name, category, object;
	uint8_t kind, flags;
};

struct cp_record {
	struct cp_record_arena arena;
	struct cp_record_info info;
	struct cp_record_totals totals;
	struct cp_record_damage damage; /* with that of the parts */
	struct cp_record_damage own; /* of this file alone */
	uint8_t id[CP_RECORD_ID_SIZE];
	bool merged;
	CP_VEC(struct cp_record_process) processes;
	CP_VEC(struct cp_record_thread) threads;
	CP_VEC(struct cp_record_image) images;
	CP_VEC(struct cp_record_location) locations;
	CP_VEC(struct cp_record_frame) frames;
	struct cp_record_stack_place {
		size_t first; /* into stack_items */
		uint32_t count, flags;
		bool missing;
	} * stacks;
	size_t stack_count;
	CP_VEC(uint32_t) stack_items;
	CP_VEC(struct cp_record_sample) samples;
	CP_VEC(struct cp_record_block) blocks;
	CP_VEC(struct cp_record_call_chunk) call_chunks;
	CP_VEC(struct cp_record_call_section) call_sections;
	CP_VEC(cprof_value) shapes; /* what a shape says of a value */
	struct cp_record_rows call_rows[CP_RECORD_TABLE_END]; /* places only */
	uint64_t call_count, exception_count, wait_count, heap_count, calls_end_ns;
	CP_VEC(struct cp_record_coverage) coverage; /* by image */
	CP_VEC(struct cp_record_annotation_row) annotations;
	CP_VEC(struct cp_record_block) annotation_blocks;
	CP_VEC(const char *) strings; /* of annotations, by place; in the arena */
	CP_VEC(struct cp_record_life) lives;
	CP_VEC(uint32_t) life_parts; /* of each */
	struct cp_map life_places; /* part << 32 | number -> place */
	CP_VEC(struct cp_record_counter) counters; /* strings in the arena */
	CP_VEC(struct cp_record_part) parts; /* by number; without id: lost */
};

struct cp_record_decoder {
	struct cp_record *record; /* borrowed; samples and parts go there */
	struct cp_record_rows rows[CP_RECORD_TABLE_END];
	CP_VEC(const char *) strings; /* by place; in the record's arena */
	CP_VEC(uint64_t) column; /* of the section being read */
	bool has_totals;
	uint64_t next_sample, next_call, next_annotation; /* the number the next one should have */
	CP_VEC(struct cp_record_unit) units;
	struct cp_map unit_places; /* by a hash of image, revision, index */
	bool no_memory;
};

void cp_record_decoder_deinit(struct cp_record_decoder *d);
/* A DATA chunk's payload; false when it makes no sense (what made sense
 * before that is kept). Samples still have the file's numbers. */
bool cp_record_decode(struct cp_record_decoder *d, const void *bytes, size_t size);
/* The place of a row, or UINT64_MAX when it is missing. */
uint64_t cp_record_place(const struct cp_record_rows *rows, uint64_t number);
/* After all chunks: makes the record's arrays. */
CP_ERROR cp_record_build(struct cp_record_decoder *d);

/* Reads `columns` columns of `count` numbers into d->column; false when they
 * are not there. */
bool cp_record_decode_columns(struct cp_record_decoder *d, struct cp_cursor *c, uint64_t count,
			      size_t columns);

/* ---- annotations ---- */

bool cp_record_decode_annotations(struct cp_record_decoder *d, struct cp_cursor *c);
/* After the tables and before the calls, which take what tells numbers from
 * places. */
void cp_record_build_annotations(struct cp_record_decoder *d);
/* Last of all: takes the strings from the decoder. */
void cp_record_keep_strings(struct cp_record_decoder *d);
void cp_record_free_annotations(struct cp_record *r);

/* ---- coverage ---- */

bool cp_record_decode_coverage(struct cp_record_decoder *d, struct cp_cursor *c);
bool cp_record_decode_counts(struct cp_record_decoder *d, struct cp_cursor *c);
/* After the tables; false without memory. */
bool cp_record_build_coverage(struct cp_record_decoder *d);
void cp_record_free_coverage(struct cp_record *r);
void cp_record_free_units(struct cp_record_decoder *d);

/* ---- calls ---- */

/* A section of `payload`, to be read later. */
bool cp_record_decode_calls(struct cp_record_decoder *d, const uint8_t *payload,
			    struct cp_cursor *c);
/* Keeps the chunk just decoded if it has calls. `payload` as in the file. */
bool cp_record_keep_calls(struct cp_record_decoder *d, const struct cp_record_chunk *chunk,
			  const uint8_t *payload);
/* After the tables; false without memory. Takes from the decoder what tells
 * numbers of the tables from places. */
bool cp_record_build_calls(struct cp_record_decoder *d);
void cp_record_free_calls(struct cp_record *r);
/* As cp_record_each_call(), of one part (CP_RECORD_NONE: all). */
CP_ERROR cp_record_each_call_of(const struct cp_record *r, uint32_t part, cp_record_call_fn each,
				void *ctx);

/* A payload as it is in the file, into `ret`; false when it is broken. */
bool cp_record_unpack(unsigned codec, const uint8_t *payload, size_t stored, size_t raw,
		      struct cp_buf *ret, bool *no_memory_ret);

/* As cp_record_load(), from memory; `name` is for errors. */
CP_ERROR cp_record_load_bytes(const void *bytes, size_t size, const char *name,
			      struct cp_record **ret);

#endif
