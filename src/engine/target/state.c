/* SPDX-License-Identifier: MIT
 *
 * What all of the engine needs of a session: which one is current, what failed, what its
 * user should know.
 */
#include "engine/target/state.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WARNINGS 32

static __thread cprof_session *current_session;

cprof_session *cprof_session_current(void)
{
	return current_session;
}

void engine_make_current(cprof_session *s)
{
	s->outer = current_session;
	current_session = s;
}

/* The newest of the sessions that are left is current. */
void engine_make_past(const cprof_session *s)
{
	cprof_session **at = &current_session;

	while (*at && *at != s)
		at = &(*at)->outer;
	if (*at)
		*at = s->outer;
}

cprof_status engine_fail(cprof_session *s, struct cp_error *err)
{
	static const struct {
		enum cp_error_code code;
		cprof_status status;
	} codes[] = {
		{ CP_ERR_NOMEM, CPROF_E_OUT_OF_MEMORY },
		{ CP_ERR_NOT_FOUND, CPROF_E_NOT_FOUND },
		{ CP_ERR_GONE, CPROF_E_GONE },
		{ CP_ERR_PERMISSION, CPROF_E_PERMISSION },
		{ CP_ERR_USAGE, CPROF_E_INVALID_ARGUMENT },
		{ CP_ERR_UNSUPPORTED, CPROF_E_NOT_SUPPORTED },
	};
	size_t i;

	cp_error_free(s->error);
	s->error = err;
	if (!err)
		return CPROF_OK;
	for (i = 0; i < CP_ARRAY_SIZE(codes); i++)
		if (codes[i].code == err->code)
			return codes[i].status;
	return CPROF_E_FAIL;
}

void engine_warn(cprof_session *s, const char *format, ...)
{
	char *text;
	va_list ap;
	size_t i;
	int n;

	va_start(ap, format);
	n = vasprintf(&text, format, ap);
	va_end(ap);
	if (n < 0)
		return;
	for (i = 0; i < s->warnings.count; i++)
		if (!strcmp(s->warnings.items[i], text))
			break;
	if (i < s->warnings.count || s->warnings.count >= MAX_WARNINGS ||
	    !cp_vec_push(&s->warnings, text))
		free(text);
}

bool engine_may_ask(const cprof_session *s)
{
	return s && !s->started && (!s->target || s->probes);
}
