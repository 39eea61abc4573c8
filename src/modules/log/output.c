/* SPDX-License-Identifier: MIT
 *
 * Where the recorder writes: output= as Mono has it (base/output.h), files
 * with the recorder's care (base/create.h).
 */
#include "modules/log/output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/create.h"

struct cp_error *cp_recorder_open_file(cprof_profiler *log, const char *path)
{
	free(log->path);
	log->path = strdup(path);
	return log->path ? cp_create(CP_CREATE_RECORDING, path, &log->fd) : cp_error_nomem();
}

static struct cp_error *open_as(cprof_profiler *log, const struct cp_output *o)
{
	char descriptor[32];

	switch (o->kind) {
	case CP_OUTPUT_FILE:
		return cp_recorder_open_file(log, o->file);
	case CP_OUTPUT_DESCRIPTOR:
		snprintf(descriptor, sizeof(descriptor), "/dev/fd/%d", o->descriptor);
		return cp_create(CP_CREATE_RECORDING, descriptor, &log->fd);
	case CP_OUTPUT_COMMAND:
		errno = cp_output_start(o->file, &log->pipe);
		if (errno)
			return cp_error_new(CP_ERR_IO, errno, "starting '%s'", o->file);
		log->fd = log->pipe.fd;
		return NULL;
	}
	return NULL;
}

static struct cp_error *open_now(cprof_profiler *log, int32_t pid)
{
	struct cp_error *err;
	struct cp_output o;

	if (!log->output)
		return NULL;
	if (log->plain)
		return cp_recorder_open_file(log, log->output);
	if (!cp_output_parse(log->output, pid, &o))
		return cp_error_new(CP_ERR_USAGE, 0,
				    "output=%s: it takes FILE, +FILE, #DESCRIPTOR, |COMMAND or -",
				    log->output);
	err = open_as(log, &o);
	cp_output_free(&o);
	return err;
}

struct cp_error *cp_recorder_open_early(cprof_profiler *log)
{
	bool late = log->output && !log->plain && cp_output_needs_pid(log->output);

	return late ? NULL : open_now(log, 0);
}

struct cp_error *cp_recorder_open_late(cprof_profiler *log)
{
	if (log->fd >= 0)
		return NULL;
	return open_now(log, cprof_session_target(cprof_session_current()));
}

void cp_recorder_close(cprof_profiler *log)
{
	if (cp_output_wait(&log->pipe) && !log->failed)
		cprof_profiler_fail(log->handle, "the command behind output=%s failed",
				    log->output);
}
