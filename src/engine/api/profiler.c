/* SPDX-License-Identifier: MIT
 *
 * Profilers: handles, start-up rules, callbacks, who owns the sampler.
 */
#include "engine/api/profiler.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "engine/api/builtins.h"
#include "engine/api/module.h"
#include "engine/target/profilers.h"
#include "engine/target/state.h"

/* Are init-only calls still allowed? */
static bool early(cprof_session *s)
{
	return s && !s->started;
}

uint32_t cprof_profiler_runtime_api_version(void)
{
	return CPROF_PROFILER_API_VERSION;
}

const char *cprof_status_string(cprof_status status)
{
	switch (status) {
	case CPROF_OK:
		return "success";
	case CPROF_E_FAIL:
		return "failure";
	case CPROF_E_INVALID_ARGUMENT:
		return "invalid argument";
	case CPROF_E_UNEXPECTED:
		return "the stack cannot be read";
	case CPROF_E_OUT_OF_MEMORY:
		return "out of memory";
	case CPROF_E_NOT_SUPPORTED:
		return "not supported";
	case CPROF_E_INSUFFICIENT_BUFFER:
		return "the buffer is too small";
	case CPROF_E_CALL_ONLY_FROM_INIT:
		return "too late: only allowed before start-up is done";
	case CPROF_E_INCONSISTENT_WITH_FLAGS:
		return "the hooks and the event mask do not fit";
	case CPROF_E_UNSUPPORTED_CALL_SEQUENCE:
		return "not allowed outside of its callback";
	case CPROF_E_STACKSNAPSHOT_ABORTED:
		return "the snapshot was aborted by its callback";
	case CPROF_E_STACKSNAPSHOT_INVALID_TGT_THREAD:
		return "no such thread, or it has exited";
	case CPROF_E_STACKSNAPSHOT_UNMANAGED_CTX:
		return "the seed does not point into known code";
	case CPROF_E_STACKSNAPSHOT_UNSAFE:
		return "the thread cannot be stopped now";
	case CPROF_E_DATA_INCOMPLETE:
		return "it has no address yet";
	case CPROF_E_LITERALS_HAVE_NO_ADDRESS:
		return "a constant has no address";
	case CPROF_E_CLASS_IS_ARRAY:
		return "the type is an array";
	case CPROF_E_CLASS_IS_STRING:
		return "the type is a string";
	case CPROF_E_NO_DEBUG_INFO:
		return "there is no debug information for it";
	case CPROF_E_OPTIMIZED_OUT:
		return "the value was optimized out";
	case CPROF_E_UNREADABLE:
		return "the memory cannot be read";
	case CPROF_E_NOT_FOUND:
		return "not found";
	case CPROF_E_API_VERSION:
		return "built against another version of the API";
	case CPROF_E_PERMISSION:
		return "not permitted";
	case CPROF_E_GONE:
		return "the process has exited";
	default:
		return "unknown status";
	}
}

static const struct cp_builtin *find_builtin(const char *name, size_t size)
{
	const struct cp_builtin *b;

	for (b = cp_builtins; b->name; b++)
		if (!strncmp(b->name, name, size) && !b->name[size])
			return b;
	return NULL;
}

/* The description that profiler `name` was loaded with, under this name or another one
 * of the same built-in profiler; or NULL. */
static const char *find_loaded(const cprof_session *s, const char *name)
{
	const struct cp_builtin *b = find_builtin(name, strlen(name)), *other;
	size_t i, size;

	for (i = 0; i < s->loaded.count; i++) {
		size = strcspn(s->loaded.items[i], ":");
		other = find_builtin(s->loaded.items[i], size);
		if ((b && other && b->init == other->init) ||
		    (strlen(name) == size && !strncmp(s->loaded.items[i], name, size)))
			return s->loaded.items[i];
	}
	return NULL;
}

/* Built-in ones come first, so that no file can take their place. */
static struct cp_error *find_init(cprof_session *s, const char *name, cp_module_init_fn *ret)
{
	CP_FREE char *path = NULL;
	const struct cp_builtin *b = find_builtin(name, strlen(name));

	if (b) {
		*ret = b->init;
		return NULL;
	}
	*ret = cp_module_embedded(name);
	if (*ret)
		return NULL;
	CP_TRY(cp_module_find(s->plugin_dirs, name, &path));
	return cp_module_open(path, name, ret);
}

/* Code of the module runs as soon as it is loaded: its constructors. */
static struct cp_error *load(cprof_session *s, const char *name, const char *desc)
{
	const struct engine_calling outer = s->calling;
	char *copy = strdup(desc);
	cp_module_init_fn init;
	struct cp_error *err;

	if (!copy || !cp_vec_reserve(&s->loaded, s->loaded.count + 1)) {
		free(copy);
		return cp_error_nomem();
	}
	s->calling = (struct engine_calling){ copy, "init" };
	err = find_init(s, name, &init);
	if (!err) {
		s->loaded.items[s->loaded.count++] = copy;
		init(copy);
	}
	s->calling = outer;
	if (err)
		free(copy);
	return err;
}

