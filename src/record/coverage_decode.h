/* SPDX-License-Identifier: MIT */
#ifndef CP_RECORD_COVERAGE_DECODE_H
#define CP_RECORD_COVERAGE_DECODE_H

#include "record/decoder.h"

bool cp_record_decode_coverage(struct cp_record_decoder *d, struct cp_cursor *c);
bool cp_record_decode_counts(struct cp_record_decoder *d, struct cp_cursor *c);
void cp_record_free_coverage(struct cp_record *r);
void cp_record_free_units(struct cp_record_decoder *d);

#endif
