/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/collect.h"
#include "cmd/commands.h"

static int run_run(struct cp_args *args)
{
	const struct cp_collect_options *o = args->options;

	if (!strcmp(o->output, "-"))
		return cp_usage(args, "standard output belongs to CMD: name a file for --output");
	cp_complain(cp_error_new(CP_ERR_UNSUPPORTED, 0, "run is not there yet"));
	return CP_EXIT_OWN_FAILURE;
}

const struct cp_command cp_command_run = {
	.name = "run",
	.operands = "[options] [--] CMD [ARG...]",
	.summary = "Start CMD and profile it",
	.details = "The exit status is CMD's own; 128+N when signal N ended it; 125 when cprof\n"
		   "itself failed, 126 when CMD could not be executed, 127 when it was not found.",
	.groups = cp_collect_groups,
	.options_size = sizeof(struct cp_collect_options),
	.defaults = &cp_collect_defaults,
	.least = 1,
	.ends_at_operand = true,
	.usage_status = CP_EXIT_OWN_FAILURE,
	.completes = CP_COMPLETES_COMMANDS,
	.run = run_run,
};
