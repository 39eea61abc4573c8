/* SPDX-License-Identifier: MIT
 *
 * The getters of call contexts: what they give, and when they give NULL.
 * ctxprobe:off does not enable them.
 */
#include <cprof/cprof.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cprof_profiler {
	cprof_call_context *kept;
};

static cprof_profiler prof;

static unsigned choose(cprof_profiler *p, const cprof_function *f)
{
	const char *name = cprof_function_name(f);

	(void)p;
	if (strncmp(name, "probed_", 7) && strncmp(name, "shape::area", 11))
		return 0;
	return CPROF_CALL_INSTRUMENTATION_ENTER | CPROF_CALL_INSTRUMENTATION_ENTER_CONTEXT |
	       CPROF_CALL_INSTRUMENTATION_LEAVE | CPROF_CALL_INSTRUMENTATION_LEAVE_CONTEXT;
}

/* A buffer as text, or why there is none; frees it. */
static void show(const char *what, cprof_call_context *context, void *buffer)
{
	char *text = cprof_profiler_buffer_format(buffer, 0);

	if (buffer)
		printf(" %s=%s/%zu", what, text ? text : "?", cprof_profiler_buffer_size(buffer));
	else
		printf(" %s=NULL(%d)", what, (int)cprof_profiler_call_context_error(context));
	free(text);
	cprof_profiler_call_context_free_buffer(buffer);
}

static void tell(const char *event, const cprof_function *f, cprof_call_context *context)
{
	const char *name = cprof_function_name(f);
	uint32_t i;

	if (!strcmp(name, "probed_fib"))
		return;
	printf("%s %s", event, name);
	show("this", context, cprof_profiler_call_context_get_this(context));
	for (i = 0; i < 3; i++)
		show("arg", context, cprof_profiler_call_context_get_argument(context, i));
	show("local", context, cprof_profiler_call_context_get_local(context, 999));
	show("result", context, cprof_profiler_call_context_get_result(context));
	printf("\n");
	if (cprof_function_flags(f) & CPROF_FUNCTION_HAS_THIS)
		printf("%s takes %d: %s, %s\n", name, (int)cprof_function_argument_count(f),
		       cprof_function_argument_name(f, 0), cprof_function_argument_name(f, 1));
	fflush(stdout);
}

static void enter(cprof_profiler *p, const cprof_function *f, cprof_call_context *context)
{
	if (p->kept &&
	    (cprof_profiler_call_context_get_argument(p->kept, 0) ||
	     cprof_profiler_call_context_error(p->kept) != CPROF_E_UNSUPPORTED_CALL_SEQUENCE))
		printf("an old context lives\n");
	p->kept = context;
	tell("enter", f, context);
}

static void leave(cprof_profiler *p, const cprof_function *f, cprof_call_context *context)
{
	(void)p;
	tell("leave", f, context);
}

CPROF_PROFILER_INIT(ctxprobe)
{
	cprof_profiler_handle h = cprof_profiler_create(&prof);

	if (strcmp(cprof_profiler_desc_args(desc), "off") != 0)
		cprof_profiler_enable_call_context_introspection();
	cprof_profiler_call_context_free_buffer(NULL);
	cprof_profiler_set_call_instrumentation_filter_callback(h, choose);
	cprof_profiler_set_method_enter_callback(h, enter);
	cprof_profiler_set_method_leave_callback(h, leave);
}
