/* SPDX-License-Identifier: MIT
 *
 * Costs by thread, by process and by image.
 */
#ifndef CP_REPORT_PARTS_H
#define CP_REPORT_PARTS_H

#include "base/buf.h"
#include "base/error.h"
#include "report/look/table.h"
#include "report/profile/options.h"
#include "report/profile/profile.h"

CP_ERROR cp_report_threads(const struct cp_profile *p, const struct cp_report_options *o,
			   const struct cp_look *look, struct cp_buf *out);
CP_ERROR cp_report_processes(const struct cp_profile *p, const struct cp_report_options *o,
			     const struct cp_look *look, struct cp_buf *out);
/* Lives of processes and of threads, where there is more to say than the header has. */
CP_ERROR cp_report_several_lives(const struct cp_profile *p, const struct cp_report_options *o,
				 const struct cp_look *look, struct cp_buf *out);
CP_ERROR cp_report_images(const struct cp_profile *p, const struct cp_report_options *o,
			  const struct cp_look *look, struct cp_buf *out);

/* Where the time went, as comma-separated values. */
CP_ERROR cp_report_threads_csv(const struct cp_profile *p, const struct cp_report_options *o,
			       struct cp_buf *out);
CP_ERROR cp_report_processes_csv(const struct cp_profile *p, const struct cp_report_options *o,
				 struct cp_buf *out);
CP_ERROR cp_report_images_csv(const struct cp_profile *p, const struct cp_report_options *o,
			      struct cp_buf *out);

#endif