cprof_status cprof_profiler_load(const char *desc)
{
	cprof_session *s = cprof_session_current();
	CP_FREE char *name = NULL;
	struct cp_error *err;
	const char *loaded;
	cprof_status status;
	bool version;

	if (!early(s))
		return CPROF_E_CALL_ONLY_FROM_INIT;
	if (!desc || !strcmp(desc, "default"))
		desc = "log:report";
	err = cp_module_check_name(desc, strcspn(desc, ":"));
	if (err)
		return engine_fail(s, err);
	name = strndup(desc, strcspn(desc, ":"));
	if (!name)
		return engine_fail(s, cp_error_nomem());
	loaded = find_loaded(s, name);
	if (loaded && strcmp(loaded, desc) != 0)
		engine_warn(s, "the profiler %s is loaded already: '%s' has no effect", name, desc);
	if (loaded)
		return CPROF_OK;
	err = load(s, name, desc);
	if (!err) /* an error that the profiler set itself stays */
		return CPROF_OK;
	version = err->code == CP_ERR_UNSUPPORTED;
	status = engine_fail(s, err);
	return version ? CPROF_E_API_VERSION : status;
}

cprof_profiler_handle cprof_profiler_create(cprof_profiler *prof)
{
	cprof_session *s = cprof_session_current();
	struct cprof_profiler_desc *p;

	if (!early(s))
		return NULL;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->prof = prof;
	p->session = s;
	p->desc = s->calling.desc;
	p->next = s->profilers;
	s->profilers = p;
	return p;
}

cprof_profiler *engine_profiler_named(const cprof_session *s, const char *name)
{
	const struct cprof_profiler_desc *p;

	for (p = s->profilers; p; p = p->next)
		if (p->desc && p->prof && strlen(name) == strcspn(p->desc, ":") &&
		    !strncmp(p->desc, name, strlen(name)))
			return p->prof;
	return NULL;
}

void cprof_profiler_set_cleanup_callback(cprof_profiler_handle handle, cprof_profiler_cleanup_fn cb)
{
	if (handle)
		handle->cleanup = cb;
}

#define DEFINE_SETTER_(name, parameters) \
	void cprof_profiler_set_##name##_callback(cprof_profiler_handle handle, \
						  cprof_##name##_fn cb) \
	{ \
		if (handle) \
			atomic_store(&handle->name, cb); \
	}
CPROF_PROFILER_EVENTS(DEFINE_SETTER_)
#undef DEFINE_SETTER_

bool cprof_profiler_enable_jit(void)
{
	cprof_session *s = cprof_session_current();

	if (!early(s) || s->target)
		return false;
	s->life.jit_asked = true;
	return true;
}

void cprof_profiler_fail(cprof_profiler_handle handle, const char *format, ...)
{
	cprof_session *s = cprof_session_current();
	bool again = handle && handle->failed, first = s && !cprof_session_profiler_failed(s);
	CP_FREE char *text = NULL;
	va_list ap;

	if (handle)
		handle->failed = true;
	else if (s) /* a profiler that has no handle, or got none */
		s->nameless_failed = true;
	va_start(ap, format);
	if (vasprintf(&text, format, ap) < 0)
		text = NULL;
	va_end(ap);
	if (!s || again)
		return;
	if (first || !s->error)
		engine_fail(s, cp_error_new(CP_ERR_IO, 0, "%s", text ? text : format));
	else
		engine_warn(s, "%s", text ? text : format);
}

bool cprof_session_profiler_failed(const cprof_session *s)
{
	const struct cprof_profiler_desc *p;

	for (p = s ? s->profilers : NULL; p; p = p->next)
		if (p->failed)
			return true;
	return s && s->nameless_failed;
}

/* ---- the sampler ---- */

bool cprof_profiler_enable_sampling(cprof_profiler_handle handle)
{
	cprof_session *s = cprof_session_current();

	if (!s || !handle || s->ended || (s->started && (s->sampling || !s->steered.fn)))
		return false;
	if (!s->sampling)
		s->sampling_owner = handle;
	s->sampling = true;
	return true;
}

bool cprof_profiler_enable_vector_state(void)
{
	cprof_session *s = cprof_session_current();

	if (!early(s))
		return false;
	s->vector_state = true;
	return true;
}

void engine_sampling(const cprof_session *s, cprof_sample_mode *mode_ret, uint32_t *hz_ret)
{
	*mode_ret = s->sampling ? s->mode : CPROF_SAMPLE_MODE_NONE;
	*hz_ret = s->hz;
}

