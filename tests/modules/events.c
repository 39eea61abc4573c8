/* SPDX-License-Identifier: MIT
 *
 * A profiler that prints events as they come, one a line:
 *
 *     PID TID EVENT DETAILS
 *
 * Its arguments: the file to print to; before it "calls," or "throws," for
 * those, too.
 */
#include <cprof/cprof.h>
#include <stdio.h>
#include <string.h>

struct cprof_profiler {
	FILE *out;
};
static cprof_profiler prof;

static void begin(const char *event)
{
	const cprof_process *p = cprof_current_process();
	const cprof_thread *t = cprof_current_thread();

	fprintf(prof.out, "%d %d %s", p ? cprof_process_pid(p) : 0, t ? cprof_thread_tid(t) : 0,
		event);
}

#define PLAIN(event) \
	static void event(cprof_profiler *p) \
	{ \
		begin(#event); \
		fputc('\n', p->out); \
		fflush(p->out); \
	}
#define DOMAIN(event) \
	static void event(cprof_profiler *p, cprof_process *domain) \
	{ \
		begin(#event); \
		fprintf(p->out, " %d %s\n", cprof_process_pid(domain), cprof_process_exe(domain)); \
	}
#define THREAD(event) \
	static void event(cprof_profiler *p, uintptr_t tid) \
	{ \
		begin(#event); \
		fprintf(p->out, " %d\n", (int)tid); \
	}
#define IMAGE(event) \
	static void event(cprof_profiler *p, const cprof_image *image) \
	{ \
		begin(#event); \
		fprintf(p->out, " %s %u\n", cprof_image_path(image), \
			cprof_namespace_id(cprof_image_namespace(image))); \
	}
#define ASSEMBLY(event) \
	static void event(cprof_profiler *p, const cprof_assembly *assembly) \
	{ \
		begin(#event); \
		fprintf(p->out, " %s\n", cprof_assembly_path(assembly)); \
	}
#define CONTEXT(event) \
	static void event(cprof_profiler *p, cprof_namespace *context) \
	{ \
		begin(#event); \
		fprintf(p->out, " %u\n", cprof_namespace_id(context)); \
	}
#define METHOD(event) \
	static void event(cprof_profiler *p, const cprof_function *method) \
	{ \
		begin(#event); \
		fprintf(p->out, " %s\n", cprof_function_name(method)); \
	}

#define EVENTS(PLAIN, DOMAIN, THREAD, IMAGE, ASSEMBLY, CONTEXT, METHOD) \
	PLAIN(runtime_initialized) \
	PLAIN(runtime_shutdown_begin) \
	PLAIN(runtime_shutdown_end) \
	DOMAIN(domain_loading) \
	DOMAIN(domain_loaded) \
	DOMAIN(domain_unloading) \
	DOMAIN(domain_unloaded) \
	THREAD(thread_started) \
	THREAD(thread_stopping) \
	THREAD(thread_stopped) \
	THREAD(thread_exited) \
	IMAGE(image_loading) \
	IMAGE(image_failed) \
	IMAGE(image_loaded) \
	IMAGE(image_unloading) \
	IMAGE(image_unloaded) \
	ASSEMBLY(assembly_loading) \
	ASSEMBLY(assembly_loaded) \
	ASSEMBLY(assembly_unloading) \
	ASSEMBLY(assembly_unloaded) \
	CONTEXT(context_loaded) \
	CONTEXT(context_unloaded) \
	METHOD(method_free) \
	METHOD(method_begin_invoke) \
	METHOD(method_end_invoke)
EVENTS(PLAIN, DOMAIN, THREAD, IMAGE, ASSEMBLY, CONTEXT, METHOD)

static void domain_name(cprof_profiler *p, cprof_process *domain, const char *name)
{
	begin("domain_name");
	fprintf(p->out, " %d %s\n", cprof_process_pid(domain), name);
}

static void thread_name(cprof_profiler *p, uintptr_t tid, const char *name)
{
	begin("thread_name");
	fprintf(p->out, " %d %s\n", (int)tid, name);
}

static const char *name_of(const cprof_function *method)
{
	return method ? cprof_function_name(method) : "-";
}

static void jit_begin(cprof_profiler *p, const cprof_function *method)
{
	begin("jit_begin");
	fprintf(p->out, " %s\n", name_of(method));
}

static void jit_failed(cprof_profiler *p, const cprof_function *method)
{
	begin("jit_failed");
	fprintf(p->out, " %s\n", name_of(method));
}

static void jit_done(cprof_profiler *p, const cprof_function *method, cprof_addr code,
		     uint64_t size)
{
	begin("jit_done");
	fprintf(p->out, " %s %#llx %llu\n", name_of(method), (unsigned long long)code,
		(unsigned long long)size);
	fflush(p->out);
}

static void jit_code_buffer(cprof_profiler *p, cprof_addr buffer, uint64_t size,
			    cprof_code_buffer_type type, const void *data)
{
	begin("jit_code_buffer");
	fprintf(p->out, " %s %#llx %llu\n",
		type == CPROF_CODE_BUFFER_METHOD ? name_of((const cprof_function *)data) : "?",
		(unsigned long long)buffer, (unsigned long long)size);
}

static void jit_chunk_created(cprof_profiler *p, cprof_addr chunk, uint64_t size)
{
	begin("jit_chunk_created");
	fprintf(p->out, " - %#llx %llu\n", (unsigned long long)chunk, (unsigned long long)size);
}

static void jit_chunk_destroyed(cprof_profiler *p, cprof_addr chunk)
{
	begin("jit_chunk_destroyed");
	fprintf(p->out, " - %#llx\n", (unsigned long long)chunk);
}

static void signal_delivered(cprof_profiler *p, uintptr_t tid, int number, cprof_addr address)
{
	begin("signal_delivered");
	fprintf(p->out, " %d %d %#llx\n", (int)tid, number, (unsigned long long)address);
}

static void method_enter(cprof_profiler *p, const cprof_function *method,
			 cprof_call_context *context)
{
	(void)context;
	begin("method_enter");
	fprintf(p->out, " %s\n", cprof_function_name(method));
}

static void method_leave(cprof_profiler *p, const cprof_function *method,
			 cprof_call_context *context)
{
	(void)context;
	begin("method_leave");
	fprintf(p->out, " %s\n", cprof_function_name(method));
}

static void exception_throw(cprof_profiler *p, const cprof_object *exception)
{
	begin("exception_throw");
	fprintf(p->out, " %s\n", exception->type_name ? exception->type_name : "-");
}

static void exception_clause(cprof_profiler *p, const cprof_function *method, uint32_t index,
			     cprof_exception_clause_type type, const cprof_object *exception)
{
	(void)exception;
	begin("exception_clause");
	fprintf(p->out, " %d %u of %s\n", (int)type, index, name_of(method));
}

/* Calls of functions whose names begin with "traced_", and of main. */
static unsigned choose(cprof_profiler *p, const cprof_function *method)
{
	const char *name = cprof_function_name(method);

	(void)p;
	if (strncmp(name, "traced_", 7) != 0 && strcmp(name, "main") != 0)
		return 0;
	return CPROF_CALL_INSTRUMENTATION_ENTER | CPROF_CALL_INSTRUMENTATION_LEAVE;
}

static void cleanup(cprof_profiler *p)
{
	fclose(p->out);
}

CPROF_PROFILER_INIT(events)
{
	const char *args = cprof_profiler_desc_args(desc);
	const char *file = strchr(args, ',') ? strchr(args, ',') + 1 : args;
	cprof_profiler_handle h = cprof_profiler_create(&prof);

	prof.out = fopen(file, "we");
	if (!h || !prof.out) {
		cprof_profiler_fail(h, "events: cannot write to '%s'", args);
		return;
	}
#define SET(event) cprof_profiler_set_##event##_callback(h, event);
	EVENTS(SET, SET, SET, SET, SET, SET, SET)
	SET(domain_name)
	SET(thread_name)
	SET(signal_delivered)
	SET(jit_begin)
	SET(jit_failed)
	SET(jit_done)
	SET(jit_code_buffer)
	SET(jit_chunk_created)
	SET(jit_chunk_destroyed)
	cprof_profiler_set_cleanup_callback(h, cleanup);
	if (!strncmp(args, "throws,", 7)) {
		cprof_profiler_enable_clauses();
		SET(exception_throw)
		SET(exception_clause)
	}
	if (strncmp(args, "calls,", 6) != 0)
		return;
	cprof_profiler_set_call_instrumentation_filter_callback(h, choose);
	SET(method_enter)
	SET(method_leave)
}
