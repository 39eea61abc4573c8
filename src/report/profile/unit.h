/* SPDX-License-Identifier: MIT
 *
 * What the weights of a profile are, and how they are told.
 */
#ifndef CP_REPORT_UNIT_H
#define CP_REPORT_UNIT_H

#include <stdint.h>

#include "base/buf.h"
#include "base/json.h"
#include "record/nettime.h"
#include "report/look/table.h"
#include "report/profile/profile.h"

/* How weights and ticks of a profile are told: whatever shows them asks this. */
struct cp_unit {
	const char *of; /* behind an amount: "12.3 ms" "of CPU time", "4 KiB" "allocated" */
	const char *whole; /* behind a share: "12.3 %" "of the time" */
	const char *heading; /* of a column of weights */
	const char *tick, *ticks; /* one of them, several */
	const char *symbol; /* "ns", "bytes", "count" */
	const char *measure; /* the same as most formats have it: "nanoseconds", ... */
	const char *kind; /* as pprof tells sample types: "cpu", "alloc_space", ... */
	void (*add)(struct cp_buf *out, uint64_t weight); /* in words */
};

/* That of samples of a recording, whatever its profile is of. */
const struct cp_unit *cp_sample_unit(const struct cp_record_info *info);
/* The unit of a profile's weights. */
const struct cp_unit *cp_profile_unit(const struct cp_profile *p);
/* A cost as it is shown: of calls, the sum may be a bound. */
static inline struct cp_net_time cp_cost_shown(const struct cp_profile *p,
					       const struct cp_cost *cost)
{
	return p->by_calls ? cp_net_settle(&cost->sum) : (struct cp_net_time){ .ns = cost->weight };
}
/* Appends it in words. */
void cp_cost_add_words(const struct cp_profile *p, const struct cp_cost *cost, struct cp_buf *out);
/* The same as a member "WHAT_ns", or "WHAT_count" where samples are of an event; `what` NULL:
 * "ns", "count". */
void cp_json_cost(struct cp_json *j, const struct cp_profile *p, const char *what,
		  const struct cp_cost *cost);
/* The next cell: what was spent. */
void cp_cost_cell(struct cp_table *t, const struct cp_profile *p, const struct cp_cost *cost);

#endif
