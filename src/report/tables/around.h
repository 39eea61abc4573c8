/* SPDX-License-Identifier: MIT
 *
 * The sections about places: callers and callees, source lines, the tree.
 */
#ifndef CP_REPORT_AROUND_H
#define CP_REPORT_AROUND_H

#include "base/buf.h"
#include "base/error.h"
#include "report/look/table.h"
#include "report/profile/options.h"
#include "report/profile/profile.h"

/* Callers and callees of o->function: as sampled, as traced, or both. */
CP_ERROR cp_report_neighbours(const struct cp_profile *p, const struct cp_report_options *o,
			      const struct cp_look *look, struct cp_buf *out);
/* Source lines of o->function, or of all. */
CP_ERROR cp_report_lines(const struct cp_profile *p, const struct cp_report_options *o,
			 const struct cp_look *look, struct cp_buf *out);
CP_ERROR cp_report_tree(const struct cp_profile *p, const struct cp_report_options *o,
			const struct cp_look *look, struct cp_buf *out);

#endif
