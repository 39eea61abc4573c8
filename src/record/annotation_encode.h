/* SPDX-License-Identifier: MIT
 *
 * Annotations of the chunk under way, and the columns that they are written in.
 */
#ifndef CP_RECORD_ANNOTATION_ENCODE_H
#define CP_RECORD_ANNOTATION_ENCODE_H

#include "base/vec.h"
#include "record/annotations.h"

enum {
	CP_ANNOTATION_TS,
	CP_ANNOTATION_HOW, /* kind | flags << 4 */
	CP_ANNOTATION_THREAD,
	CP_ANNOTATION_ID,
	CP_ANNOTATION_NAME, /* strings + 1; 0: none */
	CP_ANNOTATION_CATEGORY,
	CP_ANNOTATION_OBJECT,
	CP_ANNOTATION_VALUE,
	CP_ANNOTATION_COLUMNS
};
#define CP_ANNOTATION_KIND_BITS 4

struct cp_record_encoder;

struct cp_record_annotating {
	CP_VEC(uint64_t) columns[CP_ANNOTATION_COLUMNS];
	size_t count;
	uint32_t part;
};

void cp_record_annotating_free(struct cp_record_encoder *e);
/* The annotation's thread must exist. */
void cp_record_encode_annotation(struct cp_record_encoder *e, uint32_t part,
				 const struct cp_record_annotation *a);
/* The section for the chunk under way, into e->payload. */
void cp_record_put_annotations(struct cp_record_encoder *e);

#endif
