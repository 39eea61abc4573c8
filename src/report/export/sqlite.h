/* SPDX-License-Identifier: MIT
 *
 * A database of all that a recording holds.
 */
#ifndef CP_REPORT_SQLITE_H
#define CP_REPORT_SQLITE_H

#include "base/error.h"
#include "report/export/title.h"
#include "report/look/sink.h"
#include "report/profile/profile.h"

CP_ERROR cp_export_sqlite(const struct cp_profile *p, const struct cp_export_options *o,
			  struct cp_sink *sink);

#endif
