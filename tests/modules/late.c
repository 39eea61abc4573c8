/* SPDX-License-Identifier: MIT
 *
 * Asks for all that is for init alone when it is too late, in the first event
 * that there is; late:early asks in init. Then it tells what came of it. What
 * has no opt-in (calls of main, samples) is asked for in init, so that there
 * is something that could change.
 */
#include <cprof/cprof.h>
#include <stdio.h>
#include <string.h>

struct cprof_profiler {
	unsigned waits, clauses, annotations, allocations, files, samples, vectors;
	unsigned mains, others, values, cpu_times;
	bool early;
};

static cprof_profiler prof;
static cprof_profiler_handle handle, second;
static const cprof_function *covered;

static bool is(const cprof_function *f, const char *name)
{
	return !strcmp(cprof_function_name(f), name);
}

/* ---- what comes ---- */

static void waited(cprof_profiler *p, const cprof_object *lock)
{
	(void)lock;
	p->waits++;
}

static void clause(cprof_profiler *p, const cprof_function *f, uint32_t index,
		   cprof_exception_clause_type type, const cprof_object *exception)
{
	(void)f;
	(void)index;
	(void)type;
	(void)exception;
	p->clauses++;
}

static void annotated(cprof_profiler *p, const struct cprof_trace_event *event, const char *name,
		      const char *category, const char *object)
{
	(void)event;
	(void)name;
	(void)category;
	(void)object;
	p->annotations++;
}

static void allocated(cprof_profiler *p, const cprof_object *object)
{
	(void)object;
	p->allocations++;
}

static void file(cprof_profiler *p, uint64_t kind, uint64_t size)
{
	(void)kind;
	(void)size;
	p->files++;
}

static void hit(cprof_profiler *p, cprof_addr ip, const cprof_context *context)
{
	(void)ip;
	p->samples++;
	p->vectors += context->xstate != NULL;
}

static void enter(cprof_profiler *p, const cprof_function *f, cprof_call_context *context)
{
	void *argument = cprof_profiler_call_context_get_argument(context, 0);

	p->mains += is(f, "main");
	p->others += !is(f, "main");
	p->values += argument != NULL;
	cprof_profiler_call_context_free_buffer(argument);
}

static void leave(cprof_profiler *p, const cprof_function *f, cprof_call_context *context)
{
	cprof_call call;

	(void)f;
	(void)context;
	p->cpu_times += cprof_current_call(&call) && call.cpu_ns;
}

static unsigned choose(cprof_profiler *p, const cprof_function *f)
{
	(void)p;
	return !is(f, "main") ? 0
			      : CPROF_CALL_INSTRUMENTATION_ENTER |
					CPROF_CALL_INSTRUMENTATION_ENTER_CONTEXT |
					CPROF_CALL_INSTRUMENTATION_LEAVE;
}

static bool cover(cprof_profiler *p, const cprof_function *f)
{
	(void)p;
	covered = is(f, "main") ? f : covered;
	return is(f, "main");
}

static void statement(cprof_profiler *p, const cprof_coverage_data *data)
{
	(void)p;
	(void)data;
}

/* ---- asking ---- */

static void ask(void)
{
	cprof_callspec *spec = cprof_callspec_parse("program", NULL);

	printf("taken: create %d load %d sampling %d clauses %d monitors %d annotations %d "
	       "coverage "
	       "%d mode %d branches %d context %d cpu %d vector %d trace %d allocations %d\n",
	       cprof_profiler_create(NULL) != NULL, cprof_profiler_load("late:early") == CPROF_OK,
	       cprof_profiler_enable_sampling(second), cprof_profiler_enable_clauses(),
	       cprof_profiler_enable_monitors(), cprof_profiler_enable_annotations(),
	       cprof_profiler_enable_coverage(),
	       cprof_profiler_set_coverage_mode(second, CPROF_COVERAGE_COUNT),
	       cprof_profiler_set_coverage_branches(second, CPROF_COVERAGE_BRANCHES_NONE),
	       cprof_profiler_enable_call_context_introspection(),
	       cprof_profiler_enable_call_cpu_time(), cprof_profiler_enable_vector_state(),
	       cprof_profiler_trace(second, spec, CPROF_CALL_INSTRUMENTATION_ENTER) == CPROF_OK,
	       cprof_profiler_enable_allocations());
	/* The sampler is the first one's, at any time. */
	printf("set by another: %d\n",
	       cprof_profiler_set_sample_mode(second, CPROF_SAMPLE_MODE_REAL, 77));
	cprof_profiler_enable_fileio();
	cprof_callspec_free(spec);
}

static void started(cprof_profiler *p)
{
	if (p->early)
		return;
	ask();
	/* Settings are told anew and functions planned anew: with what was taken. */
	cprof_profiler_set_sample_mode(handle, CPROF_SAMPLE_MODE_PROCESS, 999);
	cprof_profiler_refilter(NULL);
	fflush(stdout);
}

static const char *any(unsigned count)
{
	return count ? "some" : "no";
}

static void ended(cprof_profiler *p)
{
	cprof_sample_mode mode = CPROF_SAMPLE_MODE_NONE;
	uint32_t hz = 0;
	bool own = cprof_profiler_get_sample_mode(handle, &mode, &hz);

	printf("%s waits\n%s clauses\n%s annotations\n%s allocations\n%s files\n", any(p->waits),
	       any(p->clauses), any(p->annotations), any(p->allocations), any(p->files));
	printf("%s samples\n%s vectors\nmode %d %u Hz own %d\n", any(p->samples), any(p->vectors),
	       (int)mode, hz, own);
	printf("%u calls of main\n%s calls of others\n%s values\n%s cpu times\n", p->mains,
	       any(p->others), any(p->values), any(p->cpu_times));
	printf("covered %d\n",
	       covered && cprof_profiler_get_coverage_data(handle, covered, statement));
	fflush(stdout);
}

CPROF_PROFILER_INIT(late)
{
	prof.early = !strcmp(cprof_profiler_desc_args(desc), "early");
	handle = cprof_profiler_create(&prof);
	second = cprof_profiler_create(&prof);
	cprof_profiler_enable_sampling(handle);
	cprof_profiler_set_sample_mode(handle, CPROF_SAMPLE_MODE_PROCESS, 1000);
	cprof_profiler_set_call_instrumentation_filter_callback(handle, choose);
	cprof_profiler_set_coverage_filter_callback(handle, cover);
	cprof_profiler_set_method_enter_callback(handle, enter);
	cprof_profiler_set_method_leave_callback(handle, leave);
	cprof_profiler_set_sample_hit_callback(handle, hit);
	cprof_profiler_set_monitor_contention_callback(handle, waited);
	cprof_profiler_set_exception_clause_callback(handle, clause);
	cprof_profiler_set_annotation_callback(handle, annotated);
	cprof_profiler_set_gc_allocation_callback(handle, allocated);
	cprof_profiler_set_heap_free_callback(handle, allocated);
	cprof_profiler_set_fileio_callback(handle, file);
	cprof_profiler_set_runtime_initialized_callback(handle, started);
	cprof_profiler_set_runtime_shutdown_end_callback(handle, ended);
	if (prof.early)
		ask();
	fflush(stdout);
}
