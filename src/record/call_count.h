/* SPDX-License-Identifier: MIT
 *
 * What sections of calls hold, as the columns say by which events are told apart, without
 * reading the events.
 */
#ifndef CP_RECORD_CALL_COUNT_H
#define CP_RECORD_CALL_COUNT_H

#include "record/decoder.h"

/* Fills in what the section at the cursor holds; not `plain`, if that can't be told so. */
void cp_record_count_section(struct cp_record_decoder *d, struct cp_cursor c,
			     struct cp_record_call_section *section);
/* Adds up what all sections hold, of a recording of which nothing is missing; functions that
 * are no longer traced count as `disarmed`. False: events have to be read for that. */
bool cp_record_believe_sections(struct cp_record *r, enum cp_record_call_family disarmed);

#endif
