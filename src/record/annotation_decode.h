/* SPDX-License-Identifier: MIT */
#ifndef CP_RECORD_ANNOTATION_DECODE_H
#define CP_RECORD_ANNOTATION_DECODE_H

#include "record/decoder.h"

bool cp_record_decode_annotations(struct cp_record_decoder *d, struct cp_cursor *c);
/* After the tables and before the calls, which take what tells numbers from
 * places. */
void cp_record_build_annotations(struct cp_record_decoder *d);
/* Last of all: takes the strings from the decoder. */
void cp_record_keep_strings(struct cp_record_decoder *d);
void cp_record_free_annotations(struct cp_record *r);

#endif
