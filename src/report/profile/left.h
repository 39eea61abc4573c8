/* SPDX-License-Identifier: MIT
 *
 * Processes that lived on when a recording ended: what they did later is in no
 * report.
 */
#ifndef CP_REPORT_LEFT_H
#define CP_REPORT_LEFT_H

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"

struct cp_record;

struct cp_left {
	int32_t pid;
	char *name; /* owned */
};

struct cp_lefts {
	struct cp_left *items;
	size_t count, capacity;
};

CP_ERROR cp_lefts_of(const struct cp_record *r, struct cp_lefts *ret);
void cp_lefts_free(struct cp_lefts *left);
/* "a (12), b (13) and 2 more". */
void cp_lefts_add_names(struct cp_buf *out, const struct cp_lefts *left);
/* "2 processes lived on when the recording ended: a (12), b (13)"; nothing when there
 * are none. Names are escaped for a terminal. */
void cp_lefts_add(struct cp_buf *out, const struct cp_lefts *left);
/* The key "left", when there are any. */
void cp_lefts_json(struct cp_json *j, const struct cp_lefts *left);

#endif
