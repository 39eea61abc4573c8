/* SPDX-License-Identifier: MIT */
#ifndef CP_RECORD_DECODE_H
#define CP_RECORD_DECODE_H

#include "record/decoder.h"

void cp_record_decoder_deinit(struct cp_record_decoder *d);
/* A DATA chunk's payload; false when it makes no sense (what made sense
 * before that is kept). Samples still have the file's numbers. */
bool cp_record_decode(struct cp_record_decoder *d, const void *bytes, size_t size);

#endif
