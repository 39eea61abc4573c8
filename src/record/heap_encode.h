/* SPDX-License-Identifier: MIT
 *
 * Events of the heap, which come by the million and are all alike, in the chunk under way.
 */
#ifndef CP_RECORD_HEAP_ENCODE_H
#define CP_RECORD_HEAP_ENCODE_H

#include "record/calls.h"

struct cp_record_encoder;

/* As cp_record_encode_call() of the call that it stands for. */
void cp_record_encode_heap(struct cp_record_encoder *e, uint32_t part,
			   const struct cp_record_heap *h);

#endif
