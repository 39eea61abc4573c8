/* SPDX-License-Identifier: MIT
 *
 * How samples are taken: by stops, or by the kernel's own interrupt. The tracer finds
 * out what is permitted; here is what that means, in words that a person can act on.
 */
#include "engine/session/capture.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "engine/target/state.h"
#include "link/perf.h"

/* Why they can't be without stops, and what helps; "" where nothing does. */
struct refusal {
	char why[256], hint[192];
};

__attribute__((format(printf, 2, 3))) static void why(struct refusal *r, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(r->why, sizeof(r->why), format, args);
	va_end(args);
}

/* A number of /proc/sys/kernel; -1: it can't be read. */
static long setting(const char *name)
{
	char path[96];
	long value = -1;

	snprintf(path, sizeof(path), "/proc/sys/kernel/%s", name);
	CP_FCLOSE FILE *f = fopen(path, "re");
	return f && fscanf(f, "%ld", &value) == 1 ? value : -1;
}

/* The kernel does not have it. */
static void refused_event(struct refusal *r, int errnum, const struct cp_perf_event *event)
{
	if (event && event->type == PERF_TYPE_HARDWARE) {
		why(r, "there is no counter of %s here, as in most virtual machines (%s)",
		    event->name, strerror(errnum));
		snprintf(r->hint, sizeof(r->hint),
			 "the kernel itself counts page-faults, context-switches and "
			 "cpu-migrations");
	} else {
		why(r, "this kernel has no such events (perf_event_open(): %s)", strerror(errnum));
	}
}

static void refused_open(struct refusal *r, int errnum, bool kernel,
			 const struct cp_perf_event *event)
{
	switch (errnum) {
	case EACCES:
		why(r, "perf_event_open() is not permitted%s (perf_event_paranoid is %ld)",
		    kernel ? ", or not of time in the kernel" : "", setting("perf_event_paranoid"));
		snprintf(r->hint, sizeof(r->hint),
			 "run cprof as root or with the capability CAP_PERFMON, or 'sysctl "
			 "kernel.perf_event_paranoid=1'");
		break;
	case EPERM:
		why(r, "perf_event_open() is forbidden: by a filter of system calls, as containers "
		       "have it, or a security module");
		break;
	case EMFILE:
		why(r, "the program has more threads than there are descriptors for: one for each "
		       "thread and CPU");
		snprintf(r->hint, sizeof(r->hint), "raise the limit: ulimit -n");
		break;
	case ENOSYS:
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
	case EINVAL:
		refused_event(r, errnum, event);
		break;
	default:
		why(r, "perf_event_open() failed: %s", strerror(errnum));
	}
}

static void refused(struct refusal *r, const struct cp_answer *answer, bool kernel,
		    const struct cp_perf_event *event)
{
	if (answer->threads == CP_PERF_KILLED) {
		why(r, "a filter of system calls kills whoever calls perf_event_open()");
	} else if (answer->threads == CP_PERF_RING) {
		why(r, "there is no memory for the kernel's rings: %s (perf_event_mlock_kb is %ld)",
		    strerror(answer->errnum), setting("perf_event_mlock_kb"));
		snprintf(r->hint, sizeof(r->hint), "raise the limit: ulimit -l");
	} else {
		refused_open(r, answer->errnum, kernel, event);
	}
}

/* What no permission would change. */
static bool is_unfit(const cprof_session *s, uint32_t hz, struct refusal *r)
{
	long most = setting("perf_event_max_sample_rate");

	if (s->capturing.event)
		return false;
	if (s->mode == CPROF_SAMPLE_MODE_REAL)
		why(r, "elapsed time was asked for, and the kernel's interrupt comes only to "
		       "threads that run");
	else if (s->vector_state)
		why(r, "vector registers were asked for, which the kernel does not copy");
	else if (most >= 0 && hz > (unsigned long)most)
		why(r,
		    "the kernel takes %ld samples a second at most "
		    "(perf_event_max_sample_rate)",
		    most);
	return r->why[0] != 0;
}

static uint32_t rate(const cprof_session *s)
{
	if (s->capturing.event)
		return 1; /* any: an event has none */
	return s->sampling && s->mode != CPROF_SAMPLE_MODE_NONE ? s->hz : s->capturing.hz_asked;
}

/* Asks the tracer, for `pid` or, if that is 0, whether it is permitted at all. */
static struct cp_error *ask(cprof_session *s, pid_t pid, struct refusal *r, bool *user_only_ret)
{
	const struct cp_perf_event *event = s->capturing.event;
	bool kernel = s->capturing.asked == CPROF_CAPTURE_AUTO || (event && event->kernel);
	struct cp_request rq = {
		.type = CP_REQUEST_PERF,
		.pid = pid,
		.hz = rate(s),
		.flags = kernel ? CP_PERF_KERNEL : 0,
		.address = event ? (uint64_t)(event - cp_perf_events) + 1 : 0,
		.size = s->capturing.every,
	};
	struct cp_answer answer;

