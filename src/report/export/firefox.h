/* SPDX-License-Identifier: MIT */
#ifndef CP_REPORT_FIREFOX_H
#define CP_REPORT_FIREFOX_H

#include "report/export/title.h"
#include "report/look/sink.h"

/* For profiler.firefox.com. */
CP_ERROR cp_export_firefox(const struct cp_profile *p, const struct cp_export_options *o,
			   struct cp_sink *sink);

#endif
