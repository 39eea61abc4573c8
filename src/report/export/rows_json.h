/* SPDX-License-Identifier: MIT */
#ifndef CP_REPORT_ROWS_JSON_H
#define CP_REPORT_ROWS_JSON_H

#include "report/export/rows.h"
#include "report/look/sink.h"

/* One JSON object, as assets/listing.js reads it. */
CP_ERROR cp_rows_json(const struct cp_rows *rows, const struct cp_timeline *t,
		      struct cp_sink *sink);

#endif
