/* SPDX-License-Identifier: MIT
 *
 * What was mapped into memory and out of it.
 */
#ifndef CP_REPORT_EVENTS_MAPS_H
#define CP_REPORT_EVENTS_MAPS_H

#include "base/json.h"
#include "record/calls.h"
#include "report/look/table.h"
#include "report/profile/options.h"
#include "report/profile/profile.h"

/* Of an event of the walk through calls (profile/spans.h): "+ 64.0 KiB of FILE at
 * 0x..., by mmap", raw. */
void cp_map_text(const struct cp_record_call *call, struct cp_buf *out);
/* Its keys: address, size, kind, ... */
void cp_map_json(const struct cp_record_call *call, struct cp_json *j);

/* ---- of a recording that holds any, or was to ---- */

bool cp_report_holds_maps(const struct cp_profile *p);
/* A table by who mapped what, and stacks of what is left, the most first; or that nothing
 * was mapped. */
CP_ERROR cp_report_maps(const struct cp_profile *p, const struct cp_report_options *o,
			const struct cp_look *look, struct cp_buf *out);
/* The key "mappings". */
CP_ERROR cp_report_maps_json(const struct cp_profile *p, const struct cp_report_options *o,
			     struct cp_json *j);

/* The table as comma-separated values. */
CP_ERROR cp_report_maps_csv(const struct cp_profile *p, const struct cp_report_options *o,
			    struct cp_buf *out);

#endif
