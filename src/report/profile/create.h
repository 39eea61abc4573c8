/* SPDX-License-Identifier: MIT
 *
 * Makes a profile of a recording.
 */
#ifndef CP_REPORT_CREATE_H
#define CP_REPORT_CREATE_H

#include "base/error.h"
#include "record/record.h"
#include "report/profile/profile.h"

/* `filter` may be NULL. The recording must outlive the profile. */
CP_ERROR cp_profile_create(const struct cp_record *record, const struct cp_profile_filter *filter,
			   struct cp_profile **ret);
/* One of names alone, of a recording that is still being made (record/follow.h). */
CP_ERROR cp_profile_create_growing(const struct cp_record *record, struct cp_profile **ret);
/* The recording's tables have grown. Functions keep their numbers. */
CP_ERROR cp_profile_grow(struct cp_profile *p);
void cp_profile_destroy(struct cp_profile *p);

/* The one of a stack's frames, outermost first, that a sample is put down to: of who sleeps,
 * the function that has the C library wait; of who runs or would, not what Rust inlines
 * everywhere. */
size_t cp_profile_own_frame(const struct cp_profile *p, const uint32_t *frames, size_t count,
			    bool sleeps);

#endif
