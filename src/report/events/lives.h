/* SPDX-License-Identifier: MIT
 *
 * Processes and threads from their beginning to their end, as tables and JSON.
 */
#ifndef CP_REPORT_LIVES_H
#define CP_REPORT_LIVES_H

#include "base/json.h"
#include "report/look/table.h"
#include "report/profile/profile.h"

/* How many of the processes' or the threads' lives pass the filter. */
size_t cp_lives_count(const struct cp_profile *p, bool threads);
/* A title and a table, in the order of time; nothing when there are none. `limit`:
 * rows; 0: all. */
CP_ERROR cp_report_lives(const struct cp_profile *p, bool threads, uint64_t limit,
			 const struct cp_look *look, struct cp_buf *out);
/* The key "lives". */
CP_ERROR cp_report_lives_json(const struct cp_profile *p, struct cp_json *j);

#endif
