/* SPDX-License-Identifier: MIT
 *
 * Traced calls as a profile.
 */
#ifndef CP_REPORT_CALLSTACKS_H
#define CP_REPORT_CALLSTACKS_H

#include "base/buf.h"
#include "base/error.h"
#include "report/profile/profile.h"

struct cp_span_visitor; /* profile/spans.h */

/* Who sees the calls as cp_spans_walk() would show them, in the walk that makes hits of them:
 * enter, leave, leaves and disarmed of a visitor which is bare, and which may use the data of spans but
 * for `node`. Where events have stacks there is none, for these can't be walked yet. */
struct cp_profile_beside {
	struct cp_error *(*begin)(const struct cp_profile *p, void **made_ret);
	const struct cp_span_visitor *visitor; /* with what was made as its context */
	void (*destroy)(void *made);
};

/* Makes hits of calls, when there are no samples. */
CP_ERROR cp_profile_add_calls(struct cp_profile *p);

#endif
