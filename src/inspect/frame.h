/* SPDX-License-Identifier: MIT
 *
 * Where a variable of a frame is: see frame.c.
 */
#ifndef CP_INSPECT_FRAME_H
#define CP_INSPECT_FRAME_H

#include "inspect/build.h"

/* Variable `position` of those in scope, in the request's arena, to be read by the request,
 * whose capture may become another one; NULL: it can't be known. */
const struct cp_parameter *cp_frame_parameter(struct cp_value_request *request,
					      const struct cp_value_frame *frame, size_t position);

#endif
