/* SPDX-License-Identifier: MIT
 *
 * Samples as they are read. Those of a large file stay there, as calls do (kept.h), and each
 * walk decodes them anew.
 */
#ifndef CP_RECORD_SAMPLE_DECODE_H
#define CP_RECORD_SAMPLE_DECODE_H

#include "record/decoder.h"

/* Sections of d->payload; sums come before their samples. */
bool cp_record_decode_sample_sums(struct cp_record_decoder *d, struct cp_cursor *c);
bool cp_record_decode_samples(struct cp_record_decoder *d, struct cp_cursor *c);
/* After the tables: gives the samples that are in memory places instead of numbers; those
 * that refer to what is missing go. */
void cp_record_build_samples(struct cp_record_decoder *d);
/* After the calls, too: counts those that stay in the file. False without memory. */
bool cp_record_count_samples(struct cp_record *r);

#endif
