/* SPDX-License-Identifier: MIT
 *
 * Every kind of events that is written, in the order of their sections in a chunk.
 */
#ifndef CP_RECORD_ENCODE_KINDS_H
#define CP_RECORD_ENCODE_KINDS_H

#include "record/encode.h"

/* Ends without functions. */
extern const struct cp_record_encode_kind cp_record_encode_kinds[];

#endif
