/* SPDX-License-Identifier: MIT
 *
 * cprof attach: a running process, until it or we have had enough.
 */
#include <stdio.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/collecting.h"
#include "cmd/commands.h"
#include "cmd/complain.h"
#include "cmd/guard.h"
#include "cmd/previewing.h"
#include "cmd/signals.h"

/* To a person who sees nothing happen. */
static void say_how_to_end(pid_t pid, const struct cp_collect_options *o)
{
	if (!o->quiet && isatty(STDERR_FILENO))
		fprintf(stderr, "cprof: attached to %d; Ctrl-C ends the recording%s\n", (int)pid,
			o->duration_ns ? " early" : "");
}

static int attach_session(cprof_session *s, pid_t pid, const struct cp_collect_options *o)
{
	cprof_session_set_plugin_dirs(s, o->plugin_dirs.items);
	cprof_session_set_detours(s, !o->calls.traps);
	cprof_session_set_on_full(s, (cprof_on_full)o->calls.on_full);
	if (!cp_collecting_load(s, o) || !cp_collecting_capture(s, o))
		return CP_EXIT_FAILURE;
	if (cprof_session_attach(s, pid, cp_collecting_flags(o))) {
		cp_collecting_complain(s);
		return CP_EXIT_FAILURE;
	}
	if (!cp_collecting_record(s, o))
		return CP_EXIT_FAILURE;
	say_how_to_end(pid, o);
	cprof_session_run(s, o->duration_ns);
	return cp_collecting_end(o, s) ? CP_EXIT_OK : CP_EXIT_FAILURE;
}

static int run_attach(struct cp_args *args)
{
	const struct cp_collect_options *o = args->options;
	cprof_session *s;
	char exe[64];
	int status;
	pid_t pid;

	if (!cp_operand_pid(args, 0, &pid, &status))
		return status;
	status = cp_collecting_check(args, o);
	if (status || cp_collecting_helps(o, CP_EXIT_FAILURE, &status))
		return status;
	snprintf(exe, sizeof(exe), "/proc/%d/exe", (int)pid);
	status = cp_collecting_preview(args, o, exe);
	if (status)
		return status;
	s = cp_collecting_session(&o->stacks, o->verbose);
	if (!s)
		return CP_EXIT_FAILURE;
	cp_guard_begin(s, CP_EXIT_FAILURE);
	cp_signals_stop(s);
	status = attach_session(s, pid, o);
	cp_signals_forget();
	cp_guard_end(s);
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
