/* SPDX-License-Identifier: MIT
 *
 * What the parts of the trace-event writer share.
 */
#ifndef CP_REPORT_CHROME_EVENTS_H
#define CP_REPORT_CHROME_EVENTS_H

#include "base/json.h"
#include "report/events/annotations.h"
#include "report/look/sink.h"
#include "report/profile/heap.h"
#include "report/profile/profile.h"

struct cp_slice {
	uint32_t frame;
	uint64_t from_ns;
	struct cp_cost cost;
};

struct cp_chrome {
	const struct cp_profile *p;
	struct cp_sink *sink;
	struct cp_json j;
	uint64_t gap_ns; /* a longer gap than this ends all slices */
	uint32_t thread;
	CP_VEC(struct cp_slice) open; /* outermost first */
	uint64_t end_ns; /* of what is open */
	bool beside; /* there are calls or annotations, too: samples stand beside them */
	struct cp_annotations annotations;
	struct cp_buf *functions; /* owned; what slices of calls begin with, made when needed */
	struct cp_buf *threads; /* likewise: whose they are */
	CP_VEC(struct cp_buf *) spare; /* owned; for arguments of calls that are open */
	struct cp_heap heap; /* as far as its events were written */
};

/* Microseconds with all digits, as the format has them. */
void cp_chrome_microseconds(struct cp_chrome *c, const char *key, uint64_t ns);

#endif
