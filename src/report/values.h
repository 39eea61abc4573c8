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

/* How many values of a leave are locals: those between the result and what
 * changed behind arguments. */
uint32_t cp_call_locals(const struct cp_record_call *call);

#endif
