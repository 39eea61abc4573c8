/* SPDX-License-Identifier: MIT
 *
 * Sources and code (enclosed.h) of the chunk under way, a section each:
 *
 *     path | time written | the text
 *     image, start, size | places | names | the bytes
 */
#ifndef CP_RECORD_ENCLOSED_ENCODE_H
#define CP_RECORD_ENCLOSED_ENCODE_H

#include "base/buf.h"
#include "base/vec.h"
#include "record/enclosed.h"

struct cp_record_encoder;

struct cp_record_enclosing {
	struct cp_buf sections, body;
	CP_VEC(uint64_t) column;
};

/* A place whose frames are a row of their table; 0: none are known. */
struct cp_record_code_row {
	uint64_t offset, frame;
};

void cp_record_encode_source(struct cp_record_encoder *e, const struct cp_record_source *s);
/* `rows` are its places, `code` has the rest. */
void cp_record_encode_code(struct cp_record_encoder *e, const struct cp_record_code *code,
			   const struct cp_record_code_row *rows, size_t count);
/* The row of a location's frames, to be used by what is encoded next. */
uint64_t cp_record_encode_frames(struct cp_record_encoder *e, const struct cp_record_frame *frames,
				 size_t count);
void cp_record_put_enclosed(struct cp_record_encoder *e);
void cp_record_enclosing_free(struct cp_record_encoder *e);

#endif
