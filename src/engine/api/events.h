/* SPDX-License-Identifier: MIT
 *
 * Where each event of cprof/events.h comes from: `cprof modules --events`.
 */
#ifndef CP_ENGINE_API_EVENTS_H
#define CP_ENGINE_API_EVENTS_H

#include <stddef.h>

enum cp_event_source {
	CP_SOURCE_RAISED, /* it happens in native code, and is told */
	CP_SOURCE_EMULATED, /* the contract is kept for what is nearest to it */
	CP_SOURCE_NONE, /* it could be told; this version does not look */
	CP_SOURCE_NEVER, /* native code has no such thing */
};

struct cp_event_info {
	const char *name;
	enum cp_event_source source;
	const char *by; /* what, how or why, in words */
};

/* A line for each event, in the order of cprof/events.h. */
extern const struct cp_event_info cp_event_infos[];
extern const size_t cp_event_info_count;

#endif
