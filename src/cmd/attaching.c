/* SPDX-License-Identifier: MIT */
#include "cmd/attaching.h"

#include <stdio.h>
#include <unistd.h>

#include "cmd/collecting.h"
#include "cmd/complain.h"
#include "cmd/guard.h"
#include "cmd/preparing.h"
#include "cmd/previewing.h"
#include "cmd/signals.h"
#include "cmd/steering.h"
#include "cmd/toggling.h"

/* To a person who sees nothing happen. */
static void say_how_to_end(pid_t pid, const struct cp_collect_options *o)
{
	if (!o->quiet && isatty(STDERR_FILENO))
		fprintf(stderr, "cprof: attached to %d; Ctrl-C ends the recording%s\n", (int)pid,
			o->duration_ns ? " early" : "");
}

static int attach_session(cprof_session *s, pid_t pid, const struct cp_collect_options *o,
			  const struct cp_watching *w)
{
	struct cp_steering *steering;
	bool good;

	cprof_session_set_plugin_dirs(s, o->plugin_dirs.items);
	cprof_session_set_detours(s, !o->calls.traps);
	cprof_session_set_on_full(s, (cprof_on_full)o->calls.on_full);
	if (!cp_toggling_begin(s, o->signal) || !cp_collecting_load(s, o) ||
	    !cp_collecting_capture(s, o) || (w && !w->prepare(s, w->data)))
		return CP_EXIT_FAILURE;
	cp_preparing_show(s, o);
	cp_signals_stop(s); /* until now they ended cprof, and the process knew nothing of it */
	if (cprof_session_attach(s, pid, cp_collecting_flags(o))) {
		cp_collecting_complain(s);
		return CP_EXIT_FAILURE;
	}
	if (!cp_collecting_record(s, o))
		return CP_EXIT_FAILURE;
	steering = cp_steering_begin(s);
	if (w)
		w->begins(s, w->data);
	else
		say_how_to_end(pid, o);
	cprof_session_run(s, o->duration_ns);
	if (w)
		w->ends(w->data);
	good = cp_collecting_end(o, s);
	cp_steering_end(steering, good);
	return good ? CP_EXIT_OK : CP_EXIT_FAILURE;
}

int cp_attaching(struct cp_args *args, const struct cp_collect_options *o,
		 const struct cp_watching *watching)
{
	cprof_session *s;
	char exe[64];
	int status;
	pid_t pid;

	if (!cp_operand_pid(args, 0, &pid, &status))
		return status;
	cp_signals_prepare("process ", args->operands[0], " was attached to: nothing was recorded",
			   CP_EXIT_FAILURE);
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
	status = attach_session(s, pid, o, watching);
	cp_signals_forget();
	cp_guard_end(s);
	return status;
}
