/* SPDX-License-Identifier: MIT
 *
 * What a program announces, through the API: a line for each annotation on
 * standard error, and at the end how many there were.
 *
 *   annotations_dump [--count] [--events=N] CMD [ARG...]
 *   annotations_dump [--count] [--events=N] --attach PID
 *
 *   TID KIND NAME OBJECT VALUE
 */
#include <cprof/cprof.h>
#include <cprof/trace_format.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cprof_profiler {
	bool count;
	uint64_t per_kind[16], torn, fibers;
	uint64_t all, most; /* 0: any number of events, then it lets go */
};

static const char *const kinds[] = { "begin",	   "end",	   "instant", "start",
				     "finish",	   "fiber-switch", "counter", "thread-name",
				     "fiber-name", "lost" };

static void on_annotation(cprof_profiler *p, const cprof_trace_event *e, const char *name,
			  const char *category, const char *object)
{
	const cprof_thread *t = cprof_current_thread();

	p->per_kind[e->type & 15]++;
	if (++p->all == p->most)
		cprof_session_stop(cprof_session_current());
	if (p->count) {
		/* annotated.c, storm: what belongs together is together */
		p->torn += e->type == CPROF_TRACE_EVENT_COUNTER &&
			   (!name || strcmp(name, "storm") != 0 || !category || object);
		return;
	}
	fprintf(stderr, "%d %s ", t ? cprof_thread_tid(t) : -1, kinds[e->type]);
	if (e->type == CPROF_TRACE_EVENT_FIBER_SWITCH)
		fprintf(stderr, "%u %u %" PRIu64 "\n", e->u.fiber.from_fiber, e->u.fiber.to_fiber,
			e->u.fiber.reserved[0]);
	else
		fprintf(stderr, "%s %s %" PRId64 "\n", name ? name : "-", object ? object : "-",
			e->u.span.value);
}

static void on_fiber_switch(cprof_profiler *p, uintptr_t tid, uint32_t from, uint32_t to)
{
	(void)tid;
	(void)from;
	(void)to;
	p->fibers++;
}

int main(int argc, char **argv)
{
	cprof_session *s = cprof_session_create();
	cprof_profiler p = { 0 };
	cprof_profiler_handle h = cprof_profiler_create(&p);
	cprof_annotation_statistics n;
	cprof_status status;
	size_t i;

	if (argc > 1 && !strcmp(argv[1], "--count")) {
		p.count = true;
		argv++;
	}
	if (argv[1] && !strncmp(argv[1], "--events=", 9))
		p.most = strtoull(*++argv + 9, NULL, 10);
	if (!s || !h || !argv[1] || !cprof_profiler_enable_annotations())
		return 2;
	cprof_profiler_set_annotation_callback(h, on_annotation);
	cprof_profiler_set_fiber_switch_callback(h, on_fiber_switch);
	status = !strcmp(argv[1], "--attach")
			 ? cprof_session_attach(s, atoi(argv[2]), CPROF_SESSION_FOLLOW_FORKS)
			 : cprof_session_launch(s, argv[1], argv + 1, NULL,
						CPROF_SESSION_FOLLOW_FORKS);
	if (status == CPROF_OK)
		status = cprof_session_run(s, 0);
	cprof_get_annotation_statistics(&n);
	for (i = 0; p.count && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (p.per_kind[i])
			fprintf(stderr, "%s: %" PRIu64 "\n", kinds[i], p.per_kind[i]);
	if (p.count)
		fprintf(stderr, "torn: %" PRIu64 "\n", p.torn);
	fprintf(stderr,
		"events %" PRIu64 " lost %" PRIu64 " unknown %" PRIu64 " rings %" PRIu64
		" fibers %" PRIu64 "\n",
		n.events, n.lost, n.unknown, n.rings, p.fibers);
	if (status != CPROF_OK)
		fprintf(stderr, "%s\n", cprof_session_error(s));
	cprof_session_destroy(s);
	return status != CPROF_OK;
}
