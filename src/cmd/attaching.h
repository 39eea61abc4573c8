/* SPDX-License-Identifier: MIT
 *
 * A running process as attach and top take it.
 */
#ifndef CP_CMD_ATTACHING_H
#define CP_CMD_ATTACHING_H

#include "cmd/cmd.h"
#include "cmd/collect.h"
#include "cmd/watching.h"

/* Attaches to the process that the operand names, until it or we have had enough. Answers
 * the exit status. `watching` may be NULL. */
int cp_attaching(struct cp_args *args, const struct cp_collect_options *options,
		 const struct cp_watching *watching);

#endif
