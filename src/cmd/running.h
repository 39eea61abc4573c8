/* SPDX-License-Identifier: MIT
 *
 * CMD as run and cover start it: our child, whose exit status becomes ours.
 */
#ifndef CP_CMD_RUNNING_H
#define CP_CMD_RUNNING_H

#include "cmd/cmd.h"
#include "cmd/collect.h"
#include "cmd/watching.h"

/* Starts what the operands name, records until it ends and says so. Answers
 * CMD's status, or one of cprof's own after a complaint: then *ran_ret is
 * false. A recording cut short is complained of: *cut_ret. `watching` may be NULL. */
int cp_running(struct cp_args *args, const struct cp_collect_options *options,
	       const struct cp_watching *watching, bool *ran_ret, bool *cut_ret);

#endif
