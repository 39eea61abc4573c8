/* SPDX-License-Identifier: MIT
 *
 * Numbers that profilers registered, as they were at the end. A section has
 * all of them; the last one read counts:
 *
 *     how many, then of each: length and bytes of the profiler's name, of the
 *     number's own, its value
 */
#ifndef CP_RECORD_COUNTERS_H
#define CP_RECORD_COUNTERS_H

#include "base/buf.h"
#include "base/cursor.h"

#define CP_RECORD_COUNTERS_MAX 4096

struct cp_record;
struct cp_record_writer;

struct cp_record_counter {
	const char *module, *name;
	uint64_t value;
};

/* Until the writer is destroyed, once: what they are. Copied. */
void cp_record_counters(struct cp_record_writer *w, const struct cp_record_counter *counters,
			size_t count);

/* Of a recording that was read; live as long as it does. */
size_t cp_record_counter_count(const struct cp_record *r);
const struct cp_record_counter *cp_record_get_counter(const struct cp_record *r, size_t n);

/* ---- private to src/record ---- */

/* Into a section's body. */
void cp_record_put_counters(struct cp_buf *out, const struct cp_record_counter *counters,
			    size_t count);
/* False: the body makes no sense, or there is no memory (then *no_memory_ret). */
bool cp_record_get_counters(struct cp_record *r, struct cp_cursor *c, bool *no_memory_ret);
/* The counters of several recordings; the same of the same profiler are added up. */
void cp_record_combine_counters(struct cp_record *const *inputs, size_t count, struct cp_buf *out);

#endif
