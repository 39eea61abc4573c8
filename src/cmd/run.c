/* SPDX-License-Identifier: MIT
 *
 * cprof run: CMD is our child, and its exit status ours.
 */
#include "cmd/cmd.h"
#include "cmd/commands.h"
#include "cmd/following.h"
#include "cmd/running.h"

static int run_run(struct cp_args *args)
{
	struct cp_following *f;
	bool ran, cut;
	int status = cp_following_begin(args, args->options, CP_EXIT_OWN_FAILURE, &f);

	if (status)
		return status;
	status = cp_running(args, args->options, cp_following_watching(f), &ran, &cut);
	cp_following_destroy(f);
	return status;
}

const struct cp_command cp_command_run = {
	.name = "run",
	.operands = "[options] [--] CMD [ARG...]",
	.summary = "Start CMD and profile it",
	.details = "The exit status is CMD's own; 128+N when signal N ended it; 125 when cprof\n"
		   "itself failed, 126 when CMD could not be executed, 127 when it was not found.",
	.groups = cp_run_groups,
	.options_size = sizeof(struct cp_collect_options),
	.defaults = &cp_collect_defaults,
	.least = 1,
	.ends_at_operand = true,
	.usage_status = CP_EXIT_OWN_FAILURE,
	.completes = CP_COMPLETES_COMMANDS,
	.run = run_run,
};
