/* SPDX-License-Identifier: MIT
 *
 * A frame of a stack that stands below a table, and in JSON.
 */
#ifndef CP_REPORT_FRAMES_H
#define CP_REPORT_FRAMES_H

#include "base/json.h"
#include "report/look/table.h"
#include "report/profile/profile.h"

/* A line of its own: "function  file:line". */
void cp_report_frame(const struct cp_profile *p, uint32_t frame, const struct cp_look *look,
		     struct cp_buf *out);
/* An element of an array. */
void cp_report_frame_json(const struct cp_profile *p, uint32_t frame, struct cp_json *j);

#endif
