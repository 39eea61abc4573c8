/* SPDX-License-Identifier: MIT
 *
 * Gzipped messages of pprof's profile.proto.
 */
#ifndef CP_REPORT_PPROF_H
#define CP_REPORT_PPROF_H

#include "base/error.h"
#include "report/export/title.h"
#include "report/look/sink.h"
#include "report/profile/profile.h"

CP_ERROR cp_export_pprof(const struct cp_profile *p, const struct cp_export_options *o,
			 struct cp_sink *sink);

#endif
