/* SPDX-License-Identifier: MIT
 *
 * The socket is waited for by the session's own loop (cprof_session_watch()). What a
 * command does is up to profilers, the recorder above all: they get it as an event. Here
 * are only those that are about the session itself.
 */
#include "cmd/steering.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "base/clock.h"
#include "base/log.h"
#include "cmd/complain.h"
#include "cmd/steering_status.h"
#include "control/server.h"
#include "engine/api/profiler.h"
#include "modules/modules.h"

struct cp_steering {
	cprof_session *session; /* borrowed */
	struct cp_control_server *server; /* owned */
	uint64_t begin_ns;
};

const struct cp_steering_command cp_steering_commands[] = {
	{ "status", NULL, "what the session does, has recorded, and costs" },
	{ "pause", NULL, "take no samples, trace no calls" },
	{ "resume", NULL, "go on" },
	{ "sample", "HZ", "take so many samples a second; 0: none" },
	{ "trace", "SPEC", "trace these functions, too" },
	{ "untrace", "SPEC", "trace these no more" },
	{ "heapshot", NULL, "mark the moment, for a report of what is live then (with --allocs)" },
	{ "mark", "TEXT", "write into the recording what happens now" },
	{ "rotate", NULL, "end the recording, and begin another one; answers when it is complete" },
	{ "stop", NULL, "end the session; answers when the recording is complete" },
	{ 0 }
};

static const struct cp_steering_command *find(const char *name)
{
	const struct cp_steering_command *c;

	for (c = cp_steering_commands; c->name; c++)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

static enum cp_control_answer unknown(const char *name, struct cp_buf *out)
{
	struct cp_text_near near = cp_text_near(name, strlen(name));
	const struct cp_steering_command *c;

	for (c = cp_steering_commands; c->name; c++)
		cp_text_near_try(&near, c->name);
	cp_buf_printf(out, "there is no command '%.100s'", name);
	if (near.best)
		cp_buf_printf(out, ": did you mean '%s'?", near.best);
	cp_buf_str(out, "\nthe commands are");
	for (c = cp_steering_commands; c->name; c++)
		cp_buf_printf(out, "%s %s%s%s", c == cp_steering_commands ? "" : ",", c->name,
			      c->argument ? " " : "", c->argument ? c->argument : "");
	return CP_CONTROL_REFUSED;
}

static void add_answer(const char *module, const char *text, void *data)
{
	struct cp_buf *out = data;

	if (out->size)
		cp_buf_u8(out, '\n');
	if (*module && strcmp(module, "log") != 0)
		cp_buf_printf(out, "%s: ", module);
	cp_buf_str(out, text);
}

static enum cp_control_answer tell_profilers(struct cp_steering *st, const char *name,
					     const char *argument, struct cp_buf *out)
{
	cprof_status status = cprof_session_steer(st->session, name, argument, add_answer, out);

	if (status != CPROF_E_NOT_FOUND)
		return status != CPROF_OK	 ? CP_CONTROL_REFUSED
		       : !strcmp(name, "rotate") ? CP_CONTROL_LATER
						 : CP_CONTROL_DONE;
	if (!find(name))
		return unknown(name, out);
	cp_buf_printf(out, "nothing in this session does '%s': it has no recorder", name);
	return CP_CONTROL_REFUSED;
}

static enum cp_control_answer on_command(void *ctx, const char *name, const char *argument,
					 struct cp_buf *out)
{
	const struct cp_steering_command *c = find(name);
	struct cp_steering *st = ctx;

	bool status = !strcmp(name, "status"), json = status && !strcmp(argument, "json");

	if (c && !c->argument && *argument && !json) {
		cp_buf_printf(out, "'%s' takes nothing behind it", name);
		return CP_CONTROL_REFUSED;
	}
	if (c && c->argument && !*argument) {
		cp_buf_printf(out, "'%s' needs %s", name, c->argument);
		return CP_CONTROL_REFUSED;
	}
	if (status) {
		cp_steering_status(st->session, st->begin_ns, json, out);
		return CP_CONTROL_DONE;
	}
	if (strcmp(name, "stop") != 0)
		return tell_profilers(st, name, argument, out);
	cprof_session_stop(st->session);
	return CP_CONTROL_AT_THE_END;
}

/* The recording that was ended is complete. */
static bool is_settled(void *ctx, bool *failed_ret, struct cp_buf *out)
{
	const struct cp_steering *st = ctx;
	struct cp_log_state log;

	cp_module_log_state(engine_profiler_named(st->session, "log"), &log);
	if (log.closing)
		return false;
	*failed_ret = log.failure != NULL;
	if (log.failure)
		cp_buf_str(out, log.failure);
	return true;
}

static void on_readable(cprof_session *s, int fd, void *data)
{
	struct cp_steering *st = data;

	(void)s;
	(void)fd;
	cp_control_serve(st->server, on_command, is_settled, st);
}

struct cp_steering *cp_steering_begin(cprof_session *s)
{
	struct cp_steering *st = calloc(1, sizeof(*st));
	struct cp_error *err = st ? NULL : cp_error_nomem();

	if (!err)
		err = cp_control_create(cprof_session_target(s), &st->server);
	if (err) {
		cp_complain_text("warning: the session can't be steered (cprof ctl):");
		cp_complain(err);
		free(st);
		return NULL;
	}
	st->session = s;
	st->begin_ns = cp_now();
	cp_info("commands are taken at %s", cp_control_path(st->server));
	cprof_session_watch(s, cp_control_fd(st->server), on_readable, st);
	return st;
}

void cp_steering_end(struct cp_steering *st, bool good)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	const char *recording;

	if (!st)
		return;
	recording = cp_module_log_recording(engine_profiler_named(st->session, "log"));
	cp_buf_str(&text, good ? "the session is over" : "the session ended with an error: ");
	if (good && recording)
		cp_buf_printf(&text, "; '%s' is complete", recording);
	if (!good)
		cp_buf_str(&text, cprof_session_error(st->session));
	cprof_session_watch(st->session, cp_control_fd(st->server), NULL, NULL);
	cp_control_destroy(st->server, text.bytes ? text.bytes : "", !good);
	free(st);
}
