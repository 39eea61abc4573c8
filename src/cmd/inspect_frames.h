/* SPDX-License-Identifier: MIT
 *
 * Frames that are inspected: see inspect_frames.c.
 */
#ifndef CP_CMD_INSPECT_FRAMES_H
#define CP_CMD_INSPECT_FRAMES_H

#include "cmd/inspect_show.h"

/* Shows all that is asked for, of the frame that is asked for of each thread, or of all
 * threads while they stand still. */
void cp_inspect_frames(struct cp_inspect *i);

#endif
