/* SPDX-License-Identifier: MIT
 *
 * All that is asked of a thread, a frame, a file.
 */
#ifndef CP_CMD_INSPECT_ASKED_H
#define CP_CMD_INSPECT_ASKED_H

#include "cmd/inspect_show.h"

/* Shows it, of the thread and frame that are chosen. Complains of what makes no sense. */
void cp_inspect_each(struct cp_inspect *i);

#endif
