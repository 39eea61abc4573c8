/* SPDX-License-Identifier: MIT
 *
 * fetchprobe: writes to fetched.out what was copied at the calls of tests/modules/fetched.c,
 * which says the same of itself. "late" asks for what is there at the end, too; "typed"
 * beside values with types. */
#include <cprof/cprof.h>
#include <stdio.h>
#include <string.h>

static cprof_profiler_handle handle;
static int text, cut, word, number, chained, far, eighth, result, bad, late;
static bool is_late, typed;
static FILE *out;

static const char *string(cprof_call_context *context, int which)
{
	const char *s = cprof_call_context_fetched(context, which, NULL);

	if (s)
		return s;
	return cprof_profiler_call_context_error(context) == CPROF_E_UNREADABLE ? "unreadable"
										: "none";
}

static void entered(cprof_profiler *p, const cprof_function *f, cprof_call_context *context)
{
	size_t size = 0;
	const unsigned char *bytes = cprof_call_context_fetched(context, word, &size);

	(void)p;
	if (strcmp(cprof_function_name(f), "fetched_call"))
		return;
	fprintf(out, "enter %s %s %llu %s", string(context, text), string(context, cut),
		(unsigned long long)cprof_call_context_fetched_value(context, number),
		string(context, chained));
	fprintf(out, " %d:%02x%02x", (int)size, bytes ? bytes[0] : 0,
		size > 1 ? bytes[size - 1] : 0);
	fprintf(out, " %s %llu", string(context, far),
		(unsigned long long)cprof_call_context_fetched_value(context, eighth));
	fprintf(out, " %s", string(context, bad));
	fprintf(out, " %s\n", string(context, result));
	if (typed) {
		char value[200] = "";

		cprof_value_format(value, sizeof(value), cprof_call_context_argument(context, 1));
		fprintf(out, "typed %s\n", value);
	}
}

static void left(cprof_profiler *p, const cprof_function *f, cprof_call_context *context)
{
	(void)p;
	if (strcmp(cprof_function_name(f), "fetched_call"))
		return;
	fprintf(out, "leave %s %s %llu %s\n", string(context, text), string(context, chained),
		(unsigned long long)cprof_call_context_fetched_value(context, number),
		string(context, result));
	if (is_late)
		fprintf(out, "late %s\n", string(context, late));
}

static void ended(cprof_profiler *p)
{
	cprof_call_statistics statistics;

	(void)p;
	cprof_get_call_statistics(&statistics);
	fprintf(out, "%s\n", statistics.records > 50 ? "without stops" : "by stops");
	fclose(out);
}

static void ask(const cprof_callspec *spec)
{
	const cprof_fetch what[] = {
		{ .kind = CPROF_FETCH_STRING, .argument = 1, .size = 100 },
		{ .kind = CPROF_FETCH_STRING, .argument = 1, .size = 3 },
		{ .kind = CPROF_FETCH_BYTES, .argument = 2, .size = 12 },
		{ .kind = CPROF_FETCH_VALUE, .argument = 0 },
		{ .kind = CPROF_FETCH_STRING,
		  .argument = 2,
		  .size = 50,
		  .steps = 1,
		  .offsets = { 16, 1 } },
		{ .kind = CPROF_FETCH_STRING, .argument = 6, .size = 50 },
		{ .kind = CPROF_FETCH_VALUE, .argument = 7 },
		{ .kind = CPROF_FETCH_STRING, .argument = CPROF_FETCH_RESULT, .size = 64 },
		{ .kind = CPROF_FETCH_STRING, .argument = 3, .size = 10 },
		{ .kind = CPROF_FETCH_STRING, .argument = 4, .size = 20, .late = true },
	};
	int *const numbers[] = { &text, &cut,	 &word,	  &number, &chained,
				 &far,	&eighth, &result, &bad,	   &late };
	size_t i;

	for (i = 0; i < sizeof(what) / sizeof(what[0]) - !is_late; i++)
		*numbers[i] = cprof_profiler_fetch(handle, spec, &what[i]);
}

CPROF_PROFILER_INIT(fetchprobe)
{
	const cprof_fetch big = { .kind = CPROF_FETCH_BYTES, .size = CPROF_FETCH_SIZE_MAX + 1 };
	cprof_callspec *spec = cprof_callspec_parse("fetched_*", NULL);

	out = fopen("fetched.out", "w");
	if (!out)
		return;
	is_late = strstr(cprof_profiler_desc_args(desc), "late") != NULL;
	typed = strstr(cprof_profiler_desc_args(desc), "typed") != NULL;
	handle = cprof_profiler_create(NULL);
	cprof_profiler_trace(handle, spec,
			     CPROF_CALL_INSTRUMENTATION_ENTER | CPROF_CALL_INSTRUMENTATION_LEAVE |
				     (typed ? CPROF_CALL_INSTRUMENTATION_ENTER_CONTEXT : 0));
	ask(spec);
	if (cprof_profiler_fetch(handle, spec, &big) != CPROF_E_INVALID_ARGUMENT)
		cprof_profiler_fail(handle, "more than the limit is taken");
	cprof_callspec_free(spec);
	if (typed)
		cprof_profiler_enable_call_context_introspection();
	cprof_profiler_set_method_enter_callback(handle, entered);
	cprof_profiler_set_method_leave_callback(handle, left);
	cprof_profiler_set_runtime_shutdown_end_callback(handle, ended);
}
