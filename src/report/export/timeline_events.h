/* SPDX-License-Identifier: MIT
 *
 * What a recording holds, family by family, into the sums of a timeline.
 */
#ifndef CP_REPORT_TIMELINE_EVENTS_H
#define CP_REPORT_TIMELINE_EVENTS_H

#include "base/error.h"
#include "report/export/timeline.h"

CP_ERROR cp_timeline_take(struct cp_timeline *t);

#endif
