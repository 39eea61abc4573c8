/* SPDX-License-Identifier: MIT
 *
 * Inside a loaded recording, and the way there:
 *
 *   load.c    finds the chunks in the file, whatever happened to it
 *   decode.c  their payload into rows and samples, references checked
 *   reader.c  rows into what the getters answer
 */
#ifndef CP_RECORD_READER_H
#define CP_RECORD_READER_H

#include "base/map.h"
#include "record/arena.h"
#include "record/format.h"

/* Samples that came from one part, in a row. */
struct cp_record_block {
	uint32_t part;
	size_t first, count;
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
	CP_VEC(struct cp_record_part) parts; /* by number; without id: lost */
};

/* Rows of a table as they are read. A number of the file is the row's place
 * here as long as none is missing; from then on a map tells. */
struct cp_record_rows {
	CP_VEC(uint64_t) values; /* references are places + 1 here */
	size_t count;
	size_t direct; /* numbers below this are places */
	struct cp_map places; /* of all other numbers */
};

struct cp_record_decoder {
	struct cp_record *record; /* borrowed; samples and parts go there */
	struct cp_record_rows rows[CP_RECORD_TABLE_END];
	CP_VEC(const char *) strings; /* by place; in the record's arena */
	CP_VEC(uint64_t) column; /* of the section being read */
	bool has_totals;
	uint64_t next_sample; /* the number the next sample should have */
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

/* As cp_record_load(), from memory; `name` is for errors. */
CP_ERROR cp_record_load_bytes(const void *bytes, size_t size, const char *name,
			      struct cp_record **ret);

#endif
