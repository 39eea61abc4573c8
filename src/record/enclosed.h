/* SPDX-License-Identifier: MIT
 *
 * What a recording encloses beside what was recorded, so that lines and instructions can
 * be shown where neither sources nor programs are: source files that its frames lead to,
 * and code of the functions that were seen. Both are gathered and written at the end
 * (enclose.c).
 */
#ifndef CP_RECORD_ENCLOSED_H
#define CP_RECORD_ENCLOSED_H

#include "record/record.h"

/* More is left out, and said to be (struct cp_record_totals). */
#define CP_ENCLOSED_SOURCE_MAX ((uint64_t)4 << 20) /* bytes of one file */
#define CP_ENCLOSED_SOURCES_MAX ((uint64_t)64 << 20)
#define CP_ENCLOSED_CODE_MAX ((uint64_t)1 << 20) /* bytes of one symbol */
#define CP_ENCLOSED_CODES_MAX ((uint64_t)32 << 20)

struct cp_record_source {
	const char *path; /* as frames have it */
	uint64_t written_ns; /* when it was last written, since 1970 */
	const char *text; /* with a NUL behind it */
	size_t size;
};

/* From `offset` on the code is of this line; frames as those of a location. */
struct cp_record_code_place {
	uint64_t offset;
	uint32_t frame_count;
	const struct cp_record_frame *frames;
};

/* What instructions refer to. */
struct cp_record_code_name {
	uint64_t address; /* link-time */
	bool data; /* as an operand, not as the target of a jump or call */
	const char *name; /* of the function or variable there */
	uint64_t offset; /* in it */
};

/* The code of a symbol. */
struct cp_record_code {
	uint32_t image;
	uint64_t start; /* link-time */
	const uint8_t *bytes;
	size_t size;
	const struct cp_record_code_place *places; /* by offset */
	size_t place_count;
	const struct cp_record_code_name *names; /* in the order in which they are met */
	size_t name_count;
};

/* ---- writer: to be called by the resolver's `code` ---- */

/* The next instruction, in their order. */
void cp_record_code_instruction(struct cp_record_code_builder *b, uint64_t address,
				const uint8_t *bytes, size_t size);
/* An address that it jumps to, or that (data) an operand has, and the name there, copied. */
void cp_record_code_refers(struct cp_record_code_builder *b, uint64_t address, bool data,
			   const char *name, uint64_t offset);

/* ---- reader ---- */

/* They live as long as the recording. Merged recordings may hold several
 * of one path. */
size_t cp_record_source_count(const struct cp_record *r);
const struct cp_record_source *cp_record_get_source(const struct cp_record *r, uint32_t n);
size_t cp_record_code_count(const struct cp_record *r);
const struct cp_record_code *cp_record_get_code(const struct cp_record *r, uint32_t n);

#endif
