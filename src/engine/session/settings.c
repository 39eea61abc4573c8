/* SPDX-License-Identifier: MIT
 *
 * What a session is told, and what it tells when asked. NULL, which
 * cprof_session_create() answers without memory, is a session that has none of it.
 */
#include <unistd.h>

#include "engine/session/launch.h"
#include "engine/target/state.h"

void cprof_session_set_unwinder(cprof_session *s, cprof_unwinder unwinder)
{
	if (s && unwinder <= CPROF_UNWINDER_LIBUNWIND_PTRACE)
		s->unwinder = unwinder;
}

void cprof_session_set_debug_info(cprof_session *s, const char *const *dirs, bool debuginfod)
{
	if (!s)
		return;
	s->debug_dirs = dirs;
	s->debuginfod.ask = debuginfod;
}

void cprof_session_set_detours(cprof_session *s, bool detours)
{
	if (s)
		s->detours = detours;
}

void cprof_session_set_on_full(cprof_session *s, cprof_on_full on_full)
{
	if (s)
		s->on_full = on_full;
}

void cprof_session_set_plugin_dirs(cprof_session *s, const char *const *dirs)
{
	if (s)
		s->plugin_dirs = dirs;
}

void cprof_session_stop(cprof_session *s)
{
	uint64_t one = 1;

	if (!s)
		return;
	s->stop_asked = true;
	if (write(s->stop_fd, &one, sizeof(one)) < 0)
		return;
}

const char *cprof_session_error(const cprof_session *s)
{
	if (!s)
		return "there is no session";
	return s->error ? s->error->what : "";
}

const char *cprof_session_error_hint(const cprof_session *s)
{
	return s && s->error && s->error->hint ? s->error->hint : "";
}

const char *cprof_session_warning(const cprof_session *s, size_t n)
{
	return s && n < s->warnings.count ? s->warnings.items[n] : NULL;
}

int cprof_session_exec_errno(const cprof_session *s)
{
	return s ? s->exec_errno : 0;
}

int32_t cprof_session_pid(const cprof_session *s)
{
	return s ? s->child : 0;
}

int32_t cprof_session_target(const cprof_session *s)
{
	return s ? s->target : 0;
}

char *const *cprof_session_command(const cprof_session *s)
{
	return s ? s->command : NULL;
}

bool cprof_session_is_attached(const cprof_session *s)
{
	return s && s->attached;
}

int cprof_session_exit_status(cprof_session *s, bool wait)
{
	if (!s)
		return -1;
	if (s->child)
		engine_reap_child(s, wait);
	return s->wait_status;
}
