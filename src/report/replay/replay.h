/* SPDX-License-Identifier: MIT
 *
 * The calls of a recording in their order, for people and as JSON.
 */
#ifndef CP_REPORT_REPLAY_H
#define CP_REPORT_REPLAY_H

#include "report/look/sink.h"
#include "report/look/table.h"
#include "report/profile/profile.h"
#include "report/replay/chosen.h"

/* Indented by depth, a call without calls in it on one line. */
CP_ERROR cp_replay_text(const struct cp_profile *p, const struct cp_replay_options *o,
			const struct cp_look *look, struct cp_sink *sink);
#endif
