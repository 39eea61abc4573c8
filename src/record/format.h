/* SPDX-License-Identifier: MIT
 *
 * The recording's bytes; cprof-recording(5) says the same at more length.
 *
 *   preamble | INFO | DATA | DATA | ... | INFO | END
 *
 * Every part after the preamble is a chunk: a header with its own checksum,
 * which tells type, number and size, then the payload, which has another. A
 * reader that meets a broken payload skips it by its size; one that meets a
 * broken header looks for the next good one.
 *
 * A DATA chunk is a row of sections (tag, length, body). Most sections hold
 * new rows of one of ten tables, each table's rows numbered from 0 through
 * the whole recording; columns are stored one after the other, because the
 * numbers of one column resemble each other:
 *
 *   samples ──> threads ──> processes ──> strings
 *      └──────> stacks ───> nodes ──> locations ──> images
 *                           (a trie)      └──────> frames ──> functions
 *   calls ────> threads, locations, stacks, shapes ──> strings
 *   blocks ───> threads, locations
 *   coverage ─> images, strings
 *   annotations ─> threads, strings
 *   sums ─────> threads, processes, locations
 *   code ─────> images, frames, strings
 *
 * Rows refer only to rows written before them, in the same chunk or earlier.
 * A row whose reference is missing (lost with a chunk) is missing itself, and
 * an event that needs it is dropped and counted; numbers are never reused, so
 * nothing is attributed to the wrong row. Rows in use are written again every
 * now and then (encode.c), so that a lost chunk does not spoil all later ones.
 */
#ifndef CP_RECORD_FORMAT_H
#define CP_RECORD_FORMAT_H

#include "base/buf.h"
#include "base/cursor.h"
#include "record/record.h"

#define CP_RECORD_MAGIC "CPROF\r\n\x1a"
#define CP_RECORD_MAJOR 1 /* a reader refuses a greater one */
#define CP_RECORD_MINOR 12 /* a reader ignores what it doesn't know */
#define CP_RECORD_ID_SIZE 16
#define CP_RECORD_PREAMBLE_SIZE 36
#define CP_RECORD_HEADER_SIZE 28

/* The largest chunk: nothing is allocated for one that claims more. */
#define CP_RECORD_RAW_MAX (64u << 20)
#define CP_RECORD_STORED_MAX (CP_RECORD_RAW_MAX + CP_RECORD_RAW_MAX / 128 + 1024)
/* Longer ones are cut by the writer; a deeper stack, at its root. */
#define CP_RECORD_STRING_MAX 65535
#define CP_RECORD_DEPTH_MAX 65536
#define CP_RECORD_FRAMES_MAX 1024
#define CP_RECORD_PARTS_MAX 65536 /* recordings merged into one */

enum cp_record_chunk_type {
	CP_RECORD_CHUNK_INFO = 1,
	CP_RECORD_CHUNK_DATA = 2,
	CP_RECORD_CHUNK_END = 3,
};

enum cp_record_codec { CP_RECORD_CODEC_NONE, CP_RECORD_CODEC_ZSTD };

struct cp_record_preamble {
	uint16_t major, minor;
	uint32_t holds;
	uint8_t id[CP_RECORD_ID_SIZE];
};

struct cp_record_chunk {
	uint8_t type, codec;
	uint32_t sequence; /* 0, 1, 2, ... */
	uint32_t stored, raw; /* size of the payload, in the file and unpacked */
	uint32_t payload_crc; /* of the stored payload */
};

/* Sections of a DATA chunk. The tables come in this order, so that within a
 * chunk too a row only refers to what stands before it. */
enum cp_record_section {
	CP_RECORD_STRINGS = 1,
	CP_RECORD_FUNCTIONS,
	CP_RECORD_FRAMES,
	CP_RECORD_IMAGES,
	CP_RECORD_PROCESSES,
	CP_RECORD_THREADS,
	CP_RECORD_LOCATIONS,
	CP_RECORD_NODES,
	CP_RECORD_STACKS,
	CP_RECORD_SHAPES, /* of values: what of a value is the same at every call */
	CP_RECORD_TABLE_END, /* not a section */
	CP_RECORD_SAMPLES = 16,
	CP_RECORD_TOTALS = 17,
	CP_RECORD_PART = 18, /* one of the recordings that were merged */
	CP_RECORD_CALLS = 19, /* see call_encode.c */
	CP_RECORD_COVERAGE = 20, /* see coverage_encode.c */
	CP_RECORD_COUNTS = 21, /* of coverage */
	CP_RECORD_ANNOTATIONS = 22, /* see annotation_encode.c */
	CP_RECORD_COUNTERS = 24, /* of profilers: see counters.h */
	CP_RECORD_LIVES = 25, /* of processes and threads: see lives.h */
	CP_RECORD_CALLS_WIDE = 26, /* calls, with events of kinds that do not fit in the other */
	CP_RECORD_SUMS = 27, /* of calls: see sum_rows.h */
	CP_RECORD_CALL_BLOCKS = 28, /* see call_block.h */
	CP_RECORD_SOURCE = 29, /* see enclosed.h */
	CP_RECORD_CODE = 30,
	CP_RECORD_CALL_BLOCKS_VALUED = 31, /* with values: see call_form.h */
	CP_RECORD_SAMPLE_SUMS = 32, /* of the samples that follow: see sample_sums.h */
};

