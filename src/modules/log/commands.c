/* SPDX-License-Identifier: MIT */
#include "modules/log/commands.h"

#include <string.h>

#include "base/types.h"
#include "modules/log/marks.h"
#include "modules/log/rotate.h"

static void set_paused(cprof_profiler *log, bool paused)
{
	size_t i;

	if (log->paused == paused) {
		cprof_command_refuse(log->handle, paused ? "it is paused" : "it is not paused");
		return;
	}
	log->paused = paused;
	for (i = 0; i < log->part_count; i++)
		if (log->parts[i].on && log->parts[i].family->pause)
			log->parts[i].family->pause(log);
	cp_recorder_mark(log, paused ? "paused" : "resumed", "cprof");
	cprof_command_answer(log->handle, paused ? "paused" : "it goes on");
}

static void do_pause(cprof_profiler *log, const char *argument)
{
	(void)argument;
	set_paused(log, true);
}

static void do_resume(cprof_profiler *log, const char *argument)
{
	(void)argument;
	set_paused(log, false);
}

static void do_mark(cprof_profiler *log, const char *text)
{
	if (cp_recorder_mark(log, text, "mark"))
		cprof_command_answer(log->handle, "marked '%s'", text);
	else
		cprof_command_refuse(log->handle, "the recording has not begun");
}

static void do_rotate(cprof_profiler *log, const char *argument)
{
	struct cp_error *err = NULL;
	const char *name;

	(void)argument;
	if (!cp_recorder_may_rotate(log, "rotate"))
		return;
	if (!log->writer)
		cprof_command_refuse(log->handle, "the recording has not begun");
	else if (cp_recorder_rotate_runs(log))
		cprof_command_refuse(log->handle, "the last recording is still being completed");
	else if (cp_recorder_rotate(log, &name, &err))
		cprof_command_answer(log->handle, "'%s' is complete", name);
	else
		cprof_command_refuse(log->handle, "%s", err->what);
	cp_error_free(err);
}

static const struct {
	const char *name;
	void (*run)(cprof_profiler *log, const char *argument);
} commands[] = {
	{ "pause", do_pause },
	{ "resume", do_resume },
	{ "mark", do_mark },
	{ "rotate", do_rotate },
};

void cp_recorder_command(cprof_profiler *log, const char *name, const char *argument)
{
	size_t i;

	for (i = 0; i < CP_ARRAY_SIZE(commands); i++)
		if (!strcmp(name, commands[i].name)) {
			commands[i].run(log, argument);
			return;
		}
	for (i = 0; i < log->part_count; i++)
		if (log->parts[i].family->command &&
		    log->parts[i].family->command(log, name, argument))
			return;
}