	if (is_unfit(s, rq.hz, r))
		return NULL;
	CP_TRY(cp_link_call(&s->link, &rq, &answer, NULL));
	if (answer.errnum)
		refused(r, &answer, kernel, event);
	else
		*user_only_ret = answer.address & CP_PERF_USER_ONLY;
	return NULL;
}

static struct cp_error *error_of(const cprof_session *s, const struct refusal *r)
{
	const struct cp_perf_event *event = s->capturing.event;

	if (event)
		return cp_error_hint(cp_error_new(CP_ERR_PERMISSION, 0, "no samples of %s: %s",
						  event->name, r->why),
				     "%s", r->hint);
	return cp_error_hint(cp_error_new(CP_ERR_PERMISSION, 0, "no samples without stops: %s",
					  r->why),
			     "%s%s--capture=auto takes what can be had", r->hint,
			     r->hint[0] ? "; " : "");
}

static cprof_status try_now(cprof_session *s)
{
	struct refusal r = { 0 };
	struct cp_error *err;
	bool user_only;

	if (s->capturing.asked != CPROF_CAPTURE_PERF)
		return CPROF_OK;
	err = ask(s, 0, &r, &user_only);
	return engine_fail(s, err || !r.why[0] ? err : error_of(s, &r));
}

cprof_status cprof_session_set_capture(cprof_session *s, cprof_capture capture, uint32_t frequency)
{
	if (!s || (unsigned)capture > CPROF_CAPTURE_PERF || !frequency ||
	    frequency > CPROF_SAMPLE_MAX_FREQUENCY ||
	    (s->capturing.event && capture != CPROF_CAPTURE_PERF))
		return CPROF_E_INVALID_ARGUMENT;
	s->capturing.asked = capture;
	s->capturing.hz_asked = frequency;
	return try_now(s);
}

/* ---- events in the place of time ---- */

const char *cprof_event_name(size_t n)
{
	size_t i;

	for (i = 0; cp_perf_events[i].name; i++)
		if (i == n)
			return cp_perf_events[i].name;
	return NULL;
}

cprof_status cprof_session_set_event(cprof_session *s, const char *name, uint64_t period)
{
	const struct cp_perf_event *event = cp_perf_events;

	if (!s || !name)
		return CPROF_E_INVALID_ARGUMENT;
	while (event->name && strcmp(event->name, name) != 0)
		event++;
	if (!event->name || period > INT64_MAX)
		return CPROF_E_INVALID_ARGUMENT;
	s->capturing.event = event;
	s->capturing.every = period ? period : event->period;
	s->capturing.asked = CPROF_CAPTURE_PERF;
	return try_now(s);
}

const char *cprof_session_event(const cprof_session *s)
{
	return s && s->capturing.event ? s->capturing.event->name : "";
}

uint64_t cprof_session_event_period(const cprof_session *s)
{
	return s ? s->capturing.every : 0;
}

/* ---- which way is taken ---- */

/* From now on, or from the beginning. */
static void take_stops(cprof_session *s, const char *reason)
{
	cp_info("samples by stops: %s", reason);
	free(s->capturing.reason);
	s->capturing.reason = strdup(reason);
	s->capturing.way = "ptrace";
	s->capturing.hz = 0;
}

struct cp_error *engine_choose_capture(cprof_session *s, pid_t pid)
{
	struct refusal r = { 0 };
	bool user_only = false;

	s->capturing.way = "ptrace";
	if (s->capturing.asked == CPROF_CAPTURE_PTRACE)
		return NULL;
	CP_TRY(ask(s, pid, &r, &user_only));
	if (r.why[0] && s->capturing.asked == CPROF_CAPTURE_PERF)
		return error_of(s, &r);
	if (r.why[0]) {
		take_stops(s, r.why);
		return NULL;
	}
	s->capturing.hz = rate(s);
	s->capturing.way = user_only ? "perf, user code alone" : "perf";
	return NULL;
}

void engine_settle_capture(cprof_session *s)
{
	struct refusal r = { 0 };

	if (s->capturing.event || !s->capturing.hz || !s->sampling ||
	    s->mode == CPROF_SAMPLE_MODE_NONE)
		return;
	if (is_unfit(s, s->hz, &r))
		take_stops(s, r.why);
	else if (s->hz != s->capturing.hz)
		take_stops(s, "the rate was changed");
}

const char *cprof_session_capture(const cprof_session *s)
{
	return s && s->sampling && s->capturing.way ? s->capturing.way : "";
}

const char *cprof_session_capture_reason(const cprof_session *s)
{
	return s && s->sampling && s->capturing.reason ? s->capturing.reason : "";
}
