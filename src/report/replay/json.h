/* SPDX-License-Identifier: MIT
 *
 * The calls of a recording in their order, as JSON.
 */
#ifndef CP_REPORT_REPLAY_JSON_H
#define CP_REPORT_REPLAY_JSON_H

#include "base/error.h"
#include "report/look/sink.h"
#include "report/profile/profile.h"
#include "report/replay/chosen.h"

/* An object a line, an event each. */
CP_ERROR cp_replay_json(const struct cp_profile *p, const struct cp_replay_options *o,
			struct cp_sink *sink);

#endif
