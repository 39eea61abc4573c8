/* SPDX-License-Identifier: MIT
 *
 * cprof attach: a running process, until it or we have had enough.
 */
#include "cmd/attaching.h"
#include "cmd/cmd.h"
#include "cmd/commands.h"
#include "cmd/following.h"

static int run_attach(struct cp_args *args)
{
	struct cp_following *f;
	int status = cp_following_begin(args, args->options, CP_EXIT_FAILURE, &f);

	if (status)
		return status;
	status = cp_attaching(args, args->options, cp_following_watching(f));
	cp_following_destroy(f);
	return status;
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
