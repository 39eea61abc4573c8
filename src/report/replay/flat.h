/* SPDX-License-Identifier: MIT
 *
 * Calls of a replay with a line for each event, for who searches or sorts them:
 *
 *     0.000010  → parse("a.conf", 3)
 *     0.000030  ← parse = 0  20.0 µs
 */
#ifndef CP_REPORT_REPLAY_FLAT_H
#define CP_REPORT_REPLAY_FLAT_H

#include "report/replay/printer.h"

/* The subject of the printer is the call. */
CP_ERROR cp_flat_enter(struct cp_printer *w, struct cp_span *span,
		       const struct cp_record_call *call);
CP_ERROR cp_flat_leave(struct cp_printer *w, const struct cp_span *span,
		       const struct cp_record_call *call);

#endif