#define CP_RECORD_WIDTH_MAX 7

/* Columns of a table. A reference is stored as the number of the row plus 1;
 * 0 is none. */
struct cp_record_schema {
	unsigned width;
	uint8_t refers[CP_RECORD_WIDTH_MAX]; /* the table a column refers to, or 0 */
	uint8_t required; /* bit i: column i may not be none */
	uint8_t added; /* of the last columns: how many earlier versions lack */
	bool replaces; /* a row written again replaces the earlier one */
};

/* Columns of the tables. */
enum { CP_FUNCTION_NAME, CP_FUNCTION_LINKAGE, CP_FUNCTION_FILE, CP_FUNCTION_DECL };
enum { CP_FRAME_OUTER, CP_FRAME_FUNCTION, CP_FRAME_LINE, CP_FRAME_INLINED };
enum { CP_IMAGE_PATH, CP_IMAGE_BUILD_ID, CP_IMAGE_DEBUG_PATH };
enum {
	CP_PROCESS_PID,
	CP_PROCESS_NS_PID,
	CP_PROCESS_PPID,
	CP_PROCESS_NAME,
	CP_PROCESS_EXE,
	CP_PROCESS_START,
	CP_PROCESS_STARTED_AS, /* from minor version 5 on */
};
enum { CP_THREAD_PROCESS, CP_THREAD_TID, CP_THREAD_NS_TID, CP_THREAD_NAME, CP_THREAD_START };
enum {
	CP_LOCATION_IMAGE,
	CP_LOCATION_ADDRESS,
	CP_LOCATION_FLAGS,
	CP_LOCATION_START, /* address - function_start + 1, or 0 */
	CP_LOCATION_FRAME
};
enum { CP_NODE_PARENT, CP_NODE_LOCATION };
enum { CP_STACK_NODE, CP_STACK_FLAGS };
enum {
	CP_SHAPE_KIND,
	CP_SHAPE_FLAGS, /* source | error << 4 | guessed << 8 */
	CP_SHAPE_SIZE,
	CP_SHAPE_NAME,
	CP_SHAPE_TYPE
};

extern const struct cp_record_schema cp_record_schemas[CP_RECORD_TABLE_END];

/* How the column "weight" of samples is stored. */
#define CP_RECORD_WEIGHT_PLAIN 0
#define CP_RECORD_WEIGHT_ELAPSED 1 /* less the time since the thread's last sample */

/* Fields of an END chunk, each a tag, a length and an LEB128 number. */
#define CP_RECORD_END_SAMPLES 1
#define CP_RECORD_END_CHUNKS 2
#define CP_RECORD_END_CALLS 3
#define CP_RECORD_END_ANNOTATIONS 4

/* CRC-32C, of `size` bytes. */
uint32_t cp_record_crc(const void *bytes, size_t size);

/* An id in hex; 33 bytes at `ret`. */
void cp_record_id_text(const uint8_t *id, char *ret);

void cp_record_put_preamble(struct cp_buf *out, const struct cp_record_preamble *p);
/* False when these CP_RECORD_PREAMBLE_SIZE bytes are none. */
bool cp_record_get_preamble(const uint8_t *bytes, struct cp_record_preamble *ret);
void cp_record_put_chunk(struct cp_buf *out, const struct cp_record_chunk *chunk);
/* False when these CP_RECORD_HEADER_SIZE bytes are no header, or one that
 * claims more than the limits above. */
bool cp_record_get_chunk(const uint8_t *bytes, struct cp_record_chunk *ret);

/* One field: tag, length, bytes. */
void cp_record_put_field(struct cp_buf *out, uint64_t tag, const void *bytes, size_t size);
void cp_record_put_number(struct cp_buf *out, uint64_t tag, uint64_t value);
/* False at the end, or (then c->bad) when cut. */
bool cp_record_get_field(struct cp_cursor *c, uint64_t *tag_ret, struct cp_cursor *body_ret);

/* A column of `count` numbers: plain or as differences, whatever is shorter. */
void cp_record_put_column(struct cp_buf *out, const uint64_t *values, size_t count);
/* Sets c->bad when they are not all there. */
void cp_record_get_column(struct cp_cursor *c, uint64_t *values, size_t count);
/* The same without the numbers. */
void cp_record_pass_column(struct cp_cursor *c, size_t count);
/* Goes behind so many LEB128 numbers. */
void cp_record_pass_numbers(struct cp_cursor *c, size_t count);

/* Writes LEB128 at `at`, where there is room for 10 bytes; tells where that ends. */
static inline uint8_t *cp_record_put_uleb(uint8_t *at, uint64_t value)
{
	while (value >= 0x80) {
		*at++ = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	*at++ = (uint8_t)value;
	return at;
}

static inline uint64_t cp_record_zigzag(uint64_t v)
{
	return v << 1 ^ (v >> 63 ? UINT64_MAX : 0);
}

static inline uint64_t cp_record_unzigzag(uint64_t v)
{
	return v >> 1 ^ (v & 1 ? UINT64_MAX : 0);
}

void cp_record_put_totals(struct cp_buf *out, const struct cp_record_totals *t);
void cp_record_get_totals(struct cp_cursor *c, struct cp_record_totals *ret);
void cp_record_put_damage(struct cp_buf *out, const struct cp_record_damage *d);
void cp_record_get_damage(struct cp_cursor *c, struct cp_record_damage *ret);

#endif
