/* SPDX-License-Identifier: MIT
 *
 * Allocations as a profile.
 */
#ifndef CP_REPORT_HEAPSTACKS_H
#define CP_REPORT_HEAPSTACKS_H

#include "base/buf.h"
#include "base/error.h"
#include "report/profile/profile.h"

/* Makes hits of allocations, those that allocated nothing that counts too, for all
 * of them stand in p->heap. */
CP_ERROR cp_profile_add_heap(struct cp_profile *p);
/* Frees what was kept of that (p->allocations). */
void cp_profile_forget_heap(struct cp_profile *p);
/* Appends what has to be known of its sums: of how much of the time they are, say;
 * nothing when they are whole. */
void cp_profile_caveat(const struct cp_profile *p, struct cp_buf *out);

#endif
