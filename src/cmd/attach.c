/* SPDX-License-Identifier: MIT */
#include "cmd/cmd.h"
#include "cmd/collect.h"
#include "cmd/commands.h"

static int run_attach(struct cp_args *args)
{
	int status;
	pid_t pid;

	if (!cp_operand_pid(args, 0, &pid, &status))
		return status;
	cp_complain(cp_error_new(CP_ERR_UNSUPPORTED, 0, "attach is not there yet"));
	return CP_EXIT_FAILURE;
}

const struct cp_command cp_command_attach = {
	.name = "attach",
	.operands = "[options] PID",
	.summary = "Profile a running process, then leave it as it was",
	.details =
		"Ctrl-C, SIGTERM, SIGHUP or the end of --duration end the recording; the process\n"
		"runs on. --output=- writes the recording to standard output.",
	.groups = cp_collect_groups,
	.options_size = sizeof(struct cp_collect_options),
	.defaults = &cp_collect_defaults,
	.least = 1,
	.most = 1,
	.usage_status = CP_EXIT_USAGE,
	.completes = CP_COMPLETES_PIDS,
	.run = run_attach,
};
