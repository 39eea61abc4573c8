/* SPDX-License-Identifier: MIT
 *
 * The samples of a profile in the order of time.
 */
#ifndef CP_REPORT_SAMPLES_H
#define CP_REPORT_SAMPLES_H

#include "base/error.h"
#include "report/profile/profile.h"

/* Samples that the filter lets through, by thread, then time. *ret holds
 * indices into cp_record_samples(), the caller's to free. */
CP_ERROR cp_export_by_thread(const struct cp_profile *p, uint32_t **ret, size_t *count_ret);

#endif
