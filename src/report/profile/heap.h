/* SPDX-License-Identifier: MIT
 *
 * What was allocated, and what of it was left.
 */
#ifndef CP_REPORT_HEAP_H
#define CP_REPORT_HEAP_H

#include "base/json.h"
#include "record/calls.h"
#include "report/tables/report.h"

/* Of an event of the walk through calls (spans.h). */
uint64_t cp_heap_size(const struct cp_record_call *call); /* 0: FREED */
uint64_t cp_heap_address(const struct cp_record_call *call);
uint64_t cp_heap_previous(const struct cp_record_call *call); /* MOVED; else 0 */
/* "alloc", "resize", "move" or "free". */
const char *cp_heap_event(const struct cp_record_call *call);

/* Does the profile's filter want to see it? */
bool cp_heap_shown(const struct cp_profile *p, uint32_t thread, uint32_t function,
		   const struct cp_record_call *call);

/* "+ 16 bytes at 0x...", "- 0x...". */
void cp_heap_text(const struct cp_record_call *call, struct cp_buf *out);

/* A table by who asked for it, and stacks of what is left, the most first; that
 * nothing was allocated, where that was asked for; nothing where not. */
CP_ERROR cp_report_heap(const struct cp_profile *p, const struct cp_report_options *o,
			const struct cp_look *look, struct cp_buf *out);
/* The key "allocations". */
CP_ERROR cp_report_heap_json(const struct cp_profile *p, const struct cp_report_options *o,
			     struct cp_json *j);

#endif
