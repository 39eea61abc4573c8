/* SPDX-License-Identifier: MIT
 *
 * A timeline as the data of the page's scripts.
 */
#ifndef CP_REPORT_TIMELINE_JSON_H
#define CP_REPORT_TIMELINE_JSON_H

#include "base/error.h"
#include "report/export/flame.h"
#include "report/export/timeline.h"
#include "report/look/sink.h"

/* Files of code get the colors that they have in `f`. */
CP_ERROR cp_timeline_json(const struct cp_timeline *t, const struct cp_flame *f,
			  struct cp_sink *sink);

#endif
