/* SPDX-License-Identifier: MIT
 *
 * What stands before a line of a replay, as `--fields=LIST` asks for it.
 */
#ifndef CP_REPORT_REPLAY_FIELDS_H
#define CP_REPORT_REPLAY_FIELDS_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "report/profile/profile.h"

/* A field is a row: its name, and how many columns it takes. */
#define CP_FIELDS(X) \
	X(time, 12) \
	X(delta, 10) \
	X(process, 12) \
	X(pid, 7) \
	X(thread, 12) \
	X(tid, 7) \
	X(depth, 5) \
	X(image, 14) \
	X(source, 20) \
	X(site, 20)
/* One more stands behind. */
#define CP_FIELD_NAMES \
	"time, delta, process, pid, thread, tid, depth, image, source, site, duration"

#define CP_FIELD_ENUM(name, columns) CP_FIELD_##name,
enum cp_field { CP_FIELDS(CP_FIELD_ENUM) CP_FIELD_COUNT };

struct cp_fields {
	enum cp_field items[CP_FIELD_COUNT];
	size_t count;
	bool duration; /* behind calls */
};

/* A list of names, separated by commas, or "none". */
CP_ERROR cp_fields_parse(const char *list, struct cp_fields *ret);

/* What a line is about. */
struct cp_field_subject {
	uint64_t ns; /* from the start of the recording */
	uint64_t before_ns; /* of the thread's line before; UINT64_MAX: it is the first */
	uint32_t thread;
	uint32_t function; /* CP_RECORD_NONE: it is of none; then depth is nothing */
	uint32_t depth;
	uint32_t stack; /* that a call was made in; CP_RECORD_NONE: not known */
};
/* Appends all of them, escaped, and two blanks behind each. */
void cp_fields_add(const struct cp_fields *f, const struct cp_profile *p,
		   const struct cp_field_subject *of, struct cp_buf *out);

#endif
