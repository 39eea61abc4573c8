/* SPDX-License-Identifier: MIT
 *
 * What processes have allocated, as a track of values.
 */
#ifndef CP_REPORT_PERFETTO_HEAP_H
#define CP_REPORT_PERFETTO_HEAP_H

#include "base/error.h"
#include "record/calls.h"

/* An event of the walk through calls (profile/spans.h); `w` is a struct cp_perfetto. */
struct cp_error *cp_perfetto_heap(void *w, uint32_t thread, uint32_t function,
				  const struct cp_record_call *call);

#endif
