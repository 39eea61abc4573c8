/* SPDX-License-Identifier: MIT
 *
 * Lists of values as JSON and as text.
 */
#ifndef CP_REPORT_VALUES_H
#define CP_REPORT_VALUES_H

#include <cprof/value.h>

#include "base/json.h"
#include "record/calls.h"

/* {"name","type","value","text","source"}; with `key`, or NULL in a list. */
void cp_value_member(struct cp_json *j, const char *key, const cprof_value *value);
void cp_values_json(struct cp_json *j, const char *key, const cprof_value *values, size_t count);
/* {"host": "db-1", "n": 4}; those without a name have their number. */
void cp_values_object(struct cp_buf *out, const cprof_value *values, size_t count);
/* `"host", 4`; with `names`, and where values are guessed, `n=4`. */
void cp_values_text(struct cp_buf *out, const cprof_value *values, size_t count, bool names);

/* The values of a leave by what they are; borrowed of `call` (NULL: none). */
struct cp_returned {
	const cprof_value *result; /* NULL: none */
	const cprof_value *locals, *changed; /* changed: behind the arguments */
	uint32_t local_count, changed_count;
};

struct cp_returned cp_call_returned(const struct cp_record_call *call);

#endif
