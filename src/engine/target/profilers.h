/* SPDX-License-Identifier: MIT
 *
 * A profiler's callbacks, and calling them. Private to src/engine.
 */
#ifndef CP_ENGINE_TARGET_PROFILERS_H
#define CP_ENGINE_TARGET_PROFILERS_H

#include <cprof/cprof.h>
#include <stdatomic.h>

#include "base/vec.h"

struct engine_elt;

struct cprof_profiler_desc {
	cprof_profiler *prof;
	cprof_session *session;
	struct cprof_profiler_desc *next; /* the next older one */
	_Atomic(cprof_profiler_cleanup_fn) cleanup;
	const char *desc; /* NAME:ARGS as loaded; borrowed from the session; NULL: an embedder's */
	const char *help; /* borrowed from the profiler; NULL: none was asked for */
	bool failed;
	bool block_numbers; /* its blocks have numbers for values */
	cprof_stack_known_fn stack_known; /* NULL: it takes no blocks of allocations */
	_Atomic(cprof_call_instrumentation_filter_fn) filter;
	_Atomic(cprof_coverage_filter_fn) coverage_filter;
	struct engine_elt *elt; /* owned; NULL: no enter and leave hooks */
#define ENGINE_SLOT_(name, parameters) _Atomic(cprof_##name##_fn) name;
	CPROF_PROFILER_EVENTS(ENGINE_SLOT_)
#undef ENGINE_SLOT_
};

/* A profiler's number. */
struct engine_counter {
	const struct cprof_profiler_desc *profiler;
	char *name; /* owned */
	const uint64_t *value; /* the profiler's own */
};

/* The profiler whose code runs, which a crash is put down to. */
struct engine_calling {
	const char *desc; /* of the profiler; NULL: an embedder's, or none */
	const char *what; /* static: the callback; NULL: none runs */
};

/* A descriptor that the session's loop waits for, too. */
struct engine_watched {
	int fd;
	cprof_readable_fn cb; /* NULL: not any more */
	void *data;
	bool ready;
};

/* A session that is steered while it runs (cprof/control.h). */
struct engine_steered {
	CP_VEC(struct engine_watched) watched;
	bool runs; /* it waits for them */
	/* The command that profilers are being told: */
	cprof_answer_fn fn; /* NULL: there is none */
	void *data;
	bool answered, refused;
};

/* How samples are taken (session/capture.c). */
struct engine_capturing {
	uint64_t late_ns; /* CPU time of samples that came when none were wanted any more */
	cprof_capture asked;
	const struct cp_perf_event *event; /* that samples are of; NULL: time */
	uint64_t every; /* of it */
	uint32_t hz_asked;
	const char *way; /* static; NULL: none are */
	char *reason; /* owned: why not without stops; NULL */
	uint32_t hz; /* at which they are without stops; 0: they are not */
};

/* Calls a callback of all profilers, the newest first. */
#define engine_raise(session, event, ...) \
	do { \
		struct cprof_profiler_desc *er_p = (session)->profilers; \
		const struct engine_calling er_outer = (session)->calling; \
		for (; er_p; er_p = er_p->next) { \
			cprof_##event##_fn er_cb = er_p->event; \
			if (!er_cb) \
				continue; \
			(session)->calling = (struct engine_calling){ er_p->desc, #event }; \
			er_cb(er_p->prof, ##__VA_ARGS__); \
			(session)->calling = er_outer; \
		} \
	} while (0)
#define engine_raise0(session, event) engine_raise(session, event)

/* Has any profiler a callback for `event`? */
#define engine_has(session, event) \
	__extension__({ \
		const struct cprof_profiler_desc *eh_p = (session)->profilers; \
		while (eh_p && !eh_p->event) \
			eh_p = eh_p->next; \
		eh_p != NULL; \
	})

#endif
