/* SPDX-License-Identifier: MIT
 *
 * Commands of who steers the session, to profilers and back.
 */
#include <cprof/cprof.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "engine/api/profiler.h"
#include "engine/probes/refilter.h"
#include "engine/target/profilers.h"
#include "engine/target/state.h"

cprof_status cprof_session_steer(cprof_session *s, const char *name, const char *argument,
				 cprof_answer_fn fn, void *data)
{
	struct engine_steered *c;

	if (!s || !name || !argument || !fn)
		return CPROF_E_INVALID_ARGUMENT;
	c = &s->steered;
	if (!c->runs || c->fn || s->calling.what)
		return CPROF_E_UNSUPPORTED_CALL_SEQUENCE;
	c->fn = fn;
	c->data = data;
	c->answered = c->refused = false;
	engine_raise(s, command, name, argument);
	c->fn = NULL;
	/* What was changed is so before anybody is told. */
	if (atomic_exchange(&s->sampling_changed, false))
		engine_send_sampling(s);
	engine_refilter(s);
	return !c->answered ? CPROF_E_NOT_FOUND : c->refused ? CPROF_E_FAIL : CPROF_OK;
}

__attribute__((format(printf, 3, 0))) static void tell(cprof_profiler_handle handle, bool refused,
						       const char *format, va_list args)
{
	cprof_session *s = handle ? handle->session : NULL;
	const char *desc = handle && handle->desc ? handle->desc : "";
	CP_FREE char *module = strndup(desc, strcspn(desc, ":"));
	CP_FREE char *text = NULL;

	if (!s || !s->steered.fn)
		return;
	s->steered.answered = true;
	s->steered.refused |= refused;
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	s->steered.fn(module ? module : "", text ? text : "", s->steered.data);
}

void cprof_command_answer(cprof_profiler_handle handle, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	tell(handle, false, format, args);
	va_end(args);
}

void cprof_command_refuse(cprof_profiler_handle handle, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	tell(handle, true, format, args);
	va_end(args);
}
