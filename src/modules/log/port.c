/* SPDX-License-Identifier: MIT */
#include "modules/log/port.h"

#include "base/cleanup.h"
#include "control/server.h"

static void add_answer(const char *module, const char *text, void *data)
{
	struct cp_buf *out = data;

	(void)module;
	cp_buf_str(out, text);
}

/* As if who steers the session had said it. */
static enum cp_control_answer on_line(void *ctx, const char *command, const char *argument,
				      struct cp_buf *out)
{
	(void)ctx;
	return cprof_session_steer(cprof_session_current(), command, argument, add_answer, out) ==
			       CPROF_OK
		       ? CP_CONTROL_DONE
		       : CP_CONTROL_REFUSED;
}

static bool is_settled(void *ctx, bool *failed_ret, struct cp_buf *out)
{
	(void)ctx;
	(void)failed_ret;
	(void)out;
	return true;
}

static void on_readable(cprof_session *s, int fd, void *data)
{
	const cprof_profiler *log = data;

	(void)s;
	(void)fd;
	cp_control_serve(log->server, on_line, is_settled, data);
}

CP_ERROR cp_recorder_port_open(cprof_profiler *log, uint16_t port)
{
	CP_TRY(cp_control_create_at(port, "heapshot", &log->server));
	cprof_session_watch(cprof_session_current(), cp_control_fd(log->server), on_readable, log);
	return NULL;
}

void cp_recorder_port_close(cprof_profiler *log)
{
	cprof_session *s = cprof_session_current();

	if (!log->server)
		return;
	if (s)
		cprof_session_watch(s, cp_control_fd(log->server), NULL, NULL);
	cp_control_destroy(cp_steal(log->server), "", false);
}
