/* SPDX-License-Identifier: MIT
 *
 * Sources and code (enclosed.h) from their sections.
 */
#ifndef CP_RECORD_ENCLOSED_DECODE_H
#define CP_RECORD_ENCLOSED_DECODE_H

#include "record/decoder.h"

/* False: what is there makes no sense, or there is no memory. */
bool cp_record_decode_source(struct cp_record_decoder *d, struct cp_cursor *c);
bool cp_record_decode_code(struct cp_record_decoder *d, struct cp_cursor *c);

#endif
