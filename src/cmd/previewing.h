/* SPDX-License-Identifier: MIT */
#ifndef CP_CMD_PREVIEWING_H
#define CP_CMD_PREVIEWING_H

#include "cmd/cmd.h"
#include "cmd/collect.h"

/* CP_EXIT_OK, or the status after a complaint about a --trace that nothing in the program at `path`, nor anything
 * it could load or start, will ever match; and for a --when about arguments that
 * nothing of that has. */
int cp_collecting_preview(const struct cp_args *args, const struct cp_collect_options *options,
			  const char *path);

#endif
