/* SPDX-License-Identifier: MIT
 *
 * An event as a line of JSON. Keys are a contract: new ones may come, none goes.
 */
#ifndef CP_TRANSCRIPT_JSON_H
#define CP_TRANSCRIPT_JSON_H

#include "base/json.h"

/* The members that all events have; texts are borrowed. */
struct cp_json_event {
	const char *name;
	uint64_t ns;
	int32_t pid, ns_pid, tid, ns_tid; /* those in a namespace are told where they differ */
	const char *function, *image; /* function NULL: it is of none, and has no depth */
	uint64_t depth;
};

/* Begins the line's object. */
void cp_json_event_begin(struct cp_json *j, const struct cp_json_event *event);
/* Of a call that was unwound. */
void cp_json_event_unwound(struct cp_json *j, bool ended, bool unsure, bool lost);
void cp_json_event_times(struct cp_json *j, uint64_t duration_ns, uint64_t overhead_ns,
			 uint64_t uncertain_ns, uint64_t cpu_ns);
/* Ends object and line. */
void cp_json_event_end(struct cp_json *j);

#endif
