/* SPDX-License-Identifier: MIT
 *
 * What profilers need besides events: their options, saying something,
 * numbers of their own.
 */
#include "engine/api/services.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/output.h"
#include "base/text.h"
#include "engine/probes/sites.h"
#include "engine/target/profilers.h"
#include "engine/target/state.h"

/* ---- descriptions ---- */

const char *cprof_profiler_desc_args(const char *desc)
{
	const char *colon = desc ? strchr(desc, ':') : NULL;

	return colon ? colon + 1 : "";
}

/* Takes the option at `*at`, up to a comma that is not quoted or behind a backslash. */
static char *next_option(const char **at)
{
	struct cp_buf out = { 0 };
	char quote = 0;
	const char *p;

	for (p = *at; *p && (quote || *p != ','); p++) {
		if (*p == '\\' && p[1])
			cp_buf_u8(&out, (uint8_t) * ++p);
		else if (quote ? *p == quote : *p == '"' || *p == '\'')
			quote = quote ? 0 : *p;
		else
			cp_buf_u8(&out, (uint8_t)*p);
	}
	*at = *p ? p + 1 : p;
	if (out.failed || !out.bytes)
		cp_buf_add(&out, "", 0);
	return out.bytes;
}

static bool is_one_of(const char *const *known, const char *name)
{
	for (; known && *known; known++)
		if (!strcmp(*known, name))
			return true;
	return false;
}

bool cprof_profiler_desc_next(const char **cursor, const char *const *known, char **key,
			      char **value, bool *negated)
{
	char *option, *equals;
	bool no;

	while (**cursor == ',')
		(*cursor)++;
	if (!**cursor)
		return false;
	option = next_option(cursor);
	if (!option)
		return false;
	equals = strchr(option, '=');
	if (equals)
		*equals = 0;
	no = !equals && !strncmp(option, "no", 2) && is_one_of(known, option + 2);
	if (no)
		memmove(option, option + 2, strlen(option + 2) + 1);
	*key = option;
	*value = equals ? equals + 1 : NULL;
	if (negated)
		*negated = no;
	return true;
}

/* The length of NAME in NAME:ARGS. */
static int name_size(const char *desc)
{
	return desc ? (int)strcspn(desc, ":") : 0;
}

/* ---- whose code runs ---- */

struct engine_calling engine_calling_now(const cprof_session *s)
{
	return s->calling;
}

bool engine_was_abandoned(const cprof_session *s)
{
	return s->link.shared && s->link.shared->abandoned;
}

bool engine_has_started(const cprof_session *s)
{
	return s->started;
}

void engine_ignore_children(cprof_session *s)
{
	s->ignores_children = true;
}

void engine_set_progress(cprof_session *s, engine_progress_fn tell, void *data)
{
	s->life.haste.tell = tell;
	s->life.haste.data = data;
}

bool engine_was_loaded(const cprof_session *s)
{
	return s->life.initialized;
}

bool engine_let_go_now(cprof_session *s)
{
	if (!s->started)
		return false;
	close(s->link.controller_socket);
	return true;
}

bool engine_has_unread(const cprof_session *s, uint64_t *read_ret)
{
	if (!s->link.shared)
		return false;
	*read_ret = s->link.shared->tail;
	return *read_ret != s->link.shared->head;
}

/* ---- saying something ---- */

void cprof_profiler_set_help(cprof_profiler_handle handle, const char *text)
{
	if (handle)
		handle->help = text;
}

const char *cprof_session_help(const cprof_session *s)
{
	const struct cprof_profiler_desc *p;

	for (p = s ? s->profilers : NULL; p; p = p->next)
		if (p->help)
			return p->help;
	return NULL;
}

/* Writes a line in one piece, since the program may write to the same stream. */
void cprof_profiler_printf(cprof_profiler_handle handle, const char *format, ...)
{
	struct cp_buf line CP_CLEANUP(cp_buf_free) = { 0 };
	CP_FREE char *text = NULL;
	va_list ap;
	int n;

	if (!handle)
		return;
	va_start(ap, format);
	n = vasprintf(&text, format, ap);
	va_end(ap);
	if (n < 0) {
		text = NULL;
		return;
	}
	while (n && text[n - 1] == '\n')
		n--;
	cp_buf_printf(&line, "cprof: %.*s%s", name_size(handle->desc),
		      handle->desc ? handle->desc : "", handle->desc ? ": " : "");
	cp_escape(&line, CP_ESCAPE_TERMINAL, text, (size_t)n);
	cp_buf_u8(&line, '\n');
	if (!line.failed && write(STDERR_FILENO, line.bytes, line.size) < 0)
		return;
}

