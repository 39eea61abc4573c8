/* SPDX-License-Identifier: MIT
 *
 * Annotations of a made recording, from lines of its text (made_recording.h):
 *
 *     a TID MICROSECONDS begin ID NAME [CATEGORY [OBJECT]]
 *     a TID MICROSECONDS end ID
 *     a TID MICROSECONDS instant NAME [CATEGORY [OBJECT]]
 *     a TID MICROSECONDS start ID NAME [CATEGORY [OBJECT]]
 *     a TID MICROSECONDS finish ID
 *     a TID MICROSECONDS switch FROM TO [noticed]
 *     a TID MICROSECONDS counter VALUE NAME [CATEGORY]
 *     a TID MICROSECONDS thread NAME
 *     a TID MICROSECONDS fiber NUMBER NAME
 *     a TID MICROSECONDS lost NUMBER
 *
 * MICROSECONDS count from the start of the recording, in any order. Escapes are
 * as in frames.
 */
#ifndef CP_TEST_MADE_ANNOTATIONS_H
#define CP_TEST_MADE_ANNOTATIONS_H

#include "record/annotations.h"

/* The rest of such a line, behind TID; it is cut up. */
void made_annotation(struct cp_record_writer *w, uint32_t thread, uint64_t start_ns, char *rest);

#endif
