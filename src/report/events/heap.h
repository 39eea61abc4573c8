/* SPDX-License-Identifier: MIT
 *
 * What was allocated, and what of it was left, as a table and as JSON.
 */
#ifndef CP_REPORT_EVENTS_HEAP_H
#define CP_REPORT_EVENTS_HEAP_H

#include "base/json.h"
#include "report/look/table.h"
#include "report/profile/options.h"
#include "report/profile/heap.h"
#include "report/profile/profile.h"

/* Allocations of a recording that holds any, or was to. */
bool cp_report_holds_heap(const struct cp_profile *p);
/* A table by who asked for it, and stacks of what is left, the most first; or that
 * nothing was allocated. */
CP_ERROR cp_report_heap(const struct cp_profile *p, const struct cp_report_options *o,
			const struct cp_look *look, struct cp_buf *out);
/* The key "allocations". */
CP_ERROR cp_report_heap_json(const struct cp_profile *p, const struct cp_report_options *o,
			     struct cp_json *j);

/* The table as comma-separated values. */
CP_ERROR cp_report_heap_csv(const struct cp_profile *p, const struct cp_report_options *o,
			    struct cp_buf *out);

/* ---- for what else is shown of them ---- */

/* "1,234 bytes in 5 blocks". */
void cp_report_heap_amount(const struct cp_heap_amount *a, struct cp_buf *out);
void cp_report_heap_amount_json(struct cp_json *j, const char *key, const struct cp_heap_amount *a);
/* "AMOUNT from", and the frames of the site's stack. */
void cp_report_heap_stack(const struct cp_heap *h, const struct cp_heap_site *site,
			  const char *amount, const struct cp_look *look, struct cp_buf *out);
/* The key "stack", of a site that has one. */
void cp_report_heap_stack_json(const struct cp_heap *h, const struct cp_heap_site *site,
			       struct cp_json *j);
/* How far the numbers are to be believed. */
void cp_report_heap_doubts(const struct cp_heap *h, const struct cp_look *look, struct cp_buf *out);

#endif