/* ---- output ---- */

/* What is behind a FILE: opened when the process is known whose number its name may
 * have. */
struct output {
	char *spec; /* owned */
	struct cp_output_pipe to; /* fd -1: not open yet */
};

static bool open_now(struct output *o, int32_t pid, char **error_ret)
{
	struct cp_text_output text;

	/* Only the descriptor is wanted: the stream above it has a buffer of its own. */
	if (!cp_text_output_open(o->spec, pid, &text, error_ret))
		return false;
	o->to = text.pipe;
	o->to.fd = fcntl(fileno(text.file), F_DUPFD_CLOEXEC, 3);
	fclose(text.file);
	return o->to.fd >= 0;
}

static bool open_late(struct output *o)
{
	cprof_session *s = cprof_session_current();
	char *error = NULL;
	bool good = o->to.fd >= 0 || (s && s->target && open_now(o, s->target, &error));

	free(error);
	if (!good)
		errno = EIO;
	return good;
}

static ssize_t write_output(void *cookie, const char *bytes, size_t size)
{
	struct output *o = cookie;
	size_t done = 0;
	ssize_t n;

	if (!open_late(o))
		return 0;
	while (done < size) {
		n = write(o->to.fd, bytes + done, size - done);
		if (n < 0 && errno != EINTR)
			break;
		done += n > 0 ? (size_t)n : 0;
	}
	return (ssize_t)done;
}

static int close_output(void *cookie)
{
	struct output *o = cookie;
	int failed = open_late(o) && close(o->to.fd) ? -1 : 0;

	if (cp_output_wait(&o->to) && !failed) {
		errno = EIO;
		failed = -1;
	}
	free(o->spec);
	free(o);
	return failed;
}

FILE *cprof_profiler_open_output(const char *outspec, const char *default_name)
{
	static const cookie_io_functions_t functions = { .write = write_output,
							 .close = close_output };
	cprof_session *s = cprof_session_current();
	const char *spec = outspec && *outspec ? outspec : default_name;
	struct output *o = s && spec ? calloc(1, sizeof(*o)) : NULL;
	char *error = NULL;
	FILE *file;

	if (!o)
		return NULL;
	o->to.fd = -1;
	o->spec = strdup(spec);
	if (!o->spec ||
	    ((s->target || !cp_output_needs_pid(spec)) && !open_now(o, s->target, &error))) {
		engine_fail(s, cp_error_new(CP_ERR_IO, 0, "%s", error ? error : "out of memory"));
		free(error);
		free(o->spec);
		free(o);
		return NULL;
	}
	file = fopencookie(o, "w", functions);
	if (!file)
		close_output(o);
	return file;
}

/* ---- counters ---- */

void cprof_profiler_register_counter(cprof_profiler_handle handle, const char *name,
				     const uint64_t *value)
{
	cprof_session *s = cprof_session_current();
	char *copy;

	if (!handle || !s || s->started || !name || !value)
		return;
	copy = strdup(name);
	if (!copy || !cp_vec_push(&s->counters, (struct engine_counter){ handle, copy, value }))
		free(copy);
}

void cprof_profiler_each_counter(cprof_counter_fn fn, void *data)
{
	cprof_session *s = cprof_session_current();
	struct engine_counter *c;

	if (!s)
		return;
	cp_vec_for_each(&s->counters, c) {
		CP_FREE char *module = strndup(c->profiler->desc ? c->profiler->desc : "",
					       (size_t)name_size(c->profiler->desc));

		fn(module ? module : "", c->name, *c->value, data);
	}
}

void engine_counters_free(cprof_session *s)
{
	struct engine_counter *c;

	cp_vec_for_each(&s->counters, c)
		free(c->name);
	cp_vec_free(&s->counters);
}
