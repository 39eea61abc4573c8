/* SPDX-License-Identifier: MIT
 *
 * Traced calls as a profile.
 */
#ifndef CP_REPORT_CALLSTACKS_H
#define CP_REPORT_CALLSTACKS_H

#include "base/buf.h"
#include "base/error.h"
#include "report/profile/profile.h"

/* Makes hits of calls, when there are no samples. */
CP_ERROR cp_profile_add_calls(struct cp_profile *p);

#endif
