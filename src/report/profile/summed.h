/* SPDX-License-Identifier: MIT
 *
 * Profiles of recordings that have sums of calls and no single ones (--summary).
 */
#ifndef CP_REPORT_SUMMED_H
#define CP_REPORT_SUMMED_H

#include "record/calls.h"
#include "record/sum_rows.h"
#include "report/profile/profile.h"

/* Are calls told in it, one by one or as sums? */
static inline bool cp_record_holds_calls(const struct cp_record *r)
{
	return cp_record_call_count(r) || cp_record_sum_count(r);
}

/* An error where the filter means what sums of calls can't be told by. */
CP_ERROR cp_profile_check_sums(const struct cp_profile *p);
/* Is a row of sums about the process that the filter means? */
bool cp_profile_accepts_sum(const struct cp_profile *p, const struct cp_record_sum *row);
/* Costs of functions, threads and processes by sums of calls. There are no stacks. */
CP_ERROR cp_profile_add_sums(struct cp_profile *p);
/* The error of who needs single calls, or their stacks, where all that the profile is
 * of are sums; NULL: there is more. */
CP_ERROR cp_profile_need_stacks(const struct cp_profile *p);
/* The same of who shows each event by itself. */
CP_ERROR cp_profile_need_events(const struct cp_profile *p);

#endif
