/* watched: what an expression is worth each time a function is entered.
 *   cprof run --profile=watched:Queue::push=this->items,capacity -- ./program */
#include <cprof/cprof.h>
#include <stdlib.h>
#include <string.h>

static cprof_profiler_handle watched;
static char *function, *expressions; /* separated by commas */

static void entered(cprof_profiler *p, const cprof_function *f, cprof_call_context *context)
{
	char *list = strdup(expressions), *next = list, *one, text[200];
	cprof_evaluated e;

	while ((one = strsep(&next, ","))) {
		cprof_status status = cprof_evaluate(one, context, &e);
		if (e.value)
			cprof_value_format(text, sizeof(text), e.value);
		cprof_profiler_printf(watched, "%s: %s = %s", cprof_function_name(f), one,
				      e.value ? text : cprof_status_string(status));
	}
	free(list);
}

CPROF_PROFILER_INIT(watched)
{
	function = strdup(cprof_profiler_desc_args(desc));
	expressions = strchr(function, '=');
	watched = cprof_profiler_create(NULL);
	if (!expressions)
		return cprof_profiler_fail(watched, "say what: watched:FUNCTION=EXPRESSION,...");
	*expressions++ = '\0';
	cprof_profiler_enable_call_context_introspection();
	cprof_profiler_trace(watched, cprof_callspec_parse(function, NULL),
			     CPROF_CALL_INSTRUMENTATION_ENTER | CPROF_CALL_INSTRUMENTATION_ENTER_CONTEXT |
				     CPROF_CALL_INSTRUMENTATION_HOLD);
	cprof_profiler_set_method_enter_callback(watched, entered);
}
