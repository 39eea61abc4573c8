/* SPDX-License-Identifier: MIT
 *
 * The calls of a recording in their order, for people and as JSON.
 */
#ifndef CP_REPORT_REPLAY_H
#define CP_REPORT_REPLAY_H

#include "record/calls.h"
#include "report/look/sink.h"
#include "report/look/table.h"
#include "report/profile/profile.h"
#include "report/replay/chosen.h"

/* Indented by depth, a call without calls in it on one line. */
CP_ERROR cp_replay_text(const struct cp_profile *p, const struct cp_replay_options *o,
			const struct cp_look *look, struct cp_sink *sink);

/* The same of calls as they come. All is borrowed until destroy; lines are in the sink's
 * buffer, or beyond. */
struct cp_replay;
CP_ERROR cp_replay_begin(const struct cp_profile *p, const struct cp_replay_options *o,
			 const struct cp_look *look, struct cp_sink *sink, struct cp_replay **ret);
void cp_replay_destroy(struct cp_replay *r);
/* The profile has grown (cp_profile_grow()). */
CP_ERROR cp_replay_grow(struct cp_replay *r);
/* For cp_record_call_fn, with the replay as its context; false: cp_replay_check() says why. */
bool cp_replay_event(void *replay, const struct cp_record_call *call);
CP_ERROR cp_replay_check(struct cp_replay *r);
/* Lines that were begun before the last time that this was called wait no longer for what
 * may belong on them: calls that are open get their brace. */
void cp_replay_settle(struct cp_replay *r);
/* Nothing more comes: what is open is told so. */
CP_ERROR cp_replay_end(struct cp_replay *r);
#endif
