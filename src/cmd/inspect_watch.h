/* SPDX-License-Identifier: MIT
 *
 * What changes, as it does.
 */
#ifndef CP_CMD_INSPECT_WATCH_H
#define CP_CMD_INSPECT_WATCH_H

#include "cmd/inspect_show.h"

/* Shows expressions when they change, until the process ends; the command's status. */
int cp_inspect_watch(struct cp_inspect *i);

#endif
