/* SPDX-License-Identifier: MIT
 *
 * What `cprof ctl PID status` tells.
 */
#ifndef CP_CMD_STEERING_STATUS_H
#define CP_CMD_STEERING_STATUS_H

#include <cprof/cprof.h>
#include <stdbool.h>

#include "base/buf.h"

/* Appends what a session does, as text for a person, whose control characters are still
 * to be escaped, or as a JSON object. `begin_ns`: since when. */
void cp_steering_status(cprof_session *s, uint64_t begin_ns, bool json, struct cp_buf *out);

#endif
