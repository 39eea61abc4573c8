/* SPDX-License-Identifier: MIT
 *
 * How far preparing is, on a line of its own that goes away again.
 */
#ifndef CP_CMD_PREPARING_H
#define CP_CMD_PREPARING_H

#include <cprof/session.h>

#include "cmd/collecting.h"

/* From now on a person at a terminal is told, unless options say that nothing is. Lives as long as
 * the session. */
void cp_preparing_show(cprof_session *session, const struct cp_collect_options *options);

#endif
