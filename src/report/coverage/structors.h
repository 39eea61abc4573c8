/* SPDX-License-Identifier: MIT
 *
 * Constructors and destructors, of which a compiler makes several.
 */
#ifndef CP_REPORT_COVERAGE_STRUCTORS_H
#define CP_REPORT_COVERAGE_STRUCTORS_H

#include "base/buf.h"
#include "report/coverage/sums.h"

/* After all images: constructors and destructors. */
void cp_sums_settle_structors(struct cp_sums *s);

#endif