/* Tells the tracer the settings of the sampler; during start-up, run() does. */
void engine_send_sampling(cprof_session *s)
{
	struct cp_request rq = {
		.type = CP_REQUEST_SAMPLE,
		.hz = s->sampling && s->mode != CPROF_SAMPLE_MODE_NONE ? s->hz : 0,
		.wall = s->mode == CPROF_SAMPLE_MODE_REAL,
		.flags = s->vector_state ? CP_CAPTURE_XSTATE : 0,
	};
	struct cp_answer answer;

	/* The tracer goes by the same rule; above perf_event_max_sample_rate it finds that it
	 * can't. */
	if (s->capturing.hz && rq.hz && !s->capturing.event) {
		s->capturing.hz = rq.wall ? 0 : rq.hz;
		if (rq.wall && s->capturing.asked == CPROF_CAPTURE_PERF)
			engine_warn(s, "the clock of samples was changed: threads are stopped for "
				       "them since then");
	}
	cp_error_free(cp_link_call(&s->link, &rq, &answer, NULL));
}

bool cprof_profiler_set_sample_mode(cprof_profiler_handle handle, cprof_sample_mode mode,
				    uint32_t frequency)
{
	cprof_session *s = handle ? handle->session : NULL;
	uint64_t one = 1;

	if (!s || s->sampling_owner != handle || !frequency ||
	    frequency > CPROF_SAMPLE_MAX_FREQUENCY)
		return false;
	if (mode != CPROF_SAMPLE_MODE_NONE && mode != CPROF_SAMPLE_MODE_PROCESS &&
	    mode != CPROF_SAMPLE_MODE_REAL)
		return false;
	if (s->capturing.event && mode == CPROF_SAMPLE_MODE_REAL)
		return false;
	s->mode = mode;
	s->hz = frequency;
	/* The session's loop tells the tracer: this may be a signal handler. */
	s->sampling_changed = true;
	return !s->started || write(s->stop_fd, &one, sizeof(one)) > 0 || errno == EAGAIN;
}

bool cprof_profiler_get_sample_mode(cprof_profiler_handle handle, cprof_sample_mode *mode,
				    uint32_t *frequency)
{
	cprof_session *s = handle ? handle->session : NULL;

	if (!s)
		return false;
	if (mode)
		*mode = s->mode;
	if (frequency)
		*frequency = s->hz;
	return s->sampling_owner == handle;
}

bool cprof_current_sample(cprof_sample *ret)
{
	cprof_session *s = cprof_session_current();
	const struct cp_event_sample *e = s ? s->current.sample : NULL;

	if (!e)
		return false;
	*ret = (cprof_sample){
		.timestamp_ns = e->e.ts_ns,
		.weight_ns = e->weight_ns,
		.count = e->count,
		.flags = (e->e.flags & CP_SAMPLE_BLOCKED ? CPROF_SAMPLE_BLOCKED : 0) |
			 (e->e.flags & CP_SAMPLE_WAITED ? CPROF_SAMPLE_WAITED : 0) |
			 (s->current.repeat ? CPROF_SAMPLE_REPEAT : 0),
	};
	return true;
}

void cprof_refresh_overhead(void)
{
	cprof_session *s = cprof_session_current();
	struct cp_request rq = { .type = CP_REQUEST_TOTALS };
	struct cp_answer answer;

	if (s && s->started && !s->ended && !s->tracer_left)
		cp_error_free(cp_link_call(&s->link, &rq, &answer, NULL));
}

void cprof_get_overhead(cprof_overhead *ret)
{
	cprof_session *s = cprof_session_current();
	struct cp_link_stats *t;

	*ret = (cprof_overhead){ 0 };
	if (!s)
		return;
	t = &s->link.shared->stats;
	*ret = (cprof_overhead){
		.stops = t->stops,
		.stopped_ns = t->stopped_ns,
		.hold_median_ns = cp_histogram_quantile(t->hold, 500),
		.hold_p99_ns = cp_histogram_quantile(t->hold, 990),
		.reads = t->reads,
		.restarted = t->restarted,
		.samples = t->samples,
		.lost = t->lost,
		.ticks = t->ticks,
		.ticks_missed = t->ticks_missed,
		.cpu_ns = t->cpu_ns,
		.unsampled_ns = t->unsampled_ns + s->capturing.late_ns,
		.tracer_cpu_ns = t->tracer_cpu_ns,
		.controller_cpu_ns = cp_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - s->cpu_at_start_ns,
		.threads = t->threads,
		.processes = t->processes,
		.waited_ns = t->full_ns,
		.finished = t->finished,
		.cut_short = t->cut_short,
		.perf_samples = t->perf_samples,
		.perf_lost = t->perf_lost,
		.perf_cut = t->perf_cut,
		.perf_throttled = t->perf_throttled,
		.perf_left = t->perf_left,
		.event_count = t->event_count,
		.paused_ns = t->paused_ns,
		.placing_ns = s->placing_ns,
		.event_unsampled = t->event_unsampled,
		.left_ns = s->left_ns,
		.placing_cut = s->life.haste.cuts,
		.strayed = t->strayed,
	};
}
