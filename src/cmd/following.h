/* SPDX-License-Identifier: MIT
 *
 * `--live`: calls are shown as they come, by the replay's own printer. What is recorded is
 * told chunk by chunk, before it is in a file, by the writer's thread:
 *
 *     recorder ─► chunk ─► tables and calls ─► replay ─► outlet ─► who reads
 *                   └────► file, if there is one
 */
#ifndef CP_CMD_FOLLOWING_H
#define CP_CMD_FOLLOWING_H

#include "cmd/cmd.h"
#include "cmd/collect.h"
#include "cmd/watching.h"

struct cp_following;

/* *ret is NULL where calls are not to be shown. CP_EXIT_OK, or the status after a complaint:
 * `failure`, or that of bad usage. The options are borrowed. */
int cp_following_begin(const struct cp_args *args, const struct cp_collect_options *options,
		       int failure, struct cp_following **ret);
/* For run and attach; NULL of NULL. */
const struct cp_watching *cp_following_watching(const struct cp_following *f);
/* NULL is allowed. */
void cp_following_destroy(struct cp_following *f);

#endif
