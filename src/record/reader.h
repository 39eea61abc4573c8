/* SPDX-License-Identifier: MIT
 *
 * Inside a loaded recording, and the way there; each stands on those below it:
 *
 *   load.c      finds the chunks in the file, whatever happened to it
 *   decode.c    their payload, section by section: a table says who reads which
 *   reader.c    rows into what the getters answer
 *     call_walk.c           calls, each time that somebody walks through them, in order:
 *       kept.c                their chunks: in memory, or where they are in a large file
 *       call_decode.c         events of all threads
 *       call_block_decode.c   those of one
 *     block_count.c         what these hold
 *     sample_decode.c       samples: at once, or as calls when they stay in the file
 *       sample_sums.c         what they add up to
 *     coverage_decode.c     coverage; coverage_build.c: its units into images
 *     annotation_decode.c   annotations
 *     sum_rows.c            calls that are added up
 *     enclosed_decode.c     sources and code
 *       decoder.c   rows, and what tells numbers of the file from places here
 */
#ifndef CP_RECORD_READER_H
#define CP_RECORD_READER_H

#include "base/map.h"
#include "record/annotations.h"
#include "record/counters.h"
#include "record/arena.h"
#include "record/call_block_decode.h"
#include "record/calls.h"
#include "record/coverage.h"
#include "record/enclosed.h"
#include "record/lives.h"
#include "record/sample_sums.h"
#include "record/format.h"
#include "record/sum_rows.h"

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
	uint8_t *bytes; /* owned; NULL: it is read from the file again */
	uint64_t offset; /* of the payload in the file */
	uint8_t codec;
	uint32_t stored, raw, crc;
};

/* Samples that are read from the file when they are asked for. */
struct cp_record_sample_section {
	size_t chunk;
	size_t offset, size; /* in the unpacked payload, behind the first numbers */
	size_t count, kept; /* samples; those that can be told */
	uint32_t part;
};

/* Calls that came from one part, in a row. */
struct cp_record_call_section {
	size_t chunk;
	size_t offset, size; /* in the unpacked payload, behind the first numbers */
	size_t count, kept; /* events; those that can be told */
	uint32_t part;
	bool plain; /* what follows is known, and where no row is missing all of it can be told */
	uint32_t by_family[CP_RECORD_CALL_FAMILIES], disarmed; /* events; those that are of none */
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

/* What is known of a part's sums of calls. */
struct cp_record_sum_part {
	uint32_t beat; /* the last one */
	uint64_t events;
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
	CP_VEC(struct cp_record_sample) samples; /* of a large file: once they were needed */
	CP_VEC(struct cp_record_sample_section) sample_sections; /* of a large file */
	struct cp_sample_sums sample_sums; /* of a large file, unless they are unknown */
	bool sample_sums_unknown;
	size_t sample_count;
	uint64_t samples_end_ns; /* the time of the last one */
	CP_VEC(struct cp_record_block) blocks;
	struct cp_record_file *file; /* where chunks are that are not kept (kept.c); NULL: none */
	CP_VEC(struct cp_record_call_chunk) call_chunks;
	CP_VEC(struct cp_record_call_section) call_sections;
	CP_VEC(struct cp_record_call_block_at) call_blocks;
	CP_VEC(cprof_value) shapes; /* what a shape says of a value */
	struct cp_record_rows call_rows[CP_RECORD_TABLE_END]; /* places only */
	uint64_t call_counts[CP_RECORD_CALL_FAMILIES], calls_end_ns;
	CP_VEC(struct cp_record_coverage) coverage; /* by image */
	CP_VEC(struct cp_record_annotation_row) annotations;
	CP_VEC(struct cp_record_block) annotation_blocks;
	CP_VEC(const char *) strings; /* of annotations, by place; in the arena */
	CP_VEC(struct cp_record_life) lives;
	CP_VEC(uint32_t) life_parts; /* of each */
	struct cp_map life_places; /* part << 32 | number -> place */
	CP_VEC(struct cp_record_sum) sums; /* of calls; owns what they spread over */
	CP_VEC(uint32_t) sum_rows; /* the part of each */
	CP_VEC(struct cp_record_sum_part) sum_parts; /* by part */
	struct cp_interner sum_keys; /* of each, until the record is built */
	CP_VEC(struct cp_record_counter) counters; /* strings in the arena */
	CP_VEC(struct cp_record_source) sources; /* texts in the arena */
	CP_VEC(struct cp_record_code) codes; /* the rest in the arena */
	CP_VEC(struct cp_record_part) parts; /* by number; without id: lost */
};

struct cp_record_decoder;

/* Makes the arrays of tables anew, of the rows so far; false without memory. */
bool cp_record_build_tables(struct cp_record_decoder *d);
/* Its own part, of a recording that was not merged; else what is missing of all parts. */
bool cp_record_build_parts(struct cp_record *r);
/* After all chunks: makes the record's arrays. */
CP_ERROR cp_record_build(struct cp_record_decoder *d);

#endif
